//! Column generation over sparse rays, all columns and rows at once.
//!
//! Each iteration takes one Newton step of the master, prices every column at the new duals, and
//! moves the duals back to where (nearly) all columns price out. That repaired point is the
//! lower bound and the stabilisation centre at once: the next step starts from it, so new rays find
//! duals that they do not cut off, and the steps stay long.

use super::closed_form;
use super::columns::Columns;
use super::dual;
use super::glue::Glue;
use super::master::Master;
use super::rays::WeightedColumns;
use super::start::Start;
use super::tile::{Task, TileColumn, TileSolution};
use super::tuning::TUNING;
use super::view::{Stopped, View};

/// Column generation in progress.
pub(crate) struct ColumnGeneration {
    columns: Columns,
    master: Master,
    /// The stabilisation centre and its estimated bound.
    centre: Vec<f64>,
    centre_bound: f64,
    /// The best centre so far with its bound: where weights are uneven, later ones may be worse for a while.
    best: (f64, Vec<f64>),
    /// How far from the centre towards the master's duals to price: 1 unless that went astray.
    reach: f64,
    /// What each dual must not exceed.
    ceiling: Vec<f64>,
    /// How well columns are priced, relative to their weight.
    precision: f64,
}

/// How well to price on the way to a gap.
fn precision(gap: f64) -> f64 {
    (TUNING.pricing_precision * gap).clamp(dual::PRECISION, TUNING.least_precision)
}

impl ColumnGeneration {
    /// Starts from the closed form where its duals are near the optimum, and afresh where they are not.
    pub(crate) fn begin(view: &View<'_>, task: Task) -> Result<Self, Stopped> {
        let mut columns = Columns::new(view, TUNING.window_radius)?;
        let mut mu = closed_form::dual(view, &columns)?;
        if !closed_form::is_near(&columns, &mu) {
            drop(columns);
            if let Some(fresh) = Self::afresh(view, task.radius, task.gap)? {
                return Ok(fresh);
            }
            columns = Columns::new(view, TUNING.window_radius)?;
        }
        dual::repair(view, &mut columns, &mut mu, task.gap)?;
        let columns = columns.with_shortest_path_rays(1.0);
        let weights = closed_form::weights(view, &columns)?;
        Self::new(view, columns, &weights, &mu, task.gap)
    }

    /// Starts from the closed form: weights `x` of the shortest-path rays, which `columns` holds,
    /// and the duals of a proven bound. Pricing is as good as the gap that is wanted asks for.
    pub(crate) fn new(
        view: &View<'_>,
        mut columns: Columns,
        x: &[f64],
        mu: &[f64],
        gap: f64,
    ) -> Result<Self, Stopped> {
        let precision = precision(gap);
        let cost: f64 = columns.ray_costs().iter().zip(x).map(|(c, x)| c * x).sum();
        let gap = (cost - mu.iter().sum::<f64>()).max(1e-4 * cost);
        let barrier = gap / view.rows() as f64;
        let mut master =
            Master::new(view, &columns, x, mu.to_vec(), TUNING.first_barrier * barrier);
        if x.contains(&0.0) {
            // The closed form is not feasible: give the master columns that are.
            master.add_feasible_columns(&columns);
        }
        // The rays that bind at mu have a reduced cost near zero, not below it.
        let reduced = columns.price(view, mu, dual::PRECISION)?;
        let binding: Vec<f64> = reduced.iter().map(|r| r - 0.1 * barrier).collect();
        master.add_rays(&columns, &binding, 0.0);
        let centre_bound = mu.iter().sum();
        let ceiling = vec![f64::INFINITY; mu.len()];
        Ok(Self {
            columns,
            master,
            centre: mu.to_vec(),
            centre_bound,
            best: (centre_bound, mu.to_vec()),
            reach: 1.0,
            ceiling,
            precision,
        })
    }

    /// Starts from the master's own smooth duals, where the closed form is no good; `None` if they are no
    /// better, which the first iteration shows.
    pub(crate) fn afresh(view: &View<'_>, radius: f64, gap: f64) -> Result<Option<Self>, Stopped> {
        let precision = precision(gap);
        let Start { columns, master, ceiling } = Start::new(view, radius)?;
        // No cost is negative, so zero is feasible.
        let centre = vec![0.0; view.rows()];
        let best = (0.0, centre.clone());
        let (centre_bound, reach) = (0.0, 1.0);
        let mut fresh =
            Self { columns, master, centre, centre_bound, best, reach, ceiling, precision };
        let promised = fresh.iterate(view)?;
        Ok((promised < TUNING.hopeless_start).then_some(fresh))
    }

    /// Goes on from what tiles have found: duals, trees, and rays with weights.
    pub(crate) fn glued(view: &View<'_>, glue: Glue, gap: f64) -> Result<Self, Stopped> {
        let Glue { windows, mut mu, tree, rays } = glue;
        let mut columns = Columns::with_trees(view, windows, tree)?;
        let barrier = gap * mu.iter().sum::<f64>() / view.rows() as f64;
        let mut master = Master::from_rays(view, &columns, rays, barrier);
        dual::repair(view, &mut columns, &mut mu, 0.1 * gap)?;
        master.recentre(&columns, mu.clone());
        let bound = mu.iter().sum();
        Ok(Self {
            columns,
            master,
            centre: mu.clone(),
            centre_bound: bound,
            best: (bound, mu),
            reach: 1.0,
            ceiling: vec![f64::INFINITY; view.rows()],
            precision: precision(gap),
        })
    }

