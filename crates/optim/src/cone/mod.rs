//! The cone room: what one column of the matrix may look like, and the cheapest of it.
//!
//! Geo-Ind constraints never mix columns: each lies in the cone `z_i <= exp(l_ij) z_j` of its rows and arcs, the same for all.
//! Both engines that generate columns price over it, the one over all rows, the other over windows of them.
//!
//! - `graph`: rows (or whatever nodes a cone has) and the logarithms of the ratios allowed between them;
//! - `search` and `dijkstra`: shortest paths, that is the smallest points of the cone, and balls of rows around one;
//! - `tree`: extreme rays as spanning trees of tight constraints, and the network simplex that pivots from one to the next;
//! - `window`: a part of the rows loaded as a graph of its own, with trees kept in four bytes a row;
//! - `block` and `pricing`: the cones of a problem with its ties and bounds, and all of them priced at given duals;
//! - `family` and `transplant`: which column starts from the tree of which other, and how that tree fits another window;
//! - `flows` and `zero`: what priced trees prove, as multipliers on the arcs for the certificate to judge.

mod block;
mod dijkstra;
mod family;
mod flows;
mod graph;
mod pricing;
mod search;
#[cfg(feature = "parallel")]
mod transplant;
mod tree;
mod tuning;
#[cfg(feature = "parallel")]
mod window;
mod zero;

pub(crate) use block::{Block, Blocks, NO_ROW, Root};
pub(crate) use dijkstra::Dijkstra;
pub(crate) use family::warm_start;
#[cfg(feature = "parallel")]
pub(crate) use family::{Member, family};
pub(crate) use flows::{Prover, flows};
pub(crate) use graph::Graph;
pub(crate) use pricing::{Prices, for_each, node_weights, noise, price_all};
#[cfg(feature = "parallel")]
pub(crate) use search::Reached;
pub(crate) use search::largest_point;
#[cfg(feature = "parallel")]
pub(crate) use transplant::Transplant;
pub(crate) use tree::{Scratch, Tree};
#[cfg(feature = "parallel")]
pub(crate) use window::{Link, Pricer};
