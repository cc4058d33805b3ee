//! Random problems with numbers at the ends of what `f64` holds, from fixed seeds: costs, distances, factors, bounds and
//! epsilons from the subnormal numbers to 1e308, many of them in one problem.

use super::Random;
use lrgeo_optim::{Arc, DenseCost, EntryBound, ProblemParts, Ties};

/// A problem before validation, and whether it is known to have a solution.
#[derive(Debug)]
pub struct Extreme {
    pub seed: u64,
    pub parts: ProblemParts,
    /// Reporting every column equally often satisfies it, as far as is known in advance.
    pub is_feasible: bool,
}

/// How the numbers of one field are drawn; one style for most of a problem, so that there are problems in which one
/// field alone is out of the ordinary.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Style {
    Ordinary,
    /// All of them by the same huge or tiny factor.
    Scaled(f64),
    /// Each with an exponent of its own.
    AnyExponent,
    /// From the numbers that have lost digits already.
    Subnormal,
    Zero,
    /// Ordinary with one in six out of the ordinary.
    Sprinkled,
}

/// Numbers at which something changes: the ends of the range, of the normal numbers, of what a cost may be, of what 1 can
/// be told from, and of what exp makes finite.
const EDGES: [f64; 16] = [
    5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    1e-300,
    1e-154,
    1e-30,
    1e-17,
    f64::EPSILON,
    1.0,
    36.8,
    709.78,
    745.2,
    1e16,
    1e100,
    1e300,
    f64::MAX,
];

impl Style {
    /// `largest` is the exponent (of ten) beyond which the field has no numbers.
    fn pick(random: &mut Random, largest: f64) -> Self {
        match random.between(0, 9) {
            0..=2 => Self::Ordinary,
            3 => Self::Scaled(exponent(random, largest)),
            4 | 5 => Self::AnyExponent,
            6 => Self::Subnormal,
            7 if random.chance(0.3) => Self::Zero,
            _ => Self::Sprinkled,
        }
    }

    fn number(self, random: &mut Random, largest: f64) -> f64 {
        match self {
            Self::Ordinary => random.unit(),
            Self::Scaled(exponent) => power(exponent) * random.unit(),
            Self::AnyExponent => power(exponent(random, largest)),
            Self::Subnormal => f64::from_bits(random.bits() >> random.between(12, 63)),
            Self::Zero => 0.0,
            Self::Sprinkled => match random.between(0, 11) {
                0 => power(exponent(random, largest)),
                1 => random.pick(&EDGES).min(power(largest)),
                2 => 0.0,
                _ => random.unit(),
            },
        }
    }
}

fn exponent(random: &mut Random, largest: f64) -> f64 {
    -324.0 + (324.0 + largest) * random.unit()
}

fn power(exponent: f64) -> f64 {
    10_f64.powf(exponent)
}

/// The problem of a seed.
pub fn extreme(seed: u64) -> Extreme {
    let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5eed);
    let random = &mut random;
    let most = if random.chance(0.01) { 24 } else { 8 };
    let rows = random.between(1, most);
    // The engine for large maps wants as many columns as rows.
    let columns = if random.chance(0.5) { rows } else { random.between(1, most) };
    let epsilon = epsilon(random);
    let groups = groups(random, rows);
    let arcs = arcs(random, epsilon, &groups);
    let cost = DenseCost::new(rows, columns, costs(random, rows, columns)).unwrap();
    let mut is_feasible = true;
    let ties = random.chance(0.35).then(|| {
        is_feasible = false;
        ties(random, rows, columns, epsilon)
    });
    let fixed_y = (ties.is_some() && random.chance(0.25)).then(|| {
        let style = Style::pick(random, 308.0);
        let share = 0.5 / columns as f64;
        match random.chance(0.5) {
            true => vec![share; columns],
            false => (0..columns).map(|_| share * style.number(random, 308.0)).collect(),
        }
    });
    let mut bounds = Vec::new();
    if random.chance(0.3) {
        let (around_even, share) = (random.chance(0.6), 1.0 / columns as f64);
        is_feasible &= around_even;
        let style = Style::pick(random, 308.0);
        for at in 0..rows * columns {
            let (row, column) = (at / columns, at % columns);
            if random.chance(0.6)
                || ties.as_ref().is_some_and(|ties| ties.at(row, column).is_some())
            {
                continue;
            }
            let (a, b) = (style.number(random, 308.0), style.number(random, 308.0));
            let (low, high) = match around_even {
                true => (share * a.min(1.0), (share * (1.0 + b)).max(share)),
                false => (a.min(b), a.max(b)),
            };
            bounds.push(EntryBound { row, column, low, high: high.min(f64::MAX) });
        }
    }
    let parts = ProblemParts { epsilon, groups, cost: Box::new(cost), arcs, ties, bounds, fixed_y };
    Extreme { seed, parts, is_feasible }
}

