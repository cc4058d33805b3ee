//! The noise for coordinates as a public file: one, the same for everybody, so that fetching it tells nothing.

use lrgeo_geo::Coord;

use crate::Epsilon;
use crate::bytes::{Cursor, put};
use crate::coordinates::{Lattice, LatticeNoise};
use crate::places::expect_kind;
use crate::verify::coordinates::account;
use crate::{Digest, FORMAT, Places, TileError};

const MAGIC: &[u8; 8] = b"LRNOISE_";
const FILE: &str = "noise";

/// The file: magic, format version, map version, rate, centre, area, lattice, and the place that each square is reported as.
pub fn encode_noise(map: Digest, noise: &LatticeNoise) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    put(&mut out, [FORMAT]);
    out.extend_from_slice(&map.0);
    let Lattice { spacing_km, tip_km, first, squares, side } = noise.lattice;
    put(&mut out, [noise.noise.value(), noise.centre.lat(), noise.centre.lon()]);
    put(&mut out, noise.area);
    put(&mut out, [spacing_km, tip_km, first[0] as f64, first[1] as f64]);
    put(&mut out, [squares[0], squares[1], side]);
    put(&mut out, noise.reports.iter().copied());
    out
}

/// The inverse, for the places that the manifest speaks of. Believed is nothing: the epsilon between any two coordinates is worked out
/// from what was read and comes with it.
pub(crate) fn decode_noise(
    bytes: &[u8],
    map: Digest,
    places: &Places,
) -> Result<(LatticeNoise, f64), TileError> {
    let mut file = Cursor::new(FILE, bytes);
    expect_kind(&mut file, FILE, MAGIC)?;
    let made_for = file.digest("map version")?;
    if made_for != map {
        return Err(TileError::OtherMap { file: FILE, made_for, wanted: map });
    }
    let numbers = file.numbers::<f64>("numbers", 11)?;
    let counts = file.numbers::<u32>("counts", 3)?;
    let squares = (counts[0] as usize).saturating_mul(counts[1] as usize);
    let reports = file.numbers("reports", squares)?;
    file.end()?;
    let wrong = |error: lrgeo_geo::Invalid| TileError::malformed(FILE, "numbers", error);
    let centre = Coord::new(numbers[1], numbers[2]);
    let centre = centre.map_err(|error| TileError::malformed(FILE, "centre", error))?;
    let area = [numbers[3], numbers[4], numbers[5], numbers[6]];
    // Casts saturate, and cut off what is no whole number: one file has one meaning, and one meaning one file.
    let first = [numbers[9] as i64, numbers[10] as i64];
    if first.map(|at| at as f64) != numbers[9..] {
        return Err(TileError::malformed(FILE, "numbers", "begin at no point of a lattice"));
    }
    let lattice = Lattice {
        spacing_km: numbers[7],
        tip_km: numbers[8],
        first,
        squares: [counts[0], counts[1]],
        side: counts[2],
    };
    let rate = Epsilon::per_km(numbers[0]).map_err(wrong)?;
    let noise =
        LatticeNoise::from_parts(rate, centre, area, lattice, reports, places.coords().to_vec());
    let noise = noise.map_err(wrong)?;
    let proven = account(&noise).epsilon();
    match proven.is_finite() {
        true => Ok((noise, proven)),
        false => Err(TileError::malformed(FILE, "numbers", "promise nothing between coordinates")),
    }
}
