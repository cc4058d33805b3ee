//! Asked for a factor of 2 within 300 m: what two people get who are at most 300 m apart.

use lrgeo_map::geo::Coord;
use lrgeo_map::index::SpatialIndex;
use lrgeo_map::places::reach_km;
use lrgeo_map::rng::SplitMix;
use lrgeo_mechanism::{Built, Epsilon, Notion, Plan, Rows, build, by_name};
use rayon::prelude::*;

use crate::Options;
use crate::cities::{ALL, city};

/// People of one group, all within 300 m of each other.
const GROUP: usize = 100;

/// The largest factor over all pairs of coordinates, for each mechanism and city.
pub fn run(options: &Options) {
    let epsilon = 2f64.ln() / 0.3;
    let groups = options.pairs.div_ceil(GROUP * (GROUP - 1));
    let mut text = format!(
        "# Two people at most 300 m apart\n\n\
         Asked: factor 2 within 300 m. {} random groups of {GROUP} coordinates in a disc of 300 m across, every ordered pair of a group ({} pairs per row), every report.\n\n\
         | city | places | mechanism | promise | largest factor |\n|---|---|---|---|---|\n",
        groups,
        groups * GROUP * (GROUP - 1)
    );
    print!("{text}");
    for name in ALL
        .iter()
        .filter(|name| options.cities.is_empty() || options.cities.iter().any(|c| c == *name))
    {
        let Some(city) = city(name, 0.5 / epsilon, &options.data) else { continue };
        for kind in ["laplace", "laplace-places", "exp"] {
            let mut plan = Plan::new(&city, Epsilon::per_km(epsilon).expect("an epsilon"));
            plan.notion = Notion::AllPairs;
            let built =
                build(by_name(kind).expect("a kind"), &city, &plan, &()).expect("a mechanism");
            let worst = (0..groups as u64)
                .into_par_iter()
                .map(|seed| factor(&built, seed))
                .reduce(|| 0.0, f64::max);
            let promise =
                if built.guarantee.notion == Notion::Coordinates { "people" } else { "places" };
            let line =
                format!("| {name} | {} | {kind} | {promise} | {worst:.6} |\n", city.coords().len());
            print!("{line}");
            text += &line;
            std::fs::write("bench/results/coordinates-pairs.md", &text).expect("results");
        }
    }
}

/// The largest ratio of two probabilities of one report within a group.
fn factor(built: &Built, seed: u64) -> f64 {
    let mut rng = SplitMix::new(seed);
    let place = built.coords[rng.below(built.coords.len())];
    let middle = place.offset_km(rng.between(-0.1, 0.1), rng.between(-0.1, 0.1));
    let index = SpatialIndex::new(&built.coords);
    let spacing = lrgeo_map::places::spacing_km(&built.coords).unwrap_or(0.0);
    let row = |at: Coord| match &built.rows {
        Rows::Noise(noise) => noise.row_at(at),
        _ => {
            let (place, km) = index.nearest(at)?;
            (km <= reach_km(spacing)).then(|| built.row(place))?
        }
    };
    let n = built.coords.len();
    let (mut most, mut least) = (vec![0.0f64; n], vec![f64::INFINITY; n]);
    for _ in 0..GROUP {
        let radius = 0.1499 * rng.unit().sqrt();
        let (sin, cos) = (std::f64::consts::TAU * rng.unit()).sin_cos();
        let Some(row) = row(middle.offset_km(radius * sin, radius * cos)) else { continue };
        for ((z, most), least) in row.iter().zip(&mut most).zip(&mut least) {
            *most = most.max(*z);
            *least = least.min(*z);
        }
    }
    let ratios = most.iter().zip(&least).filter(|(most, _)| **most > 0.0).map(|(a, b)| a / b);
    ratios.fold(0.0, f64::max)
}
