//! The part of the Earth a map covers: everything, a box, or a polygon from GeoJSON.

use std::path::Path;

use lrgeo_geo::{BoundingBox, Coord};

use crate::MapError;

/// Which streets and places belong to the map.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// All of the source.
    Everything,
    /// Inside a box.
    Box(BoundingBox),
    /// Inside polygons (even-odd rule, so holes are left out).
    Polygon(Polygon),
}

/// Closed rings of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    rings: Vec<Vec<Coord>>,
    bounds: BoundingBox,
}

impl Region {
    /// Whether `p` belongs to the region.
    pub fn contains(&self, p: Coord) -> bool {
        match self {
            Region::Everything => true,
            Region::Box(bounds) => bounds.contains(p),
            Region::Polygon(polygon) => polygon.contains(p),
        }
    }

    /// The box around the region; `None` for everything.
    pub fn bounds(&self) -> Option<BoundingBox> {
        match self {
            Region::Everything => None,
            Region::Box(bounds) => Some(*bounds),
            Region::Polygon(polygon) => Some(polygon.bounds),
        }
    }
}

impl Polygon {
    /// Reads a GeoJSON file: a Polygon or MultiPolygon, bare, in a Feature or in a collection.
    pub fn read(path: &Path) -> Result<Self, MapError> {
        let text = std::fs::read_to_string(path).map_err(MapError::io(path))?;
        let json: serde_json::Value = serde_json::from_str(&text)
            .map_err(|e| MapError::file(path, format!("not GeoJSON: {e}")))?;
        let mut rings = Vec::new();
        collect_rings(&json, &mut rings).map_err(|reason| MapError::file(path, reason))?;
        let bounds = BoundingBox::around(rings.iter().flatten().copied()).ok_or_else(|| {
            MapError::file(path, "no Polygon or MultiPolygon in it; only areas can be used")
        })?;
        Ok(Self { rings, bounds })
    }

    fn contains(&self, p: Coord) -> bool {
        if !self.bounds.contains(p) {
            return false;
        }
        let crossings = self.rings.iter().flat_map(|ring| ring.windows(2)).filter(|side| {
            let (a, b) = (side[0], side[1]);
            (a.lat() > p.lat()) != (b.lat() > p.lat())
                && p.lon()
                    < (b.lon() - a.lon()) * (p.lat() - a.lat()) / (b.lat() - a.lat()) + a.lon()
        });
        crossings.count() % 2 == 1
    }
}

fn collect_rings(json: &serde_json::Value, rings: &mut Vec<Vec<Coord>>) -> Result<(), String> {
    let list = |key: &str| json[key].as_array().ok_or(format!("{key}: must be a list"));
    match json["type"].as_str() {
        Some("FeatureCollection") => {
            list("features")?.iter().try_for_each(|f| collect_rings(f, rings))
        }
        Some("GeometryCollection") => {
            list("geometries")?.iter().try_for_each(|g| collect_rings(g, rings))
        }
        Some("Feature") => collect_rings(&json["geometry"], rings),
        Some("Polygon") => collect_polygon(&json["coordinates"], rings),
        Some("MultiPolygon") => {
            list("coordinates")?.iter().try_for_each(|p| collect_polygon(p, rings))
        }
        Some(_) => Ok(()),
        None => Err("type: missing; not a GeoJSON object".into()),
    }
}

fn collect_polygon(json: &serde_json::Value, rings: &mut Vec<Vec<Coord>>) -> Result<(), String> {
    for (r, ring) in json.as_array().ok_or("coordinates: must be a list")?.iter().enumerate() {
        let points = ring.as_array().ok_or(format!("coordinates[{r}]: must be a list"))?;
        let mut coords = Vec::with_capacity(points.len() + 1);
        for (i, point) in points.iter().enumerate() {
            let (Some(lon), Some(lat)) = (point[0].as_f64(), point[1].as_f64()) else {
                return Err(format!("coordinates[{r}][{i}]: must be [lon, lat]"));
            };
            let coord = Coord::new(lat, lon).map_err(|e| format!("coordinates[{r}][{i}], {e}"))?;
            coords.push(coord);
        }
        if coords.len() < 3 {
            return Err(format!("coordinates[{r}]: a ring needs at least three points"));
        }
        if coords.first() != coords.last() {
            coords.push(coords[0]);
        }
        rings.push(coords);
    }
    Ok(())
}
