//! What an app calls whatever its reports belong to.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An app's own name for what a report belongs to: a ride, a task. The service passes it on and makes nothing of it.
///
/// Letters, digits, `-`, `_` and `:`, at most 64 of them. So it needs no escaping in a header, a log or an address, and no coordinate can be
/// put in it by mistake: those have a dot. Reports with one reference can be told to belong together, which is what it is for; an app that
/// wants several reports of a person kept apart gives them different ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    length: u8,
    letters: [u8; Self::MOST],
}

impl Reference {
    /// As many letters as one may have.
    pub const MOST: usize = 64;

    /// As it was written.
    pub fn as_str(&self) -> &str {
        let letters = self.letters.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(letters).unwrap_or_default()
    }
}

/// A text that is no reference; it is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 64 letters, digits, dashes, underscores or colons, like ride-17")]
pub struct NoReference;

impl std::str::FromStr for Reference {
    type Err = NoReference;

    fn from_str(text: &str) -> Result<Self, NoReference> {
        let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b':');
        let mut letters = [0; Self::MOST];
        match letters.get_mut(..text.len()) {
            Some(room) if !text.is_empty() && text.bytes().all(plain) => {
                room.copy_from_slice(text.as_bytes());
                Ok(Self { length: text.len() as u8, letters })
            }
            _ => Err(NoReference),
        }
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Debug for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reference({})", self.as_str())
    }
}

impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not borrowed: CBOR readers hand out texts that do not outlive the call.
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|wrong| serde::de::Error::custom(format!("`reference` {wrong}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_short_plain_name() {
        for good in
            ["ride-17", "a", "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", &"x".repeat(64)]
        {
            assert_eq!(good.parse::<Reference>().unwrap().as_str(), good);
        }
        for bad in ["", "46.003,-30.002", "ride 17", "a\r\nb", "é", "<b>", &"x".repeat(65)] {
            assert_eq!(bad.parse::<Reference>(), Err(NoReference), "{bad:?}");
        }
    }
}
