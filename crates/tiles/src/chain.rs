//! Manifests in one line: each names the one before, when it ends, and who signs the next.
//!
//! A signature says who; the chain says that everybody is shown the same. An operator who shows two people
//! different manifests under one number has signed both, and whoever holds both can prove it.

use serde::{Deserialize, Serialize};

use crate::envelope::Envelope;
use crate::{Digest, Issued, PublicKey, SignedManifest, TileError};

const FILE: &str = "manifest";

/// The longest that a manifest may be good for: an operator who is gone is noticed within two years.
pub const LONGEST_DAYS: u64 = 731;

/// The place of a manifest among those of its operator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// 1 for the first, one more each time.
    pub sequence: u64,
    /// The hash of the manifest before; `null` for the first only.
    pub previous: Option<Digest>,
    /// When it was signed.
    pub issued: Issued,
    /// Until when it is good.
    pub expires: Issued,
    /// Who signs the next one: the same key, or the one that takes its place.
    pub next_key: PublicKey,
}

impl Link {
    /// The first one of a key.
    pub fn first(issued: Issued, days: u64, key: PublicKey) -> Self {
        let expires = issued.plus_days(days);
        Self { sequence: 1, previous: None, issued, expires, next_key: key }
    }

    /// The one after `known`, signed by the key that `known` names; `next_key` signs the one after that.
    pub fn after(known: &SignedManifest, issued: Issued, days: u64, next_key: PublicKey) -> Self {
        let before = known.link();
        // A clock that was set back must not make the chain go back.
        let issued = issued.max(before.issued);
        Self {
            sequence: before.sequence + 1,
            previous: Some(known.digest()),
            issued,
            expires: issued.plus_days(days),
            next_key,
        }
    }

    pub(crate) fn validate(&self) -> Result<(), TileError> {
        let wrong = |field, reason: &str| Err(TileError::malformed(FILE, field, reason));
        if self.sequence == 0 || (self.sequence == 1) != self.previous.is_none() {
            return wrong("link", "does not say which manifest is before it");
        }
        if self.expires <= self.issued || self.expires > self.issued.plus_days(LONGEST_DAYS) {
            return wrong("expires", "must be after it was issued, within two years");
        }
        Ok(())
    }
}

/// As much of a manifest as somebody must keep to know the next one by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tip {
    /// Its hash.
    pub digest: Digest,
    /// Its number.
    pub sequence: u64,
    /// When it was signed.
    pub issued: Issued,
    /// Who signs the next one.
    pub next_key: PublicKey,
}

impl Tip {
    /// Opens the manifest that comes right after this one: signed by the key that this one names, with the next number and the
    /// hash of this one, and no older.
    pub fn next(&self, envelope: Envelope) -> Result<SignedManifest, TileError> {
        let next = envelope.open(&self.next_key)?;
        self.expect(&next)?;
        Ok(next)
    }

    /// Refuses a signed manifest that does not come right after this one.
    pub fn expect(&self, next: &SignedManifest) -> Result<(), TileError> {
        let link = next.link();
        if link.sequence != self.sequence + 1 || link.previous != Some(self.digest) {
            return Err(TileError::malformed(FILE, "link", "does not follow the manifest before"));
        }
        match link.issued < self.issued {
            true => Err(TileError::Older { issued: link.issued, known: self.issued }),
            false => Ok(()),
        }
    }
}
