//! How much epsilon was spent, and how much may be.
//!
//! Independent reports add up: two reports at epsilon from one place are as revealing as one at twice
//! epsilon, and reports from nearby places nearly so. The ledger counts every new report of every mode to
//! every operator, since operators may talk to each other.

use serde::{Deserialize, Serialize};

use crate::policy::Policy;

/// At most so much epsilon per period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// In 1/km.
    pub cap_per_km: f64,
    /// In seconds.
    pub period_seconds: u64,
}

impl Limit {
    /// Longer periods are refused: so long spends are kept.
    pub const LONGEST_PERIOD: u64 = 366 * 86_400;

    /// A limit that makes sense.
    pub fn new(cap_per_km: f64, period_seconds: u64) -> Result<Self, &'static str> {
        let limit = Self { cap_per_km, period_seconds };
        if !(cap_per_km.is_finite() && cap_per_km >= 0.0) {
            return Err("the cap must be a number per kilometre, not below zero");
        }
        if !(1..=Self::LONGEST_PERIOD).contains(&period_seconds) {
            return Err("the period must lie between a second and 366 days");
        }
        Ok(limit)
    }
}

/// Ten reports at 2/km a day.
impl Default for Limit {
    fn default() -> Self {
        Self { cap_per_km: 20.0, period_seconds: 86_400 }
    }
}

/// One new report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// When, in seconds since 1970.
    pub at: u64,
    /// Its epsilon.
    pub epsilon_per_km: f64,
}

/// All spends of the last year, and the sum of all there ever were.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// Everything that was ever spent, in 1/km.
    pub lifetime_per_km: f64,
    /// The latest time seen: the clock must not stand before it.
    pub latest: u64,
    /// What was spent, by time.
    pub spends: Vec<Spend>,
}

/// Why nothing may be spent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The cap is reached.
    #[error(
        "the privacy budget is used up: {spent} of {cap}/km spent within {period_hours} h, and this report would cost {asked}/km. \
         Near where a report was drawn before it still works; {advice}"
    )]
    OverCap {
        /// In 1/km.
        spent: f64,
        /// In 1/km.
        cap: f64,
        /// Hours per period.
        period_hours: f64,
        /// What the report would have cost.
        asked: f64,
        /// What to do.
        advice: String,
    },
    /// The cap for ever is reached.
    #[error(
        "the privacy budget of a lifetime is used up: {spent} of {cap}/km spent, and this report would cost {asked}/km. Near where a \
         report was drawn before it still works; if you want to tell more about yourself, raise `policy.lifetime_per_km`"
    )]
    OverLifetime {
        /// In 1/km.
        spent: f64,
        /// In 1/km.
        cap: f64,
        /// What the report would have cost.
        asked: f64,
    },
    /// The clock cannot be believed.
    #[error(
        "the clock stands {hours:.1} h before a time that was seen already, so nobody knows what was spent today; \
         set the clock right, or forget what was spent (`state.ledger`) if it was wrong before"
    )]
    ClockBackwards {
        /// By how much.
        hours: f64,
    },
}

/// What is left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Balance {
    /// Spent within the period, in 1/km.
    pub spent_per_km: f64,
    /// Left of the cap, in 1/km.
    pub left_per_km: f64,
    /// The limit.
    pub limit: Limit,
    /// Ever spent, in 1/km.
    pub lifetime_spent_per_km: f64,
    /// Left for ever, in 1/km.
    pub lifetime_left_per_km: f64,
}

/// Clocks are corrected by seconds all the time; this much is not going backwards.
const SLACK: u64 = 60;
/// Sums of epsilons are exact to this part.
const ROUNDING: f64 = 1e-9;

impl Ledger {
    /// Refuses numbers that no ledger has written.
    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        let sum: f64 = self.spends.iter().map(|s| s.epsilon_per_km).sum();
        // Written so that a sum that is not a number is refused.
        let counted =
            self.lifetime_per_km.is_finite() && self.lifetime_per_km >= sum * (1.0 - ROUNDING);
        if !counted {
            return Err("the ledger has spent less in a lifetime than in a year");
        }
        let sound = |s: &Spend| {
            s.epsilon_per_km.is_finite() && s.epsilon_per_km > 0.0 && s.at <= self.latest
        };
        match self.spends.iter().all(sound) && self.spends.windows(2).all(|w| w[0].at <= w[1].at) {
            true => Ok(()),
            false => Err("the ledger holds spends that cannot be"),
        }
    }

    /// What is spent and left at `now`.
    pub fn balance(&self, policy: &Policy, now: u64) -> Balance {
        let (now, limit) = (now.max(self.latest), policy.per_period);
        let recent = self.spends.iter().filter(|s| s.at.saturating_add(limit.period_seconds) > now);
        // Not `sum`, which is minus zero of nothing, and would be printed so.
        let spent = recent.fold(0.0, |sum, s| sum + s.epsilon_per_km);
        Balance {
            spent_per_km: spent,
            left_per_km: (limit.cap_per_km - spent).max(0.0),
            limit,
            lifetime_spent_per_km: self.lifetime_per_km,
            lifetime_left_per_km: (policy.lifetime_per_km - self.lifetime_per_km).max(0.0),
        }
    }

    /// Whether a report at `epsilon` may be made now.
    pub fn allow(&self, policy: &Policy, now: u64, epsilon: f64) -> Result<(), LedgerError> {
        if now.saturating_add(SLACK) < self.latest {
            return Err(LedgerError::ClockBackwards { hours: (self.latest - now) as f64 / 3600.0 });
        }
        let Balance { spent_per_km: spent, limit, .. } = self.balance(policy, now);
        let cap = limit.cap_per_km;
        // Written so that a sum that is not a number allows nothing.
        let fits = |spent: f64, cap: f64| spent + epsilon <= cap * (1.0 + ROUNDING);
        if !fits(spent, cap) {
            let advice = match epsilon > cap {
                true => format!(
                    "this server's epsilon alone is above your cap: use another, or raise `policy.per_period` to {epsilon}/km"
                ),
                false => "wait, or raise `policy.per_period`".to_owned(),
            };
            let period_hours = limit.period_seconds as f64 / 3600.0;
            return Err(LedgerError::OverCap { spent, cap, period_hours, asked: epsilon, advice });
        }
        let (spent, cap) = (self.lifetime_per_km, policy.lifetime_per_km);
        match fits(spent, cap) {
            true => Ok(()),
            false => Err(LedgerError::OverLifetime { spent, cap, asked: epsilon }),
        }
    }

    /// Notes a new report, if it is allowed.
    pub fn spend(&mut self, policy: &Policy, now: u64, epsilon: f64) -> Result<(), LedgerError> {
        self.allow(policy, now, epsilon)?;
        self.latest = self.latest.max(now);
        let at = self.latest;
        self.spends.retain(|s| s.at.saturating_add(Limit::LONGEST_PERIOD) > at);
        self.spends.push(Spend { at, epsilon_per_km: epsilon });
        self.lifetime_per_km += epsilon;
        Ok(())
    }
}
