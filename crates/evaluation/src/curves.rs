//! Mechanisms against each other over epsilon: what they cost, what they break, what is guessed.
//!
//! The picture of pictures is the privacy-utility curve: cost to the right, the adversary's error
//! upwards, one curve per mechanism. Whoever is above and to the left of the others is better.

use crate::adversary::Adversary;
use crate::assess::Assessment;
use crate::report::{Axis, Figure, Point, Series, Shown};

/// One mechanism at one epsilon.
pub struct Subject {
    /// What to call it.
    pub name: String,
    /// Per kilometre, as asked for.
    pub epsilon: f64,
    /// What was found out, or why nothing was.
    pub outcome: Result<Assessment, String>,
}

/// What attackers believe, after a noun.
const KNOWS_PRIOR: &str = "knowing the prior of the map";
const TAKES_EVEN: &str = "taking all places for equally likely";

/// What can be guessed without any report, by who knows the prior and by who does not.
#[derive(Clone, Copy)]
pub struct Blind {
    /// With the prior of the map.
    pub knowing: Adversary,
    /// With all places equally likely.
    pub even: Adversary,
}

/// The metrics whose figures differ only in what is read from an assessment.
struct Metric {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    label: String,
    log: bool,
    shown: Shown,
    value: fn(&Assessment) -> Option<f64>,
}

/// All figures: the curve, then every metric against epsilon. `unit` is that of costs.
pub fn figures(subjects: &[Subject], blind: Blind, unit: &str) -> Vec<Figure> {
    let mut figures = vec![Figure {
        flags: flags(subjects),
        ..curve(subjects, unit, "privacy-utility", KNOWS_PRIOR, |a| a.adversary)
    }];
    let same = blind.knowing == blind.even;
    if !same {
        let id = "privacy-utility-even";
        figures.push(curve(subjects, unit, id, TAKES_EVEN, |a| a.even_adversary));
    }
    figures.extend(costs_and_violations(unit).into_iter().map(|metric| against(subjects, &metric)));
    figures.extend(guesses(subjects, "knowing", KNOWS_PRIOR, blind.knowing, |a| a.adversary));
    if !same {
        figures.extend(guesses(subjects, "even", TAKES_EVEN, blind.even, |a| a.even_adversary));
    }
    figures
}

/// Every flag of every mechanism, and why some were not made.
fn flags(subjects: &[Subject]) -> Vec<String> {
    let said = |subject: &Subject| -> Vec<String> {
        let at = format!("{}, epsilon {}/km", subject.name, subject.epsilon);
        match &subject.outcome {
            Ok(found) => found.flags().iter().map(|flag| format!("{at}: {flag}")).collect(),
            Err(reason) => vec![format!("{at}: {reason}")],
        }
    };
    subjects.iter().flat_map(said).collect()
}

fn curve(
    subjects: &[Subject],
    unit: &str,
    id: &str,
    believes: &str,
    of: fn(&Assessment) -> Adversary,
) -> Figure {
    let series = series(subjects, |subject, found| Point {
        x: found.spending.expected,
        values: vec![of(found).inference_error_km],
        paper: None,
        note: Some(format!("epsilon {}/km", subject.epsilon)),
    });
    Figure {
        id: id.into(),
        title: format!("Privacy against cost, an attacker {believes}"),
        about: "Cost to the right, error of the attacker upwards: of two mechanisms at the same cost the \
                upper one is more private. Each point is one epsilon. Mechanisms for all pairs of places \
                promise more than those within gamma."
            .into(),
        x: Axis::new(format!("expected cost, {unit} per report"), true),
        y: Axis::new("error of the best guess, km", true),
        series,
        shown: Shown::Plot,
        flags: Vec::new(),
    }
}

