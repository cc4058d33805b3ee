//! Mode `coordinates`: noise around where somebody stands, from one public file that everybody gets (`docs/coordinates.md`).
//!
//! The file says how steep the noise is and which place each outcome is reported as. What it promises between any two coordinates is worked out
//! here, from its bytes; the server learns the report and nothing else.

use std::future::ready;

use lrgeo_geo::Coord;
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::coordinates::LatticeNoise;
use lrgeo_tiles::{Manifest, PlaceId, Places};

use crate::outcome::{Accuracy, Learnt, Row};
use crate::policy::Policy;
use crate::session::Common;
use crate::steps::Wire;
use crate::{ClientError, Mode};

/// A city at 2/km has some ten kilobytes.
const MOST_FILE: u64 = 64 << 20;

/// The noise of a service, and the epsilon that was proven here between any two coordinates.
pub struct Noise {
    noise: LatticeNoise,
    proven: f64,
}

impl Noise {
    /// Fetches and checks it; the same for everybody.
    pub async fn fetch(
        wire: &Wire,
        policy: &Policy,
        manifest: &Manifest,
        places: &Places,
    ) -> Result<Self, ClientError> {
        let Some(entry) = &manifest.noise else {
            let reason = "its manifest speaks of no noise for coordinates";
            return Err(ClientError::NotOffered { mode: Mode::Coordinates, reason });
        };
        policy.allow_epsilon(manifest.guarantee()?.epsilon.value())?;
        let bytes = wire.ask(Request::Noise(entry.hash), entry.bytes.min(MOST_FILE)).await?;
        let (noise, proven) = manifest.open_noise(&bytes.body, places)?;
        Ok(Self { noise, proven })
    }

    /// What somebody at a coordinate draws from.
    pub fn row<'a>(&'a self, common: &'a Common, at: Coord) -> Result<Row<'a>, ClientError> {
        Ok(Row {
            values: self.noise.row_at(at).ok_or_else(|| common.ground.off())?,
            epsilon_per_km: common.ground.epsilon.value().max(self.proven),
            compared: common.ground.places(),
            learnt: Learnt::Report,
            accuracy: Box::new(|report| Box::pin(ready(Some(self.accuracy(common, report))))),
        })
    }

    /// The radius around a report that holds the true position with 95 %, by what everybody knows: noise, prior and this report.
    fn accuracy(&self, common: &Common, report: PlaceId) -> Accuracy {
        let mut likelihood = vec![0.0; common.ground.places()];
        self.noise.likelihood(report, &mut likelihood);
        Accuracy::given(common, &likelihood, report, Mode::Coordinates)
    }
}
