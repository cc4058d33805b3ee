//! What people write: settings, units, keys, times.

use lrgeo_geo::Digest;
use lrgeo_geo::units::Length;
use lrgeo_map::utility::UtilitySource;
use lrgeo_server::Config;
use lrgeo_tiles::{Epsilon, Issued, Privacy, PublicKey};

use crate::files::with_file;

/// The settings of a server.
pub fn settings(bytes: &[u8]) {
    with_file("toml", bytes, |path| {
        let _ = Config::open(path);
    });
}

/// Numbers with units, digests, keys, times. What is understood is written so that it is understood alike.
pub fn units(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = text.parse::<Length>();
    let _ = text.parse::<UtilitySource>();
    let _ = text.parse::<PublicKey>();
    if let Ok(digest) = text.parse::<Digest>() {
        assert_eq!(digest.to_string(), text);
    }
    if let Ok(time) = text.parse::<Issued>() {
        assert_eq!(time.to_string().parse::<Issued>().ok(), Some(time));
    }
    if let Ok(epsilon) = text.parse::<Epsilon>() {
        assert!(epsilon.value() > 0.0 && epsilon.value().is_finite());
        let _ = epsilon.to_string();
    }
    if let Ok(privacy) = text.parse::<Privacy>() {
        let _ = privacy.to_string();
    }
}
