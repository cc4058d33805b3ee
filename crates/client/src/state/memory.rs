//! Remembered reports: the same spot gives the same report.
//!
//! Fresh draws from one spot average out (10 reports at 5/km give it away three times of four), so a report is kept with
//! its *anchor*, the coordinate that it was drawn at, and given again to whoever is within a radius of it: in every mode,
//! after every restart, and on every later version of the map, where the old report is moved to the nearest place. That
//! is post-processing and tells nothing new. A fix that jitters, or a walk along the border of two cells, draws nothing.
//! Versions are told apart by the coordinates that the client itself has read, never by what the operator calls them.
//!
//! A mechanism on places has one row for all of a cell: that is not drawn from twice either, however small the radius.
//!
//! Of several anchors around a spot the *oldest* counts, not the nearest: anchors are only ever added at the end, so
//! what a spot was reported as once stays the first that covers it, whatever is drawn around it later.

use std::collections::BTreeSet;

use lrgeo_geo::{Coord, Digest, PlaceId};
use serde::{Deserialize, Serialize};

use crate::Mode;
use crate::ground::{Ground, OwnPlace};
use crate::outcome::Accuracy;

/// A report that was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    /// The operator's key: reports to different operators are different.
    pub operator: String,
    /// The hash of the coordinates of all places.
    pub grid: Digest,
    /// Latitude and longitude of where the user really was when it was drawn.
    pub anchor: [f64; 2],
    /// How far from there it is reported again.
    pub radius_km: f64,
    /// Latitude and longitude of the reported place.
    pub report: [f64; 2],
    /// The epsilon that it was drawn with.
    pub epsilon_per_km: f64,
    /// The radius around the report that holds the true position with 95 %, in metres, by what everybody knew when it was drawn; what was drawn
    /// before that was kept has none.
    #[serde(default)]
    pub accuracy_m: Option<u64>,
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
    pub centre: PlaceId,
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

/// A report for a spot.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The number of the reported place.
    pub report: PlaceId,
    /// When it was drawn.
    pub at: u64,
    /// The epsilon that it was drawn with.
    pub epsilon_per_km: f64,
    /// How far from where it was drawn it is reported again.
    pub radius_km: f64,
    /// How far off it may be, in metres.
    pub accuracy_m: Option<u64>,
    /// How it was drawn.
    pub mode: Mode,
}

impl Recalled {
    /// How far off it may be.
    pub fn accuracy(&self) -> Option<Accuracy> {
        self.accuracy_m.map(|metres| Accuracy::new(metres as f64 / 1000.0, self.mode))
    }
}

impl Remembered {
    /// Whether somebody here reports this again.
    fn is_around(&self, here: Coord) -> bool {
        distance_km(here, self.anchor).is_some_and(|km| km <= self.radius_km)
    }
}

impl Memory {
    /// Refuses entries that nobody has written.
    pub(super) fn validate(&self) -> Result<(), &'static str> {
        let is_coord = |[lat, lon]: [f64; 2]| Coord::new(lat, lon).is_ok();
        let sound = |r: &Remembered| {
            is_coord(r.anchor)
                && is_coord(r.report)
                && r.radius_km.is_finite()
                && r.radius_km >= 0.0
        };
        let places = self.asked.iter().map(|a| a.place).chain(self.hidden.iter().map(|h| h.place));
        match self.reports.iter().all(sound) && places.into_iter().all(is_coord) {
            true => Ok(()),
            false => Err("it remembers something that is no place"),
        }
    }

    /// What is reported from this spot: what the oldest anchor around it says, or in its own cell. Where all of them are of other versions of
    /// the map, a new draw is made while there are no more than `redraws`; an owner who wants such draws gets them back
    /// on the versions that they were made for.
    ///
    /// A spot that gets its report for being in the cell alone becomes an anchor of that report itself: on a map with
    /// other cells it must be reported alike too.
    pub fn recall(&mut self, ground: &Ground, at: Coord, redraws: u32) -> Option<Recalled> {
        let place = |at: Coord| ground.locate(at).ok().map(|OwnPlace(place)| place);
        let here = place(at);
        // Another draw from the very row that was drawn from would be the averaging that all of this is against.
        let same_row = |r: &Remembered| {
            let [lat, lon] = r.anchor;
            let there = Coord::new(lat, lon).ok().and_then(place);
            r.grid == ground.grid && here.is_some() && there == here
        };
        // First what is around on every map, then what is in the cell on this one: else versions would differ.
        let all = || self.of(ground);
        let around: Vec<&Remembered> =
            all().filter(|r| r.is_around(at)).chain(all().filter(|r| same_row(r))).collect();
        let of_this_version = || around.iter().find(|r| r.grid == ground.grid);
        // One draw may have several anchors.
        let draws =
            around.iter().map(|r| (r.at, r.report.map(f64::to_bits))).collect::<BTreeSet<_>>();
        let known = match (redraws, of_this_version()) {
            (0, _) => around.first(),
            (_, Some(known)) => Some(known),
            (_, None) => around.first().filter(|_| draws.len() > redraws as usize),
        };
        let known = Remembered::clone(known?);
        let recalled = recalled(ground, &known);
        if !known.is_around(at) {
            self.reports.push(Remembered { anchor: [at.lat(), at.lon()], ..known });
        }
        recalled
    }

    /// Remembers a new report, drawn at `at`, for everywhere within its radius.
    pub fn remember(&mut self, ground: &Ground, at: Coord, recalled: &Recalled) {
        let Some(report) = ground.report_coord(recalled.report) else { return };
        self.reports.push(Remembered {
            operator: ground.operator.to_string(),
            grid: ground.grid,
            anchor: [at.lat(), at.lon()],
            radius_km: recalled.radius_km,
            report,
            epsilon_per_km: recalled.epsilon_per_km,
            accuracy_m: recalled.accuracy_m,
            mode: recalled.mode,
            at: recalled.at,
        });
    }

    /// The centre that was asked around from this place, or the one that is chosen now.
    pub fn centre<E>(
        &mut self,
        ground: &Ground,
        place: &OwnPlace,
        choose: impl FnOnce() -> Result<PlaceId, E>,
    ) -> Result<PlaceId, E> {
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
    let old = Coord::new(lat, lon).ok()?;
    let report = ground.nearest_report(old)?;
    // On another version of the map the report is moved, and the circle around it must hold what it held.
    let moved_km = distance_km(old, ground.report_coord(report)?)?;
    let accuracy_m = known.accuracy_m.map(|metres| metres + (1000.0 * moved_km).ceil() as u64);
    let Remembered { at, epsilon_per_km, radius_km, mode, .. } = *known;
    Some(Recalled { report, at, epsilon_per_km, radius_km, accuracy_m, mode })
}

fn distance_km(here: Coord, [lat, lon]: [f64; 2]) -> Option<f64> {
    Some(here.distance_km(Coord::new(lat, lon).ok()?))
}
