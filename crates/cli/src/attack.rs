//! `lrgeo attack`: what leaks besides the report, measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use lrgeo_client::policy::Policy;
use lrgeo_evaluation::attack::suite::{self, FIX_NOISE_KM, Journeys, SPEEDS, Settings};
use lrgeo_evaluation::attack::targets::recover;
use lrgeo_evaluation::attack::trace::Effort;
use lrgeo_evaluation::attack::{Attack, Success};
use lrgeo_evaluation::tiles::TileLeak;
use lrgeo_geo::PlaceId;
use lrgeo_geo::units::Length;
use lrgeo_mechanism::{Built, City, Geography, Plan};
use serde_json::json;

use crate::failure::Failure;
use crate::leak;
use crate::mechanism::Users;
use crate::open;
use crate::solve;
use crate::tiles;
use crate::ui::{Ui, columns, count, counted};
use crate::ways::Ways;

/// Attack what leaves a phone: uploads, requests, the cost table, repeated reports, traces.
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  lrgeo attack upload city.lrmap --settings practical
  lrgeo attack request city.lrmap --lr-radius 1km
  lrgeo attack targets city.lrmap
  lrgeo attack repeat city.lrmech
  lrgeo attack trace city.lrmech
Without a map the demo city is attacked. docs/what-the-server-learns.md says which message each attack is about.")]
pub enum AttackCommand {
    /// Name the place from one upload of the paper's protocol, or from the tile of ours.
    #[command(
        after_help = "Example:\n  lrgeo attack upload city.lrmap --settings practical --users random:300"
    )]
    Upload(OnMap),
    /// Name the place from repeated requests for circles of the cost table.
    #[command(after_help = "Example:\n  lrgeo attack request city.lrmap --lr-radius 1km")]
    Request(OnMap),
    /// Recover the targets from the cost table.
    #[command(after_help = "Example:\n  lrgeo attack targets city.lrmap --decoys 400")]
    Targets(OnTable),
    /// Name the place from repeated reports, remembered or not.
    #[command(after_help = "Example:\n  lrgeo attack repeat city.lrmech --counts 1,10,50")]
    Repeat(OnReports),
    /// Follow people who walk and drive along streets, by what they report and when.
    #[command(after_help = "\
Example:
  lrgeo attack trace city.lrmech --map city.lrmap --fixes 120 --users random:60
Three ways to report: a fresh draw for every fix, remembered per place, remembered per anchor. Each fix is guessed from
all that was seen until then; `error` is from the mean of what is still possible to where the user is.")]
    Trace(OnJourneys),
}

/// What the attacks on a map take.
#[derive(Args)]
pub struct OnMap {
    /// The map [default: the demo city].
    map: Option<PathBuf>,
    /// Which settings of the paper's protocol.
    #[arg(long, value_enum, default_value_t)]
    settings: Which,
    /// Another Gamma than that of the settings; without a cap on the relevant places.
    #[arg(long, value_name = "LENGTH")]
    lr_radius: Option<Length>,
    /// How many requests, by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 5, 10, 20])]
    counts: Vec<usize>,
    /// Of uploads: compute what each field tells about any user of this map, with its defences, instead of attacking some.
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    common: Common,
}

/// What all attacks take.
#[derive(Args)]
struct Common {
    /// Who is attacked: a file with a place id or LAT,LON per line, or random:N.
    #[arg(long, value_name = "FILE|random:N", default_value = "random:200")]
    users: Users,
    /// Seed of users and of everything drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print all numbers as JSON.
    #[arg(long)]
    json: bool,
}

/// What the attack on the table takes.
#[derive(Args)]
pub struct OnTable {
    /// The map [default: the demo city].
    map: Option<PathBuf>,
    /// Street nodes besides the targets that the attacker takes for possible.
    #[arg(long, default_value_t = 300)]
    decoys: usize,
    /// Entries of the table that it uses.
    #[arg(long, default_value_t = 3000)]
    equations: usize,
    /// Seed of the decoys and entries.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print all numbers as JSON.
    #[arg(long)]
    json: bool,
}

/// What the attacks on reports take.
#[derive(Args)]
pub struct OnReports {
    /// The mechanism, made for the whole map.
    mechanism: PathBuf,
    /// How many reports, by commas, beginning with 1.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 5, 10, 20])]
    counts: Vec<usize>,
    #[command(flatten)]
    common: Common,
}

