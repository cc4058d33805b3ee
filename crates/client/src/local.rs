//! Mode `local`: the user's own LR-Geo programme, solved on the device with a public y (spec section 9).
//!
//! Nothing here can say more than [`Request`] can. The slice of the cost table is that of the published
//! tile, so it says as much as fetching the tile would.

use lrgeo_mechanism::lr_geo::coefficients::{Coefficients, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::publish::{Hash, Manifest};
use lrgeo_mechanism::rows::{Round, UserMatrix};
use lrgeo_mechanism::verify::promised;
use lrgeo_mechanism::{MechanismError, RangeRule};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{Local, TableTile};
use lrgeo_protocol::quiet::Request;

use crate::ground::OwnPlace;
use crate::outcome::Learnt;
use crate::published::tile_of;
use crate::slice::Slice;
use crate::transport::Quiet;
use crate::{ClientError, Described, Lie, Mode};

const WHAT: &str = "slice of the cost table";
/// The relevant places of 2,000 places times what they may report.
const MOST_SLICE: u64 = 256 << 20;
/// Close enough for a phone: a thousandth of the cost.
const GAP: f64 = 1e-3;

/// A map that was found right, before anybody's place is known.
pub struct Session<'a> {
    server: &'a dyn Quiet,
    manifest: Manifest,
    /// The description of the map.
    pub described: Described,
}

impl<'a> Session<'a> {
    /// Puts description and manifest together; `text` is the manifest as it was signed.
    pub fn open(
        server: &'a dyn Quiet,
        manifest: Manifest,
        text: &[u8],
        described: Described,
    ) -> Result<Self, ClientError> {
        let description = &described.description;
        let not_offered = |reason| ClientError::NotOffered { mode: Mode::Local, reason };
        let local = description.local.as_ref().ok_or(not_offered("it publishes no y"))?;
        if described.plan.range != RangeRule::Each {
            return Err(not_offered("its range rule is `own`"));
        }
        if manifest.map.0 != description.map.0 {
            return Err(Lie::OtherMap { what: "manifest" }.into());
        }
        if Hash::of(text).0 != description.manifest.0 {
            return Err(Lie::OtherBytes { what: "manifest" }.into());
        }
        if local.table_tiles.len() != manifest.tiles.len() {
            let reason = "has not one slice of the cost table per tile";
            return Err(Lie::nonsense("map description", "local", reason).into());
        }
        Ok(Self { server, manifest, described })
    }

    /// The row of a place over all places: fetches the slice of its tile, solves, and verifies the
    /// result as strictly as that of a server.
    pub fn row(&self, place: &OwnPlace) -> Result<(Vec<f64>, Learnt), ClientError> {
        let description = &self.described.description;
        let Some(local) = &description.local else {
            let reason = "it publishes no y";
            return Err(ClientError::NotOffered { mode: Mode::Local, reason });
        };
        let tile = tile_of(&self.manifest, &self.described.ground, place)?;
        let hash = local.table_tiles[tile];
        let bytes = self.server.ask(&Request::TableTile(hash), MOST_SLICE)?.body;
        if Hash::of(&bytes).0 != hash.0 {
            return Err(Lie::OtherBytes { what: WHAT }.into());
        }
        let content: TableTile =
            Encoding::Cbor.decode(&bytes).map_err(|error| Lie::nonsense(WHAT, "message", error))?;
        if content.map != description.map || content.tile as usize != tile {
            return Err(Lie::OtherMap { what: WHAT }.into());
        }
        let slice = Slice::new(WHAT, content.rows, content.columns, content.beta)?;
        let row = solve(&self.described, local, &slice, place)?;
        let entry = &self.manifest.tiles[tile];
        let learnt =
            Learnt::Tile { places: entry.places, effective_places: entry.effective_places };
        Ok((row, learnt))
    }
}

/// Solves the programme of a place and returns its row, spread over all places.
fn solve(
    described: &Described,
    local: &Local,
    slice: &Slice,
    place: &OwnPlace,
) -> Result<Vec<f64>, ClientError> {
    let Described { description, geography, plan, ties, .. } = described;
    let UserPart { place, relevant, upload } =
        described.prepare(slice, place, plan.radii.relevant_max)?;
    let programme = alone(described, local, &upload)?;
    let mut plan = plan.clone();
    plan.gap = Some(GAP);
    let solution = programme.solve(&plan)?;
    let mut matrices = programme.split(&solution);
    let values = matrices.pop().unwrap_or_default();
    let columns = programme.columns.into();
    let users = vec![UserMatrix { place, relevant, values }];
    let round = Round { places: description.places.len(), columns, users, ties: *ties };
    round.validate()?;
    let finding = promised(&round, geography.coords(), plan.epsilon, plan.notion.reach_km());
    if !finding.is_private() {
        let worst_log_excess = finding.worst_log_excess;
        return Err(MechanismError::NotPrivate { worst_log_excess }.into());
    }
    Ok(round.spread(round.users[0].deployed()))
}

fn alone(
    described: &Described,
    local: &Local,
    upload: &Coefficients,
) -> Result<Programme, MechanismError> {
    let ceiling = described.description.table.ceiling;
    Programme::alone(upload, described.ties, described.plan.notion, ceiling, &local.y)
}
