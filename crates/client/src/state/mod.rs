//! What a client remembers: the owner's policy, reports, spent epsilon, operators.
//!
//! [`State`] is plain data that reads and writes JSON; a [`Keeper`] puts the text somewhere safe
//! (`StateFile`: one owner-only file, sealed with a `StateKey` where the system or another file keeps one). Everything fails closed: what cannot be read or written stops
//! the client before it draws or sends anything.

#[cfg(feature = "system")]
mod file;
mod ledger;
mod memory;
#[cfg(feature = "system")]
mod sealed;

use std::collections::BTreeMap;

use lrgeo_geo::Digest;
use lrgeo_tiles::{Issued, PublicKey, Tip};
use serde::{Deserialize, Serialize};

#[cfg(feature = "system")]
pub use file::StateFile;
pub use ledger::{Balance, Ledger, LedgerError, Limit, Spend};
pub use memory::{Asked, Hidden, Memory, Recalled, Remembered};
#[cfg(feature = "system")]
pub use sealed::StateKey;

use crate::Mode;
use crate::policy::{Policy, Terms};

/// Stands first in every state.
const FORMAT: &str = "lrgeo client state";
/// The version of the format. The one before is brought up to it ([`upgrade`]), others are refused.
const VERSION: u32 = 3;
/// The version of a sealed file, whose content is the text of a plain state.
const SEALED_VERSION: u32 = 4;

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    format: String,
    version: u32,
    /// What the owner accepts.
    pub policy: Policy,
    /// What was spent.
    pub ledger: Ledger,
    /// Which servers were seen, and what they signed last.
    pub servers: Vec<Pinned>,
    /// Whether the owner knows what `offload` discloses.
    pub offload_understood: bool,
    /// What was reported.
    pub memory: Memory,
}

/// A server, the operator behind it, and the newest manifest that was accepted: all later ones must follow it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The address.
    pub server: String,
    /// The key that the operator was first known by: reports are remembered under it.
    pub key: PublicKey,
    /// When it was pinned, in seconds since 1970.
    pub since: u64,
    /// The number of the manifest.
    pub sequence: u64,
    /// Its hash.
    pub manifest: Digest,
    /// When it was issued.
    pub issued: Issued,
    /// The key that signed it.
    pub signer: PublicKey,
    /// The key that signs the next one.
    pub next_key: PublicKey,
    /// What was accepted, by mode.
    pub terms: BTreeMap<Mode, Terms>,
    /// Two manifests that cannot both be true, if they were ever seen. Nothing is believed after that.
    pub fork: Option<Fork>,
}

impl Pinned {
    /// What the next manifest is known by.
    pub fn tip(&self) -> Tip {
        let Self { manifest: digest, sequence, issued, next_key, .. } = *self;
        Tip { digest, sequence, issued, next_key }
    }
}

/// Two different manifests under one number, both signed by the operator: some people are shown one, some the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// The number.
    pub sequence: u64,
    /// The one known before.
    pub known: Digest,
    /// The other one, or the one that follows something else than what is known.
    pub other: Digest,
}

/// Why a state cannot be used. Nothing is reported without one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Others may have read it or written to it.
    #[error(
        "{name}: others can read or write it ({mode:03o}); if nobody did, `chmod 600` it, else move it away and begin anew"
    )]
    Exposed {
        /// The file.
        name: String,
        /// Its permissions.
        mode: u32,
    },
    /// It is not what was written.
    #[error(
        "{name}: is damaged ({reason}); nothing is reported without it. Bring back a copy, or delete it: then reports \
         for the same places are drawn anew, which tells more about them"
    )]
    Damaged {
        /// The file.
        name: String,
        /// What is wrong with it; never a place.
        reason: String,
    },
    /// Written by another version.
    #[error(
        "{name}: has format version {found}, this lrgeo reads {VERSION} and the one before; use the lrgeo that wrote it, or \
         move it away and begin anew: then the same spots are drawn again, which tells more about them"
    )]
    OtherVersion {
        /// The file.
        name: String,
        /// Its version.
        found: u64,
    },
    /// It is sealed, and no key was given.
    #[error("{name}: is sealed; the key that it was sealed with is needed (`state_key`)")]
    Sealed {
        /// The file.
        name: String,
    },
    /// It was sealed with another key, or changed since.
    #[error(
        "{name}: does not open with this key: it was sealed with another one, or was changed. Bring back the key or the file, or move \
         it away and begin anew: then the same spots are drawn again, which tells more about them"
    )]
    OtherKey {
        /// The file.
        name: String,
    },
    /// It cannot be read or written.
    #[error("{name}: {source}; nothing is reported that cannot be remembered")]
    Io {
        /// The file.
        name: String,
        /// The operating system's answer.
        source: std::io::Error,
    },
}

