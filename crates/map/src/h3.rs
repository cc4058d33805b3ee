//! Places as cells of H3, the hexagonal grid that many data sets are kept by.

use std::collections::HashSet;

use h3o::{CellIndex, LatLng, Resolution};
use lrgeo_geo::{BoundingBox, Coord, EARTH_RADIUS_KM};

use crate::MapError;
use crate::places::{MAX_PLACES, Place, Site};
use crate::region::Region;

/// How fine the cells are: 0 (a continent) to 15 (a square metre).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct H3Resolution(Resolution);

impl H3Resolution {
    /// Of its number.
    pub fn new(number: u8) -> Result<Self, MapError> {
        let wrong = |_| MapError::invalid("places", "an H3 resolution lies between 0 and 15");
        Resolution::try_from(number).map(Self).map_err(wrong)
    }

    /// Its number.
    pub fn number(self) -> u8 {
        self.0 as u8
    }

    /// The length of a cell's edge on average over the Earth, which is also how far its corners are from its centre, in
    /// kilometres.
    pub fn edge_km(self) -> f64 {
        self.0.edge_length_km()
    }

    /// The resolution of places whose ids are H3 cells, all of one resolution, that they lie in.
    pub fn of_places(places: &[Place]) -> Option<Self> {
        let cell = |place: &Place| {
            let cell: CellIndex = place.id.parse().ok()?;
            let at = LatLng::new(place.coord.lat(), place.coord.lon()).ok()?;
            (at.to_cell(cell.resolution()) == cell).then(|| cell.resolution())
        };
        let first = cell(places.first()?)?;
        places.iter().all(|place| cell(place) == Some(first)).then_some(Self(first))
    }
}

/// Where a cell's centre is.
fn centre(cell: CellIndex) -> Option<Coord> {
    let at = LatLng::from(cell);
    Coord::new(at.lat(), at.lng()).ok()
}

/// The cells whose centres lie in `bounds` and `region`, in order of their ids, and how far a corner is from the centre of its
/// cell at most, in kilometres.
pub(crate) fn cells(
    bounds: BoundingBox,
    region: &Region,
    resolution: H3Resolution,
) -> Result<(Vec<Site>, f64), MapError> {
    // A margin of two cells: thinner than that, the cells of a box may not touch each other.
    let wide = widened(bounds, 4.0 * resolution.edge_km());
    let [south, west, north, east] = wide.to_array().map(f64::to_radians);
    let area_km2 = EARTH_RADIUS_KM.powi(2) * (east - west) * (north.sin() - south.sin());
    let asked = (area_km2 / resolution.0.area_km2()) as u64;
    if asked > MAX_PLACES {
        return Err(MapError::TooLarge {
            what: "places (H3 cells)",
            asked,
            limit: MAX_PLACES,
            advice: "choose a coarser resolution (`places`) or a smaller `region`",
        });
    }
    let middle = wide.centre();
    let start = LatLng::new(middle.lat(), middle.lon());
    let start = start.map_err(|error| MapError::invalid("bbox", error.to_string()))?;
    let start = start.to_cell(resolution.0);
    let (mut found, mut open) = (HashSet::from([start]), vec![start]);
    while let Some(cell) = open.pop() {
        for next in cell.grid_disk_safe(1) {
            let inside = centre(next).is_some_and(|at| wide.contains(at));
            if inside && found.insert(next) {
                open.push(next);
            }
        }
    }
    let mut cells: Vec<(CellIndex, Coord)> = found
        .into_iter()
        .filter_map(|cell| Some((cell, centre(cell)?)))
        .filter(|&(_, at)| bounds.contains(at) && region.contains(at))
        .collect();
    cells.sort_unstable_by_key(|&(cell, _)| cell);
    let corner_km = |&(cell, at): &(CellIndex, Coord)| {
        let corners = cell.boundary();
        let corners = corners.iter().filter_map(|c| Coord::new(c.lat(), c.lng()).ok());
        corners.map(|corner| corner.distance_km(at)).fold(0.0, f64::max)
    };
    let reach_km = cells.iter().map(corner_km).fold(0.0, f64::max);
    let site = |(cell, coord): (CellIndex, Coord)| Site { id: cell.to_string(), coord };
    Ok((cells.into_iter().map(site).collect(), reach_km))
}

/// A box with this much more on every side; the same where that would cross the antimeridian.
fn widened(bounds: BoundingBox, km: f64) -> BoundingBox {
    let (low, high) = (bounds.south_west, bounds.north_east);
    let (south_west, north_east) = (low.offset_km(-km, -km), high.offset_km(km, km));
    match south_west.lon() <= low.lon() && north_east.lon() >= high.lon() {
        true => BoundingBox { south_west, north_east },
        false => bounds,
    }
}
