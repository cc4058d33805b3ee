//! Public files in gzip, packed once each.
//!
//! Not tiles and slices of the cost table: they have like lengths on purpose, so that whoever sees the traffic of a phone that fetches
//! some of them cannot tell which by how long they are, and packed they would not. And nothing that is secret: how well it packs beside what
//! an attacker chose tells something about it.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, PoisonError, RwLock};

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use lrgeo_geo::Digest;

/// Smaller files are sent as they are.
const LEAST: usize = 1024;
/// As many files are remembered; those of versions that nobody asks for any more make room.
const MOST_FILES: usize = 4096;

/// Files that were packed, by the hash of what they were and what it was said to be.
#[derive(Clone, Default)]
pub struct Compressed(Arc<RwLock<HashMap<Name, Packed>>>);

type Name = (Digest, &'static str);

/// `None` for what does not get smaller, and while it is being packed.
type Packed = Option<Bytes>;

impl Compressed {
    /// The file in gzip, if it is there; otherwise it will be a little later, if it gets smaller by it.
    pub fn get(&self, hash: Digest, media: &'static str, bytes: &[u8]) -> Option<Bytes> {
        if bytes.len() < LEAST {
            return None;
        }
        let name = (hash, media);
        if let Some(packed) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return packed.clone();
        }
        {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MOST_FILES {
                known.clear();
            }
            if known.insert(name, None).is_some() {
                return None;
            }
        }
        let (bytes, all) = (bytes.to_vec(), self.clone());
        // Whoever asks first does not wait for it.
        tokio::task::spawn_blocking(move || {
            let packed = pack(&bytes);
            all.0.write().unwrap_or_else(PoisonError::into_inner).insert(name, packed);
        });
        None
    }
}

/// In gzip, if that saves a tenth.
pub fn pack(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).ok()?;
    let packed = encoder.finish().ok()?;
    (packed.len() < bytes.len() / 10 * 9).then(|| packed.into())
}

/// Whether the client reads gzip.
pub fn reads_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    accepted.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let refused = |part: &str| {
            part.strip_prefix("q=").and_then(|q| q.parse::<f64>().ok()).is_some_and(|q| q <= 0.0)
        };
        is_gzip && !parts.any(refused)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_read_it() {
        for (value, reads) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("deflate, br", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, value.parse().unwrap());
            assert_eq!(reads_gzip(&headers), reads, "{value}");
        }
        assert!(!reads_gzip(&HeaderMap::new()));
    }

    #[test]
    fn what_does_not_get_smaller_is_not_packed() {
        assert!(pack(&[7; 10_000]).is_some());
        let mut noise = vec![0; 10_000];
        getrandom::fill(&mut noise).unwrap();
        assert!(pack(&noise).is_none());
    }
}
