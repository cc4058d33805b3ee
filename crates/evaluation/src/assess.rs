//! All metrics of one mechanism, and what must not be overlooked about them.

use std::fmt;
use std::time::Duration;

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::verify::Examined;
use lrgeo_mechanism::{City, MechanismError, Plan, Proof};
use lrgeo_optim::{Settings, Status};
use lrgeo_tiles::{Cover, Guarantee, Notion};

use crate::adversary::{Adversary, adversary, is_even};
use crate::bounds::{CostBounds, cost_bounds};
use crate::optimum::{Answers, Optimum, Question};
use crate::spending::{Spending, spending};
use crate::street::Street;
use crate::violations::{Violations, violations};

/// The relative gap to which optima and bounds are worked out.
const GAP: f64 = 1e-6;
/// The same where there are more rows than [`FEW_ROWS`]: what is asked is whether a mechanism costs less than anything private can, and
/// by what factor more, of which a thousandth decides nothing. On Reykjavik (897 places, 2/km) the last thousandth took half of the time.
const GAP_OF_MANY: f64 = 1e-3;
const FEW_ROWS: usize = 200;
/// What was proven until then is a bound, too. Without an end, one question took the ten minutes that making a mechanism may take.
const LONGEST_QUESTION: Duration = Duration::from_secs(60);
/// Rounding of an expected cost: a cost counts as lower only beyond this part of it.
const COST_ROUNDING: f64 = 1e-9;

/// What a mechanism is worth. Costs are per report, of the true losses and the rows in use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Assessment {
    /// What it promises.
    pub guarantee: Guarantee,
    /// What it costs, recomputed: a file may say anything.
    pub spending: Spending,
    /// What it costs people where they stand, between places; `None` for rounds, and where losses are not those of ways.
    pub street: Option<Street>,
    /// What the optimiser proved about its own programme.
    pub proof: Option<Proof>,
    /// The cheapest matrix that keeps the promise over the same rows, costs and pairs; an error
    /// says why that is not known.
    pub optimum: Result<Optimum, String>,
    /// Theorems 4.6 and 4.7, for mechanisms made per user.
    pub bounds: Option<CostBounds>,
    /// Where it breaks Geo-Ind, counted both ways.
    pub violations: Violations,
    /// What an attacker learns who knows the prior of the map.
    pub adversary: Adversary,
    /// What one learns who takes all places for equally likely.
    pub even_adversary: Adversary,
    /// Into how many parts the pairs of the notion join the places; there is no bound between two.
    pub parts: usize,
}

/// Takes every metric of a mechanism that was made by `plan`.
pub fn assess(
    built: &Examined,
    city: &City,
    plan: &Plan,
    answers: &mut Answers,
    progress: &dyn Progress,
) -> Result<Assessment, MechanismError> {
    let settings = Settings { gap: GAP, ..plan.solver.clone() };
    let question = Question::of(built);
    let optimum = answers.to(question.clone(), city, &worth(&question, &settings), progress);
    let parts = match built.guarantee.notion {
        Notion::Within { gamma_km } if gamma_km.is_finite() => {
            let part = city.neighbours(gamma_km).components();
            part.into_iter().max().map_or(0, |last| last as usize + 1)
        }
        _ => 1,
    };
    let knowing = adversary(built, &built.prior, progress);
    let even_adversary = match is_even(&built.prior) {
        true => knowing,
        false => adversary(built, &vec![1.0; built.prior.len()], progress),
    };
    let stands_anywhere = city.measures_ways() && built.guarantee.cover == Cover::WholeMap;
    let street = match stands_anywhere {
        true => Some(answers.people(city, progress)?.assess(built, progress)),
        false => None,
    };
    Ok(Assessment {
        street,
        guarantee: built.guarantee,
        spending: spending(city, &built.rows),
        proof: built.proof,
        optimum: optimum.map_err(|error| error.to_string()),
        bounds: cost_bounds(built, city, plan.division, &settings, progress)?,
        violations: violations(built),
        adversary: knowing,
        even_adversary,
        parts,
    })
}

