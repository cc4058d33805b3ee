//! `lrgeo solve`: the engine on a problem file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lrgeo_map::write_whole;
use lrgeo_optim::format::{
    self, FormatError, Limits, SolutionFile, solution_to_json, solution_to_npz,
};
use lrgeo_optim::{Engine, Error, Problem, ProgressCallback, Settings, Solution, benders};
use serde_json::json;

use crate::failure::Failure;
use crate::heartbeat;
use crate::ui::{Ui, count, counted};

/// Find the cheapest mechanism of a problem file, strictly private, with a proven bound.
#[derive(Args)]
#[command(after_help = "\
Examples:
  lrgeo solve problem.json -o solution.json
  lrgeo solve problem.npz --engine benders --absolute-gap 0.01 --time-limit 60s -o solution.npz
The files are described in docs/problem-format.md. Exit code 3: the problem has no solution.
Ctrl-C stops with the best matrix so far.")]
pub struct Solve {
    /// The problem, JSON or .npz.
    problem: PathBuf,
    /// How to solve it; all give the same answer. Default: large where it applies (no ties, no
    /// bounds, as many columns as rows) and there are more than 2,000 rows (5,000 on fine maps), else colgen.
    #[arg(long, value_enum)]
    engine: Option<EngineName>,
    /// Stop at this relative gap between cost and proven bound.
    #[arg(long, default_value_t = 1e-6)]
    gap: f64,
    /// Benders only: stop at this gap too, in the unit of the problem's costs (the paper takes 0.01).
    #[arg(long, value_name = "COST")]
    absolute_gap: Option<f64>,
    /// Stop after this long with the best matrix so far: 60s, 2m, 500ms.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time_limit: Option<Duration>,
    /// Print the account as JSON (the matrix goes to --output).
    #[arg(long)]
    json: bool,
    /// Where to write the solution; .npz by its name, else JSON.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// Column generation.
    Colgen,
    /// Column generation on windows, for thousands of places: memory linear in the rows.
    Large,
    /// Benders' decomposition, as in the paper.
    Benders,
    /// The whole linear program at once.
    Direct,
}

impl Solve {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let problem = read(&self.problem, format::read_problem)?;
        let bar = (!ui.is_quiet()).then(bar);
        let settings = Settings {
            gap: self.gap,
            time_limit: self.time_limit,
            cancel: Some(cancelled_by_ctrl_c()),
            progress: bar.clone().map(show_progress),
            engine: self.engine().chosen(&problem, self.gap),
            ..Settings::default()
        };
        let engine = settings.engine;
        let solved = lrgeo_optim::solve(&problem, &settings);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let solution = match solved {
            Ok(solution) => solution,
            Err(error @ Error::Infeasible { .. }) => {
                self.write(&SolutionFile::Infeasible)?;
                if self.json {
                    ui.json(&json!({ "status": "infeasible", "reason": error.to_string() }));
                }
                return Err(Failure::Infeasible(error));
            }
            Err(error) => return Err(error.into()),
        };
        let summary = summary(engine, &problem, &solution);
        let account = account(engine, &problem, &solution);
        self.write(&solution.into())?;
        if self.json {
            ui.json(&account);
        } else {
            ui.lines(&summary);
            if let Some(output) = &self.output {
                ui.remark(format!("wrote {}", output.display()));
            }
        }
        Ok(())
    }

    fn engine(&self) -> Engine {
        match self.engine {
            None => Engine::Auto,
            Some(EngineName::Large) => Engine::Large,
            Some(EngineName::Colgen) => Engine::Colgen,
            Some(EngineName::Direct) => Engine::Direct,
            Some(EngineName::Benders) => {
                let absolute_gap = self.absolute_gap.unwrap_or(0.0);
                Engine::Benders(benders::Options { absolute_gap, ..benders::Options::default() })
            }
        }
    }

    fn write(&self, solution: &SolutionFile) -> Result<(), Failure> {
        let Some(path) = &self.output else { return Ok(()) };
        let bytes = match path.extension().is_some_and(|extension| extension == "npz") {
            true => solution_to_npz(solution),
            false => solution_to_json(solution).map(String::into_bytes),
        };
        let bytes = bytes.map_err(|error| Failure::Format { path: path.clone(), error })?;
        Ok(write_whole(path, [bytes.as_slice()])?)
    }
}

