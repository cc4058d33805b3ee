//! Which place of a map.

use serde::{Deserialize, Serialize};

/// The number of a place: its position in the list of all places of a map, which the map's version fixes.
///
/// A type of its own, so that neither the row of a tile or an upload, nor the cell of a cost table, nor a node of the streets, which are numbers
/// too, can stand where a place must. In files and messages it is that number and nothing else. Whether a map has
/// such a place is for those to say who have the map: a number from outside may be any.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PlaceId(u32);

impl PlaceId {
    /// The place of this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The place at this position of the list of all places. A position beyond all numbers, which no map has, becomes the last number, which no
    /// map has either.
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// All places of a map that has so many, ascending.
    pub fn all(
        count: usize,
    ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone + Send {
        (0..count).map(Self::at)
    }

    /// Its number, as files and messages have it.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Where it stands in a list of all places.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for PlaceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_as_its_number_and_nothing_else() {
        let place = PlaceId::new(7);
        assert_eq!(serde_json::to_string(&[place]).unwrap(), "[7]");
        assert_eq!(serde_json::from_str::<PlaceId>("7").unwrap(), place);
        assert_eq!(format!("{place:>3}"), "  7");
        for bad in ["-1", "4294967296", "7.5", "\"7\"", "[7]"] {
            assert!(serde_json::from_str::<PlaceId>(bad).is_err(), "{bad} was read");
        }
    }

    #[test]
    fn places_are_numbered_by_their_position() {
        let all: Vec<PlaceId> = PlaceId::all(3).collect();
        assert_eq!(all, [0, 1, 2].map(PlaceId::new));
        assert!(all.iter().enumerate().all(|(index, place)| place.index() == index));
        assert_eq!(PlaceId::at(1 << 32), PlaceId::new(u32::MAX));
    }
}
