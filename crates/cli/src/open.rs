//! What several commands open: a map or the demo city, the city on it, the place in its middle.

use std::path::Path;

use lrgeo_geo::Digest;
use lrgeo_geo::units::Length;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::map::Map;
use lrgeo_mechanism::{City, MechanismError};
use lrgeo_show::demo::demo_map;

use crate::failure::Failure;
use crate::ui::Ui;
use crate::ways::Ways;

/// A map from a file, or the demo city with 500 m between places.
pub fn map(path: Option<&Path>) -> Result<(Map, Digest), Failure> {
    if let Some(path) = path {
        return Ok(Map::open(path)?);
    }
    let map = demo_map(1, Length::from_km(0.5)?)?;
    let version = map.version();
    Ok((map, version))
}

/// The city of a map, or the demo city, or a block of `places` around its middle.
pub fn city(
    path: Option<&Path>,
    places: Option<usize>,
    ways: &Ways,
    ui: &Ui,
) -> Result<City, Failure> {
    let (map, version) = block(path, places)?;
    ways.city(map, version, ui)
}

/// The map of that city, whose ways are not measured yet: what is to be held against it is, before that takes its time.
pub fn block(path: Option<&Path>, places: Option<usize>) -> Result<(Map, Digest), Failure> {
    let (mut map, mut version) = map(path)?;
    if let Some(count) = places {
        if !(2..=map.places.len()).contains(&count) {
            let reason = format!("must lie between 2 and the map's {}", map.places.len());
            return Err(MechanismError::invalid("places", reason).into());
        }
        map = map.with_places(&map.central_block(count));
        version = map.version();
    }
    Ok((map, version))
}

/// The place nearest to the middle of a city.
pub fn middle(city: &City) -> PlaceId {
    let n = city.places() as f64;
    let mean = |of: fn(Coord) -> f64| city.coords().iter().map(|&at| of(at)).sum::<f64>() / n;
    let centre = Coord::new(mean(Coord::lat), mean(Coord::lon));
    centre.ok().and_then(|at| city.nearest(at)).map_or(PlaceId::default(), |(place, _)| place)
}