    /// What a tile contributes to the whole.
    pub(crate) fn into_tile(self, view: &View<'_>, core: &[u32]) -> Result<TileSolution, Stopped> {
        let windows = &self.columns.windows;
        let weights = self.master.projected(view, windows, TUNING.tile_row_sums)?;
        let column = |&k: &u32| {
            let (k, list) = (k as usize, &self.master.rays.columns[k as usize]);
            TileColumn {
                rows: windows.of(k).rows.to_vec(),
                tree: self.columns.tree[windows.range(k)].iter().map(|l| l.number()).collect(),
                rays: (0..list.len()).flat_map(|r| list.ray(r)).copied().collect(),
                weights: weights[k].clone(),
            }
        };
        Ok(TileSolution { columns: core.iter().map(column).collect(), mu: self.best.1 })
    }

    /// One iteration. Returns the gap that it promises between what the weights will cost once their row sums are exact and what
    /// the repaired duals should prove.
    pub(crate) fn iterate(&mut self, view: &View<'_>) -> Result<f64, Stopped> {
        let Self { columns, master, centre, centre_bound, best, reach, ceiling, precision } = self;
        master.step(view, columns, TUNING.centring)?;
        // The central path lies below the optimum by the sum of all complementarities: no centre is
        // rejected for that.
        let path = 2.0 * master.barrier() * master.rays.len() as f64;
        let size = centre_bound.abs();
        let acceptable = *centre_bound - path.clamp(TUNING.astray * size, TUNING.far_astray * size);
        let tolerance = 1e-3 * master.barrier();
        let reduced = loop {
            let between = |(c, m): (&f64, &f64)| c + *reach * (m - c);
            let trial = centre.iter().zip(&master.mu).map(between);
            let trial: Vec<f64> = trial.zip(&*ceiling).map(|(m, &most)| m.min(most)).collect();
            let reduced = columns.price(view, &trial, *precision)?;
            let lowered = dual::cover(columns, &reduced);
            master.add_rays(columns, &reduced, tolerance);
            let trial: Vec<f64> = trial.iter().zip(&lowered).map(|(m, p)| m - p).collect();
            // Once more where the duals are now: a bound that is nearly true, and a second ray of every column that needs it.
            let reduced = columns.price(view, &trial, *precision)?;
            let lowered = dual::cover(columns, &reduced);
            let bound = trial.iter().sum::<f64>() - lowered.iter().sum::<f64>();
            if bound >= acceptable || *reach < TUNING.least_reach {
                (*centre, *centre_bound) = (trial, bound);
                break reduced;
            }
            *reach *= 0.3;
        };
        *reach = (2.0 * *reach).min(1.0);
        master.recentre(columns, centre.clone());
        master.add_rays(columns, &reduced, tolerance);
        master.drop_rays();
        if *centre_bound > best.0 {
            *best = (*centre_bound, centre.clone());
        }
        let cost = master.settled_cost(columns);
        Ok((cost - best.0) / cost)
    }

    /// The bound that the present centre or the best one proves after another repair, to `enough` of it.
    pub(crate) fn prove(
        &mut self,
        view: &View<'_>,
        enough: f64,
    ) -> Result<(Vec<f64>, dual::Proof), Stopped> {
        let mut prove = |mut mu: Vec<f64>| {
            dual::repair(view, &mut self.columns, &mut mu, enough)?;
            let proof = dual::prove(view, &self.columns, &mu)?;
            Ok((mu, proof))
        };
        let present = prove(self.centre.clone())?;
        if self.best.0 <= self.centre_bound {
            return Ok(present);
        }
        let best = prove(self.best.1.clone())?;
        Ok(if best.1.bound > present.1.bound { best } else { present })
    }

    /// The columns of a matrix with exact row sums, for arcs shortened by `shrink`: from now on the rays are of those arcs.
    pub(crate) fn matrix(
        &mut self,
        view: &View<'_>,
        shrink: f64,
    ) -> Result<WeightedColumns, Stopped> {
        let Self { columns, master, .. } = self;
        let matrix = master.matrix(view, &columns.windows, shrink)?;
        master.take_costs(columns);
        Ok(matrix)
    }

    /// As [`Self::matrix`], at the end: what only pricing needs is freed first.
    pub(crate) fn into_matrix(
        self,
        view: &View<'_>,
        shrink: f64,
    ) -> Result<WeightedColumns, Stopped> {
        let Self { columns: Columns { windows, .. }, mut master, .. } = self;
        master.matrix(view, &windows, shrink)
    }

    /// Number of rays in the master.
    pub(crate) fn rays(&self) -> usize {
        self.master.rays.len()
    }
}
