//! Names of public things: maps, tiles, slices.

use serde::{Deserialize, Serialize};

/// A BLAKE3 hash as 64 hexadecimal digits: the version of a map, the name of a public file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String, pattern = "^[0-9a-f]{64}$"))]
#[serde(transparent)]
pub struct Digest(#[serde(with = "hex::serde")] pub [u8; 32]);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl std::str::FromStr for Digest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| "must be 64 hexadecimal digits")?;
        Ok(Self(bytes))
    }
}
