//! The list of places, the same for everybody: what the columns of a row mean, and how likely people are where.

use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::twins::twins;

use crate::bytes::{Cursor, put};
use crate::{Digest, FORMAT, PlaceId, TileError};

const MAGIC: &[u8; 8] = b"LRPLACES";
const FILE: &str = "places";

/// All places of a map, by number.
pub struct Places {
    coords: Vec<Coord>,
    prior: Vec<f64>,
    index: SpatialIndex,
}

impl Places {
    /// The file: magic, format version, map version, count, latitude, longitude and prior of each.
    pub fn encode(map: Digest, coords: &[Coord], prior: &[f64]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        put(&mut out, [FORMAT]);
        out.extend_from_slice(&map.0);
        put(&mut out, [coords.len() as u32]);
        put(&mut out, coords.iter().zip(prior).flat_map(|(at, &p)| [at.lat(), at.lon(), p]));
        out
    }

    /// The inverse; `bytes` are those that the manifest speaks of.
    pub(crate) fn decode(bytes: &[u8], map: Digest) -> Result<Self, TileError> {
        let mut file = Cursor::new(FILE, bytes);
        expect_kind(&mut file, FILE, MAGIC)?;
        let made_for = file.digest("map version")?;
        if made_for != map {
            return Err(TileError::OtherMap { file: FILE, made_for, wanted: map });
        }
        let count = file.number::<u32>("count")? as usize;
        let numbers = file.numbers::<f64>("coordinates", count.saturating_mul(3))?;
        file.end()?;
        let coords = numbers.chunks_exact(3).map(|at| Coord::new(at[0], at[1]));
        let coords: Vec<Coord> = coords
            .collect::<Result<_, _>>()
            .map_err(|e| TileError::malformed(FILE, "coordinates", e))?;
        let prior: Vec<f64> = numbers.chunks_exact(3).map(|at| at[2]).collect();
        if !prior.iter().all(|p| p.is_finite() && *p >= 0.0) || prior.iter().sum::<f64>() <= 0.0 {
            return Err(TileError::malformed(FILE, "prior", "holds a number that is no weight"));
        }
        if !twins(&coords).is_empty() {
            return Err(TileError::malformed(FILE, "coordinates", "name one spot twice"));
        }
        Ok(Self { index: SpatialIndex::new(&coords), coords, prior })
    }

    /// Where they are.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// How likely somebody is at each; not all zero.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// The place that somebody at `at` counts as being at, and how far it is in kilometres.
    pub fn nearest(&self, at: Coord) -> Option<(PlaceId, f64)> {
        self.index.nearest(at).map(|(place, km)| (PlaceId::new(place), km))
    }
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Places").field("count", &self.coords.len()).finish_non_exhaustive()
    }
}

/// Refuses other kinds of files and other versions.
pub(crate) fn expect_kind(
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
