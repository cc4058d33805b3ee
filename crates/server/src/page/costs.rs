//! Travel from all places to all targets, in one public file: what the page works out costs from while a slider moves. It says
//! where the targets are and how likely each is; operators who keep that to themselves leave it out (`page.costs`).
//!
//! Little-endian: `LRTRAVEL`, u32 places, u32 targets; for each target f64 latitude, longitude and probability; for each place
//! an f32 for each target, kilometres.

use crate::catalogue::Catalogue;

const MAGIC: &[u8; 8] = b"LRTRAVEL";
/// Larger ones are not for a browser: 64 MB.
const MOST_ENTRIES: usize = 16_000_000;

/// The file; `None` where costs are no travel distances of one way to go, or too many.
pub fn encode(catalogue: &Catalogue) -> Option<Vec<u8>> {
    let (city, travel) = (&catalogue.city, catalogue.travel()?);
    let entries = travel.rows().saturating_mul(travel.targets());
    if city.ways().len() != 1 || !city.measures_ways() || entries > MOST_ENTRIES {
        return None;
    }
    let map = city.map();
    let mut bytes = Vec::with_capacity(16 + 24 * travel.targets() + 4 * entries);
    bytes.extend(MAGIC);
    bytes.extend((travel.rows() as u32).to_le_bytes());
    bytes.extend((travel.targets() as u32).to_le_bytes());
    for (target, weight) in map.targets.iter().zip(travel.weights()) {
        let at = map.graph.coords()[target.node as usize];
        [at.lat(), at.lon(), *weight].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    }
    for row in 0..travel.rows() {
        for &way in travel.row(row) {
            bytes.extend(((f64::from(way) * travel.scale()) as f32).to_le_bytes());
        }
    }
    Some(bytes)
}
