//! The rival: planar Laplace noise, and then of each report the best one given the prior. It needs no optimiser.

use lrgeo_mechanism::laplace::Laplace;
use lrgeo_tiles::Epsilon;
use rayon::prelude::*;

use crate::instance::Instance;

/// Columns worked on at a time: each row of costs is then read once for so many, and their sums stay in the cache.
const TOGETHER: usize = 16;

/// What plain and remapped Laplace cost at the epsilon that the instance promises; `None` where nobody knows where its places are.
///
/// Remapping looks at a report alone, not at the place, so it keeps the promise. Report j goes to the k that costs least given j, the
/// least of `sum_i z_ij c_ik` (the prior is in the costs).
pub fn costs(instance: &Instance) -> Option<(f64, f64)> {
    let coords = instance.coords.as_ref()?;
    let epsilon = Epsilon::per_km(instance.epsilon).expect("an epsilon");
    let noise = Laplace::new(coords, epsilon).and_then(|noise| noise.matrix()).expect("noise");
    let n = coords.len();
    let mut cost = vec![0.0; n * n];
    let rows = cost.par_chunks_mut(n).enumerate();
    rows.for_each(|(i, row)| instance.problem.cost().fill_row(i, row));
    let reports: Vec<usize> = (0..n).collect();
    let remapped = reports.par_chunks(TOGETHER).map(|together| {
        let mut given = vec![0.0; together.len() * n];
        for (i, costs) in cost.chunks_exact(n).enumerate() {
            for (sums, &report) in given.chunks_exact_mut(n).zip(together) {
                let z = noise.row(i)[report];
                sums.iter_mut().zip(costs).for_each(|(sum, c)| *sum += z * c);
            }
        }
        given.chunks_exact(n).map(|sums| sums.iter().copied().fold(f64::INFINITY, f64::min)).sum()
    });
    let remapped: Vec<f64> = remapped.collect();
    let plain: f64 = cost
        .chunks_exact(n)
        .enumerate()
        .map(|(i, costs)| noise.row(i).iter().zip(costs).map(|(z, c)| z * c).sum::<f64>())
        .sum();
    Some((plain, remapped.iter().sum()))
}
