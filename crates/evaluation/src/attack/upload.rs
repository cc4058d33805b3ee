//! The server of the paper's protocol looks at one upload and names the place (`docs/specification.md` section 9).
//!
//! The map is public, so it works out what a user at each place would have uploaded and compares. The
//! rows of an upload have no names; that does not help.

use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::lr_geo::coefficients::{Coefficients, Costs, UserPart};
use lrgeo_mechanism::relevant::{TieRule, relevant_places};
use lrgeo_mechanism::{Geography, MechanismError, Plan};
use lrgeo_tiles::Manifest;
use rayon::prelude::*;

use super::{Attack, Trial};

/// What is done to distances before they are uploaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Defence {
    /// Nothing.
    None,
    /// Rounded to multiples of so many kilometres.
    Rounded(f64),
    /// Each distance moved by up to so many kilometres, for itself.
    Noise(f64),
    /// Each place moved by up to so many kilometres before distances are taken.
    Jitter(f64),
}

impl Defence {
    /// What it does, in words.
    fn name(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Rounded(km) => format!(", rounded to {:.0} m", 1000.0 * km),
            Self::Noise(km) => format!(", each moved by up to {:.0} m", 1000.0 * km),
            Self::Jitter(km) => format!(", places moved by up to {:.0} m", 1000.0 * km),
        }
    }
}

/// Everything that users at all places would upload, reduced to what is compared.
pub struct Fingerprints<'a> {
    places: &'a Geography,
    edge: &'a [bool],
    prints: Vec<Print>,
    progress: &'a dyn Progress,
}

/// Distances in all uploads together: 4 GB of them.
const MOST_DISTANCES: usize = 500_000_000;

struct Print {
    relevant: Vec<PlaceId>,
    /// Distances between relevant places, each pair once, in the order of the rows.
    between: Vec<f64>,
    /// Order-free hashes of costs and of the reportable places.
    cost: u64,
    columns: u64,
}

impl<'a> Fingerprints<'a> {
    /// Works out the uploads of all places; refuses to where they do not fit into memory.
    pub fn new(
        places: &'a Geography,
        graph: Option<&NeighbourGraph>,
        costs: &Costs<'_>,
        plan: &Plan,
        edge: &'a [bool],
        progress: &'a dyn Progress,
    ) -> Result<Self, MechanismError> {
        let all: Vec<PlaceId> = PlaceId::all(places.places()).collect();
        let pairs = |&place: &PlaceId| relevant_places(places, graph, plan, place).len().pow(2) / 2;
        let distances: usize = all.par_iter().map(pairs).sum();
        if distances > MOST_DISTANCES {
            let reason = format!(
                "the uploads of all places hold {distances} distances, more than the {MOST_DISTANCES} that are \
                 compared at once; lower `radii.relevant` or take a map with fewer places"
            );
            return Err(MechanismError::invalid("radii.relevant", reason));
        }
        let rule = TieRule::of(plan, places)?;
        progress.begin("uploads of all places", places.places() as u64);
        let print = |place: PlaceId| {
            let part = UserPart::prepare(places, graph, costs, (plan, &rule), place);
            progress.advance(1);
            Print::of(part.relevant, &part.upload)
        };
        let prints = all.into_par_iter().map(print).collect();
        progress.end();
        Ok(Self { places, edge, prints, progress })
    }

    /// Costs alone, rows in any order.
    pub fn costs(&self, users: &[PlaceId]) -> Option<Attack> {
        self.exact("costs C_hat, rows in any order", users, |print| print.cost)
    }

    /// The set of reportable places alone.
    pub fn columns(&self, users: &[PlaceId]) -> Option<Attack> {
        self.exact("reportable places alone", users, |print| print.columns)
    }

    fn exact(
        &self,
        name: &str,
        users: &[PlaceId],
        key: impl Fn(&Print) -> u64 + Sync,
    ) -> Option<Attack> {
        let trial = |&user: &PlaceId| {
            let own = key(&self.prints[user.index()]);
            let score = |(v, print): (usize, &Print)| {
                (PlaceId::at(v), if key(print) == own { 0.0 } else { 1.0 })
            };
            let scores: Vec<(PlaceId, f64)> = self.prints.iter().enumerate().map(score).collect();
            Trial::rank(self.places, user, self.edge[user.index()], &scores)
        };
        Attack::of(name, &users.par_iter().map(trial).collect::<Vec<_>>())
    }

