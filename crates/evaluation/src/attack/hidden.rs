//! What reports say about hidden places: the likelihood of a report from each place, in logarithms.

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::Built;
use lrgeo_tiles::Distribution;
use lrgeo_tiles::sample::{SeededRandomness, Urn};

use lrgeo_mechanism::MechanismError;

/// Rows of a mechanism for the whole map, as an attacker uses them.
pub struct Reports {
    places: usize,
    /// `ln z_ik`, row-major.
    log: Vec<f64>,
    urns: Vec<Urn>,
}

/// Above this many places the table of logarithms is too large to be worth it.
const MOST_PLACES: usize = 5_000;

impl Reports {
    /// Of a mechanism that has a row for every place.
    pub fn new(built: &Built) -> Result<Self, MechanismError> {
        let places = built.rows.places();
        let refuse = |reason: String| Err(MechanismError::invalid("mechanism", reason));
        if built.rows.deployed().len() != places {
            return refuse("is made per user; the attack needs a row for every place".into());
        }
        if places > MOST_PLACES {
            return refuse(format!("has {places} places, the attack takes {MOST_PLACES} at most"));
        }
        let mut log = vec![0.0; places * places];
        let mut urns = Vec::with_capacity(places);
        for (place, row) in log.chunks_exact_mut(places).enumerate() {
            built.rows.fill(place, row);
            let whole = Distribution::new(row.to_vec());
            urns.push(Urn::new(&whole.map_err(MechanismError::row(place))?)?);
            row.iter_mut().for_each(|z| *z = z.ln());
        }
        Ok(Self { places, log, urns })
    }

    /// K.
    pub fn places(&self) -> usize {
        self.places
    }

    /// A report of somebody at `place`.
    pub fn draw(&self, place: PlaceId, random: &mut SeededRandomness) -> PlaceId {
        PlaceId::at(self.urns[place.index()].rehearse(random))
    }

    /// `ln z_ik`.
    pub fn log(&self, place: usize, report: PlaceId) -> f64 {
        self.log[place * self.places + report.index()]
    }
}
