//! The manifest: what was published, for which map, with which promise, in which files, after which other
//! manifest. It is the only thing that is signed; its hashes cover all the rest.

use serde::{Deserialize, Serialize};

use crate::Guarantee;
use crate::coordinates::LatticeNoise;
use crate::noise::decode_noise;
use crate::tile::promise;
use crate::{Digest, FORMAT, Grid, Link, MOST_PLACES, PlaceId, Places, Tile, TileError};

/// Stands first in every manifest.
pub const FORMAT_NAME: &str = "lrgeo tiles";
const FILE: &str = "manifest";

/// The promise of a mechanism, as it stands in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Epsilon in 1/km.
    pub epsilon_per_km: f64,
    /// The largest distance of a pair that is promised anything; `null`: every pair.
    pub gamma_km: Option<f64>,
}

/// What the optimiser proved, per report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Optimum {
    /// How the solve ended.
    pub status: String,
    /// The cost of the mechanism in the programme that was solved.
    pub cost: f64,
    /// No mechanism of that programme costs less.
    pub lower_bound: f64,
    /// `(cost - lower_bound) / cost`.
    pub gap: f64,
}

/// What the verifier found before publishing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// `every pair`, or `chained` along the pairs of a witness (`docs/specification.md` section 6).
    pub method: String,
    /// Ordered pairs of places that were compared.
    pub pairs: u64,
    /// Inequalities that do not hold: none.
    pub violations: u64,
    /// The largest `ln(z_ik / z_jk) - eps d_ij`, not positive; `null` where there was no pair.
    pub worst_log_excess: Option<f64>,
    /// The smallest epsilon that all compared pairs satisfy.
    pub effective_epsilon_per_km: f64,
}

/// A file of the directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// BLAKE3 of its bytes; also its name.
    pub hash: Digest,
    /// Its length.
    pub bytes: u64,
    /// How many places it holds.
    pub places: u32,
}

/// A tile of the directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileEntry {
    /// BLAKE3 of its bytes; also its name.
    pub hash: Digest,
    /// Its length.
    pub bytes: u64,
    /// How many places it holds.
    pub places: u32,
}

/// What was published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT_NAME`], so that the signature of one kind of document is never one of another.
    pub format: String,
    /// [`FORMAT`].
    pub version: u32,
    /// Its place among the operator's manifests.
    pub link: Link,
    /// The version of the map.
    pub map: Digest,
    /// The fingerprint of the mechanism's file.
    pub mechanism: Digest,
    /// The name of its kind.
    pub kind: String,
    /// What it promises.
    pub promise: Promise,
    /// What a report costs on average.
    pub expected_cost: f64,
    /// The unit of costs.
    pub unit: String,
    /// What the optimiser proved; `null` where there was none.
    pub optimum: Option<Optimum>,
    /// What the verifier found.
    pub check: Check,
    /// The list of places.
    pub places: FileEntry,
    /// The hash of the description of the map that a server adds for the modes `local` and `offload`; `null` without.
    pub description: Option<Digest>,
    /// The noise for coordinates: all that is published, or what a server adds to tiles; `null` without.
    pub noise: Option<FileEntry>,
    /// Which tile a point belongs to; `null` where there are none.
    pub grid: Option<Grid>,
    /// The tiles, by number; none where noise for coordinates is all that is published.
    pub tiles: Vec<TileEntry>,
}

/// The two fields that every version has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

