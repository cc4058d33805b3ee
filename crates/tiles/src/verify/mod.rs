//! Does what was published keep its promise? Checked entry by entry, with rounding against ourselves and no tolerance.
//! Nothing here is shared with the code that makes mechanisms.

pub mod coordinates;
pub mod earth;
mod finding;
mod ratio;

use lrgeo_geo::Coord;
use lrgeo_geo::parallel::*;

use crate::Epsilon;
pub use finding::{Finding, Pair};
pub use ratio::{ROUNDING, allowed, log_up, worst_ratio};

/// Rows of some places against each other, in both directions, as they are really drawn from: whole-number weights of one
/// total ([`crate::sample::weights`]). As much of the promise as somebody can check who has these rows and no others. A float
/// above each number and one below it keep the comparison on our side.
pub fn drawn(rows: Vec<Vec<u128>>, coords: &[Coord], epsilon: Epsilon, reach_km: f64) -> Finding {
    let width = rows.first().map_or(0, Vec::len);
    // Columns that nobody reports satisfy anything.
    let used: Vec<usize> = (0..width).filter(|&k| rows.iter().any(|row| row[k] > 0)).collect();
    let bounds = |row: &Vec<u128>| -> (Vec<f64>, Vec<f64>) {
        let bound = |&k: &usize| match row[k] {
            0 => (0.0, 0.0),
            weight => ((weight as f64).next_up(), (weight as f64).next_down()),
        };
        used.iter().map(bound).unzip()
    };
    let rows: Vec<(Vec<f64>, Vec<f64>)> = rows.par_iter().map(bounds).collect();
    let compare = |i: usize| {
        let mut finding = Finding::default();
        for j in (0..rows.len()).filter(|&j| j != i) {
            let km = coords[i].distance_km(coords[j]);
            if km <= reach_km {
                finding.add(Pair { at: (i as u32, j as u32), km }, &rows[i].0, &rows[j].1, epsilon);
            }
        }
        finding
    };
    (0..rows.len()).into_par_iter().map(compare).reduce(Finding::default, Finding::merge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use crate::sample::weights;

    #[test]
    fn rows_are_compared_as_they_are_drawn() {
        // Equal rows but for a scale that is let through: drawn, they are the same.
        let here = Coord::new(41.9, 12.5).unwrap();
        let coords = [here, here.offset_km(0.5, 0.0)];
        let row = |scale: f64| vec![0.3 * scale, 0.7 * scale];
        let draws = |rows: [Vec<f64>; 2]| {
            rows.map(|row| weights(&Distribution::new(row).unwrap()).unwrap()).to_vec()
        };
        let epsilon = |per_km: f64| Epsilon::per_km(per_km).unwrap();
        let scaled = draws([row(1.0 + 9e-10), row(1.0 - 9e-10)]);
        assert!(drawn(scaled, &coords, epsilon(1e-13), f64::INFINITY).worst_log_excess < 1e-14);
        // The other way round: as they stand the first entries are equal, drawn they are not.
        let equal = draws([vec![0.3, 0.7 + 9e-10], vec![0.3, 0.7 - 9e-10]]);
        let finding = drawn(equal.clone(), &coords, epsilon(1e-9), f64::INFINITY);
        assert!(!finding.is_private());
        assert!(drawn(equal, &coords, epsilon(1e-8), f64::INFINITY).is_private());
        // One violation among many entries, in either direction; and zero beside something.
        let mut rows = draws([vec![0.01; 100], vec![0.01; 100]]);
        assert!(drawn(rows.clone(), &coords, epsilon(1e-9), f64::INFINITY).is_private());
        rows[1][37] += rows[1][38] / 2;
        rows[1][38] -= rows[1][38] / 2;
        let finding = drawn(rows.clone(), &coords, epsilon(1.3), f64::INFINITY);
        assert_eq!((finding.violations, finding.pairs), (1, 2));
        rows[1][37] += rows[1][38];
        rows[1][38] = 0;
        let finding = drawn(rows, &coords, epsilon(1e9), f64::INFINITY);
        assert_eq!(finding.worst_log_excess, f64::INFINITY);
    }
}
