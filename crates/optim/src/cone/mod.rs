//! The cone room: what one column of the matrix may look like, and the cheapest of it.
//!
//! Geo-Ind constraints never mix columns: each lies in the cone `z_i <= exp(l_ij) z_j` of its rows and arcs, the same for all.
//! Both engines that generate columns price over it, the one over all rows, the other over windows of them.
//!
//! - `graph`: rows (or whatever nodes a cone has) and the logarithms of the ratios allowed between them;
//! - `search` and `dijkstra`: shortest paths, that is the smallest points of the cone, and balls of rows around one;
//! - `tree`: extreme rays as spanning trees of tight constraints, and the network simplex that pivots from one to the next;
//! - `window`: a part of the rows loaded as a graph of its own, with trees kept in four bytes a row;
//! - `family` and `transplant`: which column starts from the tree of which other, and how that tree fits another window.

#[cfg(feature = "parallel")]
mod dijkstra;
mod family;
mod graph;
mod search;
#[cfg(feature = "parallel")]
mod transplant;
mod tree;
#[cfg(feature = "parallel")]
mod window;

#[cfg(feature = "parallel")]
pub(crate) use dijkstra::Dijkstra;
pub(crate) use family::{Member, family};
pub(crate) use graph::Graph;
pub(crate) use search::{Reached, largest_point};
#[cfg(feature = "parallel")]
pub(crate) use transplant::Transplant;
pub(crate) use tree::{Scratch, Tree};
#[cfg(feature = "parallel")]
pub(crate) use window::{Link, Pricer};
