//! Noise without a service: a coordinate is blurred on the device, everywhere on Earth, and remembered.
//!
//! What is drawn from is [`lrgeo_tiles::earth`]; what it promises between any two coordinates is proven when a [`Blur`] is made, and one that cannot be
//! proven is refused. A report is given again to whoever is within a radius of where it was drawn, so that staying spends nothing; every new one is written into
//! the ledger. Where public places are given, the best of them is reported instead of a point of the lattice, which tells nothing more.
//!
//! ```
//! use lrgeo_client::blur::{Blur, BlurState};
//! use lrgeo_geo::Coord;
//! use lrgeo_tiles::sample::SystemRandomness;
//!
//! let blur = Blur::new(&"factor 2 within 300 m".parse()?)?;
//! let (here, now, mut state) = (Coord::new(45.96, -30.0)?, 1_800_000_000, BlurState::default());
//! let report = blur.report(&mut state, here, now, &mut SystemRandomness)?;
//! assert!(report.spent_per_km > 2.3 && report.accuracy_m > 2_000);
//! // What `state.to_bytes()` says is kept before anybody is told.
//! assert_eq!(blur.report(&mut state, here, now, &mut SystemRandomness)?.spent_per_km, 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod places;
mod state;

use lrgeo_geo::{Coord, Invalid};
use lrgeo_tiles::earth::{Around, EarthNoise};
use lrgeo_tiles::verify::earth::account;
use lrgeo_tiles::{DrawError, Privacy};

use crate::ClientError;
use crate::draws::Draws;
use crate::policy::Policy;
use crate::state::{Balance, Limit};

pub use places::PublicPlaces;
pub use state::{Anchor, BlurState};

/// New reports a day that the account allows, unless its owner says otherwise, and days like that in a lifetime.
const REPORTS_A_DAY: f64 = 10.0;
const DAYS: f64 = 20.0;

/// A promise to one person, and the noise that keeps it.
#[derive(Debug)]
pub struct Blur {
    epsilon: f64,
    proven: f64,
    noise: EarthNoise,
    policy: Policy,
    places: Option<PublicPlaces>,
}

/// A coordinate that may be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blurred {
    /// Latitude and longitude.
    pub at: [f64; 2],
    /// The radius around it that holds the true position with at least 95 %. It follows from what everybody knows.
    pub accuracy_m: u64,
    /// Its epsilon, in 1/km.
    pub epsilon_per_km: f64,
    /// What it cost just now: nothing if it was remembered.
    pub spent_per_km: f64,
    /// When it was drawn, in seconds since 1970, if it was drawn before.
    pub remembered: Option<u64>,
    /// How far from where it was drawn it is given again.
    pub reused_within_km: f64,
    /// What is left to spend.
    pub balance: Balance,
}

impl Blur {
    /// For a promise between any two people, wherever they are: proven here, or refused.
    pub fn new(privacy: &Privacy) -> Result<Self, Invalid> {
        let epsilon = privacy.epsilon.value();
        let noise = EarthNoise::new(privacy.epsilon)?;
        let proven = account(&noise).epsilon();
        // Written so that what is not a number is refused.
        let kept = proven <= epsilon;
        if !kept {
            return Err(Invalid::new("epsilon", "cannot be proven for this noise; choose another"));
        }
        let cap_per_km = Limit::default().cap_per_km.max(REPORTS_A_DAY * epsilon);
        let policy = Policy {
            most_epsilon_per_km: epsilon,
            per_period: Limit { cap_per_km, ..Limit::default() },
            lifetime_per_km: DAYS * cap_per_km,
            ..Policy::default()
        };
        Ok(Self { epsilon, proven, noise, policy, places: None })
    }

    /// With other rules: of these, the limits and the radius of reuse count.
    pub fn policy(self, change: impl FnOnce(&mut Policy)) -> Result<Self, Invalid> {
        let mut policy = self.policy;
        change(&mut policy);
        policy.validate().map_err(|reason| Invalid::new("policy", reason))?;
        Ok(Self { policy, ..self })
    }

