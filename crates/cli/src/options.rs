//! Option values that several commands read alike.

use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use lrgeo_geo::units::Length;
use lrgeo_geo::{BoundingBox, Coord};
use lrgeo_map::map::TravelMode;

/// `S,W,N,E` in degrees.
pub fn bbox(text: &str) -> Result<BoundingBox, String> {
    let [south, west, north, east] = numbers(text, "S,W,N,E, like 41.8,12.4,41.9,12.6")?;
    BoundingBox::new(south, west, north, east).map_err(|e| e.to_string())
}

/// `LAT,LON` in degrees.
pub fn coord(text: &str) -> Result<Coord, String> {
    let [lat, lon]: [f64; 2] = numbers(text, "LAT,LON, like 41.89,12.49")?;
    Coord::new(lat, lon).map_err(|error| match Coord::new(lon, lat) {
        Ok(_) => format!("{error}: latitude comes first, then longitude"),
        Err(_) => error.to_string(),
    })
}

/// A circle: `LAT,LON,RADIUS`.
#[derive(Clone, Copy, Debug)]
pub struct Circle {
    pub centre: Coord,
    pub radius: Length,
}

impl FromStr for Circle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (centre, radius) =
            text.rsplit_once(',').ok_or("must be LAT,LON,RADIUS, like 41.89,12.49,2km")?;
        let radius = radius.parse::<Length>().map_err(|e| e.to_string())?;
        Ok(Self { centre: coord(centre)?, radius })
    }
}

/// A time in seconds: `90s`, `30m`, `24h`, `7d`.
pub fn seconds(text: &str) -> Result<u64, String> {
    let wrong = || "must be a time like 90s, 30m, 24h or 7d".to_owned();
    let text = text.trim();
    let bare = || format!("`{text}` has no unit; write it like 90s, 30m, 24h or 7d");
    let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(bare)?;
    let (number, unit) = text.split_at(split);
    let unit = match unit.trim() {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" | "day" | "days" => 86_400,
        _ => return Err(wrong()),
    };
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(wrong)
}

fn numbers<const N: usize>(text: &str, form: &str) -> Result<[f64; N], String> {
    let wrong = || format!("must be {form}");
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    numbers.map_err(|_| wrong())?.try_into().map_err(|_| wrong())
}

/// A CSV file and, after a colon, the column to read from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub path: PathBuf,
    pub column: Option<String>,
}

impl Column {
    /// `FILE.csv` or `FILE.csv:column`; a colon that is part of a path stays there.
    pub fn parse(text: &str) -> Self {
        match text.rsplit_once(':') {
            Some((path, column)) if !column.is_empty() && !column.contains(['/', '\\', '.']) => {
                Self { path: path.into(), column: Some(column.into()) }
            }
            _ => Self { path: text.into(), column: None },
        }
    }
}

/// `--travel`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Travel {
    /// Streets for cars, one-way rules, posted limits.
    #[default]
    Drive,
    /// Streets and footways, both ways, 4.8 km/h.
    Walk,
    /// Streets and cycleways, one-way rules where they hold for bicycles, 16 km/h.
    Bike,
}

impl From<Travel> for TravelMode {
    fn from(travel: Travel) -> Self {
        match travel {
            Travel::Drive => TravelMode::Drive,
            Travel::Walk => TravelMode::Walk,
            Travel::Bike => TravelMode::Bike,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_follows_the_last_colon() {
        let column = |text| Column::parse(text);
        assert_eq!(column("a.csv").column, None);
        assert_eq!(column("a.csv:pickups").column.as_deref(), Some("pickups"));
        assert_eq!(column("C:/data/a.csv").column, None);
        assert_eq!(column("C:/data/a.csv:n").path, PathBuf::from("C:/data/a.csv"));
    }
}
