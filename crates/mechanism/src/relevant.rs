//! Locally relevant places, obfuscation ranges, and which entries are tied (sections 4.1 and 4.3 of
//! the paper, `docs/specification.md` section 4).

use std::sync::Arc;

use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_tiles::{Epsilon, Notion};

use crate::alike;
use crate::programme::shrunk;
use crate::{Geography, Indicator, MechanismError, Plan, RangeRule};

/// The LR set `N_m = { j : D(m, j) <= Gamma }` (Def. 4.1), nearest first, at most as many as the
/// plan allows: the nearest, or a sample with the user's own place. `graph` is the Geo-Ind graph; without one
/// (gamma infinite, LR-Geo-F) `D = d`.
pub fn relevant_places(
    places: &Geography,
    graph: Option<&NeighbourGraph>,
    plan: &Plan,
    user: PlaceId,
) -> Vec<PlaceId> {
    if let Some(count) = plan.alike {
        return alike::relevant(places, graph, plan.radii.relevant, count, user);
    }
    let limit = plan.radii.relevant;
    let most = plan.radii.relevant_max.unwrap_or(usize::MAX);
    // A sample is drawn from all of them.
    let enough = if plan.sampled.is_some() { usize::MAX } else { most };
    let mut near = match graph {
        Some(graph) => nearest(graph, user, limit, enough),
        None => places.within(places.coords()[user.index()], limit),
    };
    // The user's own place first, even where another has the same coordinates.
    near.sort_by(|a, b| {
        (a.0 != user).cmp(&(b.0 != user)).then(a.1.total_cmp(&b.1)).then(a.0.cmp(&b.0))
    });
    if let Some(seed) = plan.sampled
        && near.len() > most
    {
        let mut rng = SplitMix::new(seed ^ (u64::from(user.number()) << 32));
        let mut kept = rng.choose(near.len() - 1, most - 1);
        kept.sort_unstable();
        let others: Vec<(PlaceId, f64)> = kept.into_iter().map(|at| near[at + 1]).collect();
        near.truncate(1);
        near.extend(others);
    }
    near.truncate(most);
    near.into_iter().map(|(place, _)| place).collect()
}

/// The places within `limit` of a user: `most` of them, and those as far away as the last.
fn nearest(graph: &NeighbourGraph, user: PlaceId, limit: f64, most: usize) -> Vec<(PlaceId, f64)> {
    let mut near: Vec<(PlaceId, f64)> = Vec::new();
    for (place, distance) in graph.nearest(user) {
        let is_enough = near.len() >= most && near.last().is_some_and(|last| distance > last.1);
        if is_enough || distance > limit {
            break;
        }
        near.push((place, distance));
    }
    near
}

/// The Geo-Ind graph of a plan; `None` when every pair is a neighbour.
pub fn geo_ind_graph(places: &Geography, plan: &Plan) -> Option<Arc<NeighbourGraph>> {
    match plan.notion {
        Notion::Within { gamma_km } if gamma_km.is_finite() => Some(places.neighbours(gamma_km)),
        _ => None,
    }
}

/// An [`Indicator`] worked out for a map: which entries in range are free.
#[derive(Clone, Debug, PartialEq)]
pub enum Free {
    /// Those at most so many kilometres from their row's place: r_exp.
    Within(f64),
    /// Likewise, with a distance for each place.
    OfEach(Arc<[f64]>),
    /// A share of those within a distance, drawn.
    Drawn {
        /// r_exp, in kilometres.
        within_km: f64,
        /// Which part of them.
        share: f64,
        /// Of the drawing.
        seed: u64,
    },
}

impl Free {
    /// The places that a plan leaves free.
    fn of(plan: &Plan, epsilon: Epsilon, places: &Geography) -> Self {
        let within_km = plan.radii.exponential;
        match plan.indicator {
            Indicator::Radius => Free::Within(within_km),
            Indicator::Random { share, seed } => Free::Drawn { within_km, share, seed },
            Indicator::Mass(share) => {
                let radius = |i| mass_radius(places, i, epsilon, share);
                Free::OfEach(PlaceId::all(places.places()).map(radius).collect())
            }
        }
    }

