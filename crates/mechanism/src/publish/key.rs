//! The operator's key: ed25519, one secret in an owner-only file.

use std::io::Write;
use std::path::Path;

use ed25519_compact::{KeyPair, Seed, Signature};

use super::TileError;
use super::hash::{from_hex, to_hex};
use crate::MechanismError;

/// The first line of a key file.
const HEAD: &str = "lrgeo secret key 1 (ed25519): whoever has this file can publish in your name";

/// What signs manifests. Never printed, not even for debugging.
pub struct SecretKey(KeyPair);

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SecretKey").field(&self.public()).finish()
    }
}

impl SecretKey {
    /// A new key from the operating system's randomness.
    pub fn generate() -> Result<Self, MechanismError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        Self::from_seed(seed).map_err(MechanismError::from)
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

    /// Writes a new file that only its owner can read; an existing one is never overwritten.
    pub fn save_new(&self, path: &Path) -> Result<(), TileError> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => TileError::Key(format!(
                "{} exists and is not overwritten: tiles signed with it would become worthless",
                path.display()
            )),
            _ => TileError::Io { path: path.into(), source },
        })?;
        let text = format!("{HEAD}\n{}\n", to_hex(&self.0.sk.seed()[..]));
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|source| {
            let _ = std::fs::remove_file(path);
            TileError::Io { path: path.into(), source }
        })
    }

    /// Opens a file that [`SecretKey::save_new`] wrote, unless others can read it.
    pub fn open(path: &Path) -> Result<Self, TileError> {
        let refuse = |reason: &str| Err(TileError::Key(format!("{} {reason}", path.display())));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(path).map_err(TileError::io(path))?.permissions().mode();
            if mode & 0o077 != 0 {
                return refuse(
                    "can be read by others; make a new key, or chmod 600 it if nobody did",
                );
            }
        }
        let text = std::fs::read_to_string(path).map_err(TileError::io(path))?;
        match text.split_once('\n') {
            Some((HEAD, seed)) => match seed.strip_suffix('\n').and_then(from_hex) {
                Some(seed) => Self::from_seed(seed),
                None => refuse("is damaged: its second line is not a key"),
            },
            _ => refuse("is not a secret key of lrgeo; `lrgeo key new` makes one"),
        }
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
