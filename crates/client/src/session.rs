//! One way to a row in each mode, behind one type.

use lrgeo_geo::Coord;
use lrgeo_mechanism::rows::Round;
use lrgeo_mechanism::verify::promised;
use lrgeo_protocol::Digest;
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::{Manifest, Places, PublicKey};

use crate::clock::Clock;
use crate::coordinates::Noise;
use crate::draws::Draws;
use crate::ground::Ground;
use crate::outcome::Row;
use crate::policy::{Policy, Refused, Terms, distinct_places, likely_places};
use crate::state::{Kept, State};
use crate::transport::{Quiet, Server};
use crate::trust::{self, Current};
use crate::{ClientError, Described, Lie, Mode, local, offload, published};

/// A description of a city of 100,000 places has about 3 MB.
const MOST_DESCRIPTION: u64 = 256 << 20;

/// What every mode has once the public files are found right; nobody's place is known yet.
pub struct Common {
    /// The manifest.
    pub manifest: Manifest,
    /// All places, and how likely people are where.
    pub places: Places,
    /// The places of each tile.
    pub members: Vec<Vec<u32>>,
    /// The places for finding one's own.
    pub ground: Ground,
}

impl Common {
    /// Enough relevant places, counted here.
    pub(crate) fn allow_relevant(&self, policy: &Policy, relevant: &[u32]) -> Result<(), Refused> {
        let coords = self.places.coords();
        policy.allow_relevant(distinct_places(coords, relevant), coords.len())
    }

    /// The epsilon that the rows of a user's own matrix have between every two of them, whatever gamma the server wants
    /// compared; refused above the owner's.
    pub(crate) fn effective_epsilon(
        &self,
        policy: &Policy,
        round: &Round,
    ) -> Result<f64, ClientError> {
        let claimed = self.ground.epsilon;
        let finding = promised(round, self.places.coords(), claimed, f64::INFINITY);
        let epsilon = finding.effective_epsilon.max(claimed.value());
        policy.allow_epsilon(epsilon)?;
        Ok(epsilon)
    }
}

/// A server whose public files were found right, in one mode.
pub struct Session<'a> {
    server: &'a dyn Server,
    common: Common,
    way: Way,
    first_use: bool,
}

/// The modes, with what each needs besides.
enum Way {
    Coordinates(Box<Noise>),
    Published,
    Local(Box<Described>),
    Offload(Box<Described>),
}

impl<'a> Session<'a> {
    /// Fetches and checks what everybody gets, holds it against the owner's policy, and pins it.
    pub fn open(
        server: &'a dyn Server,
        state: &mut State,
        mode: Mode,
        going: &[(String, f64)],
        (key, consent): (Option<PublicKey>, bool),
        now: u64,
    ) -> Result<Self, ClientError> {
        let policy = state.policy;
        policy.allow_mode(mode)?;
        let quiet: &dyn Quiet = server;
        let name = server.name();
        let current = trust::current(quiet, name, state, key, now)?;
        let manifest = current.signed.manifest.clone();
        if mode == Mode::Published {
            published::allow(&policy, &manifest)?;
        }
        let places = published::fetch_places(quiet, &manifest)?;
        let members = manifest.members(&places)?;
        let (way, epsilon) = match mode {
            Mode::Coordinates => {
                let noise = Noise::fetch(quiet, &policy, &manifest, &places)?;
                (Way::Coordinates(Box::new(noise)), manifest.guarantee()?.epsilon)
            }
            Mode::Published => (Way::Published, manifest.guarantee()?.epsilon),
            Mode::Local | Mode::Offload => {
                let described = describe(quiet, mode, &manifest, &places, going)?;
                let epsilon = described.plan.epsilon;
                policy.allow_epsilon(epsilon.value())?;
                match mode {
                    Mode::Local => (Way::Local(described), epsilon),
                    _ => (Way::Offload(described), epsilon),
                }
            }
        };
        let map = Digest(manifest.map.0);
        let ground = Ground::new(current.operator, map, epsilon, places.coords().to_vec())
            .ok_or_else(|| Lie::nonsense("manifest", "places", "are fewer than two"))?;
        let common = Common { manifest, places, members, ground };
        if let Way::Local(described) = &way {
            local::offered(&common, described)?;
        }
        let terms = terms(&common);
        trust::accept(state, name, &current, (mode, terms), consent, now)?;
        let Current { first_use, .. } = current;
        Ok(Self { server, common, way, first_use })
    }

    /// Whether the key was believed without knowing it.
    pub fn first_use(&self) -> bool {
        self.first_use
    }

    /// Its places.
    pub fn ground(&self) -> &Ground {
        &self.common.ground
    }

    /// The verified row of somebody at a coordinate, over all places.
    pub fn row(
        &self,
        at: Coord,
        kept: &mut Kept,
        draws: &mut dyn Draws,
        clock: &dyn Clock,
    ) -> Result<Row<'_>, ClientError> {
        let Self { server, common, .. } = self;
        let place = || common.ground.locate(at);
        match &self.way {
            Way::Coordinates(noise) => noise.row(common, at),
            Way::Published => published::row(*server, common, &place()?, kept, draws),
            Way::Local(described) => local::row(*server, common, described, &place()?, kept, draws),
            Way::Offload(described) => {
                offload::row(*server, common, described, &place()?, kept, draws, clock)
            }
        }
    }

    /// By how much more than the promise two people may be told apart who stand anywhere: not at all where it is between coordinates.
    pub fn off_grid_factor(&self) -> f64 {
        match self.way {
            Way::Coordinates(_) => 1.0,
            _ => self.ground().off_grid_factor(),
        }
    }
}

/// What the owner accepts by using this, as it was measured here.
fn terms(common: &Common) -> Terms {
    let places = &common.places;
    let all: Vec<u32> = (0..places.coords().len() as u32).collect();
    Terms {
        epsilon_per_km: common.ground.epsilon.value(),
        reach_km: common.ground.reach_km,
        likely_places: likely_places(places.coords(), places.prior(), &all),
    }
}

/// Fetches the description that the manifest speaks of; the same for everybody.
fn describe(
    server: &dyn Quiet,
    mode: Mode,
    manifest: &Manifest,
    places: &Places,
    going: &[(String, f64)],
) -> Result<Box<Described>, ClientError> {
    if manifest.description.is_none() {
        let reason = "its manifest speaks of no description";
        return Err(ClientError::NotOffered { mode, reason });
    }
    let bytes = server.ask(&Request::Map, MOST_DESCRIPTION)?.body;
    Ok(Box::new(Described::open(&bytes, manifest, places)?.going(going)?))
}
