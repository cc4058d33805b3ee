//! What an operator publishes and a phone reads. The operator is the adversary: signatures and hashes are right.

use lrgeo_tiles::{Digest, Envelope, FileEntry, Manifest, Places, SecretKey, Tile};

/// The manifest of the golden city, and its list of places.
const MANIFEST: &[u8] = include_bytes!("../../../crates/tiles/tests/golden/manifest.json");
const PLACES: &str = include_str!("../../../crates/tiles/tests/golden/places.hex");

fn golden() -> Option<Manifest> {
    let key = SecretKey::from_seed([1; 32]).ok()?;
    let signed = Envelope::seal(MANIFEST.to_vec(), &key).open(&key.public()).ok()?;
    Some(signed.manifest().clone())
}

fn golden_places(manifest: &Manifest) -> Option<Places> {
    let digits: Vec<u32> = PLACES.chars().filter_map(|c| c.to_digit(16)).collect();
    let bytes: Vec<u8> =
        digits.chunks_exact(2).map(|pair| (16 * pair[0] + pair[1]) as u8).collect();
    manifest.open_places(&bytes).ok()
}

/// A manifest that is rightly signed, and its place in the chain.
pub fn manifest(bytes: &[u8]) {
    let envelope = |key: &SecretKey| Envelope::seal(bytes.to_vec(), key);
    if let Ok(key) = SecretKey::from_seed([1; 32]) {
        let _ = envelope(&key).claimed_link();
        let _ = envelope(&key).open(&key.public());
    }
}

/// The list of places.
pub fn places(bytes: &[u8]) {
    if let Some(mut manifest) = golden() {
        (manifest.places.hash, manifest.places.bytes) = (Digest::of(bytes), bytes.len() as u64);
        if let Ok(places) = manifest.open_places(bytes) {
            let _ = manifest.members(&places);
        }
    }
}

/// The noise for coordinates.
pub fn noise(bytes: &[u8]) {
    if let Some(mut manifest) = golden()
        && let Some(places) = golden_places(&manifest)
    {
        let (hash, bytes_) = (Digest::of(bytes), bytes.len() as u64);
        manifest.noise = manifest.noise.map(|entry| FileEntry { hash, bytes: bytes_, ..entry });
        let _ = manifest.open_noise(bytes, &places);
    }
}

/// A tile.
pub fn tile(bytes: &[u8]) {
    let _ = Tile::open(bytes, Digest::of(bytes));
}

/// A map's description and slices of its cost table, as messages.
pub fn description(bytes: &[u8]) {
    use lrgeo_protocol::encoding::Encoding;
    use lrgeo_protocol::public::{MapDescription, TablePart};
    let _ = Encoding::Cbor.decode::<MapDescription>(bytes);
    let _ = Encoding::Cbor.decode::<TablePart>(bytes);
}
