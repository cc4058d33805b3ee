//! `lrgeo reproduce`: the paper's whole evaluation, by one command.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;
use lrgeo_evaluation::experiments::{EXPERIMENTS, Ground, Notebook, Setup, Size, verdict};
use lrgeo_evaluation::report::{Figure, Picture, Report};
use lrgeo_mechanism::{MechanismError, Plan, build, by_name};

use crate::failure::Failure;
use crate::open;
use crate::ui::Ui;

/// Repeat every experiment of the paper's evaluation and write a report.
#[derive(Args)]
#[command(after_help = "\
Examples:
  lrgeo reproduce --quick -o report
  lrgeo reproduce --data ../shared/data -o report --only tables,users
On Rome where the data is given, on the demo city otherwise. An interrupted run goes on where it stopped when
it is started again with the same options. Open report/index.html; the numbers are beside it.")]
pub struct Reproduce {
    /// Three repeats instead of twenty, and smaller sizes; the demo city has two and the smallest in any case.
    #[arg(long)]
    quick: bool,
    /// Where the Rome data is.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The seed of users and targets.
    #[arg(long, default_value_t = 20250714)]
    seed: u64,
    /// Only these experiments, by commas.
    #[arg(long, value_name = "ID,..", value_delimiter = ',', value_parser = experiments())]
    only: Vec<String>,
    /// The directory of the report.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

impl Reproduce {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let begun = Instant::now();
        let ground = self.ground()?;
        let wanted = |id: &str| self.only.is_empty() || self.only.iter().any(|name| name == id);
        let made = std::fs::create_dir_all(&self.output);
        made.map_err(|error| Failure::Read { path: self.output.clone(), error })?;
        let size = if self.quick { Size::Quick } else { Size::Full };
        let setup = Setup { ground: &ground, size, seed: self.seed };
        let path = self.output.join("measurements.jsonl");
        let mut notebook = Notebook::open(&path, &setup.name())?;
        if notebook.resumed() > 0 {
            ui.remark(format!("going on after {} measurements", notebook.resumed()));
        }
        let mut figures = Vec::new();
        let experiments: Vec<_> = EXPERIMENTS.iter().filter(|e| wanted(e.id)).collect();
        for (number, experiment) in experiments.iter().enumerate() {
            let (count, title) = (experiments.len(), experiment.title);
            let so_far = begun.elapsed().as_secs_f64();
            ui.remark(format!("{so_far:6.0} s  {} of {count}: {title}", number + 1));
            figures.extend((experiment.run)(&setup, &mut notebook, ui)?);
        }
        // An experiment that has nothing to show on this map is left out.
        let shows = |figure: &Figure| {
            figure.series.iter().flat_map(|s| &s.points).any(|point| !point.values.is_empty())
        };
        figures.retain(shows);
        let pictures = pictures(&setup)?;
        let report = Report {
            verdict: verdict(&figures),
            title: format!("LR-Geo's evaluation: {}", ground.name),
            settings: self.settings(&setup, begun)?,
            figures,
            pictures,
        };
        report.write(&self.output)?;
        let index = self.output.join("index.html");
        println!("{}", summary(&report, &index, begun.elapsed().as_secs_f64()));
        Ok(())
    }

    fn ground(&self) -> Result<Ground, Failure> {
        let Some(data) = &self.data else { return Ok(Ground::demo()) };
        Ground::rome(data)?.ok_or_else(|| {
            let reason = "does not hold 01-rome-grid-40x40 and 02-rome-streets; leave --data out for the demo city";
            MechanismError::invalid("data", format!("{} {reason}", data.display())).into()
        })
    }

    fn settings(
        &self,
        setup: &Setup<'_>,
        begun: Instant,
    ) -> Result<Vec<(String, String)>, MechanismError> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let lines = [
            ("data", setup.ground.name.clone()),
            ("seed", self.seed.to_string()),
            ("repeats", setup.repeats().to_string()),
            (
                "paper settings",
                "the letter: epsilon 10/km, gamma 1 km, Gamma 20 km (20 places sampled), r_exp and r_obf 4 km, range own, \
                 uniform targets"
                    .into(),
            ),
            (
                "practical settings",
                practical_settings()?,
            ),
            ("lrgeo", env!("CARGO_PKG_VERSION").into()),
            ("machine", format!("{} cores, {}", cores, std::env::consts::ARCH)),
            (
                "took",
                format!(
                    "{:.0} s, without what an earlier run had measured",
                    begun.elapsed().as_secs_f64()
                ),
            ),
            (
                "paper's figures",
                "as printed in its tables: 13th Gen Intel Core i7, 16 cores, MATLAB linprog".into(),
            ),
        ];
        Ok(lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

/// The names that `--only` takes.
fn experiments() -> PossibleValuesParser {
    PossibleValuesParser::new(EXPERIMENTS.iter().map(|experiment| experiment.id))
}

/// As the plan has them, so that the two cannot differ.
fn practical_settings() -> Result<String, MechanismError> {
    let Plan { epsilon, radii, .. } = Plan::practical()?;
    Ok(format!(
        "ours: epsilon {epsilon}, gamma 1 km, Gamma {} km, r_exp {} km, r_obf {} km, range each, 20 random targets",
        radii.relevant, radii.exponential, radii.obfuscation
    ))
}

/// Where the reports of one place go, by three mechanisms.
fn pictures(setup: &Setup<'_>) -> Result<Vec<Picture>, MechanismError> {
    let city = setup.ground.city(200, setup.seed)?;
    let place = open::middle(&city);
    let mut pictures = Vec::new();
    for kind in ["lp", "exp", "laplace-places"] {
        let mut plan = Plan::practical()?;
        plan.allow_disconnected = true;
        let built = build(by_name(kind)?, &city, &plan, &())?;
        pictures.push(Picture::of_reports(kind, &built, place));
    }
    Ok(pictures)
}

fn summary(report: &Report, index: &Path, seconds: f64) -> String {
    let flags: Vec<&String> = report.figures.iter().flat_map(|figure| &figure.flags).collect();
    let mut text = format!(
        "{} figures and {} maps in {:.0} s; open {}\n",
        report.figures.len(),
        report.pictures.len(),
        seconds,
        index.display()
    );
    if !report.verdict.is_empty() {
        text.push_str("\nWhat holds and what does not:\n");
        report.verdict.iter().for_each(|sentence| text.push_str(&format!("  {sentence}\n")));
    }
    if !flags.is_empty() {
        text.push_str("\nNot to be overlooked:\n");
        flags.iter().for_each(|flag| text.push_str(&format!("  {flag}\n")));
    }
    text.trim_end().to_owned()
}
