//! What comparing rows brought to light.

use super::ratio::{allowed, log_up, worst_ratio};
use crate::Epsilon;

/// Two rows to be compared: their places (or rows of a round) and how far apart they are.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Which two.
    pub at: (u32, u32),
    /// Their distance.
    pub km: f64,
}

/// Inequalities `z_ik <= exp(eps d_ij) z_jk`, counted and measured (`docs/specification.md` section 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// How many inequalities were checked.
    pub checked: u64,
    /// How many do not hold.
    pub violations: u64,
    /// How many ordered pairs of rows were compared.
    pub pairs: u64,
    /// How many of them violate somewhere.
    pub violated_pairs: u64,
    /// The largest `ln(z_ik / z_jk) - eps d_ij`, rounded up: the promise holds when it is not
    /// positive. Infinite when a report is possible in one row and impossible in the other.
    pub worst_log_excess: f64,
    /// The pair where that is.
    pub worst_at: (u32, u32),
    /// The smallest epsilon that all compared pairs satisfy, rounded up.
    pub effective_epsilon: f64,
    /// The largest probability, over pairs, with which a report violates:
    /// `sum_k max(0, z_ik - exp(eps d) z_jk)`.
    pub violating_mass: f64,
    /// The largest Geo-Ind error of the paper (GVE): `z_ik - exp(eps d) z_jk` of one entry.
    pub largest_error: f64,
}

impl Default for Finding {
    fn default() -> Self {
        Self {
            checked: 0,
            violations: 0,
            pairs: 0,
            violated_pairs: 0,
            worst_log_excess: f64::NEG_INFINITY,
            worst_at: (0, 0),
            effective_epsilon: 0.0,
            violating_mass: 0.0,
            largest_error: 0.0,
        }
    }
}

impl Finding {
    /// Whether every inequality holds.
    pub fn is_private(&self) -> bool {
        self.violations == 0 && self.worst_log_excess <= 0.0
    }

    /// The share of inequalities that do not hold: the paper's GV ratio.
    pub fn violation_ratio(&self) -> f64 {
        self.violations as f64 / (self.checked as f64).max(1.0)
    }

    /// Compares row `a` with row `b`, in this direction.
    pub fn add(&mut self, pair: Pair, a: &[f64], b: &[f64], epsilon: Epsilon) {
        let log_ratio = log_up(worst_ratio(a, b));
        self.add_bound(pair, log_ratio, a.len() as u64, epsilon);
        let allowed = allowed(epsilon.value(), pair.km);
        if log_ratio <= allowed {
            return;
        }
        let factor = allowed.exp();
        let mut mass = 0.0;
        for (&x, &y) in a.iter().zip(b) {
            // Entry by entry as strictly as for the pair, so that the counts agree.
            if x > 0.0 && log_up(x / y) > allowed {
                let error = (x - factor * y).max(0.0);
                self.violations += 1;
                self.largest_error = self.largest_error.max(error);
                mass += error;
            }
        }
        self.violated_pairs += 1;
        self.violating_mass = self.violating_mass.max(mass);
    }

    /// Notes that the logarithm of every ratio of a pair is at most `log_ratio`.
    pub fn add_bound(&mut self, pair: Pair, log_ratio: f64, entries: u64, epsilon: Epsilon) {
        self.checked += entries;
        self.pairs += 1;
        let excess = log_ratio - allowed(epsilon.value(), pair.km);
        if excess > self.worst_log_excess {
            self.worst_log_excess = excess;
            self.worst_at = pair.at;
        }
        if log_ratio > 0.0 {
            self.effective_epsilon = self.effective_epsilon.max((log_ratio / pair.km).next_up());
        }
    }

    /// Both findings together.
    pub fn merge(self, other: Self) -> Self {
        let worst = if other.worst_log_excess > self.worst_log_excess { other } else { self };
        Self {
            checked: self.checked + other.checked,
            violations: self.violations + other.violations,
            pairs: self.pairs + other.pairs,
            violated_pairs: self.violated_pairs + other.violated_pairs,
            effective_epsilon: self.effective_epsilon.max(other.effective_epsilon),
            violating_mass: self.violating_mass.max(other.violating_mass),
            largest_error: self.largest_error.max(other.largest_error),
            ..worst
        }
    }
}
