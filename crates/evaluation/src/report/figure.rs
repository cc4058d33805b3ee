//! What an experiment found: numbers with their repeats, from which tables and plots are drawn.

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::Built;
use lrgeo_tiles::Distribution;
use serde::{Deserialize, Serialize};

use super::nonfinite;

/// One table or plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Short, for file names: `table-1-paper`.
    pub id: String,
    /// For people.
    pub title: String,
    /// What was done, in a sentence or two.
    pub about: String,
    /// What is varied.
    pub x: Axis,
    /// What is measured.
    pub y: Axis,
    /// One line of the table, one curve of the plot.
    pub series: Vec<Series>,
    /// How it is shown.
    pub shown: Shown,
    /// What must not be overlooked: violations, failures.
    pub flags: Vec<String>,
}

/// What an axis says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// With its unit: `cost, km per report`.
    pub label: String,
    /// Whether a plot is logarithmic in it.
    pub log: bool,
    /// Whether its values are shares: error bars then end at one.
    #[serde(default)]
    pub share: bool,
}

impl Axis {
    /// An axis of any values.
    pub fn new(label: impl Into<String>, log: bool) -> Self {
        Self { label: label.into(), log, share: false }
    }

    /// No value on it can be larger.
    pub fn most(&self) -> f64 {
        if self.share { 1.0 } else { f64::INFINITY }
    }
}

/// How a figure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shown {
    /// As a table only.
    Table,
    /// As a plot, with its table folded below.
    Plot,
}

/// A method, or a kind of bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// In ascending order of x.
    pub points: Vec<Point>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where.
    #[serde(with = "nonfinite::one")]
    pub x: f64,
    /// What every repeat gave; none where it failed.
    #[serde(with = "nonfinite::many")]
    pub values: Vec<f64>,
    /// The paper's figure, as it is printed there.
    pub paper: Option<String>,
    /// Why there is no value, or what else to know about it.
    pub note: Option<String>,
}

impl Point {
    /// The mean of the repeats.
    pub fn mean(&self) -> Option<f64> {
        let count = self.values.len();
        (count > 0).then(|| self.values.iter().sum::<f64>() / count as f64)
    }

    /// 1.96 standard deviations of the repeats, as the paper prints; `None` of fewer than two.
    pub fn spread(&self) -> Option<f64> {
        let (mean, count) = (self.mean()?, self.values.len());
        let squares: f64 = self.values.iter().map(|v| (v - mean) * (v - mean)).sum();
        (count > 1).then(|| 1.96 * (squares / (count - 1) as f64).sqrt())
    }
}

/// Values of places on a map: where reports of one place go, how far attackers are off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Short, for file names.
    pub id: String,
    /// For people.
    pub title: String,
    /// What the values are, with their unit.
    pub label: String,
    /// Latitude and longitude of every place.
    pub places: Vec<[f64; 2]>,
    /// One per place, not negative.
    #[serde(with = "nonfinite::many")]
    pub values: Vec<f64>,
    /// The place it is about.
    pub marked: Option<PlaceId>,
}

impl Picture {
    /// Where the reports of somebody at a place go.
    pub fn of_reports(name: &str, built: &Built, place: PlaceId) -> Self {
        Self {
            id: format!("reports-{name}"),
            title: format!(
                "What somebody in the middle reports, {name}, epsilon {}",
                built.guarantee.epsilon
            ),
            label: "probability of the report".into(),
            places: built.coords.iter().map(|at| [at.lat(), at.lon()]).collect(),
            values: built.row(place).map_or_else(Vec::new, Distribution::into_vec),
            marked: Some(place),
        }
    }
}
