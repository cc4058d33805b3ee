//! A state that tells no place to whoever takes its file and nothing else.
//!
//! A state holds where its owner really was, because the same spot must give the same report. Sealed, it is noise without a key of
//! 32 bytes, which comes from the system's store where there is one (Android's and Apple's key stores, `systemd-creds`), and otherwise
//! from a file elsewhere than the state: then a copied, synchronised or backed-up state alone tells nothing, and whoever has both files
//! has the places (`docs/threat-model.md`).

use std::io::Write;
use std::path::Path;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use serde::{Deserialize, Serialize};

use super::file::{io, make_folder, owner_only, refuse_exposed};
use super::{FORMAT, SEALED_VERSION, StateError};

/// Bytes of a nonce, which stands before what was sealed with it.
const NONCE: usize = 12;

/// The file: what every version begins with, and what is sealed, in hexadecimal digits. Inside is the text of a plain state.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    format: String,
    version: u32,
    sealed: String,
}

/// What a state is sealed with. Cannot be printed.
#[derive(Clone)]
pub struct StateKey([u8; 32]);

impl StateKey {
    /// A key that some store keeps.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key in a file: 64 hexadecimal digits, for its owner only.
    pub fn read(path: &Path) -> Result<Self, StateError> {
        let text = std::fs::read_to_string(path).map_err(io(path))?;
        refuse_exposed(path)?;
        let name = path.display().to_string();
        let reason = "a key is 64 hexadecimal digits".to_owned();
        lrgeo_geo::from_hex(text.trim()).map(Self).ok_or(StateError::Damaged { name, reason })
    }

    /// The key in a file, which is made where there is none yet.
    pub fn read_or_make(path: &Path) -> Result<Self, StateError> {
        if path.exists() {
            return Self::read(path);
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder).map_err(io(folder))?;
        }
        let key = Self(random().map_err(io(path))?);
        let text = format!("{}\n", lrgeo_geo::to_hex(&key.0));
        let written = (|| {
            let mut file = owner_only().create_new(true).open(path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })();
        match written {
            Ok(()) => Ok(key),
            // Somebody else made it in the meantime.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Self::read(path),
            Err(error) => Err(io(path)(error)),
        }
    }

    /// Seals the text of a state. The nonce is random: 96 bits, of which the commits of a lifetime never draw the same twice.
    pub fn seal(&self, text: &[u8]) -> std::io::Result<Vec<u8>> {
        let nonce: [u8; NONCE] = random()?;
        let payload = Payload { msg: text, aad: FORMAT.as_bytes() };
        let sealed = self.cipher().encrypt(&Nonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| std::io::Error::other("too long to be sealed"))?;
        let sealed = lrgeo_geo::to_hex(&[nonce.as_slice(), &sealed].concat());
        let envelope = Envelope { format: FORMAT.to_owned(), version: SEALED_VERSION, sealed };
        let mut bytes = serde_json::to_vec_pretty(&envelope)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The text that was sealed; `name` says where it is from, in errors.
    pub fn open(&self, bytes: &[u8], name: &str) -> Result<Vec<u8>, StateError> {
        let damaged =
            |reason: &str| StateError::Damaged { name: name.into(), reason: reason.into() };
        let envelope: Envelope =
            serde_json::from_slice(bytes).map_err(|_| damaged("it is no sealed state"))?;
        let bytes = unhex(&envelope.sealed).ok_or_else(|| damaged("it is no sealed state"))?;
        let (nonce, sealed) =
            bytes.split_first_chunk::<NONCE>().ok_or_else(|| damaged("it is cut off"))?;
        let payload = Payload { msg: sealed, aad: FORMAT.as_bytes() };
        let opened = self.cipher().decrypt(&Nonce::from(*nonce), payload);
        opened.map_err(|_| StateError::OtherKey { name: name.into() })
    }

    fn cipher(&self) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new(&Key::from(self.0))
    }
}

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateKey")
    }
}

fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(16 * digit(pair[0])? + digit(pair[1])?);
    let pairs = text.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(pair).collect()
}