/// What the attack on journeys takes.
#[derive(Args)]
pub struct OnJourneys {
    /// The mechanism, made for the whole map.
    mechanism: PathBuf,
    /// The map, for its streets [default: the demo city].
    #[arg(long)]
    map: Option<PathBuf>,
    /// Fixes per journey.
    #[arg(long, default_value_t = 120)]
    fixes: usize,
    /// Time from one fix to the next.
    #[arg(long, value_name = "TIME", value_parser = solve::duration, default_value = "10s")]
    every: Duration,
    /// How far from its anchor a report is given again [default: 1/epsilon, as phones do].
    #[arg(long, value_name = "LENGTH")]
    reuse_within: Option<Length>,
    /// Possible users that the attacker follows.
    #[arg(long, default_value_t = Effort::default().particles)]
    particles: usize,
    /// What the attacker makes of a possible user whose phone would have drawn or remembered otherwise: a weight per fix.
    #[arg(long, default_value_t = Effort::default().misfit)]
    misfit: f64,
    #[command(flatten)]
    common: Common,
}

/// `--settings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Those of the paper's experiments.
    Paper,
    /// Those that protect somebody.
    #[default]
    Practical,
}

impl AttackCommand {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        match self {
            Self::Upload(options) => options.upload(ui),
            Self::Request(options) => options.request(ui),
            Self::Targets(options) => options.run(ui),
            Self::Repeat(options) => options.repeat(ui),
            Self::Trace(options) => options.run(ui),
        }
    }
}

impl OnMap {
    /// What is attacked, and who.
    fn open(&self, ui: &Ui) -> Result<(City, Plan, Vec<PlaceId>), Failure> {
        let city = open::city(self.map.as_deref(), None, &Ways::default(), ui)?;
        let settings = match self.settings {
            Which::Paper => Settings::Paper,
            Which::Practical => Settings::Practical,
        };
        let plan = settings.plan(self.lr_radius.map(Length::km))?;
        let users = self.common.users.places(&city, self.common.seed)?;
        Ok((city, plan, users))
    }

    fn upload(self, ui: &Ui) -> Result<(), Failure> {
        let (city, plan, users) = self.open(ui)?;
        if self.exact {
            let defended = suite::exact_uploads(&city, &plan, &users, ui)?;
            leak::print(city.places(), &defended, self.common.json, ui);
            return Ok(());
        }
        let found = suite::uploads(&city, &plan, &users, self.common.seed, ui)?;
        self.common.print_with("upload", &city, &found.attacks, Some(&found.tiles), ui);
        if !self.common.json {
            println!("\ntiles fetched and a report of laplace-places, {}:", found.guarantee);
            ui.lines(&tiles::lines(&found.tiles, &found.manifest));
        }
        Ok(())
    }

    fn request(self, ui: &Ui) -> Result<(), Failure> {
        let (city, plan, users) = self.open(ui)?;
        let seed = self.common.seed;
        let attacks = suite::requests(&city, &plan, &users, &self.counts, seed, ui)?;
        self.common.print("request", &city, &attacks, ui);
        Ok(())
    }
}

/// A mechanism, its places, and who is attacked.
fn open_reports(
    mechanism: &Path,
    common: &Common,
) -> Result<(Built, Geography, Vec<PlaceId>), Failure> {
    let (built, _) = crate::mechanism::open(mechanism, None)?;
    let places = Geography::new(built.coords.clone(), built.prior.clone())?;
    let ids: Vec<&str> = built.ids.iter().map(String::as_str).collect();
    let users = common.users.among_places(&places, &ids, common.seed)?;
    Ok((built, places, users))
}

impl OnReports {
    fn repeat(self, ui: &Ui) -> Result<(), Failure> {
        let (built, places, users) = open_reports(&self.mechanism, &self.common)?;
        let attacks = suite::reports(&built, &users, &self.counts, self.common.seed, ui)?;
        self.common.print("repeat", &places, &attacks, ui);
        Ok(())
    }
}

