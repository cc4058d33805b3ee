//! The paper's claims, held against the figures of a run: what holds, what does not, with the numbers.

use crate::report::{Figure, Series, number};

/// What a claim says of a figure.
enum Says {
    /// One series lies below another at every setting that both have.
    Less(&'static str, &'static str),
    /// A series is nowhere above a number.
    AtMost(&'static str, f64),
    /// The last point of a series is above its first.
    Grows(&'static str),
    /// From one setting to another a series falls by at least this share.
    Falls(&'static str, f64, f64, f64),
}

/// A claim of the paper, and the figure that decides it; `*` stands for the name of the settings.
struct Claim {
    paper: &'static str,
    figure: &'static str,
    says: Says,
}

const CLAIMS: &[Claim] = &[
    claim("LR-Geo is faster than LP (Table 1)", "table-1-*", Says::Less("LR-Geo", "LP")),
    claim(
        "LR-Geo is faster than ConstOPT (Table 1)",
        "table-1-*",
        Says::Less("LR-Geo", "ConstOPT"),
    ),
    claim(
        "LR-Geo is faster than LR-Geo-F (Table 1)",
        "table-1-*",
        Says::Less("LR-Geo", "LR-Geo-F"),
    ),
    claim("LR-Geo costs less than Laplace (Table 2)", "table-2-*", Says::Less("LR-Geo", "Laplace")),
    claim(
        "LR-Geo costs less than ExpMech (Table 2)",
        "table-2-*",
        Says::Less("LR-Geo", "ExpMech as printed"),
    ),
    claim("LP costs less than LR-Geo (Table 2)", "table-2-*", Says::Less("LP", "LR-Geo")),
    claim(
        "LR-Geo costs less than LR-Geo-F (Table 2)",
        "table-2-*",
        Says::Less("LR-Geo", "LR-Geo-F"),
    ),
    claim(
        "LR-Geo is within a factor of 1.24 of its lower bound (Table 2)",
        "table-2-bounds-*",
        Says::AtMost("ratio", 1.24),
    ),
    claim(
        "a round takes at most 1.8 s, by column generation (figure \"Scalability\")",
        "scalability-places",
        Says::AtMost("column generation", 1.8),
    ),
    claim(
        "the ratio of bounds falls by a third from Gamma 10 to 20 km",
        "geography-ratio",
        Says::Falls("ratio", 10.0, 20.0, 0.33),
    ),
    claim(
        "the ratio of bounds grows with the cells of the cost table",
        "ratio-cells",
        Says::Grows("ratio"),
    ),
    claim(
        "at most 0.13 % of the inequalities are violated",
        "gv-ratio-*",
        Says::AtMost("entries, as the paper counts", 0.0013),
    ),
    claim("more users, more violations", "gv-ratio-*", Says::Grows("entries, as the paper counts")),
    claim("violations are at most 0.021 (GVE)", "gve-*", Says::AtMost("largest", 0.021)),
    claim("larger cells match more coefficients", "matched", Says::Grows("entries")),
];

const fn claim(paper: &'static str, figure: &'static str, says: Says) -> Claim {
    Claim { paper, figure, says }
}

/// One sentence for every claim that the figures decide.
pub fn verdict(figures: &[Figure]) -> Vec<String> {
    let mut sentences = Vec::new();
    for claim in CLAIMS {
        for settings in ["paper", "practical"] {
            let id = claim.figure.replace('*', settings);
            let Some(figure) = figures.iter().find(|figure| figure.id == id) else { continue };
            let Some((holds, why)) = decide(&claim.says, figure) else { continue };
            let here = match claim.figure.ends_with('*') {
                true => format!(", {settings} settings"),
                false => String::new(),
            };
            sentences.push(format!("{holds}: {}{here}. {why}", claim.paper));
            if !claim.figure.ends_with('*') {
                break;
            }
        }
    }
    sentences
}

/// Whether it holds, and the numbers that say so; `None` where the figure has none.
fn decide(says: &Says, figure: &Figure) -> Option<(&'static str, String)> {
    let found = |name: &str| figure.series.iter().find(|series| series.name == name);
    let means = |series: &Series| -> Vec<(f64, f64)> {
        series.points.iter().filter_map(|point| Some((point.x, point.mean()?))).collect()
    };
    let show = number::rounded;
    match says {
        Says::Less(low, high) => {
            let (low_means, high_means) = (means(found(low)?), means(found(high)?));
            let both: Vec<(f64, f64, f64)> = low_means
                .iter()
                .filter_map(|(x, a)| high_means.iter().find(|h| h.0 == *x).map(|h| (*x, *a, h.1)))
                .collect();
            let (x, a, b) = *both.last()?;
            let held = both.iter().filter(|(_, a, b)| a < b).count();
            let holds = match held {
                0 => "Does not hold",
                n if n == both.len() => "Holds",
                _ => "Holds in part",
            };
            let why = format!(
                "{low} {} against {high} {} at {} {}; so at {held} of {} sizes.",
                show(a),
                show(b),
                figure.x.label,
                number::short(x),
                both.len()
            );
            Some((holds, why))
        }
        Says::AtMost(name, limit) => {
            let means = means(found(name)?);
            // A ratio to a lower bound of zero is infinite: it decides the claim, and says nothing as a number.
            let (finite, infinite): (Vec<_>, Vec<_>) =
                means.into_iter().partition(|(_, mean)| mean.is_finite());
            let holds = infinite.is_empty() && finite.iter().all(|(_, mean)| mean <= limit);
            let mut why = Vec::new();
            if let Some(largest) = finite.iter().map(|(_, mean)| *mean).reduce(f64::max) {
                why.push(format!("Here up to {} at {}", show(largest), settings(figure, &finite)));
            }
            if !infinite.is_empty() {
                why.push(format!("without a limit at {}", settings(figure, &infinite)));
            }
            if why.is_empty() {
                return None;
            }
            let why = format!("{}; the paper {}.", why.join(", "), number::short(*limit));
            Some((if holds { "Holds" } else { "Does not hold" }, why))
        }
        Says::Grows(name) => {
            let means = means(found(name)?);
            let ((from, first), (to, last)) = (*means.first()?, *means.last()?);
            let holds = if last > first { "Holds" } else { "Does not hold" };
            let (from, to) = (number::short(from), number::short(to));
            Some((holds, format!("From {} at {from} to {} at {to}.", show(first), show(last))))
        }
        Says::Falls(name, from, to, share) => {
            let means = means(found(name)?);
            let at = |x: f64| means.iter().find(|(at, _)| *at == x).map(|(_, mean)| *mean);
            let (first, last) = (at(*from)?, at(*to)?);
            let holds = if last <= (1.0 - share) * first { "Holds" } else { "Does not hold" };
            Some((holds, format!("From {} to {}.", show(first), show(last))))
        }
    }
}

/// The settings of a figure that were measured: `places K 100, 200, 400`.
fn settings(figure: &Figure, points: &[(f64, f64)]) -> String {
    let values: Vec<String> = points.iter().map(|(x, _)| number::short(*x)).collect();
    format!("{} {}", figure.x.label, values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Axis, Point, Shown};

    fn ratios(values: &[(f64, f64)]) -> Figure {
        let point = |&(x, value)| Point { x, values: vec![value], paper: None, note: None };
        Figure {
            id: "table-2-bounds-paper".into(),
            title: String::new(),
            about: String::new(),
            x: Axis::new("K", false),
            y: Axis::new("ratio", false),
            series: vec![Series {
                name: "ratio".into(),
                points: values.iter().map(point).collect(),
            }],
            shown: Shown::Table,
            flags: Vec::new(),
        }
    }

    #[test]
    fn a_limit_names_the_sizes_that_were_measured_and_no_infinite_number() {
        let said = verdict(&[ratios(&[(100.0, 1.1), (200.0, 1.2)])]);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("Holds:"), "{said:?}");
        assert!(said[0].ends_with("Here up to 1.2 at K 100, 200; the paper 1.24."), "{said:?}");

        let said = verdict(&[ratios(&[(100.0, 1.1), (200.0, f64::INFINITY)])]);
        assert!(said[0].starts_with("Does not hold:"), "{said:?}");
        assert!(
            said[0].ends_with("Here up to 1.1 at K 100, without a limit at K 200; the paper 1.24."),
            "{said:?}"
        );
    }
}
