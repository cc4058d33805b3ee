//! Remembered reports: the same place gives the same report.
//!
//! Fresh draws from one place average out (spec section 9: 10 reports at 5/km give 74 % away), so a place
//! that was reported once is reported alike in every mode, after every restart, and on later versions of the
//! map, where the old report is moved to the nearest place: that is post-processing and tells nothing new.

use lrgeo_map::geo::Coord;
use lrgeo_protocol::Digest;
use serde::{Deserialize, Serialize};

use crate::Mode;
use crate::ground::{Ground, OwnPlace};

/// A report that was drawn, or moved to another version of the map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    /// The operator's key: reports to different operators are different.
    pub operator: String,
    /// The version of the map.
    pub map: Digest,
    /// Latitude and longitude of the true place on that map.
    pub place: [f64; 2],
    /// Latitude and longitude of the reported place.
    pub report: [f64; 2],
    /// The epsilon that it was drawn with.
    pub epsilon_per_km: f64,
    /// How it was drawn.
    pub mode: Mode,
    /// When it was drawn, in seconds since 1970.
    pub at: u64,
    /// Whether it was moved here from another version of the map.
    pub moved: bool,
}

/// The centre v_a that a circle of the cost table was asked around: asking again around another one would
/// give away more (spec section 9: 98 % after 10 requests).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The operator's key.
    pub operator: String,
    /// The version of the map.
    pub map: Digest,
    /// Latitude and longitude of the true place.
    pub place: [f64; 2],
    /// The number of the place in the centre.
    pub centre: u32,
}

/// Everything that was said about places.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Reports, oldest first.
    pub reports: Vec<Remembered>,
    /// Circles, oldest first.
    pub asked: Vec<Asked>,
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
        let sound = |r: &Remembered| is_coord(r.place) && is_coord(r.report);
        match self.reports.iter().all(sound) && self.asked.iter().all(|a| is_coord(a.place)) {
            true => Ok(()),
            false => Err("it remembers something that is no place"),
        }
    }

    /// What was reported from this place before. A report from another version of the map is moved to
    /// this one, and remembered as such.
    pub fn recall(&mut self, ground: &Ground, place: &OwnPlace) -> Option<Recalled> {
        let here = ground.coord(place);
        let same_map = |r: &&Remembered| r.map == ground.map && r.place == [here.lat(), here.lon()];
        if let Some(known) = self.of(ground).find(same_map) {
            return recalled(ground, known);
        }
        // Of the places of other versions the nearest, if it can stand for the same neighbourhood.
        let reach_km = ground.spacing_km / 2.0;
        let others = self.of(ground).filter(|r| r.map != ground.map);
        let distances = others.filter_map(|r| Some((distance_km(here, r.place)?, r)));
        let near = distances.filter(|(km, _)| *km <= reach_km);
        let (_, known) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let found = recalled(ground, known)?;
        let moved = Remembered {
            map: ground.map,
            place: [here.lat(), here.lon()],
            report: ground.report_coord(found.report)?,
            moved: true,
            ..known.clone()
        };
        self.reports.push(moved);
        Some(found)
    }

    /// Remembers a new report.
    pub fn remember(
        &mut self,
        ground: &Ground,
        place: &OwnPlace,
        report: u32,
        mode: Mode,
        at: u64,
    ) {
        let here = ground.coord(place);
        let Some(report) = ground.report_coord(report) else { return };
        self.reports.push(Remembered {
            operator: ground.operator.to_string(),
            map: ground.map,
            place: [here.lat(), here.lon()],
            report,
            epsilon_per_km: ground.epsilon.value(),
            mode,
            at,
            moved: false,
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
        let same = |a: &&Asked| a.operator == operator && a.map == ground.map && a.place == at;
        if let Some(asked) = self.asked.iter().find(same) {
            return Ok(asked.centre);
        }
        let centre = choose()?;
        self.asked.push(Asked { operator, map: ground.map, place: at, centre });
        Ok(centre)
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