    /// Reports the best of these public places, wherever there are some around.
    pub fn places(self, places: PublicPlaces) -> Self {
        Self { places: Some(places), ..self }
    }

    /// The noise: for a picture of it.
    pub fn noise(&self) -> &EarthNoise {
        &self.noise
    }

    /// What was asked for, in 1/km.
    pub fn epsilon_per_km(&self) -> f64 {
        self.epsilon
    }

    /// What was proven, in 1/km: no more than that.
    pub fn proven_per_km(&self) -> f64 {
        self.proven
    }

    /// How far from where it was drawn a report is given again.
    pub fn reuse_radius_km(&self) -> f64 {
        self.policy.reuse_radius_km(self.epsilon)
    }

    /// The radius around a point of the lattice that holds the true position with 95 %, wherever within the radius of reuse that is.
    pub fn accuracy_m(&self) -> u64 {
        metres(self.noise.accuracy_km(self.reuse_radius_km()))
    }

    /// What is spent and left.
    pub fn balance(&self, state: &BlurState, now: u64) -> Balance {
        state.ledger.balance(&self.policy, now)
    }

    /// A report for somebody at `at`: remembered, or drawn. The state must be kept before the report is told to anybody.
    pub fn report(
        &self,
        state: &mut BlurState,
        at: Coord,
        now: u64,
        draws: &mut dyn Draws,
    ) -> Result<Blurred, ClientError> {
        let recalled = state.around(at, self.epsilon);
        let (anchor, spent) = match recalled {
            Some(anchor) => (anchor, 0.0),
            None => {
                state.ledger.allow(&self.policy, now, self.epsilon)?;
                let anchor = self.draw(at, now, draws)?;
                state.ledger.spend(&self.policy, now, self.epsilon)?;
                state.anchors.push(anchor);
                (anchor, self.epsilon)
            }
        };
        Ok(Blurred {
            at: anchor.report,
            accuracy_m: anchor.accuracy_m,
            epsilon_per_km: anchor.epsilon_per_km,
            spent_per_km: spent,
            remembered: (spent == 0.0).then_some(anchor.drawn),
            reused_within_km: anchor.radius_km,
            balance: self.balance(state, now),
        })
    }

    fn draw(&self, at: Coord, now: u64, draws: &mut dyn Draws) -> Result<Anchor, DrawError> {
        let outcome = self.outcome(&self.noise.around(at)?, draws)?;
        let radius_km = self.reuse_radius_km();
        let best = self.places.as_ref().and_then(|places| places.best(&self.noise, outcome));
        let (report, accuracy_m) = match best {
            Some((place, km)) => (place, metres(km + radius_km)),
            None => (outcome, self.accuracy_m()),
        };
        Ok(Anchor {
            at: [at.lat(), at.lon()],
            radius_km,
            report: [report.lat(), report.lon()],
            accuracy_m,
            epsilon_per_km: self.epsilon,
            drawn: now,
        })
    }

    /// A point of the lattice: its row, then itself; or, once in 10^12 times, any on Earth.
    fn outcome(&self, around: &Around<'_>, draws: &mut dyn Draws) -> Result<Coord, DrawError> {
        let none = || DrawError::Invalid(Invalid::new("row", "has no such point"));
        let row = draws.entry(&around.rows()?)?;
        if let Some(points) = around.points(row)? {
            let point = draws.entry(&points)?;
            return around.outcome(row, point).ok_or_else(none);
        }
        loop {
            let lattice = &self.noise.lattice;
            let row = draws.below(lattice.rows as usize)? as u64;
            let point = draws.below(lattice.row(row).points as usize)? as u64;
            if let Some(outcome) = around.elsewhere(row, point) {
                return Ok(outcome);
            }
        }
    }
}

fn metres(km: f64) -> u64 {
    (1000.0 * km).ceil() as u64
}
