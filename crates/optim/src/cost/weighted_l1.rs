//! The travel error over a few targets as a cost, and what can be known of it without every entry.

use std::sync::Arc;

use super::Cost;
use super::boxes::{Boxes, Range};
use super::distance_sums::DistanceSums;
use crate::error::{self, Error, length};

/// `c_ik = p_i * sum_l q_l |s_il - t_kl|`: the expected travel error over L targets (Eq. 3-5), from
/// the travel costs of rows and columns to each target. Memory is (rows + columns) x L.
#[derive(Debug, Clone)]
pub struct WeightedL1Cost {
    row_weight: Vec<f64>,
    target_weight: Vec<f64>,
    row_features: Arc<[f64]>,
    column_features: Arc<[f64]>,
    /// The column features once more, [`STRIP`] columns at a time and target by target within a
    /// strip, so that a row of costs is made in whole registers.
    strips: Arc<[[f64; STRIP]]>,
    boxes: Arc<Boxes>,
}

/// Columns whose costs are summed side by side; the last strip is filled up with zeros.
const STRIP: usize = 32;

impl WeightedL1Cost {
    /// `row_features` is rows x targets, `column_features` columns x targets, both row-major; they
    /// may be the same shared array.
    pub fn new(
        row_weight: Vec<f64>,
        target_weight: Vec<f64>,
        row_features: Arc<[f64]>,
        column_features: Arc<[f64]>,
    ) -> Result<Self, Error> {
        let targets = target_weight.len();
        if row_weight.is_empty() || column_features.is_empty() {
            return Err(Error::Empty { field: "cost" });
        }
        if targets == 0 {
            return Err(Error::Empty { field: "cost.target_weight" });
        }
        length("cost.row_features", &[], row_weight.len() * targets, row_features.len())?;
        if !column_features.len().is_multiple_of(targets) {
            let expected = column_features.len().div_ceil(targets) * targets;
            length("cost.column_features", &[], expected, column_features.len())?;
        }
        let mut strips = Vec::with_capacity(column_features.len().div_ceil(STRIP) + targets);
        for columns in column_features.chunks(STRIP * targets) {
            for l in 0..targets {
                let mut strip = [0.0; STRIP];
                for (slot, features) in strip.iter_mut().zip(columns.chunks_exact(targets)) {
                    *slot = features[l];
                }
                strips.push(strip);
            }
        }
        let boxes = Arc::new(Boxes::new(&column_features, &target_weight));
        let strips = strips.into();
        Ok(Self { row_weight, target_weight, row_features, column_features, strips, boxes })
    }

    /// The travel costs of a row to every target.
    pub fn row_features(&self, row: usize) -> &[f64] {
        &self.row_features[row * self.target_weight.len()..][..self.target_weight.len()]
    }

    /// The travel costs of a column to every target.
    pub fn column_features(&self, column: usize) -> &[f64] {
        &self.column_features[column * self.target_weight.len()..][..self.target_weight.len()]
    }

    /// The prior of every row.
    pub fn row_weight(&self) -> &[f64] {
        &self.row_weight
    }
}

impl Cost for WeightedL1Cost {
    fn rows(&self) -> usize {
        self.row_weight.len()
    }

    fn columns(&self) -> usize {
        self.column_features.len() / self.target_weight.len()
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let (s, t) = (self.row_features(row), self.column_features(column));
        let mut sum = 0.0;
        for ((q, s), t) in self.target_weight.iter().zip(s).zip(t) {
            sum += q * (s - t).abs();
        }
        self.row_weight[row] * sum
    }

