//! `--users`: where the users of a round are.

use std::path::PathBuf;
use std::str::FromStr;

use lrgeo_geo::rng::SplitMix;
use lrgeo_mechanism::{City, Geography, MechanismError};

use super::place_at;
use crate::failure::Failure;
use crate::options::coord;

/// Users from a file, or invented ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Users {
    /// So many, at random places, likelier where the prior is larger.
    Random(usize),
    /// One per line: the id of a place, or LAT,LON.
    File(PathBuf),
}

impl FromStr for Users {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("random:") {
            None => Ok(Users::File(text.into())),
            Some(number) => match number.parse() {
                Ok(count) if count > 0 => Ok(Users::Random(count)),
                _ => Err("must be a file or random:N, like random:10".into()),
            },
        }
    }
}

impl Users {
    /// Their places. What stands in the file is nobody's business: messages name lines only.
    pub fn places(&self, city: &City, seed: u64) -> Result<Vec<u32>, Failure> {
        let ids: Vec<&str> = city.map().places.iter().map(|place| place.id.as_str()).collect();
        self.among(city, &ids, seed)
    }

    /// The same where only the places and their names are known.
    pub fn among(&self, places: &Geography, ids: &[&str], seed: u64) -> Result<Vec<u32>, Failure> {
        let path = match self {
            Users::Random(count) => return Ok(random(places, *count, seed)),
            Users::File(path) => path,
        };
        let read = |error| Failure::Read { path: path.clone(), error };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let mut found = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let named = ids.iter().position(|id| *id == line);
            let place = match (named, coord(line)) {
                (Some(place), _) => place as u32,
                (None, Ok(at)) => place_at(places.coords(), at, "users").map_err(|error| {
                    wrong_line(number, error.to_string().trim_start_matches("users: "))
                })?,
                (None, Err(_)) => {
                    return Err(wrong_line(number, "is neither the id of a place nor LAT,LON"));
                }
            };
            found.push(place);
        }
        if found.is_empty() {
            return Err(MechanismError::invalid("users", "the file names no user").into());
        }
        Ok(found)
    }
}

fn wrong_line(number: usize, reason: &str) -> Failure {
    MechanismError::invalid("users", format!("line {}: {reason}", number + 1)).into()
}

/// Different places, drawn by their prior.
fn random(city: &Geography, count: usize, seed: u64) -> Vec<u32> {
    let mut rng = SplitMix::new(seed);
    let mut weights = city.prior().to_vec();
    if weights.iter().sum::<f64>() <= 0.0 {
        weights.fill(1.0);
    }
    let mut places = Vec::new();
    while places.len() < count {
        let mut left = rng.unit() * weights.iter().sum::<f64>();
        let Some(place) = (0..weights.len()).filter(|&i| weights[i] > 0.0).find(|&i| {
            left -= weights[i];
            left <= 0.0
        }) else {
            break;
        };
        weights[place] = 0.0;
        places.push(place as u32);
    }
    places
}
