//! One way to a row in each mode, behind one type.

use lrgeo_geo::Coord;
use lrgeo_tiles::{Manifest, PlaceId, Places, PublicKey};

use crate::clock::Clock;
use crate::coordinates::Noise;
use crate::draws::Draws;
use crate::ground::Ground;
#[cfg(feature = "offload")]
use crate::offload;
use crate::outcome::Row;
use crate::policy::{Terms, likely_places};
use crate::state::State;
use crate::steps::{Open, Wire};
use crate::transport::Offload;
use crate::trust::{self, Current};
use crate::{ClientError, Lie, Mode, published};
#[cfg(feature = "local")]
use crate::{Described, local};

/// What every mode has once the public files are found right; nobody's place is known yet.
pub struct Common {
    /// The manifest.
    pub manifest: Manifest,
    /// All places, and how likely people are where.
    pub places: Places,
    /// The places of each tile.
    pub members: Vec<Vec<PlaceId>>,
    /// The places for finding one's own.
    pub ground: Ground,
}

/// A server whose public files were found right, in one mode.
pub struct Session<'a> {
    wire: &'a Wire,
    #[cfg_attr(not(feature = "offload"), allow(dead_code))]
    offload: Option<&'a dyn Offload>,
    common: Common,
    way: Way,
    first_use: bool,
}

/// The modes, with what each needs besides.
enum Way {
    Coordinates(Box<Noise>),
    Published,
    #[cfg(feature = "local")]
    Local(Box<Described>),
    #[cfg(feature = "offload")]
    Offload(Box<Described>),
}

/// What is asked of a server, by whom it is to be signed, and when.
pub struct Asked<'a> {
    /// What the server is called.
    pub server: &'a str,
    /// The way to a report.
    pub mode: Mode,
    /// How often the user goes each way, by name: for the modes that make a matrix for it.
    #[cfg_attr(not(any(feature = "local", feature = "offload")), expect(dead_code))]
    pub going: &'a [(String, f64)],
    /// The operator's key, as the owner knows it.
    pub key: Option<PublicKey>,
    /// Whether the owner agrees to weaker terms than before.
    pub consent: bool,
    /// Seconds since 1970.
    pub now: u64,
}

impl<'a> Session<'a> {
    /// Fetches and checks what everybody gets, holds it against the owner's policy, and pins it.
    pub async fn open(
        wire: &'a Wire,
        offload: Option<&'a dyn Offload>,
        state: &mut State,
        asked: Asked<'_>,
    ) -> Result<Self, ClientError> {
        let Asked { server: name, mode, key, consent, now, .. } = asked;
        let policy = state.policy;
        policy.allow_mode(mode)?;
        let current = trust::current(wire, name, state, key, now).await?;
        let manifest = current.signed.manifest().clone();
        if mode == Mode::Published {
            published::allow(&policy, &manifest)?;
        }
        let places = published::fetch_places(wire, &manifest).await?;
        let members = manifest.members(&places)?;
        let (way, epsilon) = match mode {
            Mode::Coordinates => {
                let noise = Noise::fetch(wire, &policy, &manifest, &places).await?;
                (Way::Coordinates(Box::new(noise)), manifest.guarantee()?.epsilon)
            }
            Mode::Published => (Way::Published, manifest.guarantee()?.epsilon),
            #[cfg(feature = "local")]
            Mode::Local => {
                let (described, epsilon) =
                    Described::fetch(wire, &policy, (mode, asked.going), &manifest, &places)
                        .await?;
                (Way::Local(described), epsilon)
            }
            #[cfg(feature = "offload")]
            Mode::Offload => {
                let (described, epsilon) =
                    Described::fetch(wire, &policy, (mode, asked.going), &manifest, &places)
                        .await?;
                (Way::Offload(described), epsilon)
            }
            #[cfg(not(all(feature = "local", feature = "offload")))]
            _ => return Err(ClientError::NotHere { mode }),
        };
        let map = manifest.map;
        let ground = Ground::new(current.operator, map, epsilon, places.coords().to_vec())
            .ok_or_else(|| Lie::nonsense("manifest", "places", "are fewer than two"))?;
        let common = Common { manifest, places, members, ground };
        #[cfg(feature = "local")]
        if let Way::Local(described) = &way {
            local::offered(&common, described)?;
        }
        let terms = terms(&common);
        trust::accept(state, name, &current, (mode, terms), consent, now)?;
        let Current { first_use, .. } = current;
        Ok(Self { wire, offload, common, way, first_use })
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
    pub async fn row(
        &self,
        at: Coord,
        kept: &mut Open<'_>,
        draws: &mut dyn Draws,
        #[cfg_attr(not(feature = "offload"), allow(unused_variables))] clock: &dyn Clock,
    ) -> Result<Row<'_>, ClientError> {
        let Self { wire, common, .. } = self;
        let place = || common.ground.locate(at);
        match &self.way {
            Way::Coordinates(noise) => noise.row(common, at),
            Way::Published => published::row(wire, common, &place()?, kept, draws).await,
            #[cfg(feature = "local")]
            Way::Local(described) => {
                local::row(wire, common, described, &place()?, kept, draws).await
            }
            #[cfg(feature = "offload")]
            Way::Offload(described) => {
                let not_here = ClientError::NotHere { mode: Mode::Offload };
                let server = self.offload.ok_or(not_here)?;
                offload::row(server, common, described, &place()?, kept, draws, clock).await
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
    let all: Vec<PlaceId> = PlaceId::all(places.coords().len()).collect();
    Terms {
        epsilon_per_km: common.ground.epsilon.value(),
        reach_km: common.ground.reach_km,
        likely_places: likely_places(places.coords(), places.prior(), &all),
    }
}
