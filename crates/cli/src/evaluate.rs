//! `lrgeo evaluate`: everything that can be measured about mechanisms, side by side over epsilon.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use lrgeo_evaluation::adversary::{Adversary, blind, is_even};
use lrgeo_evaluation::curves::{Blind, Subject, figures};
use lrgeo_evaluation::report::{Picture, Report};
use lrgeo_geo::{Digest, PlaceId};
use lrgeo_mechanism::verify::Examined;
use lrgeo_mechanism::{Built, City, Mechanism, MechanismError, Plan, REGISTRY, by_name};
use lrgeo_tiles::{Epsilon, Notion};
use serde_json::json;

use crate::assessor::{Assessor, Found};
use crate::compare::{json as numbers, table};
use crate::failure::Failure;
use crate::mechanism::Users;
use crate::open;
use crate::solve;
use crate::ui::{Ui, columns, count, counted};
use crate::ways::Ways;

/// Measure costs, violations and guesses of mechanisms, and draw privacy against cost.
#[derive(Args)]
#[command(after_help = "\
Examples:
  lrgeo evaluate                                          all kinds on the demo city
  lrgeo evaluate city.lrmech laplace exp --map city.lrmap --epsilon 1/km,2/km,4/km -o evaluation
Files must be made for the map. Open evaluation/index.html; the numbers are beside it.
Ctrl-C stops with what is known so far.")]
pub struct Evaluate {
    /// Mechanism files, or kinds that are made here: lp, lr-geo, lr-geo-f, const-opt, laplace, exp, published
    /// [default: all kinds].
    mechanisms: Vec<String>,
    /// The map [default: the demo city].
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Only the block of so many places around the middle of the map.
    #[arg(long, value_name = "K")]
    places: Option<usize>,
    /// Epsilons at which kinds are made, by commas [default: epsilon x spacing of 0.5, 1, 2 and 4].
    #[arg(long, value_name = "EPSILON,..", value_delimiter = ',', allow_hyphen_values = true)]
    epsilon: Vec<Epsilon>,
    #[command(flatten)]
    ways: Ways,
    /// The users of kinds made per user: a file with a place id or LAT,LON per line, or random:N.
    #[arg(long, value_name = "FILE|random:N", default_value = "random:10")]
    users: Users,
    /// Seed of random users.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop each optimisation after this long with the best so far.
    #[arg(long, value_name = "TIME", value_parser = solve::duration, default_value = "600s")]
    time_limit: Duration,
    /// Write a report with all tables and pictures into this directory.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print all numbers as JSON.
    #[arg(long)]
    json: bool,
}

/// Multiples of 1 / spacing at which kinds are made by default.
const SCALED: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// What is evaluated.
enum Candidate {
    File(String, Box<Built>),
    Kind(&'static dyn Mechanism),
}

impl Candidate {
    /// What the files of a report call it.
    fn id(&self) -> String {
        match self {
            Self::File(name, _) => file_name(name),
            Self::Kind(kind) => file_name(kind.name()),
        }
    }

    /// How many lines it gets, where kinds are made at so many epsilons.
    fn lines(&self, epsilons: usize) -> usize {
        match self {
            Self::File(..) => 1,
            Self::Kind(kind) => epsilons * if kind.remaps_by_default() { 2 } else { 1 },
        }
    }
}

/// Costs compare in one unit.
fn ensure_unit(candidates: &[Candidate], unit: &str) -> Result<(), MechanismError> {
    for candidate in candidates {
        if let Candidate::File(name, built) = candidate
            && built.unit != unit
        {
            let reason = format!("{name} counts costs in {}, not in {unit}", built.unit);
            return Err(MechanismError::invalid("utility", reason));
        }
    }
    Ok(())
}

/// One mechanism at one epsilon, and what was found out about it.
struct Line {
    name: String,
    epsilon: Epsilon,
    notion: Notion,
    per_user: bool,
    outcome: Result<Found, String>,
}

/// What has been evaluated so far.
struct Seen {
    lines: Vec<Line>,
    pictures: Vec<Picture>,
    /// How many lines there will be.
    expected: usize,
    begun: Instant,
}

impl Seen {
    /// Says what comes next, and how long it all takes by what it took so far.
    fn announce(&self, what: &str, ui: &Ui) {
        let (done, expected) = (self.lines.len(), self.expected);
        let left = match done {
            0 => String::new(),
            _ => {
                let each = self.begun.elapsed().as_secs_f64() / done as f64;
                format!(", about {:.0} s left", (each * (expected - done) as f64).ceil())
            }
        };
        ui.remark(format!("{} of {expected}: {what}{left}", done + 1));
    }

