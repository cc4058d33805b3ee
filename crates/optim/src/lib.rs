//! Exact optimisation of geo-indistinguishable mechanisms; knows no geography.
