//! `lrgeo publish`: a mechanism as signed public tiles.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use lrgeo_mechanism::MechanismError;
use lrgeo_mechanism::publish::{
    Directory, Issued, LEAST_PLACES, LONGEST_DAYS, Link, Publication, Written, publish,
};
use serde_json::json;

use crate::failure::Failure;
use crate::key;
use crate::mechanism::open;
use crate::ui::{Ui, count};

/// Verify a mechanism, cut it into fixed public tiles and sign them.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo key new -o operator.key
  lrgeo publish city.lrmech -o tiles --key operator.key
Whoever fetches a tile tells the server that they are at one of its places, no more: the anonymity
set. A published directory never changes; docs/tiles.md describes its files.")]
pub struct Publish {
    /// The mechanism, made for the whole map.
    mechanism: PathBuf,
    /// The directory to make; it must not exist, unless it holds the same version.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The operator's secret key, from `lrgeo key new`.
    #[arg(long, value_name = "KEYFILE")]
    key: PathBuf,
    /// The least number of likely places per tile: the map is cut as long as every part keeps so many.
    #[arg(long, value_name = "N", default_value_t = LEAST_PLACES as u32,
          value_parser = clap::value_parser!(u32).range(1..))]
    tile_places: u32,
    /// Refuse the mechanism unless it was made for this map.
    #[arg(long)]
    map: Option<PathBuf>,
    /// The date in the manifest, like 2026-11-16 or 2026-11-16T08:00:00Z [default: now].
    #[arg(long, value_name = "DATE", value_parser = |text: &str| text.parse::<Issued>())]
    issued: Option<Issued>,
    /// The directory published before with this key: the manifest follows that one, and clients of it go on.
    #[arg(long, value_name = "DIR")]
    after: Option<PathBuf>,
    /// For how many days the manifest is good.
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(u64).range(1..=LONGEST_DAYS))]
    valid_days: u64,
    /// Print the account as JSON.
    #[arg(long)]
    json: bool,
}

impl Publish {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let key = key::open(&self.key)?;
        let (built, fingerprint) = open(&self.mechanism, self.map.as_deref())?;
        let least = self.tile_places as usize;
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let issued = self.issued.unwrap_or_else(|| Issued::from_unix(now()));
        let link = match &self.after {
            Some(dir) => {
                let before = Directory::open(dir, &key.public()).map_err(MechanismError::from)?;
                Link::after(&before.signed, issued, self.valid_days, key.public())
            }
            None => Link::first(issued, self.valid_days, key.public()),
        };
        let publication = publish(&built, fingerprint, Some(least), link, &key, ui)?;
        let written = publication.write(&self.output).map_err(MechanismError::from)?;

        let manifest = &publication.signed.manifest;
        for warning in warnings(&publication, least) {
            ui.remark(format!("warning: {warning}"));
        }
        let (is_new, issued) = match written {
            Written::New => (true, manifest.link.issued),
            Written::Already(since) => (false, since),
        };
        if self.json {
            ui.json(&json!({
                "directory": self.output,
                "written": is_new,
                "issued": issued,
                "sequence": manifest.link.sequence,
                "expires": manifest.link.expires,
                "public_key": key.public().to_string(),
                "map": manifest.map,
                "mechanism": manifest.mechanism,
                "promise": built.guarantee.to_string(),
                "expected_cost": manifest.expected_cost,
                "bytes": size(&publication),
                "tiles": manifest.tiles,
                "likely_places": publication.likely,
                "warnings": warnings(&publication, least),
            }));
            return Ok(());
        }
        let bytes: Vec<u64> = manifest.tiles.iter().map(|tile| tile.bytes).collect();
        let largest = bytes.iter().max().copied().unwrap_or(0);
        ui.lines(&[
            ("promise", built.guarantee.to_string()),
            ("places", format!("{} in {}", count(built.coords.len()), likely(&publication))),
            ("size", format!("{}, the largest tile {}", kib(size(&publication)), kib(largest))),
            ("signed by", key.public().to_string()),
        ]);
        print!("\n{}", table(&publication));
        ui.remark(match is_new {
            true => format!("published {}", self.output.display()),
            false => format!("{}: the same version, of {issued}; unchanged", self.output.display()),
        });
        Ok(())
    }
}

fn size(publication: &Publication) -> u64 {
    publication.files().map(|(_, bytes)| bytes.len() as u64).sum()
}

fn kib(bytes: u64) -> String {
    format!("{} KiB", count(bytes.div_ceil(1024)))
}

/// One line per tile: how well it hides whoever fetches it.
fn table(publication: &Publication) -> String {
    let mut text = String::from("tile  places  likely        size  file\n");
    let tiles = publication.signed.manifest.tiles.iter().zip(&publication.likely);
    for (number, (tile, likely)) in tiles.enumerate() {
        let file: String = tile.hash.to_string().chars().take(12).collect();
        text.push_str(&format!(
            "{number:>4}  {:>6}  {likely:>6.1}  {:>10}  {file}\n",
            tile.places,
            kib(tile.bytes)
        ));
    }
    text
}

/// How many tiles, and how many likely places they have.
fn likely(publication: &Publication) -> String {
    let likely = || publication.likely.iter().copied();
    let (few, many) =
        (likely().fold(f64::INFINITY, f64::min), likely().fold(f64::NEG_INFINITY, f64::max));
    match publication.likely.len() {
        1 => format!("one tile of {many:.0} likely places"),
        tiles => format!("{tiles} tiles of {few:.0} to {many:.0} likely places"),
    }
}

/// Tiles that hide worse than was asked for: the whole map does, or a phone could not check more.
fn warnings(publication: &Publication, least: usize) -> Vec<String> {
    let tiles = publication.members.iter().zip(&publication.likely).enumerate();
    // Rounding of the effective number aside.
    let few = tiles.filter(|(_, (_, likely))| **likely < least as f64 - 1e-5);
    few.map(|(number, (places, likely))| {
        format!(
            "tile {number} has {} places, but hides no better than {:.1} equally likely ones, fewer than {least}",
            places.len(), likely
        )
    })
    .collect()
}