fn summary(engine: Engine, problem: &Problem, solution: &Solution) -> Vec<(&'static str, String)> {
    let certificate = &solution.certificate;
    vec![
        ("status", solution.status.as_str().to_owned()),
        (
            "problem",
            format!(
                "{} x {}, {}, epsilon {}{}",
                counted(problem.rows(), "row"),
                counted(problem.columns(), "column"),
                counted(problem.arcs().len(), "arc"),
                problem.epsilon(),
                eps_spacing(problem)
                    .map_or_else(String::new, |value| format!(", eps*spacing {value:.3}")),
            ),
        ),
        ("cost", format!("{:.9}", solution.objective)),
        ("proven bound", format!("{:.9}", solution.lower_bound)),
        ("gap", format!("{:.2e}", solution.gap)),
        (
            "work",
            format!(
                "{}, {}, {}, {:.3} s",
                engine.as_str(),
                counted(solution.iterations, "iteration"),
                counted(solution.columns, "column"),
                solution.seconds
            ),
        ),
        (
            "strictness",
            format!(
                "worst log excess {:.3e} (at most 0), worst row sum error {:.1e}",
                certificate.worst_log_excess, certificate.worst_row_sum_error
            ),
        ),
    ]
}

/// The account without the matrix.
fn account(engine: Engine, problem: &Problem, solution: &Solution) -> serde_json::Value {
    let finite = |value: f64| value.clamp(f64::MIN, f64::MAX);
    json!({
        "status": solution.status.as_str(),
        "engine": engine.as_str(),
        "rows": problem.rows(),
        "columns_of_matrix": problem.columns(),
        "epsilon_spacing": eps_spacing(problem),
        "cost": solution.objective,
        "lower_bound": solution.lower_bound,
        "gap": finite(solution.gap),
        "iterations": solution.iterations,
        "columns": solution.columns,
        "elapsed_s": solution.seconds,
        "worst_log_excess": finite(solution.certificate.worst_log_excess),
        "worst_row_sum_error": solution.certificate.worst_row_sum_error,
        "trace": solution.trace.iter().map(|point| json!({
            "iteration": point.iteration,
            "upper_bound": finite(point.upper_bound),
            "lower_bound": point.lower_bound,
            "elapsed_s": point.seconds,
        })).collect::<Vec<_>>(),
    })
}

/// Epsilon times the typical distance of a row to its nearest neighbour: what sets the difficulty.
fn eps_spacing(problem: &Problem) -> Option<f64> {
    let mut nearest = vec![f64::INFINITY; problem.rows()];
    for arc in problem.arcs() {
        for row in [arc.i, arc.j] {
            nearest[row] = nearest[row].min(arc.d);
        }
    }
    nearest.retain(|d| d.is_finite());
    nearest.sort_by(f64::total_cmp);
    nearest.get(nearest.len() / 2).map(|d| problem.epsilon() * d)
}

/// Reads a file within the limits of the format.
pub fn read<T>(
    path: &Path,
    parse: impl Fn(&[u8], &Limits) -> Result<T, FormatError>,
) -> Result<T, Failure> {
    let limits = Limits::default();
    let failed = |error| Failure::Read { path: path.to_owned(), error };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > limits.bytes as u64 {
        let (found, limit) = (size as usize, limits.bytes);
        let error = Error::TooLarge { field: "file", found, limit }.into();
        return Err(Failure::Format { path: path.to_owned(), error });
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    parse(&bytes, &limits).map_err(|error| Failure::Format { path: path.to_owned(), error })
}

/// `60s`, `2m`, `1h`, `500ms`; a bare number has no unit and is refused, as with lengths and epsilons.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "" if digits.parse::<f64>().is_ok() => {
            return Err(format!("`{text}` has no unit; write it like 60s, 2m or 500ms"));
        }
        "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("must be a time like 60s, 2m or 500ms".into()),
    };
    let value: f64 = digits.parse().map_err(|_| "must be a time like 60s, 2m or 500ms")?;
    Duration::try_from_secs_f64(value * seconds).map_err(|error| error.to_string())
}

/// A flag that Ctrl-C raises; a second Ctrl-C ends the program.
pub fn cancelled_by_ctrl_c() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    // Without a handler Ctrl-C still ends the program, only without a matrix.
    let _ = ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    flag
}

/// A line on a terminal; elsewhere the optimiser's progress is part of the [`heartbeat`].
pub fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}  {msg}") {
        bar.set_style(style);
    }
    bar
}

pub fn show_progress(bar: ProgressBar) -> ProgressCallback {
    Arc::new(move |progress| {
        // What would be written now comes first; what the iterate promises is another number until a matrix keeps it.
        let promised = match progress.promised < 0.99 * progress.gap {
            true => format!(" ({:.1e} promised)", progress.promised),
            false => String::new(),
        };
        let line = format!(
            "iteration {}  cost {:.6}  bound {:.6}  gap {:.1e}{promised}  columns {}",
            progress.iteration,
            progress.upper_bound,
            progress.lower_bound,
            progress.gap,
            count(progress.columns as u64),
        );
        heartbeat::note(|| line.clone());
        bar.set_message(line);
        bar.tick();
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert!(duration("60").unwrap_err().contains("has no unit; write it like 60s"));
        assert!(duration("soon").is_err());
        assert!(duration("-1s").is_err());
    }
}