    /// Distances between relevant places alone. `aligned`: rows come in the order of their distance from
    /// the user, as they would without shuffling. The attacker takes the nearest of all undisturbed
    /// fingerprints.
    pub fn distances(
        &self,
        users: &[PlaceId],
        aligned: bool,
        defence: Defence,
        seed: u64,
    ) -> Option<Attack> {
        let order = |mut values: Vec<f64>| {
            if !aligned {
                values.sort_by(f64::total_cmp);
            }
            values
        };
        let known: Vec<Vec<f64>> = self.prints.iter().map(|p| order(p.between.clone())).collect();
        let trial = |&user: &PlaceId| {
            let seen = order(self.disturbed(user, defence, seed));
            let score = |(v, print): (usize, &Vec<f64>)| (PlaceId::at(v), distance(&seen, print));
            let scores: Vec<(PlaceId, f64)> = known.iter().enumerate().map(score).collect();
            self.progress.advance(1);
            Trial::rank(self.places, user, self.edge[user.index()], &scores)
        };
        let rows = if aligned { "rows in order" } else { "rows in any order" };
        let name = format!("distances D, {rows}{}", defence.name());
        self.progress.begin("comparing distances", users.len() as u64);
        let trials: Vec<Trial> = users.par_iter().map(trial).collect();
        self.progress.end();
        Attack::of(name, &trials)
    }

    fn disturbed(&self, user: PlaceId, defence: Defence, seed: u64) -> Vec<f64> {
        let print = &self.prints[user.index()];
        let mut random =
            SplitMix::new(seed ^ u64::from(user.number()).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match defence {
            Defence::None => print.between.clone(),
            Defence::Rounded(km) => print.between.iter().map(|d| (d / km).round() * km).collect(),
            Defence::Noise(km) => {
                print.between.iter().map(|d| (d + random.between(-km, km)).max(0.0)).collect()
            }
            Defence::Jitter(km) => {
                let moved: Vec<Coord> = print
                    .relevant
                    .iter()
                    .map(|&v| {
                        let at = self.places.coords()[v.index()];
                        at.offset_km(random.between(-km, km), random.between(-km, km))
                    })
                    .collect();
                pairs(moved.len()).map(|(i, j)| moved[i].distance_km(moved[j])).collect()
            }
        }
    }
}

impl Print {
    fn of(relevant: Vec<PlaceId>, upload: &Coefficients) -> Self {
        let between =
            pairs(upload.rows).map(|(i, j)| upload.between[i * upload.rows + j]).collect();
        let mut cost: Vec<u64> = upload.cost.iter().map(|c| c.to_bits()).collect();
        cost.sort_unstable();
        let columns = upload.columns.iter().map(|k| u64::from(k.number()));
        Self { relevant, between, cost: hash(cost), columns: hash(columns) }
    }
}

/// Every pair of rows once.
fn pairs(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(|i| (0..i).map(move |j| (i, j)))
}

/// A 64-bit hash of numbers in order.
fn hash(numbers: impl IntoIterator<Item = u64>) -> u64 {
    let mix = |state: u64, number: u64| SplitMix::new(state ^ number).bits();
    numbers.into_iter().fold(0x243f_6a88_85a3_08d3, mix)
}

/// How far two fingerprints are apart; another number of relevant places is another place.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    // Haversines of the same pair of places are the same number; sums of squares of others are not 0.
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// The modes `published` and `local`: the server sees a tile, and knows the prior within it.
pub fn tile(
    places: &Geography,
    manifest: &Manifest,
    users: &[PlaceId],
    edge: &[bool],
) -> Option<Attack> {
    let tile_of: Vec<Option<usize>> =
        places.coords().iter().map(|&at| manifest.tile_of(at)).collect();
    let trial = |&user: &PlaceId| {
        let members = (0..places.places()).filter(|&v| tile_of[v] == tile_of[user.index()]);
        let scores: Vec<(PlaceId, f64)> =
            members.map(|v| (PlaceId::at(v), -places.prior()[v])).collect();
        Trial::rank(places, user, edge[user.index()], &scores)
    };
    Attack::of("a public tile (published, local)", &users.iter().map(trial).collect::<Vec<_>>())
}
