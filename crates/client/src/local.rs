//! Mode `local`: the user's own LR-Geo programme, solved on the device with a public y.
//!
//! Nothing here can say more than [`Request`] can. Slices of the cost table belong to published tiles and are fetched
//! like them: all, or the own one among others.

use std::collections::BTreeMap;

use lrgeo_geo::{Coord, Digest, PlaceId};
use lrgeo_mechanism::lr_geo::coefficients::{Coefficients, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::rows::{Round, UserMatrix};
use lrgeo_mechanism::verify::promised;
use lrgeo_mechanism::{MechanismError, RangeRule};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{Local, TablePart, TableTile};
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::{Distribution, DrawError};

use crate::description::Described;
use crate::draws::Draws;
use crate::ground::OwnPlace;
use crate::outcome::{Accuracy, AccuracyOf, Learnt, Row};
use crate::session::Common;
use crate::slice::Slice;
use crate::steps::{Open, Wire};
use crate::tiles::Tiling;
use crate::{ClientError, Lie, Mode};

const WHAT: &str = "slice of the cost table";
/// Close enough for a phone: a thousandth of the cost.
const GAP: f64 = 1e-3;
/// Close enough for saying how far off a report may be.
const ROUGH_GAP: f64 = 1e-2;
/// Slices are as long as the description says, and no description may say more than this.
const MOST_SLICE: u64 = 256 << 20;

/// What a server offers for this mode.
pub fn offered<'a>(common: &Common, described: &'a Described) -> Result<&'a Local, ClientError> {
    let not_offered = |reason| ClientError::NotOffered { mode: Mode::Local, reason };
    let local = described.description.local.as_ref().ok_or(not_offered("it publishes no y"))?;
    if described.plan.range != RangeRule::Each {
        return Err(not_offered("its range rule is `own`"));
    }
    if local.table_tiles.len() != common.manifest.tiles.len() {
        let reason = "has not one slice of the cost table per tile";
        return Err(Lie::nonsense("map description", "local", reason).into());
    }
    Ok(local)
}

/// The row of a place over all places: fetches the slice of its tile among others, solves, and verifies the result as
/// strictly as that of a server.
pub async fn row<'a>(
    wire: &'a Wire,
    common: &'a Common,
    described: &'a Described,
    place: &OwnPlace,
    kept: &mut Open<'_>,
    draws: &mut dyn Draws,
) -> Result<Row<'a>, ClientError> {
    let local = offered(common, described)?;
    let policy = kept.state.policy;
    // Before anything is asked for: the set follows from public numbers.
    let relevant = described.relevant(place, described.plan.radii.relevant_max);
    common.allow_relevant(&policy, &relevant)?;
    let bytes = local.table_tiles.iter().map(|file| file.bytes).collect();
    let tiling = Tiling::new(&common.manifest, common.members.clone(), bytes, &common.places);
    let own = tiling.tile_of(place);
    let memory = &mut kept.state.memory;
    let chosen = tiling.choose(&policy, &common.ground, place, memory, draws)?;
    kept.commit().await?;
    let mut fetched = BTreeMap::new();
    for &number in &chosen.tiles {
        fetched.insert(number, fetch(wire, local, number).await?);
    }
    let own = own.and_then(|number| Some((number, fetched.get(&number)?)));
    let (number, bytes) = own.ok_or_else(|| Lie::nonsense(WHAT, "tiles", "lack your own"))?;
    let slices = open(common, described, number, bytes)?;
    let round = solve(common, described, local, &slices, place, GAP)?;
    let epsilon_per_km = common.effective_epsilon(&policy, &round)?;
    let compared = round.users[0].relevant.len();
    let values = round.spread(round.users[0].deployed());
    let values = Distribution::new(values).map_err(DrawError::from)?;
    let accuracy: AccuracyOf<'a> = Box::new(move |report| {
        Box::pin(async move {
            let number = tiling.tile_of(&OwnPlace(report))?;
            // Asking for the tile of a report tells nothing that the report does not.
            let bytes = match fetched.remove(&number) {
                Some(bytes) => bytes,
                None => fetch(wire, local, number).await.ok()?,
            };
            let slices = open(common, described, number, &bytes).ok()?;
            accuracy(common, described, local, &slices, report).ok()
        })
    });
    Ok(Row { values, epsilon_per_km, compared, learnt: Learnt::of_tiles(chosen), accuracy })
}

