//! Locally relevant places, obfuscation ranges, and which entries are tied (sections 4.1 and 4.3 of
//! the paper, spec section 4).

use std::sync::Arc;

use lrgeo_geo::rng::SplitMix;
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_tiles::{Epsilon, Notion};

use crate::alike;
use crate::programme::shrunk;
use crate::{Geography, MechanismError, Plan, RangeRule};

/// The LR set `N_m = { j : D(m, j) <= Gamma }` (Def. 4.1), nearest first, at most as many as the
/// plan allows: the nearest, or a sample with the user's own place. `graph` is the Geo-Ind graph; without one
/// (gamma infinite, LR-Geo-F) `D = d`.
pub fn relevant_places(
    places: &Geography,
    graph: Option<&NeighbourGraph>,
    plan: &Plan,
    user: u32,
) -> Vec<u32> {
    if let Some(count) = plan.alike {
        return alike::relevant(places, graph, plan.radii.relevant, count, user);
    }
    let limit = plan.radii.relevant;
    let most = plan.radii.relevant_max.unwrap_or(usize::MAX);
    // A sample is drawn from all of them.
    let enough = if plan.sampled.is_some() { usize::MAX } else { most };
    let mut near = match graph {
        Some(graph) => nearest(graph, user, limit, enough),
        None => places.index().within(places.coords()[user as usize], limit),
    };
    // The user's own place first, even where another has the same coordinates.
    near.sort_by(|a, b| {
        (a.0 != user).cmp(&(b.0 != user)).then(a.1.total_cmp(&b.1)).then(a.0.cmp(&b.0))
    });
    if let Some(seed) = plan.sampled
        && near.len() > most
    {
        let mut rng = SplitMix::new(seed ^ (u64::from(user) << 32));
        let mut kept = rng.choose(near.len() - 1, most - 1);
        kept.sort_unstable();
        let others: Vec<(u32, f64)> = kept.into_iter().map(|at| near[at + 1]).collect();
        near.truncate(1);
        near.extend(others);
    }
    near.truncate(most);
    near.into_iter().map(|(place, _)| place).collect()
}

/// The places within `limit` of a user: `most` of them, and those as far away as the last.
fn nearest(graph: &NeighbourGraph, user: u32, limit: f64, most: usize) -> Vec<(u32, f64)> {
    let mut near: Vec<(u32, f64)> = Vec::new();
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

/// Which entries of a user's matrix are free and what the others are tied to (Eq. 18).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TieRule {
    /// Epsilon of the kernel.
    pub epsilon: Epsilon,
    /// Whose range counts.
    pub range: RangeRule,
    /// r_exp, in kilometres.
    pub exponential_km: f64,
    /// r_obf, in kilometres; may be infinite.
    pub obfuscation_km: f64,
}

impl TieRule {
    /// The rule of a plan, at the epsilon that programmes are solved at.
    pub fn of(plan: &Plan) -> Result<Self, MechanismError> {
        Ok(Self {
            epsilon: shrunk(plan.epsilon)?,
            range: plan.range,
            exponential_km: plan.radii.exponential,
            obfuscation_km: plan.radii.obfuscation,
        })
    }

    /// The factor f of `z_ik = y_k f` for row i of user m and report k, `None` when the entry is
    /// free. `row_km` is d(i, k), `user_km` is d(m, k).
    ///
    /// *own*: free iff k is in O_m and d_ik <= r_exp; outside O_m the factor is constant.
    /// *each*: free iff d_ik <= r_exp; the factor is that of min(d_ik, r_obf), 1-Lipschitz in i, so
    /// any two tied entries of any two rows satisfy Geo-Ind.
    pub fn factor(&self, row_km: f64, user_km: f64) -> Option<f64> {
        let far = match self.range {
            RangeRule::Own => user_km > self.obfuscation_km,
            RangeRule::Each => row_km > self.obfuscation_km,
        };
        if !far && row_km <= self.exponential_km {
            return None;
        }
        Some(self.kernel(if far { self.obfuscation_km } else { row_km }))
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
