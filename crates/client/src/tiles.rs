//! Which tiles to fetch: all of them where they are few, else the own one among others that are drawn at random.
//!
//! The request for a tile is not covered by the epsilon of the report. Who fetches all of them says nothing; who fetches
//! the own one and n - 1 others, each set as likely as any other, leaves whoever watches with the prior of the n tiles
//! and nothing better. The set is remembered: two sets would show what they share.

use lrgeo_geo::Digest;
use lrgeo_tiles::{Manifest, PlaceId, Places};

use crate::ClientError;
use crate::draws::Draws;
use crate::ground::{Ground, OwnPlace};
use crate::policy::{Policy, Refused, Rule, likely_places};
use crate::state::Memory;

/// A phone compares every two rows that it fetches: more are not fetched at once.
const MOST_ROWS: usize = 2_000;
/// More bytes are not fetched for one report.
const MOST_BYTES: u64 = 64 << 20;
/// One spot is not hidden among more different sets than this: an operator who cuts the map anew each time would learn
/// what they share.
const MOST_SETS: usize = 3;

/// The tiles of a map, as the client has worked them out.
pub struct Tiling<'a> {
    /// The hash of how the map was cut.
    pub id: Digest,
    /// The places of each tile.
    pub members: Vec<Vec<PlaceId>>,
    /// How many bytes fetching each takes.
    pub bytes: Vec<u64>,
    /// All places.
    pub places: &'a Places,
}

/// The tiles to fetch, ascending, the own one among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Their numbers.
    pub tiles: Vec<u32>,
    /// How many there are on the map.
    pub of: usize,
    /// How many places they have.
    pub places: usize,
    /// How many equally likely places would hide as well.
    pub likely_places: f64,
}

impl<'a> Tiling<'a> {
    /// From a manifest that was found right; `bytes` are those of the files that are fetched for a tile.
    pub fn new(
        manifest: &Manifest,
        members: Vec<Vec<PlaceId>>,
        bytes: Vec<u64>,
        places: &'a Places,
    ) -> Self {
        let cut: Vec<u8> = members
            .iter()
            .flat_map(|tile| {
                std::iter::once(tile.len() as u32).chain(tile.iter().map(|place| place.number()))
            })
            .flat_map(u32::to_le_bytes)
            .chain(manifest.places.hash.0)
            .collect();
        Self { id: Digest::of(&cut), members, bytes, places }
    }

    /// The tile of a place.
    pub fn tile_of(&self, place: &OwnPlace) -> Option<u32> {
        let own = self.members.iter().position(|tile| tile.binary_search(&place.0).is_ok());
        own.map(|tile| tile as u32)
    }

    /// Likely places of some tiles together.
    fn likely(&self, tiles: &[u32]) -> f64 {
        let places: Vec<PlaceId> =
            tiles.iter().flat_map(|&tile| self.members[tile as usize].iter().copied()).collect();
        likely_places(self.places.coords(), self.places.prior(), &places)
    }

    fn all(&self) -> Vec<u32> {
        (0..self.members.len() as u32).collect()
    }

    /// Whether a phone can fetch and compare so much at once.
    fn is_bearable(&self, tiles: &[u32], most_bytes: u64) -> bool {
        let rows: usize = tiles.iter().map(|&tile| self.members[tile as usize].len()).sum();
        let bytes = tiles.iter().fold(0u64, |sum, &t| sum.saturating_add(self.bytes[t as usize]));
        rows <= MOST_ROWS && bytes <= most_bytes
    }

    fn chosen(&self, tiles: Vec<u32>) -> Chosen {
        let places = tiles.iter().map(|&tile| self.members[tile as usize].len()).sum();
        let likely_places = self.likely(&tiles);
        Chosen { of: self.members.len(), places, likely_places, tiles }
    }

    /// How many tiles make a set: as many as even the smallest tiles together need for twice the likely places that the
    /// owner wants. From public numbers only, so it says nothing.
    fn set_size(&self, policy: &Policy) -> usize {
        let mut likely: Vec<f64> = self.all().iter().map(|&tile| self.likely(&[tile])).collect();
        likely.sort_by(f64::total_cmp);
        let mut sum = 0.0;
        let enough = likely.iter().position(|n| {
            sum += n;
            sum >= 2.0 * policy.least_likely_places
        });
        enough.map_or(likely.len(), |at| at + 1)
    }

    /// Chooses, by the owner's policy. What is chosen at random is remembered; it must be on disk before it is asked for.
    pub fn choose(
        &self,
        policy: &Policy,
        ground: &Ground,
        place: &OwnPlace,
        memory: &mut Memory,
        draws: &mut dyn Draws,
    ) -> Result<Chosen, ClientError> {
        let own = self.tile_of(place).ok_or_else(|| ground.off())?;
        let all = self.all();
        if self.is_bearable(&all, policy.fetch_all_bytes) {
            let chosen = self.chosen(all);
            policy.allow_likely(chosen.likely_places, "the whole map")?;
            return Ok(chosen);
        }
        if let Some(known) = memory.hidden(ground, self.id, own) {
            let chosen = self.chosen(known.to_vec());
            policy.allow_likely(chosen.likely_places, "the tiles fetched before")?;
            return Ok(chosen);
        }
        if memory.times_hidden(ground, place) >= MOST_SETS {
            return Err(Refused {
                rule: Rule::LikelyPlaces,
                offered: "a map that was cut into tiles anew each time you asked".into(),
                wanted: format!("at most {MOST_SETS} ways to cut it, since what they share is you"),
                advice: "Use another server, or fetch all tiles: raise `policy.fetch_all_bytes`"
                    .into(),
            }
            .into());
        }
        let tiles = draw_set(own, all.len(), self.set_size(policy), draws)?;
        let chosen = match self.chosen(tiles) {
            chosen if chosen.likely_places >= policy.least_likely_places => chosen,
            // Uneven tiles: this set hides too few, and drawing until one fits would not be even-handed.
            _ => self.chosen(all),
        };
        policy.allow_likely(chosen.likely_places, "the tiles that would be fetched")?;
        if !self.is_bearable(&chosen.tiles, MOST_BYTES) {
            return Err(Refused {
                rule: Rule::LikelyPlaces,
                offered: format!("tiles so large that {} of them are too much to check", chosen.tiles.len()),
                wanted: format!("at least {} likely places behind what is fetched", policy.least_likely_places),
                advice: "Ask the operator for smaller tiles, or accept fewer likely places: lower `policy.least_likely_places`".into(),
            }
            .into());
        }
        memory.hide(ground, place, self.id, chosen.tiles.clone());
        Ok(chosen)
    }
}

/// `own` and `size - 1` others, every such set as likely as any other.
fn draw_set(
    own: u32,
    tiles: usize,
    size: usize,
    draws: &mut dyn Draws,
) -> Result<Vec<u32>, ClientError> {
    let mut others: Vec<u32> = (0..tiles as u32).filter(|&tile| tile != own).collect();
    let mut set = vec![own];
    for at in 0..size.saturating_sub(1).min(others.len()) {
        let pick = at + draws.below(others.len() - at)?;
        others.swap(at, pick);
        set.push(others[at]);
    }
    set.sort_unstable();
    Ok(set)
}