impl Manifest {
    /// Reads the text of a manifest: format, shape and numbers. Only for what was found to be signed:
    /// [`crate::Envelope::open`].
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, TileError> {
        let not_json = |error: serde_json::Error| TileError::malformed(FILE, "text", error);
        let head: Head = serde_json::from_slice(bytes).map_err(not_json)?;
        if head.format != FORMAT_NAME {
            return Err(TileError::malformed(FILE, "format", "is that of another kind of file"));
        }
        if head.version != u64::from(FORMAT) {
            return Err(TileError::OtherFormat { file: FILE, found: head.version, reads: FORMAT });
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(not_json)?;
        manifest.validate()?;
        Ok(manifest)
    }

    fn validate(&self) -> Result<(), TileError> {
        let wrong = |field, reason: &str| Err(TileError::malformed(FILE, field, reason));
        self.guarantee()?;
        self.link.validate()?;
        if self.check.violations != 0 {
            return wrong("check", "found violations");
        }
        let grid = match &self.grid {
            Some(grid) => grid,
            None if self.tiles.is_empty() && self.noise.is_some() => return Ok(()),
            None => {
                return wrong("grid", "is missing: there are tiles, or there is nothing at all");
            }
        };
        let most = MOST_PLACES as u32;
        if self.tiles.iter().any(|tile| tile.places == 0 || tile.places > most) {
            return wrong("tiles", "hold no places, or more than a phone can check");
        }
        let places: u64 = self.tiles.iter().map(|tile| u64::from(tile.places)).sum();
        if places != u64::from(self.places.places) {
            return wrong("tiles", "do not hold every place once");
        }
        grid.validate(self.tiles.len())
    }

    /// What is promised.
    pub fn guarantee(&self) -> Result<Guarantee, TileError> {
        let Promise { epsilon_per_km, gamma_km } = self.promise;
        promise(FILE, epsilon_per_km, gamma_km.unwrap_or(f64::INFINITY))
    }

    /// Refuses a manifest for another version of the map than the one in use: stale tiles.
    pub fn expect_map(&self, wanted: Digest) -> Result<(), TileError> {
        match self.map == wanted {
            true => Ok(()),
            false => Err(TileError::OtherMap { file: FILE, made_for: self.map, wanted }),
        }
    }

    /// The tile of a point: see [`Grid::tile_of`].
    pub fn tile_of(&self, at: lrgeo_geo::Coord) -> Option<usize> {
        self.grid.as_ref()?.tile_of(at)
    }

    /// Where the list of places is in the directory.
    pub fn places_path(&self) -> String {
        format!("places/{}.lrplaces", self.places.hash)
    }

    /// Where a tile is in the directory.
    pub fn tile_path(&self, tile: usize) -> Option<String> {
        self.tiles.get(tile).map(|entry| format!("tiles/{}.lrtile", entry.hash))
    }

    /// Where the noise for coordinates is in the directory.
    pub fn noise_path(&self) -> Option<String> {
        self.noise.as_ref().map(|entry| format!("noise/{}.lrnoise", entry.hash))
    }

    /// Reads the list of places.
    pub fn open_places(&self, bytes: &[u8]) -> Result<Places, TileError> {
        expect_file("places", bytes, self.places.bytes, self.places.hash)?;
        let places = Places::decode(bytes, self.map)?;
        match places.coords().len() == self.places.places as usize {
            true => Ok(places),
            false => Err(TileError::malformed("places", "count", "is not that of the manifest")),
        }
    }

    /// Reads the noise for coordinates, and the epsilon that is proven here between any two of them; refused where the manifest promises less.
    pub fn open_noise(
        &self,
        bytes: &[u8],
        places: &Places,
    ) -> Result<(LatticeNoise, f64), TileError> {
        let none = || TileError::malformed(FILE, "noise", "is not there");
        let entry = self.noise.as_ref().ok_or_else(none)?;
        expect_file("noise", bytes, entry.bytes, entry.hash)?;
        let (noise, proven) = decode_noise(bytes, self.map, places)?;
        match proven <= self.promise.epsilon_per_km {
            true => Ok((noise, proven)),
            false => {
                Err(TileError::malformed("noise", "rate", "is above what the manifest promises"))
            }
        }
    }

    /// The places of every tile, ascending, worked out from the grid and the list of places alone.
    pub fn members(&self, places: &Places) -> Result<Vec<Vec<PlaceId>>, TileError> {
        let wrong = |field, reason: &str| TileError::malformed(FILE, field, reason);
        if self.tiles.is_empty() {
            return Ok(Vec::new());
        }
        let mut members = vec![Vec::new(); self.tiles.len()];
        for (place, &at) in places.coords().iter().enumerate() {
            let tile = self.tile_of(at).and_then(|tile| members.get_mut(tile));
            tile.ok_or_else(|| wrong("grid", "has no tile for one of its places"))?
                .push(PlaceId::at(place));
        }
        let same =
            |(tile, members): (&TileEntry, &Vec<PlaceId>)| tile.places as usize == members.len();
        match self.tiles.iter().zip(&members).all(same) {
            true => Ok(members),
            false => Err(wrong("tiles", "do not hold the places that the grid puts into them")),
        }
    }

    /// Reads a tile: [`Tile::open`], and that it is this one, of this map and mechanism, with exactly the places
    /// that [`Manifest::members`] puts into it.
    pub fn open_tile(
        &self,
        tile: usize,
        members: &[PlaceId],
        bytes: &[u8],
    ) -> Result<Tile, TileError> {
        const FILE: &str = "tile";
        let wrong = |field, reason: &str| Err(TileError::malformed(FILE, field, reason));
        let Some(entry) = self.tiles.get(tile) else {
            return wrong("number", "is not in the manifest");
        };
        expect_file(FILE, bytes, entry.bytes, entry.hash)?;
        let opened = Tile::open(bytes, entry.hash)?;
        if opened.map != self.map {
            let (made_for, wanted) = (opened.map, self.map);
            return Err(TileError::OtherMap { file: FILE, made_for, wanted });
        }
        if opened.mechanism != self.mechanism {
            return wrong("mechanism", "is not that of the manifest");
        }
        if opened.rows.present.len() != self.places.places as usize {
            return wrong("number of places", "is not that of the manifest");
        }
        if opened.places != members {
            return wrong("places", "are not those that the grid puts into it");
        }
        Ok(opened)
    }

    /// The same content at another place of the chain.
    pub fn linked(self, link: Link) -> Self {
        Self { link, ..self }
    }

    /// The same thing published, whenever and after whatever.
    pub fn same_content(&self, other: &Self) -> bool {
        *self == Self { link: self.link, ..other.clone() }
    }

    /// The text that is signed.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, TileError> {
        let text = serde_json::to_string_pretty(self);
        let mut text = text.map_err(|error| TileError::malformed(FILE, "text", error))?;
        text.push('\n');
        Ok(text.into_bytes())
    }
}

/// Refuses bytes that are not those of the manifest, saying whether they were only cut off.
fn expect_file(
    file: &'static str,
    bytes: &[u8],
    length: u64,
    expected: Digest,
) -> Result<(), TileError> {
    if (bytes.len() as u64) < length {
        return Err(TileError::Truncated { file, expected: length, found: bytes.len() as u64 });
    }
    let found = Digest::of(bytes);
    if found != expected || bytes.len() as u64 != length {
        return Err(TileError::HashMismatch { file, expected, found });
    }
    Ok(())
}
