//! What a file, a map, a tile or a message is known by.

use serde::{Deserialize, Serialize};

use crate::Invalid;

/// A BLAKE3 hash: of a file or a message, or the version of a map or mechanism.
///
/// It has one spelling, 64 hexadecimal digits in lower case, in text, JSON, CBOR and file names: two that look different are different.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String, pattern = "^[0-9a-f]{64}$"))]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The first sixteen digits: enough for people to tell versions apart at a glance. Programs get all of it.
    pub fn short(&self) -> String {
        to_hex(&self.0[..8])
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl std::str::FromStr for Digest {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong = || Invalid::new("hash", "must be 64 hexadecimal digits in lower case");
        from_hex(text).map(Self).ok_or_else(wrong)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

/// Two lower-case digits per byte.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The inverse of [`to_hex`] for exactly 32 bytes. Upper case is refused, so that there is one spelling.
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
    fn a_digest_has_one_spelling() {
        let digest = Digest::of(b"tile");
        let text = digest.to_string();
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(serde_json::to_string(&digest).unwrap(), format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<Digest>(&format!("\"{text}\"")).unwrap(), digest);
        assert_eq!(digest.short(), text[..16]);
        for bad in [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), "é".repeat(32)]
        {
            assert!(bad.parse::<Digest>().is_err(), "{bad} was accepted");
            assert!(
                serde_json::from_value::<Digest>(bad.clone().into()).is_err(),
                "{bad} was read"
            );
        }
    }
}
