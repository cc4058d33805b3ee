//! Making a publication: cut, encode, sign, read back.

use lrgeo_geo::parallel::*;
use lrgeo_geo::{Digest, PlaceId};
use lrgeo_map::progress::Progress;
use lrgeo_tiles::{
    Check, Cover, FORMAT, FORMAT_NAME, FileEntry, Grid, LEAST_PLACES, Link, Manifest, Optimum,
    Places, Promise, SecretKey, SignedManifest, SparseMatrix, Tile, TileEntry, check_rows,
    encode_noise,
};

use super::PublishError;
use super::cut::{Cut, cut};
use crate::verify::{Method, Verdict, Verified};
use crate::{Built, MechanismError, ObfuscationMatrix, Rows};

/// All files of a publication, in memory.
#[derive(Debug)]
pub struct Publication {
    /// What it says about itself, signed.
    pub signed: SignedManifest,
    /// The places of each tile.
    pub members: Vec<Vec<PlaceId>>,
    /// The list of places, the noise for coordinates, and the tiles, by number.
    pub(super) places: Vec<u8>,
    pub(super) noise: Option<Vec<u8>>,
    pub(super) tiles: Vec<Vec<u8>>,
}

/// Cuts a verified mechanism into tiles and signs them; noise for coordinates is one file instead. `fingerprint` is that of
/// its file, `least` says how many likely places a tile has at least; the same arguments give the same bytes.
///
/// Refused: a mechanism of a round, one with a row that cannot be drawn from.
pub fn publish(
    built: &Verified,
    fingerprint: Digest,
    least: Option<usize>,
    link: Link,
    key: &SecretKey,
    progress: &dyn Progress,
) -> Result<Publication, MechanismError> {
    if built.guarantee.cover == Cover::Round {
        return Err(PublishError::PerUser { kind: built.kind.clone() }.into());
    }
    let (map, mechanism) = (built.map, fingerprint);
    let mut noise = None;
    let Tiled { grid, members, tiles } = match &built.rows {
        Rows::Dense(matrix) => tiled(built, mechanism, &dense(matrix), least, progress)?,
        Rows::Sparse(matrix) => tiled(built, mechanism, matrix, least, progress)?,
        Rows::Noise(lattice) => {
            noise = Some(encode_noise(map, lattice));
            Tiled::default()
        }
        Rows::Users(_) => return Err(PublishError::PerUser { kind: built.kind.clone() }.into()),
    };
    let places = Places::encode(map, &built.coords, &built.prior);
    let count = built.coords.len() as u32;
    let whole = |bytes: &Vec<u8>| FileEntry {
        hash: Digest::of(bytes),
        bytes: bytes.len() as u64,
        places: count,
    };
    let entry = |(bytes, members): (&Vec<u8>, &Vec<PlaceId>)| TileEntry {
        hash: Digest::of(bytes),
        bytes: bytes.len() as u64,
        places: members.len() as u32,
    };
    let manifest = Manifest {
        format: FORMAT_NAME.to_owned(),
        version: FORMAT,
        link,
        map,
        mechanism,
        kind: built.kind.clone(),
        promise: Promise {
            epsilon_per_km: built.guarantee.epsilon.value(),
            gamma_km: Some(built.guarantee.notion.reach_km()).filter(|km| km.is_finite()),
        },
        expected_cost: built.expected_cost,
        unit: built.unit.clone(),
        optimum: built.proof.as_ref().map(|proof| Optimum {
            status: proof.status.as_str().to_owned(),
            cost: proof.cost,
            lower_bound: proof.lower_bound,
            gap: proof.gap,
        }),
        check: check(built.verdict()),
        places: whole(&places),
        description: None,
        noise: noise.as_ref().map(whole),
        grid,
        tiles: tiles.iter().zip(&members).map(entry).collect(),
    };
    let signed = SignedManifest::sign(&manifest, key)?;
    let publication = Publication { signed, members, places, noise, tiles };
    publication.read_back(built, progress)?;
    Ok(publication)
}

/// Tiles, if there are any.
#[derive(Default)]
struct Tiled {
    /// Which one a point belongs to.
    grid: Option<Grid>,
    /// The places of each.
    members: Vec<Vec<PlaceId>>,
    /// Their bytes.
    tiles: Vec<Vec<u8>>,
}

