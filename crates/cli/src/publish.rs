//! `lrgeo publish`: a mechanism as signed public tiles.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use lrgeo_map::units::Length;
use lrgeo_mechanism::MechanismError;
use lrgeo_mechanism::publish::{
    Directory, Issued, LEAST_PLACES, LONGEST_DAYS, Link, Manifest, Publication, Written, publish,
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
    /// Side of the squares that are the tiles [default: 8 spacings, about 64 places].
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    tile: Option<Length>,
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
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let issued = self.issued.unwrap_or_else(|| Issued::from_unix(now()));
        let link = match &self.after {
            Some(dir) => {
                let before = Directory::open(dir, &key.public()).map_err(MechanismError::from)?;
                Link::after(&before.signed, issued, self.valid_days, key.public())
            }
            None => Link::first(issued, self.valid_days, key.public()),
        };
        let publication = publish(&built, fingerprint, self.tile, link, &key, ui)?;
        let written = publication.write(&self.output).map_err(MechanismError::from)?;

        let manifest = &publication.signed.manifest;
        for warning in warnings(manifest) {
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
                "tile_km": manifest.grid.side_km,
                "bytes": size(&publication),
                "tiles": manifest.tiles,
                "warnings": warnings(manifest),
            }));
            return Ok(());
        }
        let bytes: Vec<u64> = manifest.tiles.iter().map(|tile| tile.bytes).collect();
        let largest = bytes.iter().max().copied().unwrap_or(0);
        let side = format!("{} km", manifest.grid.side_km);
        ui.lines(&[
            ("promise", built.guarantee.to_string()),
            ("places", format!("{} in {} tiles of {side}", count(built.coords.len()), bytes.len())),
            ("size", format!("{}, the largest tile {}", kib(size(&publication)), kib(largest))),
            ("signed by", key.public().to_string()),
        ]);
        print!("\n{}", table(manifest));
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
fn table(manifest: &Manifest) -> String {
    let mut text = String::from("tile  places        size  file\n");
    for (number, tile) in manifest.tiles.iter().enumerate() {
        let file: String = tile.hash.to_string().chars().take(12).collect();
        text.push_str(&format!(
            "{number:>4}  {:>6}  {:>10}  {file}\n",
            tile.places,
            kib(tile.bytes)
        ));
    }
    text
}

/// Tiles that hide badly: few places, or few that anybody is likely to be at.
fn warnings(manifest: &Manifest) -> Vec<String> {
    let tiles = || manifest.tiles.iter().enumerate();
    let few = tiles().filter(|(_, tile)| (tile.places as usize) < LEAST_PLACES);
    let few = few.map(|(n, tile)| {
        format!("tile {n} has only {} places: who fetches it is nearly known", tile.places)
    });
    few.collect()
}
