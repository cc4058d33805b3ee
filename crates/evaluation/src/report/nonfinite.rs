//! Numbers in JSON, which knows neither NaN nor infinities: those are written as the strings that Rust
//! prints, so that a report can always be read again.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Text(String),
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Finite(value) } else { Self::Text(value.to_string()) }
    }
}

impl Number {
    fn read<E: serde::de::Error>(self) -> Result<f64, E> {
        match self {
            Self::Finite(value) => Ok(value),
            Self::Text(text) => {
                text.parse().map_err(|_| E::custom(format!("{text:?} is no number")))
            }
        }
    }
}

/// One number; for `#[serde(with)]`.
pub(super) mod one {
    use super::*;

    pub fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        Number::from(*value).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Number::deserialize(from)?.read()
    }
}

/// A list of numbers; for `#[serde(with)]`.
pub(super) mod many {
    use super::*;

    pub fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|&value| Number::from(value)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        Vec::<Number>::deserialize(from)?.into_iter().map(Number::read).collect()
    }
}
