//! Which tile a point belongs to: a fixed public grid of squares.

use lrgeo_geo::units::Length;
use lrgeo_geo::{BoundingBox, Coord, EARTH_RADIUS_KM};
use serde::{Deserialize, Serialize};

use crate::TileError;

/// More cells than this make a manifest that nobody wants to download.
pub const MOST_CELLS: u64 = 100_000;

/// Squares over the box of the places, and the tile that each belongs to. Made from the map and its
/// prior alone, never from a user. Squares have a side of one spacing of the places, or more where
/// places are uneven (less where thousands share one). They are joined to tiles of like population:
///
/// 1. All squares with places are one part. A part is cut in two between rows or between columns of
///    squares, across its longer side (of equals: between rows) if that is possible, otherwise
///    across the other, as long as both halves keep [`super::LEAST_PLACES`] likely places (or as many
///    as the operator asks for): `exp(-sum p ln p)` of the prior within; even where nobody is expected.
/// 2. Of all such cuts the one is taken whose half with fewer likely places has most of them, then
///    whose half with fewer places has most, then the southernmost or westernmost.
/// 3. A part of more than [`super::MOST_PLACES`] places is cut the same way whatever its halves keep.
/// 4. What is not cut is a tile; tiles are numbered from the south-west, half by half.
/// 5. A square without places belongs to the tile of the place nearest to its centre.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The side of the squares, in kilometres.
    pub side_km: f64,
    /// Latitude and longitude of the south-western corner.
    pub south_west: [f64; 2],
    /// Degrees of latitude and of longitude per square.
    pub step: [f64; 2],
    /// Squares from south to north.
    pub rows: u32,
    /// Squares from west to east.
    pub columns: u32,
    /// The tile of every square, row by row from the south-west.
    pub tiles: Vec<u32>,
}

impl Grid {
    /// Squares over the places and a margin around them. A degree of longitude is measured in the
    /// middle, so squares are equal in degrees. Their tiles are still to be said.
    pub fn over(bounds: BoundingBox, margin_km: f64, side: Length) -> Self {
        let [south, west, north, east] = bounds.to_array();
        let shrink = bounds.centre().lat().to_radians().cos().max(1e-6);
        let degrees = |km: f64| [km, km / shrink].map(|km| (km / EARTH_RADIUS_KM).to_degrees());
        let (margin, step) = (degrees(margin_km), degrees(side.km()));
        let south_west = [south - margin[0], west - margin[1]];
        // Saturating casts, and one more square than needed where a border falls on the margin.
        let count = |far: f64, axis: usize| {
            ((far + margin[axis] - south_west[axis]) / step[axis]).floor() as u32
        };
        let (rows, columns) = (count(north, 0).saturating_add(1), count(east, 1).saturating_add(1));
        Self { side_km: side.km(), south_west, step, rows, columns, tiles: Vec::new() }
    }

    /// How many squares.
    pub fn cells(&self) -> Result<usize, TileError> {
        let cells = u64::from(self.rows) * u64::from(self.columns);
        if cells > MOST_CELLS {
            let Self { side_km, rows, columns, .. } = self;
            return Err(TileError::Size(format!(
                "squares of {side_km} km make a grid of {rows} x {columns}, more than {MOST_CELLS}"
            )));
        }
        Ok(cells as usize)
    }

    /// The square that a point lies in; `None` outside the grid.
    pub fn cell_of(&self, at: Coord) -> Option<u64> {
        let index = |value: f64, axis: usize, count: u32| {
            let square = ((value - self.south_west[axis]) / self.step[axis]).floor();
            (square >= 0.0 && square < f64::from(count)).then_some(square as u64)
        };
        let (row, column) = (index(at.lat(), 0, self.rows)?, index(at.lon(), 1, self.columns)?);
        Some(row * u64::from(self.columns) + column)
    }

    /// The centre of a square.
    pub fn centre(&self, cell: usize) -> Option<Coord> {
        let columns = self.columns as usize;
        let middle = |axis: usize, index: usize| {
            self.south_west[axis] + (index as f64 + 0.5) * self.step[axis]
        };
        let (lat, lon) = (middle(0, cell / columns), middle(1, cell % columns));
        Coord::new(lat.clamp(-90.0, 90.0), lon.clamp(-180.0, 180.0)).ok()
    }

    /// The tile of a point, worked out from public numbers only; `None` outside the grid.
    ///
    /// Near a border the place nearest to a person may belong to the tile next door: ask with the
    /// coordinate of the place ([`super::Places::nearest`]), not with that of the person.
    pub fn tile_of(&self, at: Coord) -> Option<usize> {
        let cell = usize::try_from(self.cell_of(at)?).ok()?;
        self.tiles.get(cell).map(|&tile| tile as usize)
    }

    /// Refuses a grid that makes no sense or speaks of tiles that are not there.
    pub fn validate(&self, tiles: usize) -> Result<(), TileError> {
        let wrong = |reason: &str| Err(TileError::malformed("manifest", "grid", reason));
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !(self.step.into_iter().all(positive) && positive(self.side_km)) {
            return wrong("has squares without size");
        }
        if !self.south_west.into_iter().all(f64::is_finite) {
            return wrong("has no corner");
        }
        if self.cells().ok() != Some(self.tiles.len()) {
            return wrong("does not say the tile of every square");
        }
        let mut named = vec![false; tiles];
        for &tile in &self.tiles {
            match named.get_mut(tile as usize) {
                Some(named) => *named = true,
                None => return wrong("speaks of a tile that is not listed"),
            }
        }
        if !named.into_iter().all(|named| named) {
            return wrong("leaves out a tile that is listed");
        }
        Ok(())
    }
}