    /// A mechanism that was made before, at its own epsilon.
    fn file(&mut self, name: String, built: Built, assessor: &mut Assessor<'_>) {
        self.announce(&name, assessor.ui);
        let built = &Examined::new(built, assessor.ui);
        let plan = Plan::new(assessor.city, built.guarantee.epsilon);
        self.pictures.extend(picture(&name, built, assessor.city));
        let outcome = assessor.look_at(built, &plan);
        let per_user = by_name(&built.kind).is_ok_and(|kind| kind.per_user());
        let (epsilon, notion) = (built.guarantee.epsilon, built.guarantee.notion);
        self.lines.push(Line { name, epsilon, notion, per_user, outcome });
    }

    /// A kind, made at every epsilon and drawn at the middle one. What is remapped by default stands there as it is, too.
    fn kind(
        &mut self,
        kind: &'static dyn Mechanism,
        epsilons: &[Epsilon],
        users: &[PlaceId],
        assessor: &mut Assessor<'_>,
    ) {
        self.made(kind, false, epsilons, users, assessor);
        if kind.remaps_by_default() {
            self.made(kind, true, epsilons, users, assessor);
        }
    }

    fn made(
        &mut self,
        kind: &'static dyn Mechanism,
        remapped: bool,
        epsilons: &[Epsilon],
        users: &[PlaceId],
        assessor: &mut Assessor<'_>,
    ) {
        let name = match remapped {
            true => format!("{} remapped", kind.name()),
            false => kind.name().to_owned(),
        };
        for (at, &epsilon) in epsilons.iter().enumerate() {
            self.announce(&format!("{name}, epsilon {epsilon}"), assessor.ui);
            let mut plan = Plan::new(assessor.city, epsilon);
            plan.users = users.to_vec();
            plan.remap = Some(remapped);
            // Flagged instead of refused.
            plan.allow_disconnected = true;
            let made = assessor.make(kind, &plan);
            if let (Ok((built, _)), true) = (&made, at == epsilons.len() / 2) {
                self.pictures.extend(picture(&name, built, assessor.city));
            }
            self.lines.push(Line {
                name: name.clone(),
                epsilon,
                notion: kind.guarantee(&plan).notion,
                per_user: kind.per_user(),
                outcome: made.map(|(_, found)| found),
            });
        }
    }
}

impl Evaluate {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let begun = Instant::now();
        let (map, version) = open::block(self.map.as_deref(), self.places)?;
        let candidates = self.candidates(version)?;
        let city = self.ways.city(map, version, ui)?;
        ensure_unit(&candidates, city.utility().unit())?;
        let epsilons = self.epsilons(&city)?;
        let users = self.users.places(&city, self.seed)?;
        let mut assessor = Assessor::new(&city, self.time_limit, ui);
        let expected = candidates.iter().map(|candidate| candidate.lines(epsilons.len())).sum();
        let (lines, pictures) = (Vec::new(), Vec::new());
        let mut seen = Seen { lines, pictures, expected, begun: Instant::now() };
        for candidate in candidates {
            match candidate {
                Candidate::File(name, built) => seen.file(name, *built, &mut assessor),
                Candidate::Kind(kind) => seen.kind(kind, &epsilons, &users, &mut assessor),
            }
        }
        let Seen { lines, pictures, .. } = seen;
        let without = without_report(&city);
        match self.json {
            true => ui.json(&as_json(&lines, &city, without, self.seed)),
            false => print!("{}", text(&lines, &city, without)),
        }
        if let Some(dir) = &self.output {
            let settings = self.settings(&city, users.len(), begun);
            let report = report(lines, pictures, &city, without, settings);
            report.write(dir)?;
            ui.remark(format!("open {}", dir.join("index.html").display()));
        }
        Ok(())
    }