/// The bytes of a slice of the cost table, as the description names them.
async fn fetch(wire: &Wire, local: &Local, number: u32) -> Result<Vec<u8>, ClientError> {
    let file = local.table_tiles[number as usize];
    let bytes = wire.ask(Request::TableTile(file.hash), file.bytes.min(MOST_SLICE)).await?.body;
    match Digest::of(&bytes) {
        found if found == file.hash => Ok(bytes),
        found => Err(Lie::other_bytes(WHAT, found, file.hash).into()),
    }
}

/// What they say.
fn open(
    common: &Common,
    described: &Described,
    number: u32,
    bytes: &[u8],
) -> Result<Vec<Slice>, Lie> {
    let content: TableTile =
        Encoding::Cbor.decode(bytes).map_err(|error| Lie::nonsense(WHAT, "message", error))?;
    if content.map != common.ground.map {
        return Err(Lie::other_map(WHAT, content.map, common.ground.map));
    }
    if content.tile != number {
        return Err(Lie::nonsense(
            WHAT,
            "tile",
            "is another one than was asked for, or of another version",
        ));
    }
    if content.ways.len() != described.description.ways.len() {
        return Err(Lie::nonsense(WHAT, "ways", "are not those of the description"));
    }
    let slice = |way: TablePart| Slice::new(WHAT, way.rows, way.columns, way.beta);
    content.ways.into_iter().map(slice).collect()
}

/// How far off a report may be. Everybody who may have made it has a matrix of their own; theirs is not known here, and the user's own would give the
/// user away. So the programme is solved that somebody *at the reported place* would solve, whose rows around it are nearly theirs; farther places are
/// tied to the public y. All of that follows from public numbers and the report.
fn accuracy(
    common: &Common,
    described: &Described,
    local: &Local,
    slices: &[Slice],
    report: PlaceId,
) -> Result<Accuracy, ClientError> {
    let round = solve(common, described, local, slices, &OwnPlace(report), ROUGH_GAP)?;
    let coords = common.places.coords();
    let from = coords[report.index()];
    let tied =
        |at: &Coord| local.y[report.index()] * described.ties.tied_factor(at.distance_km(from));
    let mut likelihood: Vec<f64> = coords.iter().map(tied).collect();
    let column = round.columns.binary_search(&report);
    let missing = || Lie::nonsense(WHAT, "columns", "lack the reported place");
    let column = column.map_err(|_| missing())?;
    let user = &round.users[0];
    let rows = user.values.chunks_exact(round.columns.len());
    for (place, row) in user.relevant.iter().zip(rows) {
        likelihood[place.index()] = row[column];
    }
    Ok(Accuracy::given(common, &likelihood, report, Mode::Local))
}

/// Solves the programme of a place to a gap: the user's own matrix, found right.
fn solve(
    common: &Common,
    described: &Described,
    local: &Local,
    slices: &[Slice],
    place: &OwnPlace,
    gap: f64,
) -> Result<Round, ClientError> {
    let Described { plan, ties, .. } = described;
    let UserPart { place, relevant, upload } =
        described.prepare(slices, place, plan.radii.relevant_max)?;
    let programme = alone(described, local, &upload)?;
    let mut plan = plan.clone();
    plan.gap = Some(gap);
    let solution = programme.solve(&plan)?;
    let mut matrices = programme.split(&solution);
    let values = matrices.pop().unwrap_or_default();
    let columns = programme.columns.into();
    let users = vec![UserMatrix { place, shares: Vec::new(), relevant, values }];
    let coords = common.places.coords();
    let round = Round { places: coords.len(), columns, users, ties: ties.clone() };
    round.validate()?;
    let finding = promised(&round, coords, plan.epsilon, plan.notion.reach_km());
    if !finding.is_private() {
        let worst_log_excess = finding.worst_log_excess;
        return Err(MechanismError::NotPrivate { worst_log_excess }.into());
    }
    Ok(round)
}

fn alone(
    described: &Described,
    local: &Local,
    upload: &Coefficients,
) -> Result<Programme, MechanismError> {
    let ceiling = described.description.ceiling;
    Programme::alone(upload, &described.ties, described.plan.notion, ceiling, &local.y)
}