impl OnJourneys {
    fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (map, version) = open::map(self.map.as_deref())?;
        let common = self.common;
        let (built, places, users) = open_reports(&self.mechanism, &common)?;
        built.expect_map(version)?;
        let reuse_km = self.reuse_within.map_or_else(
            || Policy::default().reuse_radius_km(built.guarantee.epsilon.value()),
            Length::km,
        );
        let effort = Effort { particles: self.particles, misfit: self.misfit };
        let (fixes, every_seconds, noise_km) = (self.fixes, self.every.as_secs_f64(), FIX_NOISE_KM);
        let journeys = Journeys { fixes, every_seconds, reuse_km, effort };
        let (all, chance) = suite::journeys(&built, &map, &users, &journeys, common.seed, ui)?;
        if common.json {
            ui.json(&json!({
                "attack": "trace",
                "places": places.places(),
                "spacing_km": places.spacing_km(),
                "seed": common.seed,
                "journeys": users.len(),
                "fixes": fixes,
                "every_s": every_seconds,
                "noise_km": noise_km,
                "reuse_within_km": reuse_km,
                "particles": effort.particles,
                "misfit": effort.misfit,
                "speeds": SPEEDS.map(|(name, kmh)| json!({ "name": name, "speed_kmh": kmh })),
                "results": all,
                "by_chance": chance,
            }));
            return Ok(());
        }
        println!(
            "{} places, spacing {:.0} m, {}; {} of {}, one per {every_seconds} s, off by {:.0} m; \
             reused within {:.0} m; seed {}\n",
            count(places.places()),
            1000.0 * places.spacing_km(),
            built.guarantee,
            counted(users.len(), "journey"),
            counted(fixes, "position"),
            1000.0 * noise_km,
            1000.0 * reuse_km,
            common.seed
        );
        let mut rows: Vec<Vec<String>> = [
            ["", "draws per", "spent per", "right", "right place", "error"],
            ["reports", "journey", "journey", "place, %", "of five, %", "km"],
        ]
        .iter()
        .map(|row| row.iter().map(|&cell| cell.to_owned()).collect())
        .collect();
        let line = |attack: &Attack, draws: String, spent: String| {
            let Success { top_1, top_5, error_km, .. } = attack.all;
            let percent = |share: f64| format!("{:.1}", 100.0 * share);
            vec![
                attack.name.clone(),
                draws,
                spent,
                percent(top_1),
                percent(top_5),
                format!("{error_km:.3}"),
            ]
        };
        for f in &all {
            let (draws, spent) = (format!("{:.1}", f.draws), format!("{:.1}/km", f.spent_per_km));
            rows.push(line(&f.attack, draws, spent));
        }
        rows.extend(chance.iter().map(|attack| line(attack, "-".into(), "-".into())));
        println!("{}", columns(&rows, 1).join("\n"));
        Ok(())
    }
}

impl Common {
    fn print(&self, name: &str, places: &Geography, attacks: &[Attack], ui: &Ui) {
        self.print_with(name, places, attacks, None, ui);
    }

    /// With what fetching tiles tells besides a report.
    fn print_with(
        &self,
        name: &str,
        places: &Geography,
        attacks: &[Attack],
        leak: Option<&TileLeak>,
        ui: &Ui,
    ) {
        let spacing = places.spacing_km();
        if self.json {
            let mut all = json!({
                "attack": name,
                "places": places.places(),
                "spacing_km": spacing,
                "seed": self.seed,
                "results": attacks,
            });
            if let Some(leak) = leak {
                all["tiles_and_report"] = json!(leak);
            }
            ui.json(&all);
            return;
        }
        println!(
            "{} places, spacing {:.0} m, {} attacked, seed {}\n",
            count(places.places()),
            1000.0 * spacing,
            count(attacks.first().map_or(0, |attack| attack.all.users)),
            self.seed
        );
        print!("{}", table(attacks));
    }
}

/// One line per attack; the shares inside and at the edge of the map stand beside that of all.
fn table(attacks: &[Attack]) -> String {
    let head = [
        ["", "top-1", "interior", "edge", "top-5", "anonymity", "5th per-", "error"],
        ["the attacker sees", "%", "%", "%", "%", "median", "centile", "km"],
    ];
    let mut rows: Vec<Vec<String>> =
        head.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
    let percent = |share: Option<f64>| share.map_or("-".into(), |s| format!("{:.1}", 100.0 * s));
    for Attack { name, all, interior, edge } in attacks {
        let top = |s: &Option<Success>| percent(s.map(|s| s.top_1));
        rows.push(vec![
            name.clone(),
            percent(Some(all.top_1)),
            top(interior),
            top(edge),
            percent(Some(all.top_5)),
            all.anonymity_median.to_string(),
            all.anonymity_low.to_string(),
            format!("{:.2}", all.error_km),
        ]);
    }
    columns(&rows, 1).join("\n") + "\n"
}

impl OnTable {
    fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (map, _) = open::map(self.map.as_deref())?;
        let found = recover(&map, self.decoys, self.equations, self.seed, ui)?;
        if self.json {
            let mut said = json!(found);
            (said["attack"], said["seed"]) = (json!("targets"), json!(self.seed));
            ui.json(&said);
            return Ok(());
        }
        ui.lines(&[
            ("targets", format!("{} among {} possible street nodes, of which {} can be told apart", found.targets, found.candidates, found.distinct)),
            ("seen", format!("{} entries of the cost table", count(found.equations))),
            (
                "recovered",
                format!(
                    "total variation {:.2e} from the truth (0 is everything; guessing evenly {:.2})",
                    found.total_variation, found.chance
                ),
            ),
            ("on targets", format!("{:.1} % of the probability found", 100.0 * found.mass_on_targets)),
            ("likeliest", if found.likeliest_named { "named".into() } else { "missed".to_owned() }),
            ("error", format!("{:.3} km on average", found.error_km)),
        ]);
        Ok(())
    }
}
