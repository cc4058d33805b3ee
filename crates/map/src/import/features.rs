//! What GeoJSON and Parquet files have in common once read: rows with an id, a shape and a weight.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use lrgeo_geo::Coord;
use serde_json::Value;

use super::names::{ID, LAT, LON, WEIGHT};
use crate::MapError;
use crate::build::Weights;
use crate::geojson::{self, Feature, Shape, id_text};
use crate::places::Site;

/// Where things of a file are, what they are called and what they weigh.
pub(super) struct Rows<'p> {
    pub(super) path: &'p Path,
    pub(super) rows: Vec<Row>,
}

/// One feature of GeoJSON, or one row of Parquet.
pub(super) struct Row {
    /// For errors: `features[3]`, `row 4`.
    pub(super) at: String,
    pub(super) id: Option<String>,
    pub(super) shape: Option<Shape>,
    pub(super) weight: Option<f64>,
}

/// The value of the first of `names` that is there, whatever its case.
fn property<'f>(feature: &'f Feature, names: &[&str]) -> Option<(&'f str, &'f Value)> {
    names.iter().find_map(|name| {
        let mut all = feature.properties.iter();
        let found = all.find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null());
        found.map(|(key, value)| (key.as_str(), value))
    })
}

/// Reads a GeoJSON file. Of the map that `lrgeo map export --geojson` writes only the places are taken.
pub(super) fn from_geojson<'p>(path: &'p Path, column: Option<&str>) -> Result<Rows<'p>, MapError> {
    let mut rows = Vec::new();
    for feature in geojson::read(path)? {
        if matches!(
            feature.properties.get("kind").and_then(Value::as_str),
            Some("street" | "target")
        ) {
            continue;
        }
        let refuse = |(field, reason): (String, String)| MapError::field(path, field, reason);
        let id = match (&feature.id, property(&feature, ID)) {
            (Some(id), _) => Some(id.clone()),
            (None, Some((key, value))) => Some(
                id_text(value, || format!("{}.properties.{key}", feature.at)).map_err(refuse)?,
            ),
            (None, None) => None,
        };
        let names = column.as_ref().map_or(WEIGHT, std::slice::from_ref);
        let weight = match property(&feature, names) {
            Some((key, value)) => {
                let field = || format!("{}.properties.{key}", feature.at);
                let number = value.as_f64().ok_or_else(|| {
                    MapError::field(path, field(), format!("`{value}` is not a number"))
                })?;
                Some(weight(path, number, field)?)
            }
            None => None,
        };
        rows.push(Row { at: feature.at, id, shape: Some(feature.shape), weight });
    }
    Ok(Rows { path, rows })
}

/// A weight: finite and not negative.
pub(super) fn weight(
    path: &Path,
    number: f64,
    field: impl FnOnce() -> String,
) -> Result<f64, MapError> {
    match number.is_finite() && number >= 0.0 {
        true => Ok(number),
        false => {
            Err(MapError::field(path, field(), format!("{number} is not finite, or negative")))
        }
    }
}

impl Rows<'_> {
    fn error(&self, row: &Row, field: &str, reason: impl Into<String>) -> MapError {
        MapError::field(self.path, format!("{}{field}", row.at), reason)
    }

    /// Where a row is: a point, or the centroid of an area.
    fn coord(&self, row: &Row) -> Result<Coord, MapError> {
        match &row.shape {
            Some(Shape::Point(coord)) => Ok(*coord),
            Some(Shape::Area(polygon)) => polygon
                .centroid()
                .ok_or_else(|| self.error(row, ", geometry", "an area of no size has no centre")),
            Some(Shape::Other(kind)) => {
                let reason = format!("{kind} is no place; use points, or areas with a centre");
                Err(self.error(row, ", geometry", reason))
            }
            None => {
                let reason = format!("missing; a geometry, or {} and {}", LAT[0], LON[0]);
                Err(self.error(row, ", geometry", reason))
            }
        }
    }

    /// Places. Where no row has an id they are numbered; where some have, all must.
    pub(super) fn sites(&self) -> Result<Vec<Site>, MapError> {
        self.ensure_some()?;
        let named = self.rows.iter().any(|row| row.id.is_some());
        let mut seen = HashSet::new();
        let mut sites = Vec::with_capacity(self.rows.len());
        for (n, row) in self.rows.iter().enumerate() {
            let id = match &row.id {
                Some(id) => id.clone(),
                None if !named => n.to_string(),
                None => return Err(self.error(row, ".id", "missing, though others have one")),
            };
            if !seen.insert(id.clone()) {
                let reason = format!("`{id}` stands twice; ids must be different");
                return Err(self.error(row, ".id", reason));
            }
            sites.push(Site { id, coord: self.coord(row)? });
        }
        Ok(sites)
    }

    /// Points with the names they have.
    pub(super) fn points(&self) -> Result<Vec<(Option<String>, Coord)>, MapError> {
        self.ensure_some()?;
        self.rows.iter().map(|row| Ok((row.id.clone(), self.coord(row)?))).collect()
    }

    /// Weights at points, over areas, or by id where there are no shapes. Without any weight every row counts one.
    pub(super) fn weights(&self, column: Option<&str>) -> Result<Weights, MapError> {
        self.ensure_some()?;
        let weighted = column.is_some() || self.rows.iter().any(|row| row.weight.is_some());
        let weight = |row: &Row| match row.weight {
            Some(weight) => Ok(weight),
            None if !weighted => Ok(1.0),
            None => {
                let name = column.unwrap_or(WEIGHT[0]);
                Err(self.error(row, &format!(", {name}"), "missing; every row needs a weight"))
            }
        };
        let (mut points, mut areas, mut by_id) = (Vec::new(), Vec::new(), HashMap::new());
        for row in &self.rows {
            match (&row.shape, &row.id) {
                (Some(Shape::Point(coord)), _) => points.push((*coord, weight(row)?)),
                (Some(Shape::Area(polygon)), _) => areas.push((polygon.clone(), weight(row)?)),
                (Some(Shape::Other(kind)), _) => {
                    let reason = format!("{kind} can have no weight; use points or areas");
                    return Err(self.error(row, ", geometry", reason));
                }
                (None, Some(id)) => {
                    if by_id.insert(id.clone(), weight(row)?).is_some() {
                        let reason = format!("`{id}` stands twice; ids must be different");
                        return Err(self.error(row, ".id", reason));
                    }
                }
                (None, None) => return self.coord(row).map(|_| Weights::At(Vec::new())),
            }
        }
        match (points.is_empty(), areas.is_empty(), by_id.is_empty()) {
            (false, true, true) => Ok(Weights::At(points)),
            (true, false, true) => Ok(Weights::Over(areas)),
            (true, true, false) => Ok(Weights::ById(by_id)),
            _ => Err(MapError::field(
                self.path,
                "geometry",
                "points and areas in one file; give them in two, or the areas by their centres",
            )),
        }
    }

    fn ensure_some(&self) -> Result<(), MapError> {
        match self.rows.is_empty() {
            true => Err(MapError::file(self.path, "has no features or rows")),
            false => Ok(()),
        }
    }
}