    /// Files are opened, held against the version of the map, and names compared before anything is measured or made: what is
    /// wrong should not be found out minutes later.
    fn candidates(&self, version: Digest) -> Result<Vec<Candidate>, Failure> {
        if self.mechanisms.is_empty() {
            return Ok(REGISTRY.iter().map(|&kind| Candidate::Kind(kind)).collect());
        }
        let candidate = |name: &String| match by_name(name) {
            Ok(kind) => Ok(Candidate::Kind(kind)),
            Err(_) if !Path::new(name).exists() && !name.contains(['.', '/', '\\']) => {
                let kinds: Vec<&str> = REGISTRY.iter().map(|kind| kind.name()).collect();
                let reason = format!("`{name}` is no file and none of {}", kinds.join(", "));
                Err(MechanismError::invalid("mechanism", reason).into())
            }
            Err(_) => {
                let (built, _) = Built::open(Path::new(name))?;
                built.expect_map(version)?;
                let stem = Path::new(name).file_stem();
                let stem = stem.map_or(name.clone(), |stem| stem.to_string_lossy().into_owned());
                Ok(Candidate::File(stem, Box::new(built)))
            }
        };
        let candidates: Vec<Candidate> =
            self.mechanisms.iter().map(candidate).collect::<Result<_, Failure>>()?;
        let mut names: Vec<String> = candidates.iter().map(Candidate::id).collect();
        names.sort();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let reason = format!("`{}` names two of them; rename a file", twice[0]);
            return Err(MechanismError::invalid("mechanism", reason).into());
        }
        Ok(candidates)
    }

    fn epsilons(&self, city: &City) -> Result<Vec<Epsilon>, MechanismError> {
        if !self.epsilon.is_empty() {
            return Ok(self.epsilon.clone());
        }
        let two_digits = |value: f64| {
            let unit = 10f64.powf(value.log10().floor() - 1.0);
            (value / unit).round() * unit
        };
        let scaled = SCALED.iter().map(|scaled| two_digits(scaled / city.spacing_km()));
        let rounded = scaled.map(|value| Epsilon::per_km((value * 1e6).round() / 1e6));
        Ok(rounded.collect::<Result<_, _>>()?)
    }

    fn settings(&self, city: &City, users: usize, begun: Instant) -> Vec<(String, String)> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let lines = [
            ("map", format!("{}, version {}", city.map().source, city.version().short())),
            ("places", format!("{}, {:.3} km apart", count(city.places()), city.spacing_km())),
            ("targets", count(city.map().targets.len())),
            ("users of kinds made per user", format!("{users}, seed {}", self.seed)),
            ("radii", "as `lrgeo mechanism build` chooses them for the map".into()),
            ("lrgeo", env!("CARGO_PKG_VERSION").into()),
            ("machine", format!("{cores} cores, {}", std::env::consts::ARCH)),
            ("took", format!("{:.0} s", begun.elapsed().as_secs_f64())),
        ];
        lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Where reports go from the place nearest to the middle that has a row.
fn picture(name: &str, built: &Built, city: &City) -> Option<Picture> {
    let place = open::middle(city);
    built.row(place).is_some().then(|| Picture::of_reports(&file_name(name), built, place))
}

/// Names become ids, of which little is allowed.
fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(kept).collect()
}

fn without_report(city: &City) -> Blind {
    let knowing = blind(city.coords(), city.prior());
    let even = match is_even(city.prior()) {
        true => knowing,
        false => blind(city.coords(), &vec![1.0; city.places()]),
    };
    Blind { knowing, even }
}

fn report(
    lines: Vec<Line>,
    pictures: Vec<Picture>,
    city: &City,
    without: Blind,
    settings: Vec<(String, String)>,
) -> Report {
    let subjects: Vec<Subject> = subjects(lines);
    Report {
        verdict: Vec::new(),
        title: format!("Mechanisms on {}", city.map().source),
        settings,
        figures: figures(&subjects, without, city.utility().unit()),
        pictures,
    }
}

fn subjects(lines: Vec<Line>) -> Vec<Subject> {
    let subject = |line: Line| Subject {
        name: line.name,
        epsilon: line.epsilon.value(),
        outcome: line.outcome.map(|found| found.assessment),
    };
    lines.into_iter().map(subject).collect()
}

fn as_json(lines: &[Line], city: &City, without: Blind, seed: u64) -> serde_json::Value {
    let line = |line: &Line| {
        let mut value = match &line.outcome {
            Ok(found) => numbers::numbers(found),
            Err(reason) => json!({ "failed": reason }),
        };
        value["name"] = line.name.as_str().into();
        value["epsilon_asked_per_km"] = line.epsilon.value().into();
        value["per_user"] = line.per_user.into();
        value
    };
    json!({
        "map": city.version(),
        "source": city.map().source.to_string(),
        "places": city.places(),
        "spacing_km": city.spacing_km(),
        "seed": seed,
        "without_report": numbers::adversary(&without.knowing),
        "without_report_even_prior": numbers::adversary(&without.even),
        "mechanisms": lines.iter().map(line).collect::<Vec<_>>(),
    })
}

const COSTS: [[&str; 11]; 2] = [
    [
        "",
        "",
        "",
        "between",
        "on the",
        "worst",
        "95 %",
        "violated",
        "pairs in use",
        "worst",
        "effective",
    ],
    [
        "mechanism",
        "pairs",
        "eps",
        "places",
        "street",
        "place",
        "at most",
        "%",
        "violated",
        "excess",
        "epsilon",
    ],
];

const GUESSES: [[&str; 9]; 2] = [
    ["", "", "", "guess", "guess", "worst tenth", "of places", "left", "on the street"],
    ["mechanism", "prior", "eps", "off km", "right %", "off km", "right %", "bits", "off km"],
];

