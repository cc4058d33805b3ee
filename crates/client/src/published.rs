//! Mode `published`: public tiles, one row (`docs/tiles.md`).
//!
//! Nothing here can say more than [`Request`] can: two places of one tile make the same requests, and where all tiles are
//! fetched, all places do.

use std::future::ready;

use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::{Manifest, PlaceId, Places, Tile, check_rows};

use crate::draws::Draws;
use crate::ground::OwnPlace;
use crate::outcome::{Accuracy, Learnt, Row};
use crate::policy::Policy;
use crate::session::Common;
use crate::steps::{Open, Wire};
use crate::tiles::Tiling;
use crate::{ClientError, Lie, Mode};

/// Files are as long as the manifest says, and no manifest may say more than this.
const MOST_FILE: u64 = 256 << 20;

/// Fetches the list of places; the same for everybody.
pub async fn fetch_places(wire: &Wire, manifest: &Manifest) -> Result<Places, ClientError> {
    let hash = manifest.places.hash;
    let bytes = wire.ask(Request::Places(hash), manifest.places.bytes.min(MOST_FILE)).await?.body;
    Ok(manifest.open_places(&bytes)?)
}

/// What the owner's policy says to a published mechanism before anything else is fetched.
pub fn allow(policy: &Policy, manifest: &Manifest) -> Result<(), ClientError> {
    if manifest.tiles.is_empty() {
        let reason = "it publishes noise for coordinates and no tiles";
        return Err(ClientError::NotOffered { mode: Mode::Published, reason });
    }
    let guarantee = manifest.guarantee()?;
    policy.allow_reach(guarantee.notion.reach_km())?;
    Ok(policy.allow_epsilon(guarantee.epsilon.value())?)
}

/// The row of a place over all places: fetches its tile and others, and believes nothing of them before hashes, sums and
/// every two rows, as they are drawn from, are found right.
pub async fn row<'a>(
    wire: &Wire,
    common: &'a Common,
    place: &OwnPlace,
    kept: &mut Open<'_>,
    draws: &mut dyn Draws,
) -> Result<Row<'a>, ClientError> {
    let Common { manifest, places, ground, .. } = common;
    let bytes = manifest.tiles.iter().map(|tile| tile.bytes).collect();
    let tiling = Tiling::new(manifest, common.members.clone(), bytes, places);
    let policy = kept.state.policy;
    let chosen = tiling.choose(&policy, ground, place, &mut kept.state.memory, draws)?;
    kept.commit().await?;
    let mut tiles = Vec::with_capacity(chosen.tiles.len());
    for &number in &chosen.tiles {
        let entry = &manifest.tiles[number as usize];
        let request = Request::Tile(entry.hash);
        let bytes = wire.ask(request, entry.bytes.min(MOST_FILE)).await?.body;
        let members = &common.members[number as usize];
        tiles.push(manifest.open_tile(number as usize, members, &bytes)?);
    }
    check_rows(&tiles, places, &manifest.guarantee()?)?;
    let row = tiles.iter().find_map(|tile| tile.row(place.0));
    let row = row.ok_or_else(|| Lie::nonsense("tile", "places", "lack one of this tile"))?;
    Ok(Row {
        values: row,
        epsilon_per_km: ground.epsilon.value(),
        compared: chosen.places,
        learnt: Learnt::of_tiles(chosen),
        accuracy: Box::new(move |report| Box::pin(ready(Some(accuracy(common, &tiles, report))))),
    })
}

/// How far off a report may be, by the rows of the tiles that were fetched. Whoever answered for these knows that the place is in one of
/// them, so that is what everybody else is left with too: two places of the tiles have the same radius.
fn accuracy(common: &Common, tiles: &[Tile], report: PlaceId) -> Accuracy {
    let mut likelihood = vec![0.0; common.ground.places()];
    let mut row = vec![0.0; common.ground.places()];
    for tile in tiles {
        for (index, &place) in tile.places.iter().enumerate() {
            tile.rows.fill_row(index, &mut row);
            likelihood[place.index()] = row[report.index()];
        }
    }
    Accuracy::given(common, &likelihood, report, Mode::Published)
}
