//! Uploads and results at rest: sealed under keys that come from a ticket's token, which the server gives
//! away and does not keep.
//!
//! Who has the disk, today or years later, has no key: not for what was deleted and is still in free pages of
//! the file, nor for what is still kept. Who asks with the token brings the keys along.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key as CipherKey, Nonce};
use lrgeo_geo::Digest;

/// What each key is for. Keys of different contexts have nothing to do with each other: the digest that is on disk
/// says nothing about the keys that are not.
const TICKET: &str = "lrgeo 2026-11-16 what a ticket's token is recognised by";
const UPLOAD: &str = "lrgeo 2026-11-16 key of a ticket's upload";
const RESULT: &str = "lrgeo 2026-11-16 key of a ticket's result";

/// Bytes of a nonce, which stands before what was sealed with it.
const NONCE: usize = 12;

/// Everything that follows from a token.
pub struct Keys {
    /// What the token is recognised by; the only one that is written down.
    pub digest: Digest,
    /// Seals the upload.
    pub upload: Key,
    /// Seals the result.
    pub result: Key,
}

impl Keys {
    /// The keys of a token.
    pub fn of(token: &str) -> Self {
        let derive = |context| blake3::derive_key(context, token.as_bytes());
        let (upload, result) = (Key(derive(UPLOAD)), Key(derive(RESULT)));
        Self { digest: Digest(derive(TICKET)), upload, result }
    }
}

/// Seals one kind of record of one ticket.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    fn cipher(&self) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new(&CipherKey::from(self.0))
    }

    /// Seals a record of a ticket; `None` where the system has no randomness.
    ///
    /// The nonce is random although a ticket has one upload and one result: a server that is killed while it writes a
    /// result solves again after the restart, perhaps in another round and with another matrix, and half of the first may
    /// have reached the disk. Under one nonce the two would give each other away. So few messages under a key never
    /// draw the same 96 bits.
    pub fn seal(&self, ticket: &str, plain: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let payload = Payload { msg: plain, aad: ticket.as_bytes() };
        let sealed = self.cipher().encrypt(&Nonce::from(nonce), payload).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    /// What was sealed for this ticket with this key, if it is that.
    pub fn open(&self, ticket: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: ticket.as_bytes() };
        self.cipher().decrypt(&Nonce::from(*nonce), payload).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_opens_with_its_own_key_for_its_own_ticket_and_unchanged() {
        let (keys, others) = (Keys::of("one"), Keys::of("two"));
        let sealed = keys.upload.seal("ticket", b"where").unwrap();
        assert_eq!(keys.upload.open("ticket", &sealed).unwrap(), b"where");
        assert_eq!(keys.upload.open("other", &sealed), None);
        assert_eq!(keys.result.open("ticket", &sealed), None);
        assert_eq!(others.upload.open("ticket", &sealed), None);
        // What is on disk is no key.
        assert_eq!(Key(keys.digest.0).open("ticket", &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(keys.upload.open("ticket", &changed), None, "byte {at}");
            assert_eq!(keys.upload.open("ticket", &sealed[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn sealed_twice_it_is_not_the_same() {
        let key = Keys::of("one").result;
        assert_ne!(key.seal("ticket", b"matrix"), key.seal("ticket", b"matrix"));
    }
}
