//! Hashes as they stand in the manifest and in file names.

use lrgeo_geo::bytes::Fingerprint;

/// A BLAKE3 hash: of a file, or the version of a map or mechanism. 64 hexadecimal digits in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        from_hex(&text).map(Self).ok_or("a hash has 64 hexadecimal digits in lower case")
    }
}

impl From<Fingerprint> for Hash {
    fn from(fingerprint: Fingerprint) -> Self {
        Self(fingerprint.0)
    }
}

impl From<Hash> for Fingerprint {
    fn from(hash: Hash) -> Self {
        Self(hash.0)
    }
}

/// Two lower-case digits per byte.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The inverse of [`to_hex`] for exactly 32 bytes. Upper case is refused, so that each hash has one
/// spelling.
pub fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; 32];
    if text.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_one_spelling() {
        let hash = Hash::of(b"tile");
        let text = hash.to_string();
        assert_eq!(Hash::try_from(text.clone()), Ok(hash));
        for bad in [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), "é".repeat(32)]
        {
            assert!(Hash::try_from(bad.clone()).is_err(), "{bad} was accepted");
        }
    }
}
