//! The location set V: where users can be, and what they can report.

use lrgeo_geo::twins::{Twin, twins};
use lrgeo_geo::units::{Length, Travel};
use lrgeo_geo::{BoundingBox, Coord, EARTH_RADIUS_KM};

use crate::MapError;
use crate::region::Region;

/// More places than this are refused: a finer grid than any city needs.
pub const MAX_PLACES: u64 = 4_000_000;

/// One place of V.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// As its source calls it: `r3c7` on a grid, the id of a CSV file, the number of a node.
    pub id: String,
    /// Where it is.
    pub coord: Coord,
    /// The street node it is reached by.
    pub node: u32,
    /// The straight way to that node, in millimetres (rounded up).
    pub leg: Travel,
    /// The probability that a user is here.
    pub prior: f64,
}

/// Where a place would be, before it is tied to a street.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Its name.
    pub id: String,
    /// Where it is.
    pub coord: Coord,
}

/// Refuses places of which two cannot be told apart (see [`lrgeo_geo::twins`]). `what` says where they come from.
pub(crate) fn ensure_apart(
    what: &str,
    places: &[Place],
    advice: &'static str,
) -> Result<(), MapError> {
    let coords: Vec<Coord> = places.iter().map(|place| place.coord).collect();
    let twins = twins(&coords);
    let Some(&Twin { first, second, km }) = twins.first() else { return Ok(()) };
    Err(MapError::SamePlace {
        what: what.to_owned(),
        ids: [first, second].map(|place| places[place as usize].id.clone()),
        metres: 1000.0 * km,
        others: twins.len() - 1,
        advice,
    })
}

/// The centres of equal square cells that cover `bounds`, row by row from the south-west, those
/// outside `region` left out (`docs/specification.md` section 1).
pub fn grid(bounds: BoundingBox, region: &Region, cell: Length) -> Result<Vec<Site>, MapError> {
    let grid = Grid::new(bounds, cell);
    let count = u64::from(grid.rows) * u64::from(grid.columns);
    if count > MAX_PLACES {
        return Err(MapError::TooLarge {
            what: "places (grid cells)",
            asked: count,
            limit: MAX_PLACES,
            advice: "choose larger cells (`places`) or a smaller `region`",
        });
    }
    let sites = (0..grid.rows).flat_map(|row| (0..grid.columns).map(move |column| (row, column)));
    Ok(sites
        .map(|(row, column)| Site {
            id: format!("r{row}c{column}"),
            coord: grid.centre(row, column),
        })
        .filter(|site| region.contains(site.coord))
        .collect())
}

/// Equal square cells over a box. A degree of longitude is measured at the middle latitude, so
/// cells are equal in degrees and, over a city, square to a fraction of a per cent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    origin: Coord,
    step_lat: f64,
    step_lon: f64,
    pub(crate) rows: u32,
    pub(crate) columns: u32,
}

impl Grid {
    pub(crate) fn new(bounds: BoundingBox, cell: Length) -> Self {
        let [south, west, north, east] = bounds.to_array();
        let step_lat = (cell.km() / EARTH_RADIUS_KM).to_degrees();
        let step_lon = step_lat / bounds.centre().lat().to_radians().cos().max(1e-6);
        // Saturating casts; a last sliver of a cell, from rounding, is not a cell.
        let cells = |span: f64, step: f64| ((span / step - 1e-9).ceil() as u32).max(1);
        Self {
            origin: bounds.south_west,
            step_lat,
            step_lon,
            rows: cells(north - south, step_lat),
            columns: cells(east - west, step_lon),
        }
    }

    /// Origin and step in degrees, for a file; the counts go beside them.
    pub(crate) fn to_arrays(self) -> [[f64; 2]; 2] {
        [[self.origin.lat(), self.origin.lon()], [self.step_lat, self.step_lon]]
    }

    /// The inverse of [`Grid::to_arrays`] on what a file holds.
    pub(crate) fn from_arrays(numbers: &[f64], size: &[u32]) -> Option<Self> {
        let (&[lat, lon, step_lat, step_lon, ..], &[rows, columns]) = (numbers, size) else {
            return None;
        };
        let sound = step_lat > 0.0 && step_lon > 0.0 && rows > 0 && columns > 0;
        let origin = Coord::new(lat, lon).ok()?;
        sound.then_some(Self { origin, step_lat, step_lon, rows, columns })
    }

    pub(crate) fn centre(&self, row: u32, column: u32) -> Coord {
        let lat = self.origin.lat() + (f64::from(row) + 0.5) * self.step_lat;
        let lon = self.origin.lon() + (f64::from(column) + 0.5) * self.step_lon;
        Coord::new(lat.min(90.0), lon.min(180.0)).unwrap_or(self.origin)
    }

    /// The cell that `p` lies in; points outside belong to the nearest cell of the border.
    pub(crate) fn cell_of(&self, p: Coord) -> (u32, u32) {
        let index = |value: f64, origin: f64, step: f64, count: u32| {
            (((value - origin) / step).floor().max(0.0) as u32).min(count - 1)
        };
        (
            index(p.lat(), self.origin.lat(), self.step_lat, self.rows),
            index(p.lon(), self.origin.lon(), self.step_lon, self.columns),
        )
    }
}