/// How long and how closely a question about the optimum is looked into.
fn worth(question: &Question, settings: &Settings) -> Settings {
    let gap = if question.rows.len() > FEW_ROWS { GAP_OF_MANY } else { GAP };
    let longest = settings.time_limit.map_or(LONGEST_QUESTION, |limit| limit.min(LONGEST_QUESTION));
    Settings { gap, time_limit: Some(longest), ..settings.clone() }
}

impl Assessment {
    /// From below: Theorem 4.7 for mechanisms made per user, the optimum for the others.
    pub fn lower_bound(&self) -> Option<f64> {
        match (self.bounds, &self.optimum) {
            (Some(bounds), _) => Some(bounds.lower),
            (None, Ok(optimum)) => Some(optimum.lower_bound),
            (None, Err(_)) => None,
        }
    }

    /// The approximation ratio: for mechanisms made per user, of the two theorems' bounds.
    pub fn ratio(&self) -> Option<f64> {
        match self.bounds {
            Some(bounds) => Some(bounds.ratio()),
            None => self.lower_bound().map(|bound| self.spending.expected / bound),
        }
    }

    /// What must not be overlooked.
    pub fn flags(&self) -> Vec<Flag> {
        let mut flags = Vec::new();
        match &self.optimum {
            Ok(optimum) if self.spending.expected < optimum.lower_bound * (1.0 - COST_ROUNDING) => {
                let (cost, lower_bound) = (self.spending.expected, optimum.lower_bound);
                flags.push(Flag::BelowOptimum { cost, lower_bound });
            }
            Ok(_) => {}
            Err(reason) => flags.push(Flag::OptimumUnknown { reason: reason.clone() }),
        }
        let deployed = &self.violations.deployed;
        if !deployed.is_private() && deployed.pairs > 0 {
            flags.push(Flag::Violated {
                pairs: deployed.violated_pairs,
                of: deployed.pairs,
                worst_log_excess: deployed.worst_log_excess,
            });
        }
        if self.parts > 1 {
            flags.push(Flag::Parts { count: self.parts, notion: self.guarantee.notion });
        }
        if let Some(proof) = self.proof.filter(|proof| proof.status == Status::Limit) {
            flags.push(Flag::Stopped { gap: proof.gap });
        }
        flags
    }
}

/// Something that must not be overlooked, in words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Flag {
    /// It costs less than anything private can: proof that it is not.
    BelowOptimum {
        /// What it costs.
        cost: f64,
        /// What it would have to cost at least.
        lower_bound: f64,
    },
    /// Whether it costs less than anything private can is not known.
    OptimumUnknown {
        /// Why.
        reason: String,
    },
    /// Rows in use that break the promise between them.
    Violated {
        /// How many ordered pairs.
        pairs: u64,
        /// Of how many.
        of: u64,
        /// By how much the logarithm of a ratio exceeds what is allowed.
        worst_log_excess: f64,
    },
    /// Places without any bound between them.
    Parts {
        /// How many parts.
        count: usize,
        /// The notion that leaves them apart.
        notion: Notion,
    },
    /// The optimiser stopped before its gap.
    Stopped {
        /// The gap it had.
        gap: f64,
    },
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BelowOptimum { cost, lower_bound } => write!(
                f,
                "PRIVACY VIOLATED: it costs {cost:.4} per report, and no matrix that keeps its promise over the \
                 same rows, costs and pairs costs less than {lower_bound:.4}"
            ),
            Self::OptimumUnknown { reason } => {
                write!(f, "not checked against the optimum of its rows: {reason}")
            }
            Self::Violated { pairs, of, worst_log_excess } => write!(
                f,
                "privacy violated between {pairs} of {of} pairs of rows in use: a report is up to {} times as likely \
                 as promised",
                times(worst_log_excess.exp())
            ),
            Self::Parts { count, notion } => {
                write!(f, "no bound between {count} parts of the map: {notion} do not join them")
            }
            Self::Stopped { gap } => {
                write!(f, "stopped before the optimum, proven gap {:.2} %", 100.0 * gap)
            }
        }
    }
}

fn times(factor: f64) -> String {
    match factor {
        f if f < 1.005 => format!("1 + {:.0e}", f - 1.0),
        f if f < 1000.0 => format!("{f:.2}"),
        f if f.is_finite() => format!("{f:.0e}"),
        _ => "infinitely many".to_owned(),
    }
}
