//! Two encodings of every message: JSON for people and scripts, CBOR for phones.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// How a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Encoding {
    /// `application/json`.
    #[default]
    Json,
    /// `application/cbor`: half as long, twice as fast.
    Cbor,
}

/// A body that is no message, or not the expected one. The text names a field or a position, never
/// a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is not the expected message: {0}")]
pub struct Malformed(pub String);

impl Encoding {
    /// Both, with their media types.
    pub const ALL: [(Encoding, &'static str); 2] =
        [(Encoding::Json, "application/json"), (Encoding::Cbor, "application/cbor")];

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The encoding of a `Content-Type`; parameters such as a charset are ignored.
    pub fn of(content_type: &str) -> Option<Self> {
        let name = content_type.split(';').next()?.trim();
        let known = Self::ALL.iter().find(|(_, media)| name.eq_ignore_ascii_case(media));
        known.map(|(encoding, _)| *encoding)
    }

    /// What to answer to an `Accept`: the first of both that it names, JSON for `*/*` and where there is none;
    /// `None` when it wants neither.
    pub fn accepted(accept: Option<&str>) -> Option<Self> {
        let Some(accept) = accept else { return Some(Self::Json) };
        accept.split(',').find_map(|wanted| match wanted.split(';').next()?.trim() {
            "*/*" | "application/*" => Some(Self::Json),
            name => Self::of(name),
        })
    }

    /// Writes a message.
    pub fn encode<T: Serialize>(self, message: &T) -> Vec<u8> {
        match self {
            // Both fail only on maps with odd keys and on failing writers; messages have neither.
            Self::Json => serde_json::to_vec(message).unwrap_or_default(),
            Self::Cbor => {
                let mut bytes = Vec::new();
                let _ = ciborium::into_writer(message, &mut bytes);
                bytes
            }
        }
    }

    /// Reads a message; bytes after its end are refused.
    pub fn decode<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, Malformed> {
        match self {
            Self::Json => {
                serde_json::from_slice(bytes).map_err(|e| Malformed(shape(&e.to_string())))
            }
            Self::Cbor => {
                let mut rest = bytes;
                let message = ciborium::from_reader(&mut rest);
                let message = message.map_err(|e| Malformed(shape(&e.to_string())))?;
                match rest.is_empty() {
                    true => Ok(message),
                    false => Err(Malformed("there are bytes after its end".into())),
                }
            }
        }
    }
}

/// What a decoder complains about without the values that it quotes: they may say where somebody is.
/// Strings stand in double quotes, numbers and names of fields in backticks; names are kept.
fn shape(complaint: &str) -> String {
    let outside_strings: String = complaint.split('"').step_by(2).collect();
    let is_name = |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let parts = outside_strings.split('`').enumerate();
    let safe = parts.map(|(at, part)| if at % 2 == 0 || is_name(part) { part } else { "..." });
    safe.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_negotiated() {
        assert_eq!(Encoding::accepted(None), Some(Encoding::Json));
        assert_eq!(Encoding::accepted(Some("*/*")), Some(Encoding::Json));
        assert_eq!(Encoding::accepted(Some("application/cbor")), Some(Encoding::Cbor));
        assert_eq!(
            Encoding::accepted(Some("text/html, application/cbor;q=0.9")),
            Some(Encoding::Cbor)
        );
        assert_eq!(Encoding::accepted(Some("text/html")), None);
        assert_eq!(Encoding::of("Application/JSON; charset=utf-8"), Some(Encoding::Json));
        assert_eq!(Encoding::of("text/plain"), None);
    }

    #[test]
    fn numbers_survive_both_encodings_bit_by_bit() {
        let numbers = vec![0.1, 1.0 / 3.0, 5e-324, f64::MAX, 1.5, 0.0, 1e-80, 0.1f32 as f64];
        for (encoding, _) in Encoding::ALL {
            let read: Vec<f64> = encoding.decode(&encoding.encode(&numbers)).unwrap();
            assert!(read.iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }

    #[test]
    fn what_follows_a_message_is_refused_and_values_are_not_repeated() {
        for (encoding, _) in Encoding::ALL {
            let mut bytes = encoding.encode(&[7u32]);
            bytes.extend(encoding.encode(&[8u32]));
            assert!(encoding.decode::<[u32; 1]>(&bytes).is_err());
        }
        let error = Encoding::Json.decode::<u32>(b"\"41.8902,12.4922\"").unwrap_err();
        assert!(!error.to_string().contains("41.89"), "{error}");
        let error = Encoding::Json.decode::<u32>(b"41.8902").unwrap_err();
        assert!(!error.to_string().contains("41.89"), "{error}");
        let error = Encoding::Json.decode::<crate::quiet::Report>(b"{\"lat\":1}").unwrap_err();
        assert!(error.to_string().contains("map"), "the missing field is named: {error}");
    }
}
