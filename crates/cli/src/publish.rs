//! `lrgeo publish`: a mechanism as signed public files: tiles, or noise for coordinates.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use lrgeo_evaluation::tiles::TileLeak;
use lrgeo_mechanism::MechanismError;
use lrgeo_mechanism::publish::{Directory, Publication, Written, publish};
use lrgeo_tiles::{Issued, LEAST_PLACES, LONGEST_DAYS, Link, Manifest};
use serde_json::json;

use crate::failure::Failure;
use crate::json;
use crate::key;
use crate::mechanism::open_verified;
use crate::tiles;
use crate::ui::{Ui, columns, count};

/// Verify a mechanism and sign it as public files: noise for coordinates as one, a mechanism on places as tiles.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo key new -o operator.key
  lrgeo publish city.lrmech -o public --key operator.key
  lrgeo serve --map city.lrmap --tiles public --key operator.key --data city-data
Noise for coordinates (kind `laplace`) is one small file that everybody fetches: that tells nothing. A mechanism on places is cut into tiles.
Whoever fetches a single tile tells the server, besides the report, that they are at one of its places;
what that is worth to an attacker is worked out and printed. Whoever fetches all tiles tells nothing
more than the report. A published directory never changes; docs/tiles.md describes its files.")]
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
        let (built, fingerprint) = open_verified(&self.mechanism, self.map.as_deref(), ui)?;
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

        let manifest = publication.signed.manifest();
        // One file that everybody fetches tells nothing; there is nothing to work out.
        let leak = match publication.members.is_empty() {
            true => None,
            false => Some(tiles::leak(&built, &publication.members, ui)?),
        };
        let warnings = leak.as_ref().map_or(Vec::new(), |leak| warnings(leak, least));
        for warning in &warnings {
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
                "promise": json::promise(&built.guarantee),
                "expected_cost": manifest.expected_cost,
                "bytes": size(&publication),
                "noise": manifest.noise,
                "tiles": manifest.tiles,
                "leak": leak,
                "warnings": warnings,
            }));
            return Ok(());
        }
        let places = count(built.coords.len());
        let mut lines =
            vec![("promise", built.guarantee.to_string()), ("signed by", key.public().to_string())];
        match &leak {
            None => lines.extend([
                ("places", format!("{places} that may be reported")),
                ("size", format!("{}, one file of noise among them", kib(size(&publication)))),
                (
                    "attacker",
                    "learns nothing from who fetches it: everybody fetches the same file".into(),
                ),
            ]),
            Some(leak) => {
                let largest = manifest.tiles.iter().map(|tile| tile.bytes).max().unwrap_or(0);
                let size =
                    format!("{}, the largest tile {}", kib(size(&publication)), kib(largest));
                lines.extend([("places", format!("{places} in {}", likely(leak))), ("size", size)]);
                lines.extend(tiles::lines(leak, manifest));
            }
        }
        ui.lines(&lines);
        if let Some(leak) = &leak {
            print!("\n{}", table(leak, manifest));
        }
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

/// One line per tile: how well it hides whoever fetches it alone.
fn table(leak: &TileLeak, manifest: &Manifest) -> String {
    let head = ["tile", "places", "likely", "guessed", "size", "file"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (number, (tile, entry)) in leak.tiles.iter().zip(&manifest.tiles).enumerate() {
        rows.push(vec![
            number.to_string(),
            count(tile.places),
            format!("{:.1}", tile.likely),
            tile.right.map_or("-".into(), |right| format!("{:.1} %", 100.0 * right)),
            kib(entry.bytes),
            entry.hash.to_string().chars().take(12).collect(),
        ]);
    }
    columns(&rows, 0).join("\n") + "\n"
}

/// How many tiles, and how many likely places they have.
fn likely(leak: &TileLeak) -> String {
    let likely = || leak.tiles.iter().map(|tile| tile.likely);
    let (few, many) = (likely().fold(f64::INFINITY, f64::min), likely().fold(0.0, f64::max));
    match leak.tiles.len() {
        1 => format!("one tile of {many:.0} likely places"),
        tiles => format!("{tiles} tiles of {few:.0} to {many:.0} likely places"),
    }
}

/// Tiles that hide worse than was asked for: the whole map does, or a phone could not check more.
fn warnings(leak: &TileLeak, least: usize) -> Vec<String> {
    let tiles = leak.tiles.iter().enumerate();
    let few = tiles.filter(|(_, tile)| tile.likely < least as f64);
    few.map(|(number, tile)| {
        format!(
            "tile {number} has {} places, but hides no better than {:.1} equally likely ones, fewer than {least}",
            tile.places, tile.likely
        )
    })
    .collect()
}
