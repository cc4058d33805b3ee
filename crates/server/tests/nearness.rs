//! Reports of `local` are as near as those of `published`: the exact distance between where people are and what they
//! report, over both matrices, with the radii that a server chooses by itself.

use std::path::{Path, PathBuf};
use std::time::Instant;

use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::units::Length;
use lrgeo_map::map::Map;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::const_opt::public_y;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::rows::{Round, UserMatrix};
use lrgeo_mechanism::verify::{Verified, promised};
use lrgeo_mechanism::{City, Plan, build, by_name};
use lrgeo_server::Config;

/// Distances with their probabilities: the mean, and the radius that holds 95 %.
#[derive(Clone, Copy, Debug)]
struct Off {
    mean_km: f64,
    percentile_95_km: f64,
}

impl Off {
    /// Of the rows of some users, each as likely as another.
    fn of(city: &City, users: &[PlaceId], mut row: impl FnMut(PlaceId) -> Vec<f64>) -> Self {
        let mut all: Vec<(f64, f64)> = Vec::new();
        for &user in users {
            let far = |(k, z): (usize, f64)| (city.distance_km(user, PlaceId::at(k)), z);
            all.extend(row(user).into_iter().enumerate().map(far));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = all.iter().map(|(_, z)| z).sum();
        let mut sum = 0.0;
        let within = all.iter().find(|(_, z)| {
            sum += z;
            sum >= 0.95 * total
        });
        Self {
            mean_km: all.iter().map(|(km, z)| km * z).sum::<f64>() / total,
            percentile_95_km: within.map_or(0.0, |(km, _)| *km),
        }
    }
}

/// People drawn from the prior.
fn people(city: &City, count: usize) -> Vec<PlaceId> {
    let mut random = SplitMix::new(7);
    let one = |_| {
        let mut left = random.unit();
        let found = city.prior().iter().position(|p| {
            left -= p;
            left <= 0.0
        });
        PlaceId::at(found.unwrap_or(0))
    };
    (0..count).map(one).collect()
}

/// What phones do in mode `local` with this server's plan.
fn local(city: &City, plan: &Plan, users: &[PlaceId]) -> Off {
    let begun = Instant::now();
    let mut plan = plan.clone();
    plan.gap = Some(1e-3);
    plan.solver.time_limit = None;
    let y = public_y(city, &plan, &()).unwrap();
    println!("  public y in {:.1} s", begun.elapsed().as_secs_f64());
    let graph = geo_ind_graph(city, &plan);
    let tables = city.tables(plan.division, &()).unwrap();
    let costs = Costs::of(city, &tables, vec![1.0]);
    let ties = TieRule::of(&plan, city).unwrap();
    let begun = Instant::now();
    let off = Off::of(city, users, |user| {
        let part = UserPart::prepare(city, graph.as_deref(), &costs, (&plan, &ties), user);
        let alone =
            Programme::alone(&part.upload, &ties, plan.notion, costs.ceiling(), &y.y).unwrap();
        let solution = alone.solve(&plan).unwrap();
        let values = alone.split(&solution).remove(0);
        let own = UserMatrix { place: user, shares: Vec::new(), relevant: part.relevant, values };
        let round = Round {
            places: city.places(),
            columns: alone.columns.clone().into(),
            users: vec![own],
            ties: ties.clone(),
        };
        // One epsilon: that of the tiles, between every two rows.
        let finding = promised(&round, city.coords(), plan.epsilon, f64::INFINITY);
        assert!(finding.is_private(), "{finding:?}");
        round.spread(round.users[0].deployed())
    });
    println!("  {:.2} s per phone", begun.elapsed().as_secs_f64() / users.len() as f64);
    off
}

fn compare(name: &str, map: Map, users: usize, epsilon: &str, published: Option<&Path>) {
    let version = map.version();
    let city = City::new(map, version, UtilityKind::TravelDistance, &()).unwrap();
    let mut config = Config::default();
    config.privacy.epsilon = epsilon.into();
    let plan = config.plan(&city).unwrap();
    let built = match published {
        Some(path) => Verified::open(path, &()).unwrap().0,
        None => {
            let mut plan = Plan::new(&city, plan.epsilon);
            plan.gap = Some(0.01);
            build(by_name("published").unwrap(), &city, &plan, &()).unwrap()
        }
    };
    built.expect_map(version).unwrap();
    let users = people(&city, users);
    let tiles = Off::of(&city, &users, |user| built.row(user).unwrap().into_vec());
    println!(
        "{name}, {epsilon}, {} places, r_exp {:.2} km, r_obf {:.2} km",
        city.places(),
        plan.radii.exponential,
        plan.radii.obfuscation
    );
    let own = local(&city, &plan, &users);
    for (mode, off) in [("published", tiles), ("local", own)] {
        println!(
            "  {mode:9} {:.3} km on average, 95 % within {:.3} km",
            off.mean_km, off.percentile_95_km
        );
    }
    assert!(own.mean_km <= 1.3 * tiles.mean_km, "{own:?} {tiles:?}");
    assert!(own.percentile_95_km <= 1.3 * tiles.percentile_95_km, "{own:?} {tiles:?}");
}

#[test]
fn local_is_as_near_as_published_in_the_demo_city() {
    let map = lrgeo_show::demo::demo_map(1, Length::from_m(500.0).unwrap()).unwrap();
    compare("demo city", map.clone(), 16, "2/km", None);
    let block = map.with_places(&map.central_block(120));
    compare("its middle", block, 10, "1/km", None);
}

/// Real cities, on maps that somebody has built: `LRGEO_MAPS=reykjavik.lrmap:sf.lrmap cargo test -p lrgeo-server --test
/// nearness -- --ignored --nocapture`. A mechanism beside a map (`reykjavik.lrmech`) is taken for the published one.
#[test]
#[ignore = "needs maps of real cities"]
fn local_is_as_near_as_published_in_real_cities() {
    let maps = std::env::var_os("LRGEO_MAPS").expect("LRGEO_MAPS names maps");
    for path in std::env::split_paths(&maps) {
        let (map, _) = Map::open(&path).unwrap();
        let mechanism: PathBuf = path.with_extension("lrmech");
        let published = mechanism.exists().then_some(mechanism.as_path());
        compare(&path.display().to_string(), map, 16, "2/km", published);
    }
}
