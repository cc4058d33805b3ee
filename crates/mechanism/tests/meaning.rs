//! What an epsilon means, said in words and measured on rows.

mod common;

use common::{grid, per_km};
use lrgeo_geo::spacing::spacing_km;
use lrgeo_mechanism::MechanismError;
use lrgeo_mechanism::exponential::{Exponential, Score};
use lrgeo_mechanism::laplace::Laplace;
use lrgeo_mechanism::meaning::{Meaning, Warning};
use lrgeo_tiles::{Epsilon, Notion};

#[test]
fn the_numbers_follow_from_epsilon_and_spacing() {
    let epsilon: Epsilon = "factor 2 within 300 m".parse().unwrap();
    let meaning = Meaning::new(epsilon, 0.5).unwrap();
    assert!((meaning.radius_of_factor_km(2.0) - 0.3).abs() < 1e-12);
    assert!((meaning.neighbour_factor() - 2f64.powf(5.0 / 3.0)).abs() < 1e-9);
    // Twice 0.72 spacings: as far as two people may be from their places.
    assert!((meaning.off_grid_factor() - 2f64.powf(5.0 / 3.0 * 1.44)).abs() < 1e-9);
    // Planar Laplace: (1 + s) e^-s = 0.05 at the error radius.
    let s = meaning.error_radius_km() * epsilon.value();
    assert!(((1.0 + s) * (-s).exp() - 0.05).abs() < 1e-12);
    assert!(matches!(meaning.warnings()[..], [Warning::BetweenPlaces { .. }]));
    // 500 m are coarse for that, and the warning says what would not be; 220 m are not.
    assert!(meaning.warnings()[0].to_string().contains("cells of 220 m"));
    let finer = Meaning::new(epsilon, 0.22).unwrap().warnings()[0].to_string();
    assert!(!finer.contains("cells of"), "{finer}");
    // Between people that is not 2: they may be anywhere around their places. Between coordinates it is.
    assert!((meaning.factor_between_people(0.3) - 2.0 * meaning.off_grid_factor()).abs() < 1e-9);
    assert_eq!(meaning.protected_radius_km(), 0.0);
    let people = meaning.with_notion(Notion::Coordinates);
    assert!((people.factor_between_people(0.3) - 2.0).abs() < 1e-12);
    assert!((people.protected_radius_km() - 0.3).abs() < 1e-12 && people.warnings().is_empty());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Meaning::new(epsilon, bad).is_err());
    }
}

#[test]
fn rows_are_measured_as_by_hand() {
    let places = grid(7, 0.4);
    let prior: Vec<f64> = (0..49).map(|i| f64::from(i % 5)).collect();
    let mechanism = Exponential::new(&places, Score::Distance, per_km(3.0));
    let meaning = Meaning::new(per_km(3.0), 0.4).unwrap();
    let meaning = meaning.with_rows(&places, &prior, &|i| mechanism.row(i)).unwrap();
    let observed = meaning.observed.unwrap();

    let total: f64 = prior.iter().sum();
    let joint = |i: usize, k: usize| prior[i] / total * mechanism.row(i).unwrap()[k];
    let best = |k: usize| (0..49).map(|i| joint(i, k)).fold(0.0, f64::max);
    assert!((observed.hit_rate - (0..49).map(best).sum::<f64>()).abs() < 1e-12);
    assert!((observed.blind_hit_rate - 4.0 / total).abs() < 1e-12);

    let pairs = (0..49).flat_map(|i| (0..49).map(move |k| (i, k)));
    let mut reports: Vec<(f64, f64)> =
        pairs.map(|(i, k)| (places[i].distance_km(places[k]), joint(i, k))).collect();
    reports.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    let (radius, _) = reports
        .into_iter()
        .find(|(_, weight)| {
            sum += weight;
            sum >= 0.95
        })
        .unwrap();
    assert!((radius..radius + 0.001).contains(&observed.error_radius_km), "{radius} {observed:?}");
    assert_eq!(meaning.error_radius_km(), observed.error_radius_km);
}

#[test]
fn the_settings_of_the_paper_are_warned_about() {
    // `docs/specification.md` section 9: at 0.47 km, eps = 10/km is nearly no privacy.
    let places = grid(12, 0.47);
    let prior = vec![1.0; places.len()];
    let of = |epsilon: f64| {
        let laplace = Laplace::new(&places, per_km(epsilon)).unwrap();
        let meaning = Meaning::new(per_km(epsilon), spacing_km(&places).unwrap()).unwrap();
        meaning.with_rows(&places, &prior, &|i| laplace.row(i)).unwrap()
    };
    let warnings = of(10.0).warnings();
    assert!(matches!(
        warnings[..],
        [
            Warning::BetweenPlaces { .. },
            Warning::NearlyNoPrivacy { .. },
            Warning::EasilyGuessed { .. }
        ]
    ));
    assert!(matches!(of(2.0).warnings()[..], [Warning::BetweenPlaces { .. }]));
    let warnings = of(0.001).warnings();
    assert!(
        matches!(warnings[..], [Warning::BetweenPlaces { .. }, Warning::NothingLocal { .. }]),
        "{warnings:?}"
    );
    let without_rows = Meaning::new(per_km(0.001), 0.47).unwrap().warnings();
    assert!(matches!(
        without_rows[..],
        [Warning::BetweenPlaces { .. }, Warning::NothingLocal { .. }]
    ));
}

#[test]
fn the_text_is_short_and_says_what_was_looked_at() {
    let places = grid(5, 0.5);
    let meaning = Meaning::new(per_km(2.0), 0.5).unwrap();
    let text = meaning.to_string();
    assert_eq!(text.lines().count(), 5);
    for part in ["epsilon x spacing 1.00", "347 m", "factor of 2.7", "planar Laplace", "2.37 km"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let mechanism = Exponential::new(&places, Score::Distance, per_km(2.0));
    let text = meaning.with_rows(&places, &[0.04; 25], &|i| mechanism.row(i)).unwrap().to_string();
    assert!(text.contains("4.0 % without the report") && !text.contains("Laplace"), "{text}");
    let warning = Warning::NearlyNoPrivacy { neighbour_factor: 109.9 }.to_string();
    assert!(warning.contains("109.9 times"), "{warning}");
}

#[test]
fn priors_and_rows_that_do_not_fit_are_refused() {
    let places = grid(3, 0.5);
    let meaning = Meaning::new(per_km(2.0), 0.5).unwrap();
    let uniform = |_: usize| Ok(vec![1.0 / 9.0; 9]);
    for prior in [vec![1.0; 8], vec![0.0; 9], vec![f64::NAN; 9], vec![-1.0; 9]] {
        assert!(meaning.with_rows(&places, &prior, &uniform).is_err(), "{prior:?}");
    }
    assert!(meaning.with_rows(&places, &[1.0; 9], &|_| Ok(vec![1.0])).is_err());
    let failing = |_: usize| Err(MechanismError::TooExtreme);
    assert!(meaning.with_rows(&places, &[1.0; 9], &failing).is_err());
    let blind = meaning.with_rows(&places, &[1.0; 9], &uniform).unwrap();
    assert!(matches!(
        blind.warnings()[..],
        [Warning::BetweenPlaces { .. }, Warning::NothingLocal { .. }]
    ));
}