    /// Whether the entry of row i and report k, `km` apart, is free as far as the range goes.
    fn has(&self, row: PlaceId, column: PlaceId, km: f64) -> bool {
        match self {
            Free::Within(radius) => km <= *radius,
            Free::OfEach(radii) => km <= radii[row.index()],
            // A row must have something to fill up with: its own place stays.
            Free::Drawn { within_km, share, seed } => {
                let pair = u64::from(row.number()) << 32 | u64::from(column.number());
                let drawn = || SplitMix::new(seed ^ SplitMix::new(pair).bits()).unit() < *share;
                km <= *within_km && (row == column || drawn())
            }
        }
    }
}

/// The distance within which a share of the kernel's mass around a place lies.
fn mass_radius(places: &Geography, place: PlaceId, epsilon: Epsilon, share: f64) -> f64 {
    let mut away: Vec<f64> =
        PlaceId::all(places.places()).map(|k| places.distance_km(place, k)).collect();
    away.sort_by(f64::total_cmp);
    let kernel = |km: &f64| (-epsilon.value() * km / 2.0).exp();
    let mut left = share * away.iter().map(kernel).sum::<f64>();
    let inside = |km: &&f64| {
        left -= kernel(km);
        left <= 0.0
    };
    let last = away.last().copied().unwrap_or(0.0);
    away.iter().find(inside).copied().unwrap_or(last)
}

/// Which entries of a user's matrix are free and what the others are tied to (Eq. 18).
#[derive(Clone, Debug, PartialEq)]
pub struct TieRule {
    /// Epsilon of the kernel.
    pub epsilon: Epsilon,
    /// Whose range counts.
    pub range: RangeRule,
    /// Which entries in range are free.
    pub free: Free,
    /// r_obf, in kilometres; may be infinite.
    pub obfuscation_km: f64,
}

impl TieRule {
    /// The rule of a plan, at the epsilon that programmes are solved at.
    pub fn of(plan: &Plan, places: &Geography) -> Result<Self, MechanismError> {
        let epsilon = shrunk(plan.epsilon)?;
        let free = Free::of(plan, epsilon, places);
        Ok(Self { epsilon, range: plan.range, free, obfuscation_km: plan.radii.obfuscation })
    }

    /// The factor f of `z_ik = y_k f` for row i of user m and report k, `None` when the entry is
    /// free. `row_km` is d(i, k), `user_km` is d(m, k).
    ///
    /// *own*: free iff k is in O_m and Q leaves it free; outside O_m the factor is constant.
    /// *each*: free iff Q leaves it free; the factor is that of min(d_ik, r_obf), 1-Lipschitz in i, so
    /// any two tied entries of any two rows satisfy Geo-Ind.
    pub fn factor(
        &self,
        (row, column): (PlaceId, PlaceId),
        row_km: f64,
        user_km: f64,
    ) -> Option<f64> {
        let far = match self.range {
            RangeRule::Own => user_km > self.obfuscation_km,
            RangeRule::Each => row_km > self.obfuscation_km,
        };
        if !far && self.free.has(row, column, row_km) {
            return None;
        }
        Some(if far { self.outside() } else { self.kernel(row_km) })
    }

    /// The factor of an entry in range of which only the distance is known. Free are those within r_exp, and none where
    /// another rule leaves others free.
    pub fn factor_by_distance(&self, km: f64) -> Option<f64> {
        let far = self.range == RangeRule::Each && km > self.obfuscation_km;
        let free = !far && matches!(self.free, Free::Within(radius) if km <= radius);
        (!free).then(|| if far { self.outside() } else { self.kernel(km) })
    }

    /// The factor of an entry that is tied, whichever those are, under *each*.
    pub fn tied_factor(&self, row_km: f64) -> f64 {
        self.kernel(row_km.min(self.obfuscation_km))
    }

    /// The factor of reports that the user did not upload.
    pub fn outside(&self) -> f64 {
        self.kernel(self.obfuscation_km)
    }

    /// `exp(-eps d / 2)`, never zero: a factor must stay positive.
    fn kernel(&self, km: f64) -> f64 {
        (-self.epsilon.value() * km / 2.0).exp().max(f64::MIN_POSITIVE)
    }
}
