//! `lrgeo mechanism build`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{ArgGroup, Args, ValueEnum};
use lrgeo_evaluation::street::People;
use lrgeo_geo::units::Length;
use lrgeo_map::map::Map;
use lrgeo_map::table::{CostTable, Division};
use lrgeo_mechanism::{
    Beyond, Built, City, Exponent, Indicator, Mechanism, MechanismError, Plan, REGISTRY, RangeRule,
    build, by_name,
};
use lrgeo_optim::Settings;
use lrgeo_tiles::{Cover, Epsilon, Notion, Privacy};

use super::{Users, info};
use crate::failure::Failure;
use crate::solve;
use crate::ui::Ui;
use crate::ways::Ways;

/// Make a mechanism for a map: build, verify, write.
#[derive(Args)]
#[command(
    after_help = "\
Examples:
  lrgeo mechanism build city.lrmap --epsilon 2/km -o city.lrmech
  lrgeo mechanism build city.lrmap --privacy \"factor 2 within 300 m\" -o city.lrmech
  lrgeo mechanism build city.lrmap --kind lr-geo --epsilon 2/km --users random:10 -o round.lrmech
  lrgeo mechanism build city.lrmap --epsilon 2/km --way walk=walk.lrmap --split drive:0.7,walk:0.3 -o mixed.lrmech
Radii that are not given follow the spacing of the places; the account says what they are.",
    group = ArgGroup::new("how private").required(true).args(["epsilon", "privacy"])
)]
pub struct Build {
    /// The map.
    map: PathBuf,
    /// Which mechanism: lp, lr-geo, lr-geo-f, const-opt, laplace, laplace-places, exp or published [default: laplace for
    /// --privacy, published for --epsilon].
    #[arg(long, value_parser = kind)]
    kind: Option<&'static dyn Mechanism>,
    /// Privacy per distance between places, like 2/km: the smaller, the more private.
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// A promise to people wherever they stand, like "factor 2 within 300 m": kept, or refused.
    #[arg(long)]
    privacy: Option<Privacy>,
    /// Replace every report by the one that costs least given the prior; the promise stays as it is [default: for laplace-places and exp].
    #[arg(long, value_name = "yes|no", num_args = 0..=1, default_missing_value = "yes", value_parser = yes_or_no)]
    remap: Option<bool>,
    /// Pairs of places up to this far apart are protected; paths bind the others.
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    gamma: Option<Length>,
    /// Every pair of places is protected.
    #[arg(long, conflicts_with = "gamma")]
    all_pairs: bool,
    /// Gamma: how far locally relevant places may be.
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    lr_radius: Option<Length>,
    /// At most so many locally relevant places, the nearest.
    #[arg(long, value_name = "N")]
    lr_max: Option<usize>,
    /// Reports farther than this follow an exponential kernel.
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    exp_radius: Option<Length>,
    /// The obfuscation range.
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    obf_radius: Option<Length>,
    /// Whose range decides what is tied: the user's own (the paper) or each place's (ours).
    #[arg(long, value_enum, default_value_t)]
    range: Range,
    /// The users of a round: a file with a place id or LAT,LON per line, or random:N [default: random:10].
    #[arg(long, value_name = "FILE|random:N")]
    users: Option<Users>,
    /// Seed of random users.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How a round is solved.
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    /// What stands in the exponent of `exp`.
    #[arg(long, value_enum, default_value_t)]
    exponent: By,
    /// Take the exponent of `exp` as given instead of calibrating it to the epsilon asked for.
    #[arg(long)]
    nominal: bool,
    #[command(flatten)]
    ways: Ways,
    /// Which entries in range stay free: radius (those within r_exp, the paper's), mass:SHARE (the nearest with that share of
    /// the kernel's mass), random:SHARE.
    #[arg(long, value_name = "RULE", default_value = "radius", value_parser = indicator)]
    indicator: Indicator,
    /// What reports out of range are charged with in the programme of a round.
    #[arg(long, value_name = "ceiling|nothing|table", default_value = "ceiling", value_parser = beyond)]
    out_of_range: Beyond,
    /// A cost reference table made before; else one is made with --table-cell.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// The cells of the cost reference table.
    #[arg(long, value_name = "LENGTH", default_value = "100m", allow_hyphen_values = true)]
    table_cell: Length,
    /// Road segments of this length instead of cells.
    #[arg(long, value_name = "LENGTH", conflicts_with = "table_cell", allow_hyphen_values = true)]
    table_segments: Option<Length>,
    /// How much longer than straight lines paths of the all-pairs spanner may be: 1.05 is faster and costs 3 to 5 % more.
    #[arg(long, default_value_t = lrgeo_mechanism::STRETCH, allow_hyphen_values = true)]
    stretch: f64,
    /// Stop optimising at this relative gap; each mechanism has a default.
    #[arg(long)]
    gap: Option<f64>,
    /// Make and verify it within about this long: 60s, 2m. Where the optimiser (lp, const-opt, published) is not done by
    /// then, the cheapest of its matrix, the exponential mechanism and Laplace noise is taken, as after Ctrl-C; rounds
    /// (lr-geo) stop with the best matrix so far.
    #[arg(long, value_name = "TIME", value_parser = solve::duration)]
    time_limit: Option<Duration>,
    /// Build even if gamma leaves parts of the map without any bound between them.
    #[arg(long)]
    allow_disconnected: bool,
    /// Where to write the mechanism.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print the account as JSON.
    #[arg(long)]
    json: bool,
}