    /// Each cost is summed over the targets in the same order as by `at`, so the numbers are the
    /// same, on every processor.
    fn fill_row(&self, row: usize, out: &mut [f64]) {
        let (weight, features) = (self.row_weight[row], self.row_features(row));
        let targets = self.target_weight.len();
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for (out, strips) in out.chunks_mut(STRIP).zip(self.strips.chunks_exact(targets)) {
                    let mut sum = [0.0; STRIP];
                    for ((q, s), strip) in self.target_weight.iter().zip(features).zip(strips) {
                        for (sum, t) in sum.iter_mut().zip(strip) {
                            *sum += q * (s - t).abs();
                        }
                    }
                    for (out, sum) in out.iter_mut().zip(sum) {
                        *out = weight * sum;
                    }
                }
            },
        );
    }

    /// Whole boxes of columns are passed over. Rounding is monotone: summed in the same order, the least cost of a box is at
    /// most that of any of its columns, in `f64` too.
    fn columns_below(&self, row: usize, limit: f64, found: &mut Vec<(u32, f64)>) {
        let (weight, features) = (self.row_weight[row], self.row_features(row));
        let least = |ranges: &[Range]| {
            let mut sum = 0.0;
            for ((q, s), range) in self.target_weight.iter().zip(features).zip(ranges) {
                sum += q * range.distance(*s);
            }
            weight * sum
        };
        self.boxes.visit(
            |ranges| least(ranges) < limit,
            |columns| {
                let costs = columns.iter().map(|&k| (k, self.at(row, k as usize)));
                found.extend(costs.filter(|&(_, cost)| cost < limit));
            },
        );
    }

    fn row_sums(&self, is_chosen: &[bool]) -> Option<Vec<f64>> {
        let targets = self.target_weight.len();
        let mut sums = vec![0.0; self.rows()];
        for (l, q) in self.target_weight.iter().enumerate() {
            let of_columns = self.column_features.iter().skip(l).step_by(targets);
            let chosen = of_columns.zip(is_chosen).filter(|(_, chosen)| **chosen);
            let distances = DistanceSums::to(chosen.map(|(t, _)| *t).collect());
            let of_rows = self.row_features.iter().skip(l).step_by(targets);
            sums.iter_mut().zip(of_rows).for_each(|(sum, &s)| *sum += q * distances.from(s));
        }
        sums.iter_mut().zip(&self.row_weight).for_each(|(sum, p)| *sum *= p);
        Some(sums)
    }

    fn restricted(&self, places: &[u32]) -> Option<Box<dyn Cost>> {
        let weight = places.iter().map(|&i| self.row_weight[i as usize]).collect();
        let rows = places.iter().flat_map(|&i| self.row_features(i as usize)).copied().collect();
        let columns =
            places.iter().flat_map(|&k| self.column_features(k as usize)).copied().collect();
        let cost = Self::new(weight, self.target_weight.clone(), rows, columns).ok()?;
        Some(Box::new(cost))
    }

    fn validate(&self) -> Result<(), Error> {
        let fields: [(&'static str, &[f64]); 4] = [
            ("cost.row_weight", &self.row_weight),
            ("cost.target_weight", &self.target_weight),
            ("cost.row_features", &self.row_features),
            ("cost.column_features", &self.column_features),
        ];
        for (field, values) in fields {
            for (index, &value) in values.iter().enumerate() {
                error::cost(field, &[index], value)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Features on few different values, so that many are equal; some weights zero.
    fn tied_cost(rows: usize, columns: usize, targets: usize, seed: u64) -> WeightedL1Cost {
        let mut state = seed;
        let mut random = move |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let mut numbers = |n: usize, most: u64| -> Vec<f64> {
            (0..n).map(|_| random(most) as f64 * 0.37).collect()
        };
        let (p, q) = (numbers(rows, 4), numbers(targets, 3));
        let (s, t) = (numbers(rows * targets, 40), numbers(columns * targets, 40));
        WeightedL1Cost::new(p, q, s.into(), t.into()).unwrap()
    }

    #[test]
    fn columns_below_a_limit_are_those_of_the_plain_pass() {
        for (seed, (rows, columns, targets)) in
            [(40, 1, 2), (40, 33, 1), (30, 500, 2), (30, 1000, 3), (20, 700, 20)]
                .into_iter()
                .enumerate()
        {
            let cost = tied_cost(rows, columns, targets, seed as u64 + 1);
            let (mut found, mut costs) = (Vec::new(), vec![0.0; columns]);
            for i in 0..rows {
                cost.fill_row(i, &mut costs);
                let mut sorted = costs.clone();
                sorted.sort_by(f64::total_cmp);
                // Limits that are costs themselves, and numbers next to them.
                for limit in
                    [sorted[0], sorted[columns / 10], sorted[columns / 2], sorted[columns - 1]]
                {
                    for limit in [0.0, limit.next_down(), limit, limit.next_up()] {
                        found.clear();
                        cost.columns_below(i, limit, &mut found);
                        found.sort_by_key(|&(k, _)| k);
                        let plain = (0..).zip(costs.iter().copied()).filter(|&(_, c)| c < limit);
                        assert_eq!(
                            found,
                            plain.collect::<Vec<(u32, f64)>>(),
                            "row {i} below {limit}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn sums_of_rows_are_those_of_their_entries() {
        for (seed, (rows, columns, targets)) in
            [(40, 1, 2), (30, 500, 2), (20, 700, 20)].into_iter().enumerate()
        {
            let cost = tied_cost(rows, columns, targets, seed as u64 + 9);
            for every in [1, 2, 7, columns + 1] {
                let chosen: Vec<bool> = (0..columns).map(|k| (k + 1) % every == 0).collect();
                let sums = cost.row_sums(&chosen).unwrap();
                for (i, sum) in sums.into_iter().enumerate() {
                    let entries = (0..columns).filter(|&k| chosen[k]).map(|k| cost.at(i, k));
                    let plain: f64 = entries.sum();
                    assert!((sum - plain).abs() <= 1e-12 * plain, "row {i}: {sum}, not {plain}");
                }
            }
        }
    }

    #[test]
    fn a_row_of_travel_errors_is_the_same_numbers_as_its_entries() {
        // More columns than a strip, and not a multiple of one.
        let (rows, columns, targets) = (3, 75, 7);
        let spread = |n: usize, step: f64| (0..n).map(move |v| (step * v as f64).sin().abs() * 9.0);
        let cost = WeightedL1Cost::new(
            vec![0.2, 0.5, 0.3],
            spread(targets, 0.7).collect(),
            spread(rows * targets, 1.3).collect(),
            spread(columns * targets, 0.37).collect(),
        )
        .unwrap();
        let mut row = vec![0.0; columns];
        for i in 0..rows {
            cost.fill_row(i, &mut row);
            for (k, &value) in row.iter().enumerate() {
                assert_eq!(value, cost.at(i, k), "row {i}, column {k}");
            }
        }
    }
}
