//! A tile: the exact rows of its places, and nothing that the list of places or the manifest says already.

use crate::bytes::{Cursor, put};
use crate::places::expect_kind;
use crate::sample::weights;
use crate::verify::drawn;
use crate::{
    Cover, Digest, Distribution, Epsilon, FORMAT, Guarantee, MOST_PLACES, Notion, PlaceId, Places,
    SparseMatrix, TileError,
};

const MAGIC: &[u8; 8] = b"LRTILE\r\n";
const FILE: &str = "tile";

/// Every present column is explicit in every row: only values follow.
const EVERY_COLUMN: u32 = 0;
/// The explicit columns of each row are listed.
const LISTED_COLUMNS: u32 = 1;

/// The rows of the places of one tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The version of the map.
    pub map: Digest,
    /// The mechanism that the rows are from.
    pub mechanism: Digest,
    /// The numbers of the places, ascending; the list of places says where they are.
    pub places: Vec<PlaceId>,
    /// Their rows over all places of the map.
    pub rows: SparseMatrix,
}

impl Tile {
    /// The exact row of a place over all places of the map; `None` where it is not in this tile.
    pub fn row(&self, place: PlaceId) -> Option<Distribution> {
        let row = self.places.binary_search(&place).ok()?;
        let mut out = vec![0.0; self.rows.present.len()];
        self.rows.fill_row(row, &mut out);
        Distribution::new(out).ok()
    }

    /// Reads a tile whose hash is known: format, shape, and that every row is a distribution. Whether its rows
    /// keep a promise is for [`check_rows`].
    pub fn open(bytes: &[u8], expected: Digest) -> Result<Self, TileError> {
        let found = Digest::of(bytes);
        if found != expected {
            return Err(TileError::HashMismatch { file: FILE, expected, found });
        }
        let tile = Self::decode(bytes)?;
        let wrong = |error| TileError::malformed(FILE, "rows", error);
        tile.rows.validate().map_err(wrong)?;
        Ok(tile)
    }

    /// The file; `docs/tiles.md` has the table.
    pub fn encode(&self) -> Vec<u8> {
        let matrix = &self.rows;
        let (rows, columns) = (self.places.len(), matrix.present.len());
        let mut out = MAGIC.to_vec();
        put(&mut out, [FORMAT]);
        out.extend_from_slice(&self.map.0);
        out.extend_from_slice(&self.mechanism.0);
        put(&mut out, [columns as u32, rows as u32]);
        put(&mut out, self.places.iter().copied());
        let eight = |marks: &[bool]| {
            marks.iter().enumerate().fold(0, |byte, (bit, &mark)| byte | u8::from(mark) << bit)
        };
        out.extend(matrix.present.chunks(8).map(eight));
        put(&mut out, matrix.tail.iter().copied());
        let present = matrix.present.iter().filter(|p| **p).count();
        if matrix.start.windows(2).all(|w| w[1] - w[0] == present) {
            put(&mut out, [EVERY_COLUMN]);
        } else {
            put(&mut out, [LISTED_COLUMNS]);
            put(&mut out, matrix.start.windows(2).map(|w| (w[1] - w[0]) as u32));
            put(&mut out, matrix.column.iter().copied());
        }
        put(&mut out, matrix.value.iter().copied());
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self, TileError> {
        let wrong = |field, reason: &str| TileError::malformed(FILE, field, reason);
        let mut file = Cursor::new(FILE, bytes);
        expect_kind(&mut file, FILE, MAGIC)?;
        let (map, mechanism) = (file.digest("map version")?, file.digest("mechanism")?);
        let columns = file.number::<u32>("map's places")? as usize;
        let rows = file.number::<u32>("number of places")? as usize;
        if rows == 0 || rows > MOST_PLACES {
            return Err(wrong("number of places", "is none, or more than a phone can check"));
        }
        let places = file.numbers::<PlaceId>("places", rows)?;
        let known = places.iter().all(|place| place.index() < columns);
        if !known || !places.windows(2).all(|w| w[0] < w[1]) {
            return Err(wrong("places", "are out of order or not on the map"));
        }
        let marks = file.take("present columns", columns.div_ceil(8))?;
        let present: Vec<bool> =
            (0..8 * marks.len()).map(|bit| marks[bit / 8] >> (bit % 8) & 1 == 1).collect();
        let (present, padding) = present.split_at(columns);
        if padding.contains(&true) {
            return Err(wrong("present columns", "are more than the map has places"));
        }
        let tail = file.numbers("tails", rows)?;
        let all = || present.iter().enumerate().filter(|(_, p)| **p).map(|(k, _)| k as u32);
        let (start, column) = match file.number::<u32>("encoding")? {
            EVERY_COLUMN => {
                let width = all().count();
                // Never more than the file holds: it must have a value for each.
                let column = match bytes.len() / 8 >= rows.saturating_mul(width) {
                    true => (0..rows).flat_map(|_| all()).collect(),
                    false => return Err(wrong("values", "end too early")),
                };
                ((0..=rows).map(|row| row * width).collect(), column)
            }
            LISTED_COLUMNS => {
                let counts = file.numbers::<u32>("row lengths", rows)?;
                let mut start = vec![0usize];
                for count in counts {
                    start.push(start[start.len() - 1].saturating_add(count as usize));
                }
                let column = file.numbers("columns", start[rows])?;
                (start, column)
            }
            _ => return Err(wrong("encoding", "is unknown")),
        };
        let value = file.numbers("values", column.len())?;
        file.padding()?;
        let rows = SparseMatrix { start, column, value, tail, present: present.to_vec() };
        Ok(Self { map, mechanism, places, rows })
    }
}

/// Every two rows of some tiles, as they are drawn from, against a promise: rounding against it, no tolerance. As
/// much as somebody can check who has these tiles and no others; with all tiles, all of it.
pub fn check_rows(tiles: &[Tile], places: &Places, guarantee: &Guarantee) -> Result<(), TileError> {
    fn wrong(error: impl std::fmt::Display) -> TileError {
        TileError::malformed(FILE, "rows", error)
    }
    let (mut rows, mut coords) = (Vec::new(), Vec::new());
    for tile in tiles {
        for (index, &place) in tile.places.iter().enumerate() {
            let mut row = vec![0.0; tile.rows.present.len()];
            tile.rows.fill_row(index, &mut row);
            let row = Distribution::new(row).map_err(wrong)?;
            rows.push(weights(&row).map_err(wrong)?);
            coords.push(places.coords()[place.index()]);
        }
    }
    let finding = drawn(rows, &coords, guarantee.epsilon, guarantee.notion.reach_km());
    match finding.is_private() {
        true => Ok(()),
        false => Err(TileError::NotPrivate { worst_log_excess: finding.worst_log_excess }),
    }
}

/// A guarantee from the two numbers that files keep of it.
pub(crate) fn promise(
    file: &'static str,
    epsilon: f64,
    reach_km: f64,
) -> Result<Guarantee, TileError> {
    let epsilon =
        Epsilon::per_km(epsilon).map_err(|error| TileError::malformed(file, "promise", error))?;
    if reach_km.is_nan() || reach_km <= 0.0 {
        return Err(TileError::malformed(file, "promise", "has a gamma that is no distance"));
    }
    let notion = match reach_km.is_finite() {
        true => Notion::Within { gamma_km: reach_km },
        false => Notion::AllPairs,
    };
    Ok(Guarantee { notion, epsilon, cover: Cover::WholeMap })
}
