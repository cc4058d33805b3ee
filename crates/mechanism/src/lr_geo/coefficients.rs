//! What a user does before uploading (sections 4.1, 4.2 and 4.5 of the paper).

use std::sync::Arc;

use lrgeo_geo::{Located, PlaceId};
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::table::CostTable;

use crate::relevant::{TieRule, relevant_places};
use crate::{Beyond, City, Geography, Plan, RangeRule};

/// The coefficients of a user's LR-OMG (Eq. 14-17): what is uploaded. Rows have no names in it;
/// columns do, because users share y (`docs/specification.md` section 9 says what that discloses).
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficients {
    /// How many relevant places.
    pub rows: usize,
    /// The reported places, ascending.
    pub columns: Vec<PlaceId>,
    /// Distances between relevant places (D over N_m x N_m), row-major, in kilometres.
    pub between: Vec<f64>,
    /// Distances from relevant to reported places (D over N_m x O_m), row-major.
    pub towards: Vec<f64>,
    /// Estimated costs C_hat over the same, priors included (Eq. 25).
    pub cost: Vec<f64>,
    /// Over the same, the factor that ties an entry to y (Eq. 18); `None` where it is free. Q is the user's to choose.
    pub ties: Vec<Option<f64>>,
}

impl Coefficients {
    /// Ties every entry by its distance: all that a server has of an upload are distances, and r_exp needs no more.
    pub fn tie(self, rule: &TieRule) -> Self {
        let ties = self.towards.iter().map(|&km| rule.factor_by_distance(km)).collect();
        Self { ties, ..self }
    }
}

/// A user's side of a round: what it keeps, and what it uploads.
#[derive(Clone, Debug, PartialEq)]
pub struct UserPart {
    /// The place m. Stays on the device.
    pub place: PlaceId,
    /// The LR set N_m in the order of the rows. Stays on the device.
    pub relevant: Vec<PlaceId>,
    /// Leaves the device.
    pub upload: Coefficients,
}

impl UserPart {
    /// LR set, range and coefficient matrices of a user.
    pub fn prepare(
        places: &Geography,
        graph: Option<&NeighbourGraph>,
        costs: &Costs<'_>,
        (plan, rule): (&Plan, &TieRule),
        place: PlaceId,
    ) -> Self {
        let relevant = relevant_places(places, graph, plan, place);
        let between = distances(places, &relevant, &relevant);
        // Row 0 is the user's own place: no report in range of any row is farther from it than this.
        let range_km = plan.radii.obfuscation;
        let widest = between[..relevant.len()].iter().copied().fold(0.0, f64::max);
        let reach_km = match plan.range {
            RangeRule::Own => range_km,
            RangeRule::Each => range_km + widest,
        };
        let near = || places.within(places.coords()[place.index()], reach_km);
        let mut columns: Vec<PlaceId> = match plan.beyond {
            Beyond::Table => PlaceId::all(places.places()).collect(),
            Beyond::Ceiling | Beyond::Nothing => near().into_iter().map(|(k, _)| k).collect(),
        };
        let mut towards = distances(places, &relevant, &columns);
        if plan.range == RangeRule::Each && plan.beyond != Beyond::Table {
            keep_in_range(&mut columns, &mut towards, range_km);
        }
        let cost = costs.estimate(places, &relevant, &columns);
        let user_km = distances(places, &[place], &columns);
        let pairs =
            relevant.iter().flat_map(|&i| columns.iter().zip(&user_km).map(move |c| (i, c)));
        let ties = pairs.zip(&towards).map(|((i, (&k, &user)), &km)| rule.factor((i, k), km, user));
        let ties = ties.collect();
        let upload = Coefficients { rows: relevant.len(), columns, between, towards, cost, ties };
        Self { place, relevant, upload }
    }
}

/// Leaves the columns in range of some row: the union of the rows' ranges, where O_m is not meant.
fn keep_in_range(columns: &mut Vec<PlaceId>, towards: &mut Vec<f64>, range_km: f64) {
    let width = columns.len();
    let mut in_range = vec![false; width];
    for row in towards.chunks_exact(width) {
        in_range.iter_mut().zip(row).for_each(|(kept, km)| *kept |= *km <= range_km);
    }
    let mut kept = in_range.iter().cycle();
    towards.retain(|_| kept.next() == Some(&true));
    let mut kept = in_range.iter();
    columns.retain(|_| kept.next() == Some(&true));
}

/// Straight distances, row-major.
fn distances(places: &Geography, from: &[PlaceId], to: &[PlaceId]) -> Vec<f64> {
    let located = |list: &[PlaceId]| -> Vec<Located> {
        list.iter().map(|v| places.coords()[v.index()].located()).collect()
    };
    let (from, to) = (located(from), located(to));
    let mut all = Vec::with_capacity(from.len() * to.len());
    for here in from {
        all.extend(to.iter().map(|&there| here.distance_km(there)));
    }
    all
}

/// No estimate between places times a prior is larger, whichever way somebody goes: a public constant.
pub fn ceiling(city: &City, tables: &[Arc<CostTable>]) -> f64 {
    let most_likely = city.prior().iter().copied().fold(0.0, f64::max);
    most_likely * tables.iter().map(|table| table.ceiling()).fold(0.0, f64::max)
}

/// Losses between rows and columns, row-major.
type Losses<'a> = dyn Fn(&[PlaceId], &[PlaceId]) -> Vec<f64> + Sync + 'a;

/// Where a user takes its costs from: the cost reference tables, or what it has downloaded of them.
pub struct Costs<'a> {
    losses: Box<Losses<'a>>,
    ceiling: f64,
}

impl<'a> Costs<'a> {
    /// The tables of a city's ways, with how often a user goes each.
    pub fn of(city: &City, tables: &'a [Arc<CostTable>], shares: Vec<f64>) -> Self {
        Self::new(ceiling(city, tables), move |rows, columns| {
            let mut sum = vec![0.0; rows.len() * columns.len()];
            for (table, share) in tables.iter().zip(&shares).filter(|(_, share)| **share > 0.0) {
                let losses = table.upper(rows, columns);
                sum.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += share * loss);
            }
            sum
        })
    }

    /// From whatever says `beta + o_i + o_k` between places, row-major; none times a prior may be
    /// larger than `ceiling`.
    pub fn new(
        ceiling: f64,
        losses: impl Fn(&[PlaceId], &[PlaceId]) -> Vec<f64> + Sync + 'a,
    ) -> Self {
        Self { losses: Box::new(losses), ceiling }
    }

    /// A public constant above every cost: what reports outside a user's range are charged.
    pub fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// `c_hat = p_i (beta + o_i + o_k)` (Eq. 25 with travel offsets), row-major.
    pub fn estimate(&self, places: &Geography, rows: &[PlaceId], columns: &[PlaceId]) -> Vec<f64> {
        let mut cost = (self.losses)(rows, columns);
        for (i, line) in rows.iter().zip(cost.chunks_exact_mut(columns.len())) {
            line.iter_mut().for_each(|c| *c *= places.prior()[i.index()]);
        }
        cost
    }
}
