//! One way to a row in each mode, behind one type.

use lrgeo_mechanism::Epsilon;
use lrgeo_mechanism::meaning::Meaning;
use lrgeo_mechanism::publish::PublicKey;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{MapDescription, Signed};
use lrgeo_protocol::quiet::Request;

use crate::clock::Clock;
use crate::draws::Draws;
use crate::ground::{Ground, OwnPlace};
use crate::outcome::{Accuracy, Learnt};
use crate::state::{Kept, State};
use crate::transport::{Quiet, Server};
use crate::trust::{Document, Trusted, accept, decide};
use crate::{ClientError, Described, Lie, Mode, local, offload, published};

/// A description of a city of 100,000 places has about 6 MB.
const MOST_DESCRIPTION: u64 = 256 << 20;

/// The modes once their documents are found right; nobody's place is known yet.
pub enum Session<'a> {
    /// See [`published`].
    Published(Box<published::Session<'a>>),
    /// See [`local`].
    Local(Box<local::Session<'a>>),
    /// See [`offload`].
    Offload(Box<offload::Session<'a>>),
}

impl<'a> Session<'a> {
    /// Fetches and checks what everybody gets; says whether the key was believed without knowing it.
    pub fn open(
        server: &'a dyn Server,
        state: &mut State,
        mode: Mode,
        key: Option<PublicKey>,
        now: u64,
    ) -> Result<(Self, bool), ClientError> {
        let quiet: &dyn Quiet = server;
        let name = server.name();
        if mode == Mode::Published {
            let signed = published::Signed::fetch(quiet)?;
            let Trusted { key, first_use } = decide(state, name, key, signed.offered.as_deref())?;
            let manifest = signed.verify(&key)?;
            accept(state, name, key, Document::Manifest, manifest.issued, now)?;
            let session = published::Session::open(quiet, manifest, key)?;
            return Ok((Self::Published(Box::new(session)), first_use));
        }
        let body = quiet.ask(&Request::Map, MOST_DESCRIPTION)?.body;
        let signed: Signed<MapDescription> = Encoding::Cbor
            .decode(&body)
            .map_err(|error| Lie::nonsense("map description", "message", error))?;
        let Trusted { key, first_use } = decide(state, name, key, Some(&signed.key))?;
        let described = Described::open(signed, &key)?;
        accept(state, name, key, Document::Description, described.issued, now)?;
        if mode == Mode::Offload {
            let session = offload::Session::new(server, described);
            return Ok((Self::Offload(Box::new(session)), first_use));
        }
        let signed = published::Signed::fetch(quiet)?;
        let manifest = signed.verify(&key)?;
        accept(state, name, key, Document::Manifest, manifest.issued, now)?;
        let session = local::Session::open(quiet, manifest, &signed.manifest, described)?;
        Ok((Self::Local(Box::new(session)), first_use))
    }

    /// Its places.
    pub fn ground(&self) -> &Ground {
        match self {
            Self::Published(session) => &session.ground,
            Self::Local(session) => &session.described.ground,
            Self::Offload(session) => &session.described.ground,
        }
    }

    /// The verified row of a place over all places.
    pub fn row(
        &self,
        place: &OwnPlace,
        kept: &mut Kept,
        draws: &mut dyn Draws,
        clock: &dyn Clock,
    ) -> Result<(Vec<f64>, Learnt), ClientError> {
        match self {
            Self::Published(session) => session.row(place),
            Self::Local(session) => session.row(place),
            Self::Offload(session) => {
                let described = &session.described;
                let choose = || offload::choose_centre(described, place, draws);
                let centre = kept.state.memory.centre(&described.ground, place, choose)?;
                // Asked again after a crash, the circle is the same.
                kept.commit()?;
                session.row(place, centre, draws, clock)
            }
        }
    }

    /// How far off reports are; the same for every place of the map.
    pub fn accuracy(&self, epsilon_per_km: f64) -> Result<Accuracy, ClientError> {
        let ground = self.ground();
        let half_cell_km = ground.spacing_km / std::f64::consts::SQRT_2;
        let epsilon = Epsilon::per_km(epsilon_per_km)?;
        let yardstick_km = Meaning::new(epsilon, ground.spacing_km)?.error_radius_km();
        let costs = match self {
            Self::Published(session) => {
                let (cost, unit) = session.expected_cost();
                format!(
                    "; the operator says that a report misjudges ways by {cost:.3} {unit} on average"
                )
            }
            Self::Local(_) | Self::Offload(_) => String::new(),
        };
        let meaning = format!(
            "within this, 95 % of Laplace noise at {epsilon} would stay: a yardstick, not a promise{costs}"
        );
        let metres = (1000.0 * (yardstick_km + half_cell_km)).ceil() as u64;
        Ok(Accuracy { metres, meaning })
    }
}