const NOTES: &str = "\
places     cost in km, the expected error of travel distance per report, with everybody at a place; street: with people where
           they stand; then at the worst place, and what 95 % of reports do not exceed
violated % of all inequalities, as the paper counts; pairs in use: between rows that are really reported from
excess     worst ln(z_ik / z_jk) - epsilon d_ij in use: at most 0 is private
guess      by who knows the mechanism and a prior, best for being near (off km) and for being right (right %)
worst tenth  the same at the tenth of the places where guesses are best; bits: entropy that a report leaves;
           on the street: the best guess of somebody's coordinate, who stands anywhere on the streets around a place
";

fn text(lines: &[Line], city: &City, without: Blind) -> String {
    let per_user = if lines.iter().any(|line| line.per_user) {
        "(u)        made per user; guesses are over the relevant rows of each user, averaged over users\n"
    } else {
        ""
    };
    let mut text = format!(
        "{}: {} places, {:.3} km apart, {}\n\n{}\n\n{}\n",
        city.map().source,
        count(city.places()),
        city.spacing_km(),
        counted(city.map().targets.len(), "target"),
        columns(&rows(&COSTS, lines.iter().map(costs)), 2).join("\n"),
        columns(&rows(&GUESSES, guesses(lines, without)), 2).join("\n"),
    );
    let mut remarks = lines
        .iter()
        .flat_map(|line| line.outcome.iter().map(move |found| (line, found)))
        .flat_map(|(line, found)| found.remarks().into_iter().map(move |remark| (line, remark)))
        .map(|(line, text)| table::wrapped(&format!("! {}, {}: {text}", line.name, line.epsilon)))
        .peekable();
    if remarks.peek().is_some() {
        text.push('\n');
    }
    text.extend(remarks);
    text + "\n" + NOTES + per_user
}

fn rows<const N: usize>(
    head: &[[&str; N]],
    body: impl Iterator<Item = Vec<String>>,
) -> Vec<Vec<String>> {
    let head = head.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect());
    head.chain(body).collect()
}

fn named(line: &Line) -> String {
    let flagged = line.outcome.as_ref().is_ok_and(|found| !found.remarks().is_empty());
    let (per_user, mark) =
        (if line.per_user { " (u)" } else { "" }, if flagged { " !" } else { "" });
    format!("{}{per_user}{mark}", line.name)
}

fn costs(line: &Line) -> Vec<String> {
    let mut cells = vec![named(line), table::pairs(line.notion)];
    let found = match &line.outcome {
        Ok(found) => &found.assessment,
        Err(reason) => {
            cells.push(format!("{}: {reason}", line.epsilon));
            return cells;
        }
    };
    let (spending, deployed) = (found.spending, &found.violations.deployed);
    cells.extend([
        line.epsilon.value().to_string(),
        format!("{:.4}", spending.expected),
        found.street.map_or("-".into(), |street| format!("{:.4}", street.cost)),
        format!("{:.4}", spending.worst_place),
        format!("{:.4}", spending.at_95_percent),
        table::share(found.violations.as_the_paper_counts.violation_ratio()),
        table::violated(deployed),
        table::excess(deployed),
        if deployed.pairs == 0 { "-".into() } else { table::plain(deployed.effective_epsilon) },
    ]);
    cells
}

fn guesses(lines: &[Line], without: Blind) -> impl Iterator<Item = Vec<String>> {
    let priors = if without.knowing == without.even { 1 } else { 2 };
    let row = |name: String, prior: usize, epsilon: String, a: Adversary, street: Option<f64>| {
        vec![
            name,
            if priors == 1 { "even" } else { ["map's", "even"][prior] }.to_owned(),
            epsilon,
            format!("{:.3}", a.inference_error_km),
            format!("{:.1}", 100.0 * a.hit_rate),
            format!("{:.3}", a.worst_decile_error_km),
            format!("{:.1}", 100.0 * a.worst_decile_hit_rate),
            format!("{:.2}", a.entropy_bits),
            street.filter(|_| prior == 0).map_or("-".into(), |km| format!("{km:.3}")),
        ]
    };
    let mut all = Vec::new();
    for prior in 0..priors {
        let blind = [without.knowing, without.even][prior];
        all.push(row("without a report".into(), prior, "-".into(), blind, None));
        for line in lines {
            if let Ok(found) = &line.outcome {
                let found = &found.assessment;
                let seen = [found.adversary, found.even_adversary][prior];
                let street = found.street.map(|street| street.guess_error_km);
                all.push(row(named(line), prior, line.epsilon.value().to_string(), seen, street));
            }
        }
    }
    all.into_iter()
}
