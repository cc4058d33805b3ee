//! Where column generation begins when the closed form is far from the optimum.
//!
//! The exact duals of the closed form swing where costs are uneven, and rays priced at them grow without
//! measure. So the master itself finds the first duals, from rays that need no pricing: a few interior
//! steps, which end well inside, where duals are smooth.

use rayon::prelude::*;

use super::columns::Columns;
use super::drawn::Drawn;
use super::master::Master;
use super::tuning::TUNING;
use super::view::{Stopped, View};
use super::window::Windows;
use crate::cone::Dijkstra;

/// Columns, a master with smooth duals, and what those duals must not exceed.
pub(crate) struct Start {
    pub(crate) columns: Columns,
    pub(crate) master: Master,
    pub(crate) ceiling: Vec<f64>,
}

impl Start {
    /// First duals on small windows say which rows each column draws to; the windows then reach `radius`
    /// beyond those.
    pub(crate) fn new(view: &View<'_>, radius: f64) -> Result<Self, Stopped> {
        let small = Columns::new(view, TUNING.first_radius.min(radius))?;
        let mu = smooth_master(view, &small)?.mu;
        drop(small);
        let drawn = Drawn::at(view, &mu)?;
        let columns = Columns::on(view, Windows::around(view, &drawn, radius)?)?;
        let master = smooth_master(view, &columns)?;
        Ok(Self { columns, master, ceiling: drawn.ceiling })
    }
}

/// A few interior steps over the columns' own rays, those of the exponential mechanism, and guests.
fn smooth_master(view: &View<'_>, columns: &Columns) -> Result<Master, Stopped> {
    let n = view.rows();
    let mass = columns.transposed_product(&vec![1.0; n]);
    let x: Vec<f64> = mass.iter().map(|mass| mass.recip()).collect();
    let cost: f64 = columns.ray_costs().iter().zip(&x).map(|(cost, x)| cost * x).sum();
    // No cost is negative, so zero duals are feasible.
    let mut master = Master::new(
        view,
        columns,
        &x,
        vec![0.0; n],
        TUNING.start_complementarity * cost / n as f64,
    );
    master.add_feasible_columns(columns);
    add_guests(view, columns, &mut master)?;
    for _ in 0..TUNING.start_steps {
        master.step(view, columns, TUNING.start_centring)?;
    }
    Ok(master)
}

/// Adds, for every row whose own column is a bad host, its shortest-path ray in the column of a near row
/// that hosts it best.
///
/// A place that is hard to reach is dear to report for everyone around it, so its own column is hardly
/// used, and without another host its dual would be beyond measure.
fn add_guests(view: &View<'_>, columns: &Columns, master: &mut Master) -> Result<(), Stopped> {
    let barrier = master.barrier();
    let windows = &columns.windows;
    let guests: Vec<Option<Guest>> = (0..view.rows())
        .into_par_iter()
        .map_init(
            || (Dijkstra::new(view.rows()), vec![0.0f32; view.rows()]),
            |(dijkstra, value), i| {
                view.proceed()?;
                Ok(Guest::of(view, windows, i, dijkstra, value))
            },
        )
        .collect::<Result<_, Stopped>>()?;
    for (i, guest) in guests.into_iter().enumerate() {
        if let Some(Guest { host, ray }) = guest {
            let costs = &columns.cost[windows.range(host as usize)];
            let cost = ray.iter().zip(costs).map(|(&z, c)| f64::from(z) * c).sum();
            let own = &mut master.rays.columns[i].x[0];
            *own *= 0.5;
            let x = *own;
            master.rays.columns[host as usize].push(&ray, cost, x, barrier / x);
        }
    }
    Ok(())
}

/// A row's shortest-path ray in another row's column.
struct Guest {
    host: u32,
    ray: Vec<f32>,
}

impl Guest {
    /// The best host of row `i`; `None` if that is its own column. `value` is zero, before and after.
    fn of(
        view: &View<'_>,
        windows: &Windows,
        i: usize,
        dijkstra: &mut Dijkstra,
        value: &mut [f32],
    ) -> Option<Self> {
        let (mut rows, mut distance) = (Vec::new(), Vec::new());
        let seed = std::iter::once((i as u32, 0.0));
        dijkstra.run(&view.graph, seed, TUNING.guest_radius, |j, d, _| {
            rows.push(j);
            distance.push(d);
        });
        let near = distance.partition_point(|&d| d <= TUNING.host_radius);
        let mut costs = vec![0.0; near];
        let mut total = |k: u32| {
            view.gather_costs(k as usize, &rows[..near], &mut costs);
            costs.iter().zip(&distance).map(|(c, d)| c * (-d).exp()).sum::<f64>()
        };
        let hosts = rows.iter().take(TUNING.hosts).map(|&k| (k, total(k)));
        let (host, _) = hosts.min_by(|a, b| a.1.total_cmp(&b.1))?;
        if host as usize == i {
            return None;
        }
        rows.iter().zip(&distance).for_each(|(&j, d)| value[j as usize] = (-d).exp() as f32);
        let ray = windows.of(host as usize).rows.iter().map(|&j| value[j as usize]).collect();
        rows.iter().for_each(|&j| value[j as usize] = 0.0);
        Some(Self { host, ray })
    }
}