fn costs_and_violations(unit: &str) -> Vec<Metric> {
    let cost = |what: &str| format!("{what}, {unit} per report");
    vec![
        Metric {
            id: "expected-cost",
            title: "Expected cost between places",
            about: "Over places by the prior, and reports (Eq. 6).",
            label: cost("expected cost between places"),
            log: true,
            shown: Shown::Plot,
            value: |a| Some(a.spending.expected),
        },
        Metric {
            id: "street-cost",
            title: "Expected cost on the street",
            about: "The same for people where they stand: anywhere on the streets around their places.",
            label: cost("expected cost on the street"),
            log: true,
            shown: Shown::Plot,
            value: |a| a.street.map(|street| street.cost),
        },
        Metric {
            id: "street-guess",
            title: "Error of the best guess of a coordinate",
            about: "By who knows mechanism and prior; people stand anywhere on the streets around their places.",
            label: "error of the best guess, km".into(),
            log: true,
            shown: Shown::Plot,
            value: |a| a.street.map(|street| street.guess_error_km),
        },
        Metric {
            id: "worst-place-cost",
            title: "Cost at the worst place",
            about: "The mean over the reports of the place where it is largest.",
            label: cost("cost at the worst place"),
            log: true,
            shown: Shown::Plot,
            value: |a| Some(a.spending.worst_place),
        },
        Metric {
            id: "cost-95",
            title: "Cost that nineteen reports of twenty do not exceed",
            about: "The 95 % quantile over places and reports; zero where that many reports cost nothing.",
            label: cost("95 % of reports cost at most"),
            log: true,
            shown: Shown::Plot,
            value: |a| Some(a.spending.at_95_percent),
        },
        Metric {
            id: "violated-inequalities",
            title: "Inequalities violated, as the paper counts",
            about: "Over all rows of all matrices and all places (Eq. 32), used or not.",
            label: "share of inequalities".into(),
            log: false,
            shown: Shown::Table,
            value: |a| Some(a.violations.as_the_paper_counts.violation_ratio()),
        },
        Metric {
            id: "violated-pairs",
            title: "Pairs of rows in use that violate Geo-Ind",
            about: "Between the rows that are really reported from; a dash where no two of them are bound.",
            label: "share of pairs".into(),
            log: false,
            shown: Shown::Table,
            value: |a| {
                let found = &a.violations.deployed;
                (found.pairs > 0).then(|| found.violated_pairs as f64 / found.pairs as f64)
            },
        },
        Metric {
            id: "worst-excess",
            title: "Worst log-excess of rows in use",
            about: "ln(z_ik / z_jk) - epsilon d_ij: at most zero is private.",
            label: "worst log-excess".into(),
            log: false,
            shown: Shown::Table,
            value: |a| Some(a.violations.deployed.worst_log_excess),
        },
        Metric {
            id: "effective-epsilon",
            title: "Effective epsilon of rows in use",
            about: "The epsilon that they really keep.",
            label: "effective epsilon, per km".into(),
            log: false,
            shown: Shown::Table,
            value: |a| {
                let found = &a.violations.deployed;
                (found.pairs > 0).then_some(found.effective_epsilon)
            },
        },
        Metric {
            id: "violating-mass",
            title: "Probability of reports beyond what is allowed",
            about: "The probability mass that violating entries hold, rows in use.",
            label: "probability".into(),
            log: false,
            shown: Shown::Table,
            value: |a| Some(a.violations.deployed.violating_mass),
        },
    ]
}

fn against(subjects: &[Subject], metric: &Metric) -> Figure {
    let series = series(subjects, |subject, found| Point {
        x: subject.epsilon,
        values: (metric.value)(found).into_iter().collect(),
        paper: None,
        note: None,
    });
    Figure {
        id: metric.id.into(),
        title: metric.title.into(),
        about: metric.about.into(),
        x: Axis::new("epsilon, per km", true),
        y: Axis::new(metric.label.clone(), metric.log),
        series,
        shown: metric.shown,
        flags: Vec::new(),
    }
}

/// What an attacker with a prior guesses, with the guess without a report beside it.
fn guesses(
    subjects: &[Subject],
    id: &str,
    believes: &str,
    blind: Adversary,
    of: fn(&Assessment) -> Adversary,
) -> Vec<Figure> {
    let mut epsilons: Vec<f64> = subjects.iter().map(|subject| subject.epsilon).collect();
    epsilons.sort_by(f64::total_cmp);
    epsilons.dedup();
    type Value = fn(&Adversary) -> f64;
    let metrics: [(&str, &str, &str, Shown, Value); 5] = [
        ("error", "Error of the best guess", "km", Shown::Plot, |a| a.inference_error_km),
        ("hits", "How often the best guess is right", "share", Shown::Plot, |a| a.hit_rate),
        (
            "decile-error",
            "Error at the tenth of the places where it is smallest",
            "km",
            Shown::Table,
            |a| a.worst_decile_error_km,
        ),
        (
            "decile-hits",
            "Right guesses at the tenth of the places where they are most frequent",
            "share",
            Shown::Table,
            |a| a.worst_decile_hit_rate,
        ),
        (
            "entropy",
            "What a report leaves unknown (entropy of the posterior)",
            "bits",
            Shown::Table,
            |a| a.entropy_bits,
        ),
    ];
    let figure = |(metric, title, unit, shown, value): (&str, &str, &str, Shown, Value)| {
        let point = |x: f64, value: f64| Point { x, values: vec![value], paper: None, note: None };
        let mut series =
            series(subjects, |subject, found| point(subject.epsilon, value(&of(found))));
        series.push(Series {
            name: "without a report".into(),
            points: epsilons.iter().map(|&x| point(x, value(&blind))).collect(),
        });
        Figure {
            id: format!("{id}-{metric}"),
            title: format!("{title}, {believes}"),
            about: format!("By who knows the mechanism, {believes}."),
            x: Axis::new("epsilon, per km", true),
            y: Axis::new(unit, false),
            series,
            shown,
            flags: Vec::new(),
        }
    };
    metrics.into_iter().map(figure).collect()
}

/// One series per name, in the order in which names come up, points by ascending x.
fn series(subjects: &[Subject], point: impl Fn(&Subject, &Assessment) -> Point) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for subject in subjects {
        let Ok(found) = &subject.outcome else { continue };
        let at = all.iter().position(|series| series.name == subject.name).unwrap_or_else(|| {
            all.push(Series { name: subject.name.clone(), points: Vec::new() });
            all.len() - 1
        });
        all[at].points.push(point(subject, found));
    }
    all.iter_mut().for_each(|series| series.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    all
}