fn epsilon(random: &mut Random) -> f64 {
    let epsilon = match random.between(0, 4) {
        0 | 1 => 0.01 + 4.0 * random.unit(),
        2 => power(6.0 * random.unit() - 3.0),
        3 => random.pick(&EDGES),
        _ => power(exponent(random, 308.0)),
    };
    epsilon.clamp(5e-324, f64::MAX)
}

fn groups(random: &mut Random, rows: usize) -> Vec<usize> {
    match random.between(0, 3) {
        0 => (0..rows).map(|row| row % 3).collect(),
        1 => (0..rows).map(|_| random.between(0, 1)).collect(),
        _ => vec![0; rows],
    }
}

/// Distances by themselves, or so that epsilon times them is what the style says: ordinary, or at the edges of what exp
/// resolves.
fn arcs(random: &mut Random, epsilon: f64, groups: &[usize]) -> Vec<Arc> {
    let rows = groups.len();
    let (style, by_product) = (Style::pick(random, 308.0), random.chance(0.6));
    let density = random.pick(&[0.2, 0.5, 1.0]);
    let mut arcs = Vec::new();
    for i in 0..rows {
        for j in i + 1..rows {
            if groups[i] != groups[j] || !(j == i + 1 || random.chance(density)) {
                continue;
            }
            let number = style.number(random, 308.0);
            let number = match random.between(0, 19) {
                0 => 0.0,
                1 => random.pick(&EDGES),
                2 => 650.0 + 150.0 * random.unit(),
                3 => power(6.0 * random.unit() - 18.0),
                _ if style == Style::Ordinary => 5.0 * number,
                _ => number,
            };
            let d = if by_product { number / epsilon } else { number };
            arcs.push(Arc { i, j, d: d.min(f64::MAX) });
        }
    }
    arcs
}

fn costs(random: &mut Random, rows: usize, columns: usize) -> Vec<f64> {
    // Beyond 1e100 costs are refused: that has to be seen too, but not often.
    let largest = if random.chance(0.02) { 308.0 } else { 100.0 };
    let style = Style::pick(random, largest);
    let by_row = random.chance(0.2);
    let mut values = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        let own = if by_row { Style::pick(random, largest) } else { style };
        if row > 0 && random.chance(0.1) {
            values.extend_from_within((row - 1) * columns..row * columns);
            continue;
        }
        values.extend((0..columns).map(|_| own.number(random, largest)));
    }
    if rows == columns && random.chance(0.4) {
        (0..rows).for_each(|row| values[row * columns + row] = 0.0);
    }
    values
}

/// Factors per column alike in all rows, falling with the distance of row and column as in a round, or anything.
fn ties(random: &mut Random, rows: usize, columns: usize, epsilon: f64) -> Ties {
    let (kind, tied) = (random.between(0, 2), random.pick(&[0.2, 0.5, 0.9]));
    let style = Style::pick(random, 0.0);
    let of_column: Vec<f64> = (0..columns).map(|_| style.number(random, 0.0)).collect();
    let step = style.number(random, 0.0);
    let entries: Vec<Option<f64>> = (0..rows * columns)
        .map(|at| {
            let (row, column) = (at / columns, at % columns);
            let factor = match kind {
                0 => of_column[column],
                1 => (-epsilon.min(1e300) * step * row.abs_diff(column) as f64).exp(),
                _ => style.number(random, 0.0),
            };
            random.chance(tied).then_some(factor).filter(|factor| *factor > 0.0 && *factor <= 1.0)
        })
        .collect();
    Ties::new(rows, columns, &entries).unwrap()
}