/// Puts the state somewhere safe.
pub trait Keeper {
    /// Writes all of it or nothing; returns when it would survive a power failure.
    fn save(&mut self, text: &[u8]) -> Result<(), StateError>;
}

impl Default for State {
    fn default() -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            policy: Policy::default(),
            ledger: Ledger::default(),
            servers: Vec::new(),
            offload_understood: false,
            memory: Memory::default(),
        }
    }
}

/// The two fields that every version has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

impl State {
    /// Reads what [`State::to_bytes`] wrote; `name` says where it is from, in errors.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, StateError> {
        let damaged =
            |reason: &str| StateError::Damaged { name: name.into(), reason: reason.into() };
        // What a decoder says may quote values; places are among them.
        let position = |e: serde_json::Error| damaged(&format!("line {}", e.line()));
        let head: Head = serde_json::from_slice(bytes).map_err(position)?;
        if head.format != FORMAT {
            return Err(damaged("it is another kind of file"));
        }
        let state: Self = match u32::try_from(head.version) {
            Ok(VERSION) => serde_json::from_slice(bytes).map_err(position)?,
            Ok(2) => {
                let old = serde_json::from_slice(bytes).map_err(position)?;
                let new = upgrade(old)
                    .ok_or_else(|| damaged("its reports are not those of version 2"))?;
                serde_json::from_value(new).map_err(|_| damaged("it is not of version 2"))?
            }
            Ok(SEALED_VERSION) => return Err(StateError::Sealed { name: name.into() }),
            _ => return Err(StateError::OtherVersion { name: name.into(), found: head.version }),
        };
        state.policy.validate().map_err(damaged)?;
        state.ledger.validate().map_err(damaged)?;
        state.memory.validate().map_err(damaged)?;
        Ok(state)
    }

    /// Whether these are the bytes of a sealed state.
    pub fn is_sealed(bytes: &[u8]) -> bool {
        let head: Result<Head, _> = serde_json::from_slice(bytes);
        head.is_ok_and(|h| h.format == FORMAT && h.version == u64::from(SEALED_VERSION))
    }

    /// The text of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Fails only on maps with odd keys and on failing writers; there are neither.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// What is known about a server.
    pub fn pinned(&self, server: &str) -> Option<&Pinned> {
        self.servers.iter().find(|pinned| pinned.server == server)
    }

    /// The same, to be changed.
    pub fn pinned_mut(&mut self, server: &str) -> Option<&mut Pinned> {
        self.servers.iter_mut().find(|pinned| pinned.server == server)
    }
}

/// Version 2 kept reports by place, with how far from it people may have been. Taken as anchors these cover every spot
/// that was reported then, so nothing is drawn again; that is why such a file need not be thrown away.
fn upgrade(mut state: serde_json::Value) -> Option<serde_json::Value> {
    for report in state.pointer_mut("/memory/reports")?.as_array_mut()? {
        let report = report.as_object_mut()?;
        for (old, new) in [("place", "anchor"), ("reach_km", "radius_km")] {
            let value = report.remove(old)?;
            report.insert(new.into(), value);
        }
    }
    state.as_object_mut()?.insert("version".into(), VERSION.into());
    Some(state)
}

/// A state with its keeper.
pub struct Kept {
    /// What is remembered.
    pub state: State,
    pub(crate) keeper: Box<dyn Keeper>,
    pub(crate) saved: Vec<u8>,
}

impl Kept {
    /// A state that was just read, or a new one.
    pub fn new(state: State, keeper: impl Keeper + 'static) -> Self {
        let saved = state.to_bytes();
        Self { state, keeper: Box::new(keeper), saved }
    }

    /// Writes the state if it changed. What may be sent next is on disk when this returns.
    pub fn commit(&mut self) -> Result<(), StateError> {
        commit(&self.state, &mut self.saved, &mut *self.keeper)
    }
}

/// Has a state kept if it is not the text that was kept last.
pub(crate) fn commit(
    state: &State,
    saved: &mut Vec<u8>,
    keeper: &mut dyn Keeper,
) -> Result<(), StateError> {
    let text = state.to_bytes();
    if text != *saved {
        keeper.save(&text)?;
        *saved = text;
    }
    Ok(())
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
