//! A report that stands alone: one HTML page with tables, plots and maps, and the raw numbers beside it.

mod figure;

use serde::{Deserialize, Serialize};

pub use figure::{Axis, Figure, Picture, Point, Series, Shown};

/// Everything that goes into a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Its heading.
    pub title: String,
    /// Data, seeds, versions, machine: what somebody needs to repeat it.
    pub settings: Vec<(String, String)>,
    /// Tables and plots, in order.
    pub figures: Vec<Figure>,
    /// Maps, in order.
    pub pictures: Vec<Picture>,
}
