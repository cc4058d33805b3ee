//! `lrgeo verify`: does a mechanism keep its promise?

use std::path::PathBuf;

use clap::Args;
use lrgeo_mechanism::Rows;
use lrgeo_mechanism::verify::{
    Method, Verdict, among_reported, as_the_paper_counts, verify, violation_bound,
};
use lrgeo_tiles::verify::Finding;
use serde_json::json;

use crate::failure::Failure;
use crate::json;
use crate::mechanism::open;
use crate::ui::{Ui, count, counted};

/// Check every inequality that a mechanism promises, without tolerance and without trusting it.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo verify city.lrmech
Exit code 4: the promise is broken. Of a round, what its users really use is checked too; the paper
promises nothing for entries that are not tied, so violations there are reported, not refused.")]
pub struct Verify {
    /// The mechanism.
    mechanism: PathBuf,
    /// Refuse the mechanism unless it was made for this map.
    #[arg(long)]
    map: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How the paper counts, beside how we do.
struct Counted {
    finding: Finding,
    among_reported: Finding,
    bound: f64,
}

impl Verify {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (built, fingerprint) = open(&self.mechanism, self.map.as_deref())?;
        let verdict = verify(&built, ui);
        let counted = match &built.rows {
            Rows::Users(round) => {
                let reach_km = built.guarantee.notion.reach_km();
                let epsilon = built.guarantee.epsilon;
                let finding = as_the_paper_counts(round, &built.coords, epsilon, reach_km);
                let ours = among_reported(round, &built.coords, epsilon, reach_km);
                Some(Counted {
                    finding,
                    among_reported: ours,
                    bound: violation_bound(round, &built.coords, reach_km),
                })
            }
            _ => None,
        };
        if self.json {
            ui.json(&json!({
                "mechanism": fingerprint,
                "map": built.map.to_string(),
                "promise": json::promise(&built.guarantee),
                "holds": verdict.holds(),
                "method": match verdict.method {
                    Method::EveryPair => "every-pair",
                    Method::Chained => "chained",
                    Method::ClosedForm => "closed-form",
                },
                "worst_row_sum_error": verdict.worst_row_sum_error,
                "guaranteed": json::finding(&verdict.guaranteed),
                "deployed": verdict.deployed.as_ref().map(json::finding),
                "as_the_paper_counts": counted.as_ref().map(|c| json::finding(&c.finding)),
                "among_reported": counted.as_ref().map(|c| json::finding(&c.among_reported)),
                "violation_bound": counted.as_ref().map(|c| c.bound),
            }));
        } else {
            print!("{}", text(&built.guarantee.to_string(), &verdict, counted.as_ref()));
        }
        if verdict.holds() { Ok(()) } else { Err(Failure::CheckFailed { failed: 1 }) }
    }
}

fn text(promise: &str, verdict: &Verdict, counted: Option<&Counted>) -> String {
    let mut lines = vec![
        ("promise", promise.to_owned()),
        ("verdict", if verdict.holds() { "holds" } else { "BROKEN" }.to_owned()),
        ("checked", checked(verdict)),
        ("found", finding(&verdict.guaranteed)),
        ("row sums", format!("off by {:.1e} at most", verdict.worst_row_sum_error)),
    ];
    if let Some(deployed) = &verdict.deployed {
        lines.push((
            "deployed",
            format!("between the rows that users really use: {}", finding(deployed)),
        ));
    }
    if let Some(Counted { finding, among_reported, bound }) = counted {
        lines.push((
            "the paper's",
            format!(
                "count, over all relevant rows and all places: {:.4} % of inequalities violated (Proposition 4.5: at most \
                 {:.4} %); {:.4} % over the places that somebody may report",
                100.0 * finding.violation_ratio(),
                100.0 * bound,
                100.0 * among_reported.violation_ratio()
            ),
        ));
    }
    crate::ui::aligned(&lines)
}

fn checked(verdict: &Verdict) -> String {
    let method = match verdict.method {
        Method::EveryPair => "directly",
        Method::Chained => "chained along the pairs of a witness",
        Method::ClosedForm => {
            return format!(
                "{}, each between every two coordinates of the area, in closed form",
                counted(verdict.guaranteed.checked, "report")
            );
        }
    };
    format!(
        "{} inequalities of {} ordered pairs of rows, {method}",
        count(verdict.guaranteed.checked),
        count(verdict.guaranteed.pairs)
    )
}

fn finding(found: &Finding) -> String {
    if found.pairs == 0 {
        return "no pair is close enough to compare".into();
    }
    let mut text = format!(
        "{} violated, in {}; worst log-excess {:.3e} (private: at most 0), effective epsilon {:.6}/km",
        count(found.violations),
        counted(found.violated_pairs, "pair"),
        found.worst_log_excess,
        found.effective_epsilon
    );
    if found.violations > 0 {
        text += &format!(
            "; up to {:.2e} of a row's probability, {:.2e} in one entry",
            found.violating_mass, found.largest_error
        );
    }
    text
}
