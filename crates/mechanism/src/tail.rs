//! How far off the reports of a programme with tied entries are, and radii that keep them near.
//!
//! Entries beyond r_exp are tied to `y exp(-eps min(d, r_obf) / 2)`, which falls half as fast as Geo-Ind allows. Free
//! entries are at most what epsilon lets them be above the tied ones around them, so a row is, at its best, `exp(-eps d)`
//! up to r_exp and `exp(-eps (r_exp + min(d, r_obf)) / 2)` beyond. With a small r_exp most of that lies beyond: at 2/km,
//! r_exp = 1.06 km and r_obf = 4.25 km reports on Reykjavik were 5 km off on average. What counts is epsilon times
//! r_exp, not how many spacings it has.

use lrgeo_geo::PlaceId;
use lrgeo_tiles::Epsilon;

use crate::{Geography, Radii};

/// So much of a row may lie beyond r_exp where radii are chosen here: then reports are as near as those of a mechanism
/// without ties, within a tenth or so.
pub const SMALL_TAIL: f64 = 0.05;
/// And so much beyond r_obf, where places are many and all alike.
const SMALL_OUTSIDE: f64 = 0.01;
/// A sample of rows says as much as all of them.
const ROWS: usize = 200;

/// Distances from some places to all, ascending.
pub struct Tails {
    rows: Vec<Vec<f64>>,
    epsilon: f64,
}

impl Tails {
    /// Of a map.
    pub fn new(places: &Geography, epsilon: Epsilon) -> Self {
        let count = places.places();
        let distances = |place: usize| {
            let mut km: Vec<f64> =
                PlaceId::all(count).map(|k| places.distance_km(PlaceId::at(place), k)).collect();
            km.sort_by(f64::total_cmp);
            km
        };
        let rows = (0..count).step_by(count.div_ceil(ROWS)).map(distances).collect();
        Self { rows, epsilon: epsilon.value() }
    }

    /// The share of rows at their best that lies beyond r_exp, on average over places.
    pub fn beyond(&self, exponential_km: f64, obfuscation_km: f64) -> f64 {
        self.mean(exponential_km, obfuscation_km, exponential_km)
    }

    /// The share that lies beyond `from_km`.
    fn mean(&self, exponential_km: f64, obfuscation_km: f64, from_km: f64) -> f64 {
        let density = |km: f64| match km <= exponential_km {
            true => (-self.epsilon * km).exp(),
            false => (-self.epsilon * (exponential_km + km.min(obfuscation_km)) / 2.0).exp(),
        };
        let share = |row: &Vec<f64>| {
            let far = row.partition_point(|km| *km <= from_km);
            let beyond: f64 = row[far..].iter().map(|km| density(*km)).sum();
            beyond / (beyond + row[..far].iter().map(|km| density(*km)).sum::<f64>())
        };
        self.rows.iter().map(share).sum::<f64>() / self.rows.len() as f64
    }

    /// The least r_exp and r_obf with small tails; at worst both reach over the whole map.
    pub fn choose(&self, spacing_km: f64, radii: Radii) -> Radii {
        let widest =
            self.rows.iter().filter_map(|row| row.last()).copied().fold(spacing_km, f64::max);
        let steps = || (1..).map(|n| spacing_km / 4.0 * f64::from(n));
        let exponential = steps()
            .find(|&km| km >= widest || self.beyond(km, f64::INFINITY) <= SMALL_TAIL)
            .unwrap_or(widest);
        let obfuscation = steps()
            .find(|&km| km >= widest || self.mean(exponential, km, km) <= SMALL_OUTSIDE)
            .unwrap_or(widest)
            .max(exponential);
        Radii { exponential, obfuscation, ..radii }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lrgeo_geo::Coord;

    fn square(side: u32, spacing_km: f64) -> Geography {
        let corner = Coord::new(64.1, -21.9).unwrap();
        let at = |n: u32| {
            corner.offset_km(spacing_km * f64::from(n / side), spacing_km * f64::from(n % side))
        };
        let count = side * side;
        let prior = vec![1.0 / f64::from(count); count as usize];
        Geography::new((0..count).map(at).collect(), prior).unwrap()
    }

    const NONE: Radii =
        Radii { relevant: 1.0, relevant_max: None, exponential: 0.0, obfuscation: 0.0 };

    #[test]
    fn radii_follow_epsilon_and_not_the_spacing() {
        for (epsilon, spacing_km) in [(2.0, 0.5), (2.0, 0.25), (1.0, 0.5)] {
            let places = square(60, spacing_km);
            let tails = Tails::new(&places, Epsilon::per_km(epsilon).unwrap());
            let chosen = tails.choose(spacing_km, NONE);
            let scaled = epsilon * chosen.exponential;
            // In an endless plane the share is 5 % at 5.7/epsilon; maps end.
            assert!((4.0..6.5).contains(&scaled), "{epsilon} {spacing_km}: {chosen:?}");
            assert!(chosen.obfuscation >= chosen.exponential);
            assert!(
                tails.beyond(chosen.exponential, chosen.obfuscation) <= SMALL_TAIL + SMALL_OUTSIDE
            );
            // What was the default leaves most of a row in the tail.
            assert!(tails.beyond(2.13 * spacing_km, 8.5 * spacing_km) > 0.3);
        }
    }

    #[test]
    fn a_map_that_is_too_small_for_a_tail_has_next_to_none() {
        let places = square(4, 0.1);
        let tails = Tails::new(&places, Epsilon::per_km(0.5).unwrap());
        let chosen = tails.choose(0.1, NONE);
        let widest = 0.1 * 18f64.sqrt();
        assert!(chosen.exponential <= widest + 0.1 && chosen.obfuscation <= widest + 0.1);
        assert!(tails.beyond(chosen.exponential, chosen.obfuscation) <= SMALL_TAIL);
    }
}
