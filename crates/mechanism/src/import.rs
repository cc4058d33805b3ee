//! A matrix of one's own, made by any other program, as a mechanism like the others: verified, or not taken.

use lrgeo_map::progress::Progress;
use lrgeo_tiles::sample::FLOOR;
use lrgeo_tiles::{Cover, Epsilon, Guarantee, Notion};

use crate::verify::{Verified, every_pair};
use crate::{Built, City, MechanismError, ObfuscationMatrix, Rows, expected_cost};

/// What the files of such mechanisms call their kind.
pub const KIND: &str = "own";

/// Rows that other programs wrote sum to one nearly: what is missing is shared out in proportion.
const ROUGH_SUM_ERROR: f64 = 1e-6;

/// Above the epsilon that was measured, so that checking it again cannot fail by rounding.
const MARGIN: f64 = 1.0 + 1e-9;

/// Takes `places` x `places` probabilities, row-major, row i for somebody at place i. Every entry is raised by the constant
/// that all mechanisms have ([`FLOOR`]), which keeps every promise.
///
/// With an epsilon the matrix must keep it, or is refused; without, its promise is the least epsilon that it keeps.
pub fn import(
    city: &City,
    values: Vec<f64>,
    epsilon: Option<Epsilon>,
    notion: Notion,
    progress: &dyn Progress,
) -> Result<Verified, MechanismError> {
    let places = city.places();
    let rows = Rows::Dense(ObfuscationMatrix::new(places, floored(places, values)?)?);
    if notion == Notion::Coordinates {
        let reason =
            "a matrix speaks of places; a promise between coordinates needs noise (kind laplace)";
        return Err(MechanismError::invalid("notion", reason));
    }
    let measured = || {
        let any = Epsilon::per_km(1.0)?;
        let found = every_pair(&rows, city.coords(), any, notion.reach_km(), progress);
        let least = found.effective_epsilon * MARGIN;
        let reason = "keeps no epsilon at all: a report is possible in one row and not in another, or no pair is within gamma";
        let hopeless = |_| MechanismError::invalid("matrix", reason);
        Epsilon::per_km(least.max(f64::MIN_POSITIVE)).map_err(hopeless)
    };
    let asked = epsilon.is_some();
    let epsilon = epsilon.map_or_else(measured, Ok)?;
    let expected_cost = expected_cost(city, &rows);
    let said = if asked { "as asked" } else { "the least that the matrix keeps" };
    let built = Built {
        kind: KIND.to_owned(),
        map: city.version(),
        ids: city.map().places.iter().map(|place| place.id.clone()).collect(),
        coords: city.coords().to_vec(),
        prior: city.prior().to_vec(),
        guarantee: Guarantee { notion, epsilon, cover: Cover::WholeMap },
        rows,
        expected_cost,
        unit: city.utility().unit().to_owned(),
        proof: None,
        floor: None,
        witness: Vec::new(),
        notes: vec![("epsilon".to_owned(), said.to_owned())],
    };
    Verified::new(built, progress)
}

/// Raised by the constant, and summing to one as nearly as numbers do.
fn floored(places: usize, mut values: Vec<f64>) -> Result<Vec<f64>, MechanismError> {
    for (row, line) in values.chunks_exact_mut(places.max(1)).enumerate() {
        let refuse = |reason| Err(MechanismError::Row { row, reason });
        if !line.iter().all(|z| z.is_finite() && *z >= 0.0) {
            return refuse("holds a number that is no probability");
        }
        let sum: f64 = line.iter().sum();
        if (sum - 1.0).abs() > ROUGH_SUM_ERROR {
            return refuse("does not sum to one");
        }
        line.iter_mut().for_each(|z| *z = *z / sum + FLOOR);
    }
    Ok(values)
}