fn kind(name: &str) -> Result<&'static dyn Mechanism, String> {
    by_name(name).map_err(|_| {
        let list = REGISTRY.iter().map(|kind| format!("\n  {:10} {}", kind.name(), kind.about()));
        format!("there are:{}", list.collect::<String>())
    })
}

/// Users of a round where none are named.
const USERS: usize = 10;

fn yes_or_no(word: &str) -> Result<bool, String> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("write yes or no".into()),
    }
}

fn indicator(text: &str) -> Result<Indicator, String> {
    let wrong = || "must be radius, mass:SHARE or random:SHARE, like mass:0.9".to_owned();
    let (name, share) = text.split_once(':').unwrap_or((text, "1"));
    let share = share.parse().map_err(|_| wrong())?;
    match name {
        "radius" if text == name => Ok(Indicator::Radius),
        "mass" if text != name => Ok(Indicator::Mass(share)),
        "random" if text != name => Ok(Indicator::Random { share, seed: 1 }),
        _ => Err(wrong()),
    }
}

fn beyond(text: &str) -> Result<Beyond, String> {
    let found = Beyond::ALL.iter().find(|(_, name)| *name == text);
    found.map(|(beyond, _)| *beyond).ok_or_else(|| "must be ceiling, nothing or table".into())
}

/// `--range`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Range {
    /// The paper's letter.
    Own,
    /// Ours: tied entries are private between all rows of a round.
    #[default]
    Each,
}

/// `--engine`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Engine {
    /// Column generation.
    #[default]
    Colgen,
    /// Benders' decomposition along the central path.
    Benders,
    /// Benders' decomposition to the paper's letter: y from the master, to 0.01 km per report.
    BendersPlain,
}

/// `--exponent`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum By {
    /// As Geo-Ind has it.
    #[default]
    Distance,
    /// As the paper prints it.
    Cost,
}

/// People drawn for the cost on the street: within a per cent or two of what more of them would say.
const PEOPLE: usize = 300;

/// Larger maps take longer to be looked at than a line is worth.
const MOST_PLACES: usize = 20_000;

/// What a report costs where people stand; `None` for rounds, and where losses are not those of ways.
fn on_the_street(built: &Built, city: &City, ui: &Ui) -> Result<Option<String>, Failure> {
    let is_small = city.places() <= MOST_PLACES;
    if !(is_small && city.measures_ways()) || built.guarantee.cover == Cover::Round {
        return Ok(None);
    }
    let street = People::draw(city, PEOPLE, 1, ui)?.assess(built, ui);
    Ok(Some(format!("{:.4}", street.cost)))
}

