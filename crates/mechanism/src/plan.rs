//! What to build: epsilon, notion, radii, users (`docs/specification.md` sections 1, 4 and 7).

use std::time::Duration;

use lrgeo_geo::PlaceId;
use lrgeo_geo::twins::LEAST_DISTANCE_KM;
use lrgeo_geo::units::Length;
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::table::Division;
use lrgeo_optim::Settings;
use lrgeo_tiles::{Epsilon, Notion};

use crate::{Geography, MechanismError};

/// Whose range decides what is tied (`docs/specification.md` section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RangeRule {
    /// The paper's letter: the range O_m of the user, for all rows of its matrix.
    Own,
    /// Ours: the range of each row, which makes tied entries private between all rows of a round.
    #[default]
    Each,
}

impl RangeRule {
    /// Both, with the names used in options and files.
    pub const ALL: [(RangeRule, &'static str); 2] =
        [(RangeRule::Own, "own"), (RangeRule::Each, "each")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Which entries in range stay free: the paper's indicator matrix Q, which is 1 where an entry is tied. The paper has the
/// radius and leaves other choices open (section 4.3); tied entries are private whichever it is.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Indicator {
    /// Those within r_exp.
    #[default]
    Radius,
    /// The nearest that hold this share of the mass of the kernel exp(-eps d / 2) around the row's place: more of them
    /// where places are sparse.
    Mass(f64),
    /// Of those within r_exp this share, at random, and the row's own place: what a choice without reason is worth.
    Random {
        /// The share.
        share: f64,
        /// Of the choice, which is the same for everybody.
        seed: u64,
    },
}

/// What a report outside a user's range is charged with in the programme: the paper does not say (Eq. 14 sums over O_m, its
/// measure over V). What it really costs is counted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Beyond {
    /// A public constant above every cost: nobody goes there without need, and nothing about it needs to be known.
    #[default]
    Ceiling,
    /// Nothing, as Eq. 14 has it to the letter.
    Nothing,
    /// What the cost reference table says, for which a user must have all of it.
    Table,
}

impl Beyond {
    /// All of them, with the names used in options.
    pub const ALL: [(Beyond, &'static str); 3] =
        [(Beyond::Ceiling, "ceiling"), (Beyond::Nothing, "nothing"), (Beyond::Table, "table")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// What stands in the exponent of the exponential mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Exponent {
    /// The distance, as Geo-Ind and the authors' code have it.
    #[default]
    Distance,
    /// The cost, as the paper prints it.
    Cost,
}

/// Which engine solves the programme of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// Ours.
    #[default]
    ColumnGeneration,
    /// The paper's, along the central path.
    Benders,
    /// The paper's to the letter: y from the master, until the bounds are 0.01 km per report apart.
    PlainBenders,
}

impl Engine {
    /// All of them, with the names used in options and files.
    pub const ALL: [(Engine, &'static str); 3] = [
        (Engine::ColumnGeneration, "colgen"),
        (Engine::Benders, "benders"),
        (Engine::PlainBenders, "benders-plain"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// The distances that the mechanisms are built with, in kilometres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radii {
    /// Gamma: how far locally relevant places may be (path distance).
    pub relevant: f64,
    /// At most this many of them: the nearest, or a sample ([`Plan::sampled`]).
    pub relevant_max: Option<usize>,
    /// r_exp: farther reports follow the exponential kernel.
    pub exponential: f64,
    /// r_obf: the obfuscation range; infinite for ConstOPT as a baseline.
    pub obfuscation: f64,
}

/// The default stretch of spanners. All pairs hold at epsilon because the programme is solved at epsilon divided by the stretch, so a
/// longer one costs quality: at 2/km 1.05 leaves 4.6 to 6.3 % to the best all-pairs matrix (demo city, Reykjavik 700 m and 500 m; proven), 1.01
/// 0.9 to 1.3 %, and 1.005 0.5 to 0.7 % for 1.6 to 2.6 times the time.
pub const STRETCH: f64 = 1.005;

/// Everything a mechanism needs to know besides the city.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The privacy asked for.
    pub epsilon: Epsilon,
    /// Between which pairs.
    pub notion: Notion,
    /// The radii.
    pub radii: Radii,
    /// The range rule of LR-Geo.
    pub range: RangeRule,
    /// Where not all relevant places are taken ([`Radii::relevant_max`]): a random choice with this seed, as the
    /// authors' code has it, instead of the nearest.
    pub sampled: Option<u64>,
    /// Users of so many neighbouring places at least upload the same relevant places ([`crate::alike`]), so that an
    /// upload tells which of these classes a user is in and nothing more.
    pub alike: Option<usize>,
    /// The places of the users of a round, for the mechanisms that are made per user.
    pub users: Vec<PlaceId>,
    /// How often each of them goes each way of the city ([`crate::City::ways`]); where there are none, as people at their
    /// place do.
    pub shares: Vec<Vec<f64>>,
    /// Which entries in range are free.
    pub indicator: Indicator,
    /// What reports out of range are charged with.
    pub beyond: Beyond,
    /// Who solves the programme of a round.
    pub engine: Engine,
    /// The cells of the cost reference tables.
    pub division: Division,
    /// The exponent of the exponential mechanism.
    pub exponent: Exponent,
    /// Whether the exponential mechanism is calibrated to its real epsilon.
    pub calibrated: bool,
    /// Whether reports are replaced by the best ones; else each kind has a default.
    pub remap: Option<bool>,
    /// How much longer than straight lines the paths of a spanner may be ([`STRETCH`]).
    pub stretch: f64,
    /// Build even if some places have no bound between them.
    pub allow_disconnected: bool,
    /// The relative gap at which to stop optimising; each mechanism has a default of its own.
    pub gap: Option<f64>,
    /// Clock, time limit, cancellation and progress of the optimiser; its gap is the one above. Of a mechanism that
    /// can be stopped early ([`crate::Mechanism::can_be_stopped`]) the limit is for all of [`crate::build`].
    pub solver: Settings,
    /// When the optimiser must be done, on the solver's clock, so that what comes after it ends by the limit: for
    /// [`crate::build`] to say.
    pub deadline: Option<Duration>,
}

/// Spacings per radius of the defaults: those of the `practical` settings on the Rome places.
const GAMMA: f64 = 2.13;
const RELEVANT: f64 = 4.26;
/// From the sweep of `lrgeo reproduce --only radii`: the largest r_exp at which LR-Geo does not cost less than the optimum of
/// the whole map, which would be bought with privacy alone; and less than Laplace, which 2.13 spacings are not.
const EXPONENTIAL: f64 = 3.2;
const OBFUSCATION: f64 = 8.5;

/// Above this, the ratio between neighbouring places underflows.
const LARGEST_EPS_SPACING: f64 = 60.0;
/// Below this, reports say nothing at any distance a city has.
const SMALLEST_EPS_SPACING: f64 = 1e-4;

impl Plan {
    /// Sensible values for a city: radii in proportion to its spacing, gamma large enough to join
    /// all places.
    pub fn new(places: &Geography, epsilon: Epsilon) -> Self {
        let spacing = places.spacing_km();
        let gamma_km = connecting_gamma(places, GAMMA * spacing);
        let relevant = (RELEVANT * spacing).max(gamma_km);
        let exponential = EXPONENTIAL * spacing;
        let radii = Radii {
            relevant,
            relevant_max: None,
            exponential,
            obfuscation: (OBFUSCATION * spacing).max(exponential),
        };
        Self::with_radii(epsilon, Notion::Within { gamma_km }, radii)
    }

    /// The paper's letter, whatever the map (`docs/specification.md` section 7): range *own*, r_obf 4 km, and ExpMech by cost with
    /// its nominal epsilon. r_exp is not printed; it is at most r_obf, and this is the largest. Of the relevant
    /// places 20 are sampled, as in the authors' code, where within Gamma there would be the whole map.
    pub fn paper() -> Result<Self, MechanismError> {
        let radii =
            Radii { relevant: 20.0, relevant_max: Some(20), exponential: 4.0, obfuscation: 4.0 };
        Ok(Self {
            range: RangeRule::Own,
            sampled: Some(1),
            exponent: Exponent::Cost,
            calibrated: false,
            ..Self::as_printed(10.0, radii)?
        })
    }

    /// The `practical` settings of `docs/specification.md` section 7, whatever the map, with the r_exp that the sweep of `lrgeo reproduce --only radii` gives.
    pub fn practical() -> Result<Self, MechanismError> {
        let radii = Radii { relevant: 2.0, relevant_max: None, exponential: 1.5, obfuscation: 4.0 };
        Self::as_printed(2.0, radii)
    }

    /// Baselines as the paper has them: without remapping.
    fn as_printed(epsilon: f64, radii: Radii) -> Result<Self, MechanismError> {
        let notion = Notion::Within { gamma_km: 1.0 };
        let plan = Self::with_radii(Epsilon::per_km(epsilon)?, notion, radii);
        Ok(Self { remap: Some(false), ..plan })
    }

    /// These radii, and everything else as usual.
    pub fn with_radii(epsilon: Epsilon, notion: Notion, radii: Radii) -> Self {
        Self {
            epsilon,
            notion,
            radii,
            range: RangeRule::default(),
            sampled: None,
            alike: None,
            users: Vec::new(),
            shares: Vec::new(),
            indicator: Indicator::default(),
            beyond: Beyond::default(),
            engine: Engine::default(),
            division: Division::Grid(Length::HUNDRED_METRES),
            exponent: Exponent::default(),
            calibrated: true,
            remap: None,
            stretch: STRETCH,
            allow_disconnected: false,
            gap: None,
            solver: Settings::default(),
            deadline: None,
        }
    }

    /// The optimiser's settings, with a gap where none was asked for and the time that is left now.
    pub fn settings(&self, default_gap: f64) -> Settings {
        let mut settings = Settings { gap: self.gap.unwrap_or(default_gap), ..self.solver.clone() };
        if let (Some(deadline), Some(clock)) = (self.deadline, &self.solver.clock) {
            settings.time_limit = Some(deadline.saturating_sub(clock.now()));
            settings.on_time = true;
        }
        settings
    }

    /// Refuses values that contradict each other or make no sense on this map; warns of nothing.
    pub fn check(&self, places: &Geography) -> Result<(), MechanismError> {
        let Radii { relevant, relevant_max, exponential, obfuscation } = self.radii;
        let named = [
            ("radii.relevant", relevant),
            ("radii.exponential", exponential),
            ("radii.obfuscation", obfuscation),
            ("gamma_km", self.notion.reach_km()),
        ];
        for (field, value) in named {
            if value.is_nan() || value <= 0.0 {
                let reason = format!("{value} km is not a positive distance");
                return Err(MechanismError::invalid(field, reason));
            }
        }
        if exponential > obfuscation {
            let reason = format!(
                "r_exp = {exponential} km is larger than r_obf = {obfuscation} km; raise `radii.obfuscation` or lower `radii.exponential`"
            );
            return Err(MechanismError::invalid("radii.exponential", reason));
        }
        if let Notion::Within { gamma_km } = self.notion
            && relevant < gamma_km
            && gamma_km.is_finite()
        {
            let reason = format!(
                "Gamma = {relevant} km is smaller than gamma = {gamma_km} km, so neighbours would not be relevant; \
                 raise `radii.relevant` or lower `gamma_km`"
            );
            return Err(MechanismError::invalid("radii.relevant", reason));
        }
        if relevant_max == Some(0) {
            return Err(MechanismError::invalid("radii.relevant_max", "must be at least 1"));
        }
        if let Some(count) = self.alike {
            if count == 0 || count > places.places() {
                let reason = format!("must lie between 1 and the {} places", places.places());
                return Err(MechanismError::invalid("alike", reason));
            }
            if self.range == RangeRule::Own || relevant_max.is_some() {
                let reason =
                    "needs range rule each and every relevant place: others depend on who uploads";
                return Err(MechanismError::invalid("alike", reason));
            }
        }
        let share = match self.indicator {
            Indicator::Radius => None,
            Indicator::Mass(share) | Indicator::Random { share, .. } => Some(share),
        };
        if share.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            let reason = "must name a share above 0, at most 1";
            return Err(MechanismError::invalid("indicator", reason));
        }
        if !(self.stretch >= 1.0 && self.stretch <= 2.0) {
            return Err(MechanismError::invalid("stretch", "must lie between 1 and 2"));
        }
        let per_spacing = self.epsilon.value() * places.spacing_km();
        if !(SMALLEST_EPS_SPACING..=LARGEST_EPS_SPACING).contains(&per_spacing) {
            let reason = format!(
                "{} times the spacing of {:.3} km is {per_spacing:.3e}; it must lie between {SMALLEST_EPS_SPACING} and {LARGEST_EPS_SPACING}",
                self.epsilon,
                places.spacing_km()
            );
            return Err(MechanismError::invalid("epsilon", reason));
        }
        if self.users.iter().any(|user| user.index() >= places.places()) {
            let reason = format!("must be places of the map, which has {}", places.places());
            return Err(MechanismError::invalid("users", reason));
        }
        Ok(())
    }
}

/// The smallest threshold from `start_km` up, in steps of a tenth, that joins all places. From zero, or from no number
/// at all, no steps lead anywhere: then it begins at the least distance of two places.
///
/// Only places outside the largest part are looked at again, so that one far place does not make
/// the graph complete.
pub fn connecting_gamma(places: &Geography, start_km: f64) -> f64 {
    let mut gamma_km = start_km.max(LEAST_DISTANCE_KM);
    let mut part = NeighbourGraph::new(places.coords(), gamma_km).components();
    while part.iter().any(|&p| p != part[0]) {
        gamma_km *= 1.1;
        let largest = largest_part(&part);
        for i in (0..part.len()).filter(|&i| part[i] != largest).collect::<Vec<_>>() {
            for (j, _) in places.within(places.coords()[i], gamma_km) {
                let (from, to) = (part[i], part[j.index()]);
                if from != to {
                    part.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
                }
            }
        }
    }
    gamma_km
}

fn largest_part(part: &[u32]) -> u32 {
    let mut sizes = std::collections::BTreeMap::<u32, usize>::new();
    part.iter().for_each(|&p| *sizes.entry(p).or_default() += 1);
    sizes.into_iter().max_by_key(|&(_, size)| size).map_or(0, |(p, _)| p)
}
