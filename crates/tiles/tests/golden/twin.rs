//! A malformed twin: a golden file with one thing wrong.

/// What is done to the bytes.
pub enum Twin {
    /// Nothing follows this byte.
    Cut(usize),
    /// Other bytes from here on.
    Put(usize, Vec<u8>),
    /// More bytes at the end.
    More(Vec<u8>),
}

impl Twin {
    /// Another u32 at a byte.
    pub fn word(at: usize, word: u32) -> Self {
        Self::Put(at, word.to_le_bytes().to_vec())
    }

    /// Another f64 at a byte.
    pub fn number(at: usize, number: f64) -> Self {
        Self::Put(at, number.to_le_bytes().to_vec())
    }

    /// The twin of these bytes.
    pub fn of(&self, bytes: &[u8]) -> Vec<u8> {
        let mut twin = bytes.to_vec();
        match self {
            Self::Cut(at) => twin.truncate(*at),
            Self::Put(at, other) => twin[*at..at + other.len()].copy_from_slice(other),
            Self::More(more) => twin.extend(more),
        }
        assert_ne!(twin, bytes, "a twin must differ");
        twin
    }
}

/// Every twin that differs in one bit.
pub fn one_bit_off(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..8 * bytes.len())
        .map(|bit| Twin::Put(bit / 8, vec![bytes[bit / 8] ^ 1 << (bit % 8)]).of(bytes))
}
