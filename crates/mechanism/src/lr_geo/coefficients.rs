//! What a user does before uploading (sections 4.1, 4.2 and 4.5 of the paper).

use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::table::CostTable;

use crate::relevant::relevant_places;
use crate::{City, Geography, Plan, RangeRule};

/// The coefficients of a user's LR-OMG (Eq. 14-17): what is uploaded. Rows have no names in it;
/// columns do, because users share y (spec section 9 says what that discloses).
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficients {
    /// How many relevant places.
    pub rows: usize,
    /// The reported places, ascending.
    pub columns: Vec<u32>,
    /// Distances between relevant places (D over N_m x N_m), row-major, in kilometres.
    pub between: Vec<f64>,
    /// Distances from relevant to reported places (D over N_m x O_m), row-major.
    pub towards: Vec<f64>,
    /// Estimated costs C_hat over the same, priors included (Eq. 25).
    pub cost: Vec<f64>,
}

/// A user's side of a round: what it keeps, and what it uploads.
#[derive(Clone, Debug, PartialEq)]
pub struct UserPart {
    /// The place m. Stays on the device.
    pub place: u32,
    /// The LR set N_m in the order of the rows. Stays on the device.
    pub relevant: Vec<u32>,
    /// Leaves the device.
    pub upload: Coefficients,
}

impl UserPart {
    /// LR set, range and coefficient matrices of a user.
    pub fn prepare(
        places: &Geography,
        graph: Option<&NeighbourGraph>,
        costs: &Costs<'_>,
        plan: &Plan,
        place: u32,
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
        let near = places.index().within(places.coords()[place as usize], reach_km);
        let candidates: Vec<u32> = near.into_iter().map(|(k, _)| k).collect();
        let towards = distances(places, &relevant, &candidates);

        // O_m under *own*, the union of the rows' ranges under *each*.
        let rows = || towards.chunks_exact(candidates.len());
        let in_range = |k: usize| rows().any(|row| row[k] <= range_km);
        let kept: Vec<usize> = (0..candidates.len())
            .filter(|&k| plan.range == RangeRule::Own || in_range(k))
            .collect();
        let columns: Vec<u32> = kept.iter().map(|&k| candidates[k]).collect();
        let towards = rows().flat_map(|row| kept.iter().map(|&k| row[k])).collect();
        let cost = costs.estimate(places, &relevant, &columns);
        let upload = Coefficients { rows: relevant.len(), columns, between, towards, cost };
        Self { place, relevant, upload }
    }
}

/// Straight distances, row-major.
fn distances(places: &Geography, from: &[u32], to: &[u32]) -> Vec<f64> {
    from.iter().flat_map(|&i| to.iter().map(move |&k| places.distance_km(i, k))).collect()
}

/// Losses between rows and columns, row-major.
type Losses<'a> = dyn Fn(&[u32], &[u32]) -> Vec<f64> + Sync + 'a;

/// Where a user takes its costs from: the cost reference table, what it has downloaded of it, or the
/// losses themselves where they are public and need none.
pub struct Costs<'a> {
    losses: Box<Losses<'a>>,
    ceiling: f64,
}

impl<'a> Costs<'a> {
    /// The table of a city, or its losses without one.
    pub fn of(city: &'a City, table: Option<&'a CostTable>) -> Self {
        let most_likely = city.prior().iter().copied().fold(0.0, f64::max);
        let worst = table.map_or_else(|| city.utility().ceiling(), CostTable::ceiling_km);
        Self::new(most_likely * worst, move |rows, columns| match table {
            Some(table) => table.upper(rows, columns),
            None => city.utility().losses(rows, columns),
        })
    }

    /// From whatever says `beta + o_i + o_k` between places, row-major; none times a prior may be
    /// larger than `ceiling`.
    pub fn new(ceiling: f64, losses: impl Fn(&[u32], &[u32]) -> Vec<f64> + Sync + 'a) -> Self {
        Self { losses: Box::new(losses), ceiling }
    }

    /// A public constant above every cost: what reports outside a user's range are charged.
    pub fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// `c_hat = p_i (beta + o_i + o_k)` (Eq. 25 with travel offsets), row-major.
    pub fn estimate(&self, places: &Geography, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        let mut cost = (self.losses)(rows, columns);
        for (&i, line) in rows.iter().zip(cost.chunks_exact_mut(columns.len())) {
            line.iter_mut().for_each(|c| *c *= places.prior()[i as usize]);
        }
        cost
    }
}