/// The rows of a matrix cut into files.
fn tiled(
    built: &Built,
    mechanism: Digest,
    whole: &SparseMatrix,
    least: Option<usize>,
    progress: &dyn Progress,
) -> Result<Tiled, MechanismError> {
    let Cut { grid, tiles: cut } = cut(&built.coords, &built.prior, least.unwrap_or(LEAST_PLACES))?;
    let map = built.map;
    progress.begin("cutting tiles", cut.len() as u64);
    let mut tiles: Vec<Vec<u8>> = cut
        .par_iter()
        .map(|places| {
            let (places, rows) = (places.clone(), some_rows(whole, places));
            let bytes = Tile { map, mechanism, places, rows }.encode();
            progress.advance(1);
            bytes
        })
        .collect();
    progress.end();
    pad(&mut tiles);
    Ok(Tiled { grid: Some(grid), members: cut, tiles })
}

impl Publication {
    /// Reads everything as a client will, and compares every row with the mechanism's, bit for bit.
    fn read_back(&self, built: &Built, progress: &dyn Progress) -> Result<(), MechanismError> {
        let manifest = self.signed.manifest();
        let same = |a: &[f64], b: &[f64]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        let places = manifest.open_places(&self.places)?;
        if places.coords() != built.coords || !same(places.prior(), &built.prior) {
            return Err(PublishError::ReadBack { what: "the list of places" }.into());
        }
        if let (Some(bytes), Rows::Noise(noise)) = (&self.noise, &built.rows)
            && manifest.open_noise(bytes, &places)?.0 != *noise
        {
            return Err(PublishError::ReadBack { what: "the noise" }.into());
        }
        let members = manifest.members(&places)?;
        progress.begin("reading tiles as a phone does", members.len() as u64);
        let read = members.par_iter().enumerate().try_for_each(|(number, members)| {
            let tile = manifest.open_tile(number, members, &self.tiles[number])?;
            let mut expected = vec![0.0; built.coords.len()];
            for &place in members {
                built.rows.fill(place.index(), &mut expected);
                let row = tile.row(place).filter(|row| same(row, &expected));
                row.ok_or(PublishError::ReadBack { what: "a row" })?;
            }
            check_rows(&[tile], &places, &built.guarantee)?;
            progress.advance(1);
            Ok(())
        });
        progress.end();
        read
    }
}

/// A dense matrix with the columns that are zero in every row left out.
fn dense(matrix: &ObfuscationMatrix) -> SparseMatrix {
    let places = matrix.places();
    let mut present = vec![false; places];
    for row in 0..places {
        // By their bits: a negative zero is kept as well.
        let nonzero = matrix.row(row).iter().map(|z| z.to_bits() != 0);
        present.iter_mut().zip(nonzero).for_each(|(p, z)| *p |= z);
    }
    let columns: Vec<u32> = (0..places as u32).filter(|&k| present[k as usize]).collect();
    let value = |row: usize| columns.iter().map(move |&k| matrix.row(row)[k as usize]);
    SparseMatrix {
        start: (0..=places).map(|row| row * columns.len()).collect(),
        value: (0..places).flat_map(value).collect(),
        column: columns.repeat(places),
        tail: vec![0.0; places],
        present,
    }
}

/// The rows of some places over all columns.
fn some_rows(whole: &SparseMatrix, places: &[PlaceId]) -> SparseMatrix {
    let mut rows = SparseMatrix {
        start: vec![0],
        column: Vec::new(),
        value: Vec::new(),
        tail: pick(&whole.tail, places),
        present: whole.present.clone(),
    };
    for &place in places {
        let range = whole.start[place.index()]..whole.start[place.index() + 1];
        rows.column.extend_from_slice(&whole.column[range.clone()]);
        rows.value.extend_from_slice(&whole.value[range]);
        rows.start.push(rows.column.len());
    }
    rows
}

fn pick<T: Copy>(values: &[T], places: &[PlaceId]) -> Vec<T> {
    places.iter().map(|place| values[place.index()]).collect()
}

fn check(verdict: &Verdict) -> Check {
    let finding = &verdict.guaranteed;
    let method = match verdict.method {
        Method::EveryPair => "every pair",
        Method::Chained => "chained",
        Method::ClosedForm => "closed form",
    };
    Check {
        method: method.to_owned(),
        pairs: finding.pairs,
        violations: finding.violations,
        worst_log_excess: Some(finding.worst_log_excess).filter(|excess| excess.is_finite()),
        effective_epsilon_per_km: finding.effective_epsilon,
    }
}

/// Pads tiles with zeros to few lengths, so that a length says little about which tile it is: that of the longest
/// (in whole KiB), half of it, a quarter of it, and so on.
fn pad(tiles: &mut [Vec<u8>]) {
    let longest = tiles.iter().map(Vec::len).max().unwrap_or(0).next_multiple_of(1 << 10);
    for tile in tiles {
        let mut length = longest;
        while length / 2 >= tile.len() {
            length /= 2;
        }
        tile.resize(length.max(tile.len()), 0);
    }
}
