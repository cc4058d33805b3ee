use lrgeo_geo::rng::SplitMix;

use super::*;

fn row(values: impl Into<Vec<f64>>) -> Distribution {
    Distribution::new(values.into()).unwrap()
}

#[test]
fn weights_sum_to_a_power_of_two_and_keep_every_ratio() {
    let mut rng = SplitMix::new(3);
    let random: Vec<f64> = (0..500).map(|_| (-60.0 * rng.unit()).exp()).collect();
    let sum: f64 = random.iter().sum();
    // Up to the largest row-sum error that is let through.
    let off = |by: f64| random.iter().map(|z| z / sum * (1.0 + by)).collect::<Vec<_>>();
    for row in [vec![1.0], vec![0.1, 0.2, 0.7], off(0.0), off(9e-10), off(-9e-10)] {
        let weights = weights(&self::row(row.clone())).unwrap();
        assert_eq!(weights.iter().sum::<u128>(), TOTAL);
        let scale = row.iter().sum::<f64>() / TOTAL as f64;
        for (z, weight) in row.iter().zip(&weights) {
            let moved = (*weight as f64 * scale / z - 1.0).abs();
            assert!(moved < 1e-15 + 2.0 / *weight as f64, "{z} moved by {moved}");
        }
    }
}

#[test]
fn zero_stays_zero_and_the_smallest_weight_has_a_million_units() {
    let smallest = 2f64.powi(-107);
    assert_eq!(weights(&row([0.0, 1.0, smallest])).unwrap(), [0, TOTAL - (1 << 20), 1 << 20]);
    let too_small = weights(&row([1.0, smallest / 1.001]));
    assert!(matches!(too_small, Err(DrawError::TooExtreme)), "{too_small:?}");
    assert!(weights(&row([1.0, f64::MIN_POSITIVE])).is_err());
    assert!(weights(&row([1.0 - FLOOR, FLOOR])).unwrap()[1] >= 1 << 46);
}

#[test]
fn reports_come_as_often_as_they_should() {
    let row = [0.5, 0.0, 0.2, 0.05, 0.25];
    let urn = Urn::new(&self::row(row)).unwrap();
    let mut randomness = SeededRandomness::new(11);
    let (draws, mut counts) = (200_000, [0u32; 5]);
    for _ in 0..draws {
        counts[urn.rehearse(&mut randomness)] += 1;
    }
    // Chi-square with three degrees of freedom: above 16.3 once in a thousand seeds.
    let chi2: f64 = row
        .iter()
        .zip(counts)
        .filter(|(p, _)| **p > 0.0)
        .map(|(p, n)| (f64::from(n) - p * f64::from(draws)).powi(2) / (p * f64::from(draws)))
        .sum();
    assert!(chi2 < 16.3, "chi2 = {chi2}, counts = {counts:?}");
    assert_eq!(counts[1], 0);
}

#[test]
fn every_unit_has_its_report() {
    struct Fixed(u128);
    impl Bits for Fixed {
        type Failure = DrawError;
        fn bits(&mut self) -> Result<u128, DrawError> {
            Ok(self.0)
        }
    }
    let urn = Urn::new(&row([0.0, 0.25, 0.0, 0.75, 0.0])).unwrap();
    let at = |unit: u128| urn.pick(&mut Fixed(unit << 1)).unwrap();
    let quarter = TOTAL / 4;
    assert_eq!([0, quarter - 1, quarter, TOTAL - 1].map(at), [1, 1, 3, 3]);
}

#[test]
fn the_system_gives_different_numbers_that_are_never_zero_or_one() {
    let mut system = SystemRandomness;
    assert_ne!(system.bits().unwrap(), system.bits().unwrap());
    let units: Vec<f64> = (0..1000).map(|_| system.unit().unwrap()).collect();
    assert!(units.iter().all(|u| *u > 0.0 && *u < 1.0));
}

#[test]
fn many_draws_follow_the_row_and_never_repeat_their_bits() {
    let row = [0.5, 0.25, 0.125, 0.125];
    let urn = Urn::new(&self::row(row)).unwrap();
    let mut many = ManyDraws::default();
    let mut counts = [0u32; 4];
    for _ in 0..100_000 {
        counts[urn.draw_one_of(&mut many).unwrap()] += 1;
    }
    for (count, p) in counts.iter().zip(row) {
        let expected = 100_000.0 * p;
        assert!((f64::from(*count) - expected).abs() < 5.0 * expected.sqrt(), "{counts:?}");
    }
    let mut seen: Vec<u128> = (0..5_000).map(|_| many.bits().unwrap()).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 5_000);
}
