//! Mode `published`: one public tile, one row (spec section 9, `docs/tiles.md`).
//!
//! Nothing here can say more than [`Request`] can: two places of one tile make the same requests.

use lrgeo_mechanism::publish::{Manifest, PublicKey};
use lrgeo_protocol::Digest;
use lrgeo_protocol::quiet::Request;

use crate::ground::{Ground, OwnPlace};
use crate::outcome::Learnt;
use crate::transport::{Answer, Quiet};
use crate::{ClientError, Lie};

/// A manifest is JSON, with a line per tile and per square of the grid.
const MOST_MANIFEST: u64 = 32 << 20;
const MOST_SIGNATURE: u64 = 1 << 10;
/// Files are as long as the manifest says, and no manifest may say more than this.
const MOST_FILE: u64 = 256 << 20;

/// A manifest with its signature, as they came.
pub struct Signed {
    /// The bytes that were signed.
    pub manifest: Vec<u8>,
    signature: Vec<u8>,
    /// The key that the server offers.
    pub offered: Option<String>,
}

impl Signed {
    /// Fetches both; the same for everybody.
    pub fn fetch(server: &dyn Quiet) -> Result<Self, ClientError> {
        let Answer { body: manifest, key: offered } =
            server.ask(&Request::Manifest, MOST_MANIFEST)?;
        let signature = server.ask(&Request::Signature, MOST_SIGNATURE)?.body;
        Ok(Self { manifest, signature, offered })
    }

    /// Reads a manifest that `key` signed.
    pub fn verify(&self, key: &PublicKey) -> Result<Manifest, Lie> {
        Ok(Manifest::verify(&self.manifest, &self.signature, key)?)
    }
}

/// A map that was found right, before anybody's place is known.
pub struct Session<'a> {
    server: &'a dyn Quiet,
    manifest: Manifest,
    /// Its places.
    pub ground: Ground,
}

impl<'a> Session<'a> {
    /// Fetches the list of places; the same for everybody.
    pub fn open(
        server: &'a dyn Quiet,
        manifest: Manifest,
        key: PublicKey,
    ) -> Result<Self, ClientError> {
        let hash = Digest(manifest.places.hash.0);
        let bytes = server.ask(&Request::Places(hash), manifest.places.bytes.min(MOST_FILE))?.body;
        let places = manifest.open_places(&bytes)?;
        let epsilon = manifest.guarantee()?.epsilon;
        let map = Digest(manifest.map.0);
        let ground = Ground::new(key, map, epsilon, places.coords().to_vec())
            .ok_or_else(|| Lie::nonsense("manifest", "places", "are fewer than two"))?;
        Ok(Self { server, manifest, ground })
    }

    /// What the operator says a report costs on average.
    pub fn expected_cost(&self) -> (f64, String) {
        (self.manifest.expected_cost, self.manifest.unit.clone())
    }

    /// The row of a place over all places: fetches its tile and believes nothing of it before hash,
    /// sums and every pair of rows are found right.
    pub fn row(&self, place: &OwnPlace) -> Result<(Vec<f64>, Learnt), ClientError> {
        let tile = tile_of(&self.manifest, &self.ground, place)?;
        let entry = &self.manifest.tiles[tile];
        let request = Request::Tile(Digest(entry.hash.0));
        let bytes = self.server.ask(&request, entry.bytes.min(MOST_FILE))?.body;
        let opened = self.manifest.open_tile(tile, &bytes)?;
        let row = opened.row(place.0);
        let row = row.ok_or_else(|| Lie::nonsense("tile", "places", "lack one of this tile"))?;
        let learnt =
            Learnt::Tile { places: entry.places, effective_places: entry.effective_places };
        Ok((row, learnt))
    }
}

/// The tile of a place, from public numbers only.
pub fn tile_of(manifest: &Manifest, ground: &Ground, place: &OwnPlace) -> Result<usize, Lie> {
    let tile = manifest.tile_of(ground.coord(place)).filter(|&tile| tile < manifest.tiles.len());
    tile.ok_or_else(|| Lie::nonsense("manifest", "grid", "has no tile for one of its places"))
}
