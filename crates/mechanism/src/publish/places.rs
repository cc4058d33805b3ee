//! The list of places, the same for everybody: what the columns of a row mean.

use lrgeo_map::geo::Coord;
use lrgeo_map::index::SpatialIndex;

use super::bytes::{Cursor, put};
use super::{FORMAT, Hash, TileError};

const MAGIC: &[u8; 8] = b"LRPLACES";
const FILE: &str = "places";

/// All places of a map, by number.
pub struct Places {
    coords: Vec<Coord>,
    index: SpatialIndex,
}

impl Places {
    /// The file: magic, format version, map version, count, latitude and longitude of each.
    pub(super) fn encode(map: Hash, coords: &[Coord]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        put(&mut out, [FORMAT]);
        out.extend_from_slice(&map.0);
        put(&mut out, [coords.len() as u32]);
        put(&mut out, coords.iter().flat_map(|at| [at.lat(), at.lon()]));
        out
    }

    /// The inverse; `bytes` are those that the manifest speaks of.
    pub(super) fn decode(bytes: &[u8], map: Hash) -> Result<Self, TileError> {
        let mut file = Cursor::new(FILE, bytes);
        expect_kind(&mut file, FILE, MAGIC)?;
        let made_for = Hash(file.hash("map version")?);
        if made_for != map {
            return Err(TileError::OtherMap { file: FILE, made_for, wanted: map });
        }
        let count = file.number::<u32>("count")? as usize;
        let coords = get_coords(&mut file, FILE, count)?;
        file.end()?;
        Ok(Self { index: SpatialIndex::new(&coords), coords })
    }

    /// Where they are.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// The place that somebody at `at` counts as being at, and how far it is in kilometres.
    pub fn nearest(&self, at: Coord) -> Option<(u32, f64)> {
        self.index.nearest(at)
    }
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Places").field("count", &self.coords.len()).finish_non_exhaustive()
    }
}

/// Refuses other kinds of files and other versions.
pub(super) fn expect_kind(
    bytes: &mut Cursor<'_>,
    file: &'static str,
    magic: &[u8; 8],
) -> Result<(), TileError> {
    if bytes.take("beginning", magic.len())? != magic {
        return Err(TileError::malformed(file, "beginning", "is that of another kind of file"));
    }
    let found = bytes.number::<u32>("format version")?;
    match found == FORMAT {
        true => Ok(()),
        false => Err(TileError::OtherFormat { file, found: found.into(), reads: FORMAT }),
    }
}

/// Latitudes and longitudes.
pub(super) fn get_coords(
    bytes: &mut Cursor<'_>,
    file: &'static str,
    count: usize,
) -> Result<Vec<Coord>, TileError> {
    let numbers = bytes.numbers::<f64>("coordinates", 2 * count)?;
    let coords = numbers.chunks_exact(2).map(|at| Coord::new(at[0], at[1]));
    coords.map(|at| at.map_err(|e| TileError::malformed(file, "coordinates", e))).collect()
}
