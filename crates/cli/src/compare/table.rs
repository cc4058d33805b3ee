//! The comparison for people: one table per settings, remarks in words, short footnotes.

use std::fmt::Write;

use lrgeo_mechanism::meaning::Meaning;
use lrgeo_tiles::Notion;
use lrgeo_tiles::verify::Finding;

use super::{Comparison, Line, Sheet};
use crate::assessor::Found;
use crate::ui::{columns, count, counted};

/// What fits a terminal.
const WIDTH: usize = 118;

const HEAD: [[&str; 13]; 2] = [
    [
        "", "", "time", "cost", "on the", "lower", "", "violated", "in use", "worst", "real",
        "guess", "guess",
    ],
    [
        "mechanism",
        "pairs",
        "s",
        "places",
        "street",
        "bound",
        "ratio",
        "%",
        "violated",
        "excess",
        "epsilon",
        "off km",
        "right %",
    ],
];

const NOTES: &str = "\
pairs      which pairs of places are protected; costs compare only between rows with the same pairs
time       to make and verify, by the clock; the cost reference table is made before
cost       in km, the expected error of travel distance per report: places, with everybody at one, over the rows in use;
           on the street, with people where they stand, anywhere on the streets around their places
bound      no private matrix of the same rows, costs and pairs costs less between places; ratio: cost there / bound
violated % of all inequalities, as the paper counts (all rows of all users); in use: pairs of rows really reported from
excess     worst ln(z_ik / z_jk) - epsilon d_ij in use: at most 0 is private; real epsilon: what is really kept
guess      by who knows mechanism and prior, best for being near (off km) and for being right (right %)
";

const NOTES_USERS: &str = "\
(u)        made per user: bound and ratio are Theorems 4.7 and 4.6 over all relevant rows, not those in use;
           guesses are made over the relevant rows of each user and averaged over users
";

/// The whole page.
pub(super) fn of(comparison: &Comparison) -> String {
    let city = &comparison.city;
    let mut page = format!(
        "{}: {} places, {:.3} km apart, {}; {} (seed {})\n\
         without a report the best guess is {:.2} km off and right {:.1} % of the time\n",
        city.map().source,
        count(city.places()),
        city.spacing_km(),
        counted(city.map().targets.len(), "target"),
        counted(comparison.users, "user"),
        comparison.seed,
        comparison.blind.inference_error_km,
        100.0 * comparison.blind.hit_rate,
    );
    for sheet in &comparison.sheets {
        let _ = write!(page, "\n{}\n{}", heading(sheet, city.spacing_km()), body(sheet));
    }
    page.push('\n');
    page.push_str(NOTES);
    if comparison.sheets.iter().flat_map(|sheet| &sheet.lines).any(|line| line.per_user) {
        page.push_str(NOTES_USERS);
    }
    page
}

fn heading(sheet: &Sheet, spacing_km: f64) -> String {
    let (plan, radii) = (&sheet.plan, sheet.plan.radii);
    let which = if plan.sampled.is_some() { "sampled" } else { "nearest" };
    let most = radii.relevant_max.map_or(String::new(), |n| format!(" ({n} {which})"));
    let mut text = format!(
        "{} settings: epsilon {}, epsilon x spacing {:.2}, {}\n\
         per user: Gamma {} km{most}, r_exp {} km, r_obf {} km\n",
        sheet.name,
        plan.epsilon,
        plan.epsilon.value() * spacing_km,
        plan.notion,
        radii.relevant,
        radii.exponential,
        radii.obfuscation,
    );
    if let Ok(meaning) = Meaning::new(plan.epsilon, spacing_km) {
        for warning in meaning.warnings() {
            text.push_str(&wrapped(&format!("! {warning}")));
        }
    }
    text
}

fn body(sheet: &Sheet) -> String {
    let mut rows: Vec<Vec<String>> =
        HEAD.iter().map(|head| head.iter().map(|&word| word.to_owned()).collect()).collect();
    rows.extend(sheet.lines.iter().map(cells));
    let mut text = String::new();
    for (at, cells) in columns(&rows, 2).into_iter().enumerate() {
        let line = at.checked_sub(HEAD.len()).map(|at| &sheet.lines[at]);
        let before = at.checked_sub(HEAD.len() + 1).map(|at| &sheet.lines[at]);
        if before.zip(line).is_some_and(|(before, line)| before.notion != line.notion) {
            text.push('\n');
        }
        let _ = writeln!(text, "{cells}");
    }
    for line in &sheet.lines {
        let remarks = line.outcome.as_ref().map_or(Vec::new(), Found::remarks);
        for remark in remarks {
            text.push_str(&wrapped(&format!("! {}: {remark}", line.name)));
        }
    }
    text
}

fn cells(line: &Line) -> Vec<String> {
    let per_user = if line.per_user { " (u)" } else { "" };
    let flagged = line.outcome.as_ref().is_ok_and(|found| !found.remarks().is_empty());
    let mark = if flagged { " !" } else { "" };
    // Indented: the same mechanism as above.
    let name = match line.remapped {
        true => format!("  remapped{mark}"),
        false => format!("{}{per_user}{mark}", line.name),
    };
    let mut cells = vec![name, pairs(line.notion)];
    let found = match &line.outcome {
        Err(reason) => {
            cells.push(reason.clone());
            return cells;
        }
        Ok(found) => found,
    };
    let a = &found.assessment;
    let deployed = &a.violations.deployed;
    cells.extend([
        seconds(found.seconds),
        format!("{:.4}", a.spending.expected),
        a.street.map_or("-".into(), |street| format!("{:.4}", street.cost)),
        a.lower_bound().map_or("?".into(), |bound| format!("{bound:.4}")),
        a.ratio().map_or("?".into(), ratio),
        share(a.violations.as_the_paper_counts.violation_ratio()),
        violated(deployed),
        excess(deployed),
        match deployed.pairs {
            0 => "-".into(),
            _ => plain(deployed.effective_epsilon),
        },
        format!("{:.3}", a.adversary.inference_error_km),
        format!("{:.1}", 100.0 * a.adversary.hit_rate),
    ]);
    cells
}

/// Words in lines of at most [`WIDTH`] characters, those after the first indented.
pub fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last + 1 + word.chars().count() > WIDTH {
            lines.push(" ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

pub fn pairs(notion: Notion) -> String {
    match notion {
        Notion::Within { gamma_km } => format!("<= {} km", (1000.0 * gamma_km).round() / 1000.0),
        Notion::AllPairs => "all".into(),
        Notion::Coordinates => "people".into(),
    }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.3}"),
        s => format!("{s:.1}"),
    }
}

fn ratio(ratio: f64) -> String {
    match ratio {
        r if r < 1000.0 => format!("{r:.3}"),
        _ => "-".into(),
    }
}

pub fn share(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0".into(),
        percent if percent < 0.001 => format!("{percent:.0e}"),
        percent => format!("{percent:.3}"),
    }
}

pub fn violated(finding: &Finding) -> String {
    match finding.pairs {
        0 => "no pair".into(),
        pairs => format!("{} of {}", count(finding.violated_pairs), count(pairs)),
    }
}

pub fn excess(finding: &Finding) -> String {
    match finding.worst_log_excess {
        x if x == f64::NEG_INFINITY => "-".into(),
        0.0 => "0".into(),
        x if x <= 0.0 => format!("{x:.0e}"),
        x => plain(x),
    }
}

pub fn plain(value: f64) -> String {
    match value.is_finite() {
        true => format!("{value:.3}"),
        false => "infinite".into(),
    }
}