impl Build {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let city = self.city(ui)?;
        if self.users.is_none() && self.kind()?.per_user() {
            ui.remark(format!("no --users: {USERS} random ones, seed {}", self.seed));
        }
        let bar = (!ui.is_quiet()).then(solve::bar);
        let plan = self.plan(&city, bar.clone())?;
        let begun = Instant::now();
        let built = build(self.kind()?, &city, &plan, ui);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let mut built = built.map_err(Failure::from)?;
        if let Some(asked) = self.privacy {
            built.note(info::ASKED, asked.to_string());
        }
        let seconds = begun.elapsed().as_secs_f64();
        if let Some(street) = on_the_street(&built, &city, ui)? {
            built.note(info::STREET, street);
        }
        built.save(&self.output)?;
        if self.json {
            let mut account = info::as_json(&built)?;
            account["elapsed_s"] = seconds.into();
            ui.json(&account);
        } else {
            ui.lines(&info::lines(&built)?);
            info::warn(&built, ui)?;
            ui.remark(format!(
                "made and verified in {seconds:.2} s; wrote {}",
                self.output.display()
            ));
        }
        Ok(())
    }

    /// The kind asked for; else the one for what was asked.
    fn kind(&self) -> Result<&'static dyn Mechanism, Failure> {
        let default = if self.privacy.is_some() { "laplace" } else { "published" };
        Ok(self.kind.map_or_else(|| by_name(default), Ok)?)
    }

    fn city(&self, ui: &Ui) -> Result<City, Failure> {
        let (map, version) = Map::open(&self.map)?;
        let table = self.table.as_deref().map(CostTable::open).transpose()?;
        // A table of another map is refused before the ways of this one are measured.
        if let Some(table) = table.as_ref().filter(|table| table.map != version) {
            return Err(MechanismError::OtherMap { made_for: table.map, given: version }.into());
        }
        let city = self.ways.city(map, version, ui)?;
        if let Some(table) = table {
            city.use_table(table)?;
        }
        Ok(city)
    }

    fn plan(&self, city: &City, bar: Option<indicatif::ProgressBar>) -> Result<Plan, Failure> {
        let missing = || MechanismError::invalid("epsilon", "give --epsilon or --privacy");
        let asked = self.privacy.map(|privacy| privacy.epsilon);
        let mut plan = Plan::new(city, self.epsilon.or(asked).ok_or_else(missing)?);
        plan.remap = self.remap;
        if let Some(gamma) = self.gamma {
            plan.notion = Notion::Within { gamma_km: gamma.km() };
            // A default that contradicts what was asked for gives way.
            plan.radii.relevant = plan.radii.relevant.max(gamma.km());
        }
        if self.all_pairs {
            plan.notion = Notion::AllPairs;
        }
        if self.privacy.is_some() {
            plan.notion = Notion::Coordinates;
        }
        if let Some(radius) = self.lr_radius {
            plan.radii.relevant = radius.km();
        }
        plan.radii.relevant_max = self.lr_max;
        if let Some(radius) = self.obf_radius {
            plan.radii.obfuscation = radius.km();
            plan.radii.exponential = plan.radii.exponential.min(radius.km());
        }
        if let Some(radius) = self.exp_radius {
            plan.radii.exponential = radius.km();
            if self.obf_radius.is_none() {
                plan.radii.obfuscation = plan.radii.obfuscation.max(radius.km());
            }
        }
        plan.range = match self.range {
            Range::Own => RangeRule::Own,
            Range::Each => RangeRule::Each,
        };
        plan.engine = match self.engine {
            Engine::Colgen => lrgeo_mechanism::Engine::ColumnGeneration,
            Engine::Benders => lrgeo_mechanism::Engine::Benders,
            Engine::BendersPlain => lrgeo_mechanism::Engine::PlainBenders,
        };
        plan.exponent = match self.exponent {
            By::Distance => Exponent::Distance,
            By::Cost => Exponent::Cost,
        };
        let invented = self.kind()?.per_user().then_some(Users::Random(USERS));
        if let Some(users) = self.users.clone().or(invented) {
            (plan.users, plan.shares) = users.with_ways(city, self.seed)?;
        }
        plan.calibrated = !self.nominal;
        plan.division = match self.table_segments {
            Some(length) => Division::Segments(length),
            None => Division::Grid(self.table_cell),
        };
        (plan.indicator, plan.beyond) = (self.indicator, self.out_of_range);
        plan.stretch = self.stretch;
        plan.gap = self.gap;
        plan.allow_disconnected = self.allow_disconnected;
        plan.solver = Settings {
            time_limit: self.time_limit,
            cancel: Some(solve::cancelled_by_ctrl_c()),
            progress: bar.map(solve::show_progress),
            ..Settings::default()
        };
        Ok(plan)
    }
}
