//! Manifests in one line: each names the one before, when it ends, and who signs the next.
//!
//! A signature says who; the chain says that everybody is shown the same. An operator who shows two people
//! different manifests under one number has signed both, and whoever holds both can prove it.

use serde::{Deserialize, Serialize};

use crate::{Hash, Issued, Manifest, PublicKey, SecretKey, TileError};

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
    pub previous: Option<Hash>,
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
        let before = known.manifest.link;
        // A clock that was set back must not make the chain go back.
        let issued = issued.max(before.issued);
        Self {
            sequence: before.sequence + 1,
            previous: Some(known.hash()),
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

/// A manifest, the bytes that were signed, and the signature.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedManifest {
    /// What it says.
    pub manifest: Manifest,
    /// The text, as it was signed.
    pub bytes: Vec<u8>,
    /// The signature of these bytes.
    pub signature: Vec<u8>,
}

impl SignedManifest {
    /// Signs a manifest.
    pub fn sign(manifest: Manifest, key: &SecretKey) -> Result<Self, TileError> {
        let bytes = manifest.to_bytes()?;
        let signature = key.sign(&bytes).to_vec();
        Ok(Self { manifest, bytes, signature })
    }

    /// Reads a manifest that `key` signed. Nothing of it is looked at before the signature is found right;
    /// then format, shape and numbers are checked.
    pub fn open(bytes: Vec<u8>, signature: Vec<u8>, key: &PublicKey) -> Result<Self, TileError> {
        key.verify(&bytes, &signature)?;
        Ok(Self { manifest: Manifest::read(&bytes)?, bytes, signature })
    }

    /// What names it in the next one.
    pub fn hash(&self) -> Hash {
        Hash::of(&self.bytes)
    }

    /// Reads the manifest that comes right after this one: signed by the key that this one names, with the
    /// next number and the hash of this one, and no older.
    pub fn next(&self, bytes: Vec<u8>, signature: Vec<u8>) -> Result<Self, TileError> {
        let (hash, known) = (self.hash(), self.manifest.link);
        follow(hash, known.sequence, known.issued, &known.next_key, bytes, signature)
    }
}

/// The same for somebody who has kept no more of the manifest before than its hash, number, date and the key
/// that it names.
pub fn follow(
    previous: Hash,
    sequence: u64,
    issued: Issued,
    key: &PublicKey,
    bytes: Vec<u8>,
    signature: Vec<u8>,
) -> Result<SignedManifest, TileError> {
    let next = SignedManifest::open(bytes, signature, key)?;
    let link = next.manifest.link;
    if link.sequence != sequence + 1 || link.previous != Some(previous) {
        return Err(TileError::malformed(FILE, "link", "does not follow the manifest before"));
    }
    if link.issued < issued {
        return Err(TileError::Older { issued: link.issued, known: issued });
    }
    Ok(next)
}

/// What an unverified manifest says about its place: enough to ask for the ones before it, and for nothing
/// else.
pub fn peek(bytes: &[u8]) -> Result<Link, TileError> {
    #[derive(Deserialize)]
    struct Linked {
        link: Link,
    }
    let not_json = |error: serde_json::Error| TileError::malformed(FILE, "text", error);
    let Linked { link } = serde_json::from_slice(bytes).map_err(not_json)?;
    link.validate()?;
    Ok(link)
}
