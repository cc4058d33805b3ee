//! What was signed, kept as the bytes that were signed.
//!
//! An [`Envelope`] is bytes and a signature that nobody looked into; a [`SignedManifest`] is what it becomes once the signature was
//! found right. There is no other way to one, so whoever has one need not check it again, and nobody encodes a manifest anew to check it.

use serde::Deserialize;

use crate::{Digest, Link, Manifest, PublicKey, SecretKey, TileError, Tip};

const FILE: &str = "manifest";

/// Bytes and a signature, as they came: nothing of it is believed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// What is said to be signed.
    pub bytes: Vec<u8>,
    /// What is said to be its signature.
    pub signature: Vec<u8>,
}

impl Envelope {
    /// Bytes signed with a key, whatever they say.
    pub fn seal(bytes: Vec<u8>, key: &SecretKey) -> Self {
        let signature = key.sign(&bytes).to_vec();
        Self { bytes, signature }
    }

    /// What names it in the next one.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.bytes)
    }

    /// What is in it, if `key` signed it. Nothing of it is read before the signature is found right; then format, shape and numbers
    /// are checked.
    pub fn open(self, key: &PublicKey) -> Result<SignedManifest, TileError> {
        key.verify(&self.bytes, &self.signature)?;
        let manifest = Manifest::read(&self.bytes)?;
        Ok(SignedManifest { manifest, envelope: self, signer: *key })
    }

    /// Which place in the chain it claims, before anybody can know who must have signed it: enough to ask for the ones before it, and
    /// for nothing else.
    pub fn claimed_link(&self) -> Result<Link, TileError> {
        #[derive(Deserialize)]
        struct Linked {
            link: Link,
        }
        let not_json = |error: serde_json::Error| TileError::malformed(FILE, "text", error);
        let Linked { link } = serde_json::from_slice(&self.bytes).map_err(not_json)?;
        link.validate()?;
        Ok(link)
    }
}

/// A manifest that somebody signed, with the bytes that were signed: [`Envelope::open`] or [`SignedManifest::sign`] made it.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedManifest {
    manifest: Manifest,
    envelope: Envelope,
    signer: PublicKey,
}

impl SignedManifest {
    /// Signs a manifest. What it says afterwards is what its readers will read, which is refused where that is something else.
    pub fn sign(manifest: &Manifest, key: &SecretKey) -> Result<Self, TileError> {
        let envelope = Envelope::seal(manifest.to_bytes()?, key);
        let read = Manifest::read(&envelope.bytes)?;
        if read != *manifest {
            return Err(TileError::malformed(FILE, "text", "does not say what was to be signed"));
        }
        Ok(Self { manifest: read, envelope, signer: key.public() })
    }

    /// What it says.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its place among the operator's manifests.
    pub fn link(&self) -> Link {
        self.manifest.link
    }

    /// The bytes that were signed, and the signature.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Who signed it.
    pub fn signer(&self) -> PublicKey {
        self.signer
    }

    /// What names it in the next one.
    pub fn digest(&self) -> Digest {
        self.envelope.digest()
    }

    /// What the next one is known by.
    pub fn tip(&self) -> Tip {
        let Link { sequence, issued, next_key, .. } = self.link();
        Tip { digest: self.digest(), sequence, issued, next_key }
    }
}
