//! Remembered reports: the same place gives the same report.
//!
//! Fresh draws from one place average out (10 reports at 5/km give it away three times of four), so a place that was
//! reported once is reported alike in every mode, after every restart, and on every later version of the map, where the
//! old report is moved to the nearest place: that is post-processing and tells nothing new. Versions are told apart by
//! the coordinates that the client itself has read, never by what the operator calls them.

use lrgeo_map::geo::Coord;
use lrgeo_protocol::Digest;
use serde::{Deserialize, Serialize};

use crate::Mode;
use crate::ground::{Ground, OwnPlace};

/// A report that was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    /// The operator's key: reports to different operators are different.
    pub operator: String,
    /// The hash of the coordinates of all places.
    pub grid: Digest,
    /// Latitude and longitude of the true place on that grid.
    pub place: [f64; 2],
    /// How far the user may have been from it.
    pub reach_km: f64,
    /// Latitude and longitude of the reported place.
    pub report: [f64; 2],
    /// The epsilon that it was drawn with.
    pub epsilon_per_km: f64,
    /// How it was drawn.
    pub mode: Mode,
    /// When it was drawn, in seconds since 1970.
    pub at: u64,
}

/// The centre v_a that a circle of the cost table was asked around: asking again around another one would give away more
/// (98 % after 10 requests).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The operator's key.
    pub operator: String,
    /// The hash of the coordinates of all places.
    pub grid: Digest,
    /// Latitude and longitude of the true place.
    pub place: [f64; 2],
    /// The number of the place in the centre.
    pub centre: u32,
}

/// The tiles among which the own one was hidden: hiding it among others again would show what both sets share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hidden {
    /// The operator's key.
    pub operator: String,
    /// The hash of how the map was cut into tiles.
    pub tiling: Digest,
    /// Latitude and longitude of the true place.
    pub place: [f64; 2],
    /// The tiles, ascending.
    pub tiles: Vec<u32>,
}

/// Everything that was said about places.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Reports, oldest first.
    pub reports: Vec<Remembered>,
    /// Circles, oldest first.
    pub asked: Vec<Asked>,
    /// Sets of tiles, oldest first.
    pub hidden: Vec<Hidden>,
}

/// A report for a place of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The number of the reported place.
    pub report: u32,
    /// When it was drawn.
    pub at: u64,
    /// The epsilon that it was drawn with.
    pub epsilon_per_km: f64,
}

impl Memory {
    /// Refuses entries that nobody has written.
    pub(super) fn validate(&self) -> Result<(), &'static str> {
        let is_coord = |[lat, lon]: [f64; 2]| Coord::new(lat, lon).is_ok();
        let sound = |r: &Remembered| {
            is_coord(r.place) && is_coord(r.report) && r.reach_km.is_finite() && r.reach_km >= 0.0
        };
        let places = self.asked.iter().map(|a| a.place).chain(self.hidden.iter().map(|h| h.place));
        match self.reports.iter().all(sound) && places.into_iter().all(is_coord) {
            true => Ok(()),
            false => Err("it remembers something that is no place"),
        }
    }

    /// What was reported from this place before, or from what may have been this very spot on another version of the
    /// map; there a new draw is made while no more than `redraws` were.
    pub fn recall(&self, ground: &Ground, place: &OwnPlace, redraws: u32) -> Option<Recalled> {
        let here = ground.coord(place);
        let same = |r: &&Remembered| r.grid == ground.grid && r.place == [here.lat(), here.lon()];
        if let Some(known) = self.of(ground).find(same) {
            return recalled(ground, known);
        }
        // The user was within reach of that place, and is within reach of this one.
        let may_be_here = |r: &Remembered| {
            let km = distance_km(here, r.place)?;
            (km <= r.reach_km + ground.reach_km).then_some(km)
        };
        let others = self.of(ground).filter(|r| r.grid != ground.grid);
        let near: Vec<(f64, &Remembered)> =
            others.filter_map(|r| Some((may_be_here(r)?, r))).collect();
        if near.len() <= redraws as usize {
            return None;
        }
        let (_, known) = near.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        recalled(ground, known)
    }

    /// Remembers a new report.
    pub fn remember(&mut self, ground: &Ground, place: &OwnPlace, recalled: &Recalled, mode: Mode) {
        let here = ground.coord(place);
        let Some(report) = ground.report_coord(recalled.report) else { return };
        self.reports.push(Remembered {
            operator: ground.operator.to_string(),
            grid: ground.grid,
            place: [here.lat(), here.lon()],
            reach_km: ground.reach_km,
            report,
            epsilon_per_km: recalled.epsilon_per_km,
            mode,
            at: recalled.at,
        });
    }

    /// The centre that was asked around from this place, or the one that is chosen now.
    pub fn centre<E>(
        &mut self,
        ground: &Ground,
        place: &OwnPlace,
        choose: impl FnOnce() -> Result<u32, E>,
    ) -> Result<u32, E> {
        let here = ground.coord(place);
        let (operator, at) = (ground.operator.to_string(), [here.lat(), here.lon()]);
        let same = |a: &&Asked| a.operator == operator && a.grid == ground.grid && a.place == at;
        if let Some(asked) = self.asked.iter().find(same) {
            return Ok(asked.centre);
        }
        let centre = choose()?;
        self.asked.push(Asked { operator, grid: ground.grid, place: at, centre });
        Ok(centre)
    }

    /// The tiles among which `own` was hidden before.
    pub fn hidden(&self, ground: &Ground, tiling: Digest, own: u32) -> Option<&[u32]> {
        let operator = ground.operator.to_string();
        let same = |h: &&Hidden| {
            h.operator == operator && h.tiling == tiling && h.tiles.binary_search(&own).is_ok()
        };
        self.hidden.iter().find(same).map(|h| h.tiles.as_slice())
    }

    /// How many sets of tiles what may be this spot was hidden among.
    pub fn times_hidden(&self, ground: &Ground, place: &OwnPlace) -> usize {
        let (operator, here) = (ground.operator.to_string(), ground.coord(place));
        let near = |h: &&Hidden| {
            h.operator == operator
                && distance_km(here, h.place).is_some_and(|km| km <= 2.0 * ground.reach_km)
        };
        self.hidden.iter().filter(near).count()
    }

    /// Remembers a set of tiles.
    pub fn hide(&mut self, ground: &Ground, place: &OwnPlace, tiling: Digest, tiles: Vec<u32>) {
        let here = ground.coord(place);
        let (operator, place) = (ground.operator.to_string(), [here.lat(), here.lon()]);
        self.hidden.push(Hidden { operator, tiling, place, tiles });
    }

    fn of(&self, ground: &Ground) -> impl Iterator<Item = &Remembered> {
        let operator = ground.operator.to_string();
        self.reports.iter().filter(move |r| r.operator == operator)
    }
}

fn recalled(ground: &Ground, known: &Remembered) -> Option<Recalled> {
    let [lat, lon] = known.report;
    let report = ground.nearest_report(Coord::new(lat, lon).ok()?)?;
    Some(Recalled { report, at: known.at, epsilon_per_km: known.epsilon_per_km })
}

fn distance_km(here: Coord, [lat, lon]: [f64; 2]) -> Option<f64> {
    Some(here.distance_km(Coord::new(lat, lon).ok()?))
}
