//! The operator's key: ed25519.

use ed25519_compact::{KeyPair, Seed, Signature};

use lrgeo_geo::{from_hex, to_hex};

use crate::TileError;

/// What signs manifests. Never printed, not even for debugging.
pub struct SecretKey(KeyPair);

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SecretKey").field(&self.public()).finish()
    }
}

impl SecretKey {
    /// A new key from the operating system's randomness.
    pub fn generate() -> Result<Self, TileError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| {
            TileError::Key(format!("no randomness from the operating system: {error}"))
        })?;
        Self::from_seed(seed)
    }

    /// The key of a seed: the same for the same 32 bytes.
    pub fn from_seed(seed: [u8; 32]) -> Result<Self, TileError> {
        let pair = KeyPair::try_from_seed(Seed::new(seed));
        pair.map(Self).map_err(|error| TileError::Key(error.to_string()))
    }

    /// The half that everybody may know.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.pk)
    }

    /// Signs; the same bytes give the same signature.
    pub fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        *self.0.sk.sign(bytes, None)
    }

    /// What [`SecretKey::from_seed`] makes this key of again. To be kept where nobody else can read it.
    pub fn seed(&self) -> [u8; 32] {
        *self.0.sk.seed()
    }
}

/// What everybody checks signatures with: `ed25519:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PublicKey(ed25519_compact::PublicKey);

impl PublicKey {
    /// Whether `signature` is this key's of `bytes`.
    pub fn verify(&self, bytes: &[u8], signature: &[u8]) -> Result<(), TileError> {
        let signature = Signature::from_slice(signature).map_err(|_| TileError::Signature)?;
        self.0.verify(bytes, &signature).map_err(|_| TileError::Signature)
    }
}

const SCHEME: &str = "ed25519:";

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{SCHEME}{}", to_hex(&self.0[..]))
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for PublicKey {
    type Error = TileError;

    fn try_from(text: String) -> Result<Self, TileError> {
        text.parse()
    }
}

impl std::str::FromStr for PublicKey {
    type Err = TileError;

    fn from_str(text: &str) -> Result<Self, TileError> {
        let wrong = || TileError::Key(format!("a public key is `{SCHEME}` and 64 hex digits"));
        let bytes = text.trim().strip_prefix(SCHEME).and_then(from_hex).ok_or_else(wrong)?;
        let key = ed25519_compact::PublicKey::new(bytes);
        key.validate().map_err(|_| TileError::Key("is no point that signs anything".into()))?;
        Ok(Self(key))
    }
}
