//! `--users`: where the users of a round are.

use std::path::PathBuf;
use std::str::FromStr;

use lrgeo_evaluation::attack::suite::random_users;
use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_mechanism::{City, Geography, MechanismError};

use super::Reach;
use crate::failure::Failure;
use crate::options::coord;
use crate::ways::shares;

/// Users from a file, or invented ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Users {
    /// So many, at random places, likelier where the prior is larger.
    Random(usize),
    /// One per line: the id of a place, or LAT,LON; after it, where people go different ways, one or `walk:0.3,drive:0.7`.
    File(PathBuf),
}

/// A place, and how often each way is gone from it where that was said.
type Person = (PlaceId, Option<Vec<f64>>);

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
    pub fn places(&self, city: &City, seed: u64) -> Result<Vec<PlaceId>, Failure> {
        Ok(self.with_ways(city, seed)?.0)
    }

    /// Their places, and how often each goes each way of the city: as the file says after the place, else as people at that
    /// place do. Random users each go one way, drawn likewise.
    pub fn with_ways(
        &self,
        city: &City,
        seed: u64,
    ) -> Result<(Vec<PlaceId>, Vec<Vec<f64>>), Failure> {
        let ids: Vec<&str> = city.map().places.iter().map(|place| place.id.as_str()).collect();
        let ways: Vec<&str> = city.ways().iter().map(|way| way.name()).collect();
        let people = self.among(city, &ids, &ways, seed)?;
        let mut rng = SplitMix::new(!seed);
        let shares = |(place, named): &Person| match (named, self) {
            (Some(shares), _) => shares.clone(),
            (None, Users::File(_)) => city.shares_at(*place),
            (None, Users::Random(_)) => one_of(&city.shares_at(*place), rng.unit()),
        };
        let shares = people.iter().map(shares).collect();
        Ok((people.into_iter().map(|(place, _)| place).collect(), shares))
    }

    /// The places of users where only the places and their names are known.
    pub fn among_places(
        &self,
        places: &Geography,
        ids: &[&str],
        seed: u64,
    ) -> Result<Vec<PlaceId>, Failure> {
        let people = self.among(places, ids, &[], seed)?;
        Ok(people.into_iter().map(|(place, _)| place).collect())
    }

    fn among(
        &self,
        places: &Geography,
        ids: &[&str],
        ways: &[&str],
        seed: u64,
    ) -> Result<Vec<Person>, Failure> {
        let path = match self {
            Users::Random(count) => {
                let people = random_users(places, *count, seed).into_iter();
                return Ok(people.map(|place| (place, None)).collect());
            }
            Users::File(path) => path,
        };
        let read = |error| Failure::Read { path: path.clone(), error };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let mut found = Vec::new();
        let reach = Reach::new(places.coords());
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // A place, and perhaps how its user goes.
            let (line, going) = match line.rsplit_once(char::is_whitespace) {
                Some((place, going)) => match shares(going, ways) {
                    Ok(shares) => (place.trim(), Some(shares)),
                    Err(_) => (line, None),
                },
                None => (line, None),
            };
            let named = ids.iter().position(|id| *id == line);
            let place = match (named, coord(line)) {
                (Some(place), _) => PlaceId::at(place),
                (None, Ok(at)) => reach.place_at(at, "users").map_err(|error| {
                    wrong_line(number, error.to_string().trim_start_matches("users: "))
                })?,
                (None, Err(_)) => {
                    return Err(wrong_line(
                        number,
                        "is neither the id of a place nor LAT,LON, with a way after it or not",
                    ));
                }
            };
            found.push((place, going));
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

/// All of one way: the one that a number below one falls on.
fn one_of(shares: &[f64], mut drawn: f64) -> Vec<f64> {
    let chosen = shares.iter().position(|share| {
        drawn -= share;
        drawn < 0.0
    });
    let chosen = chosen.unwrap_or(shares.len() - 1);
    (0..shares.len()).map(|way| f64::from(u8::from(way == chosen))).collect()
}
