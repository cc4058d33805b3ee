//! `lrgeo compare`: what mechanisms cost, and what they protect, side by side.

pub mod json;
pub mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use lrgeo_evaluation::adversary::{Adversary, blind};
use lrgeo_geo::units::Length;
use lrgeo_geo::{Digest, PlaceId};
use lrgeo_mechanism::verify::Examined;
use lrgeo_mechanism::{Built, City, Mechanism, Plan, REGISTRY, by_name};
use lrgeo_tiles::{Cover, Epsilon, Notion};

use crate::assessor::{Assessor, Found};
use crate::failure::Failure;
use crate::mechanism::Users;
use crate::open;
use crate::solve;
use crate::ui::Ui;
use crate::ways::Ways;

/// Make several mechanisms for one map and compare what they cost and what they protect.
#[derive(Args)]
#[command(
    after_help = "\
Examples:
  lrgeo compare --demo --places 100
  lrgeo compare city.lrmap --settings practical --kinds lp,laplace,published
  lrgeo compare city.lrmap --with own.lrmech
Settings of the paper: epsilon 10/km, gamma 1 km, the 20 nearest relevant places, r_exp 4 km, r_obf 4.5 km.
Practical ones: epsilon 2/km, gamma 1 km, relevant places within 2 km, r_exp 1 km, r_obf 4 km.
Ctrl-C stops with what is known so far.",
    group = ArgGroup::new("which map").required(true).args(["map", "demo"])
)]
pub struct Compare {
    /// The map.
    map: Option<PathBuf>,
    /// The embedded demo city instead of a map, 500 m between places.
    #[arg(long)]
    demo: bool,
    /// Which settings.
    #[arg(long, value_enum, default_value_t)]
    settings: Which,
    /// Which mechanisms, by commas [default: all].
    #[arg(long, value_name = "KIND,..", value_delimiter = ',', value_parser = kind)]
    kinds: Vec<&'static dyn Mechanism>,
    /// Mechanism files to stand beside them, made for this map: your own (`lrgeo mechanism import`), or any other. May be repeated.
    #[arg(long, value_name = "FILE.lrmech")]
    with: Vec<PathBuf>,
    /// Another epsilon than that of the settings, like 2/km.
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// Only the block of so many places around the middle of the map.
    #[arg(long, value_name = "K")]
    places: Option<usize>,
    #[command(flatten)]
    ways: Ways,
    /// The users of a round: a file with a place id or LAT,LON per line, or random:N.
    #[arg(long, value_name = "FILE|random:N", default_value = "random:10")]
    users: Users,
    /// Seed of random users.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop each optimisation after this long with the best so far.
    #[arg(long, value_name = "TIME", value_parser = solve::duration, default_value = "1800s")]
    time_limit: Duration,
    /// Print all numbers as JSON.
    #[arg(long)]
    json: bool,
}

/// `--settings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Those of the paper's experiments.
    Paper,
    /// Those that protect somebody.
    Practical,
    /// One table each.
    #[default]
    Both,
}

/// A mechanism that was made before for this version of a map, with what to call it.
fn file(path: &Path, version: Digest) -> Result<(String, Built), Failure> {
    let (built, _) = Built::open(path)?;
    built.expect_map(version)?;
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    Ok((stem.to_string_lossy().into_owned(), built))
}

fn kind(name: &str) -> Result<&'static dyn Mechanism, String> {
    by_name(name).map_err(|error| error.to_string())
}

/// Everything that was found out.
struct Comparison {
    city: City,
    users: usize,
    seed: u64,
    /// What can be guessed without any report.
    blind: Adversary,
    sheets: Vec<Sheet>,
}

/// The mechanisms under one set of settings.
struct Sheet {
    name: &'static str,
    plan: Plan,
    lines: Vec<Line>,
}

/// One mechanism.
struct Line {
    name: String,
    per_user: bool,
    /// Whether every report was replaced by the best one, where that is not as the paper has it.
    remapped: bool,
    /// Which pairs it speaks of.
    notion: Notion,
    /// What was found out, or why nothing was.
    outcome: Result<Found, String>,
}

impl Compare {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (map, version) = open::block(self.map.as_deref(), self.places)?;
        // Those for another map are refused before anything is measured or verified.
        let files = self.with.iter().map(|path| file(path, version));
        let files = files.collect::<Result<Vec<(String, Built)>, Failure>>()?;
        let city = self.ways.city(map, version, ui)?;
        let users = self.users.places(&city, self.seed)?;
        let files: Vec<(String, Examined)> =
            files.into_iter().map(|(name, built)| (name, Examined::new(built, ui))).collect();
        // Once for the map, like the map itself: not part of any mechanism's time.
        city.table(Length::HUNDRED_METRES.into(), ui)?;
        let mut assessor = Assessor::new(&city, self.time_limit, ui);
        let mut sheets = Vec::new();
        for (name, plan) in self.plans(&users)? {
            sheets.push(self.sheet(name, plan, &files, &mut assessor));
        }
        let blind = blind(city.coords(), city.prior());
        let comparison = Comparison { city, users: users.len(), seed: self.seed, blind, sheets };
        match self.json {
            true => ui.json(&json::of(&comparison)),
            false => print!("{}", table::of(&comparison)),
        }
        Ok(())
    }

    fn plans(&self, users: &[PlaceId]) -> Result<Vec<(&'static str, Plan)>, Failure> {
        let mut plans = Vec::new();
        if self.settings != Which::Practical {
            plans.push(("paper", Plan::paper()?));
        }
        if self.settings != Which::Paper {
            plans.push(("practical", Plan::practical()?));
        }
        for (_, plan) in &mut plans {
            plan.epsilon = self.epsilon.unwrap_or(plan.epsilon);
            plan.users = users.to_vec();
            // Flagged in the table instead of refused.
            plan.allow_disconnected = true;
        }
        Ok(plans)
    }

    fn sheet(
        &self,
        name: &'static str,
        plan: Plan,
        files: &[(String, Examined)],
        assessor: &mut Assessor<'_>,
    ) -> Sheet {
        let all = if self.kinds.is_empty() { REGISTRY } else { &self.kinds };
        let mut kinds: Vec<&'static dyn Mechanism> = all.to_vec();
        // Costs are compared within one notion only, so those stand together.
        let reach = |kind: &dyn Mechanism| kind.guarantee(&plan).notion.reach_km();
        kinds.sort_by(|a, b| reach(*a).total_cmp(&reach(*b)));
        // Baselines as the paper has them, and beside them what they are worth with the best report for each outcome.
        let both = |kind: &'static dyn Mechanism| {
            let remapped = kind.remaps_by_default().then_some((kind, true));
            std::iter::once((kind, false)).chain(remapped)
        };
        let line = |(kind, remapped): (&'static dyn Mechanism, bool)| {
            assessor.ui.remark(format!("{name}: {} ..", kind.name()));
            let plan = Plan { remap: Some(remapped), ..plan.clone() };
            let outcome = assessor.make(kind, &plan).map(|(_, found)| found);
            let (name, per_user) = (kind.name().to_owned(), kind.per_user());
            Line { name, per_user, remapped, notion: kind.guarantee(&plan).notion, outcome }
        };
        let mut lines: Vec<Line> = kinds.into_iter().flat_map(both).map(line).collect();
        lines.extend(files.iter().map(|(name, built)| {
            let per_user = built.guarantee.cover == Cover::Round;
            let outcome = assessor.look_at(built, &plan);
            let notion = built.guarantee.notion;
            Line { name: name.clone(), per_user, remapped: false, notion, outcome }
        }));
        Sheet { name, plan, lines }
    }
}
