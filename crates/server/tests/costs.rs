//! Costs of one's own: what is published and what rounds find is cheap by them, and what they cannot be is refused.

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{Running, Scratch, Users, config, map};
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::utility::LossMatrix;
use lrgeo_mechanism::verify::by_distance;
use lrgeo_mechanism::{Built, City};
use lrgeo_protocol::path;
use lrgeo_server::{Catalogue, Config, Home};
use lrgeo_tiles::Epsilon;

const PLACES: usize = 30;

/// Only how far north a report is off costs anything, and the square of it: no street network says that.
fn northing() -> Vec<f64> {
    let coords: Vec<Coord> = map(PLACES).coords();
    let cost = |i: &Coord, k: &Coord| (100.0 * (i.lat() - k.lat())).powi(2);
    coords.iter().flat_map(|i| coords.iter().map(move |k| cost(i, k))).collect()
}

fn write(path: &Path, costs: &[f64]) -> PathBuf {
    let lines: Vec<String> = costs
        .chunks(PLACES)
        .map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
        .collect();
    std::fs::write(path, lines.join("\n")).unwrap();
    path.to_owned()
}

/// Rounds of two, and what a wrong report costs.
fn with_utility(utility: &str) -> Config {
    let mut config = config(2);
    config.utility = utility.to_owned();
    config
}

fn with_costs(file: &Path) -> Config {
    with_utility(&file.display().to_string())
}

/// The mechanism that the server computed for its tiles.
fn published(data: &Path) -> Built {
    let maps: Vec<PathBuf> =
        std::fs::read_dir(data.join("maps")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [folder] = maps.as_slice() else { panic!("one folder: {maps:?}") };
    Built::open(&folder.join("mechanism.lrmech")).unwrap().0
}

/// What the rows of a mechanism cost somebody anywhere.
fn cost(built: &Built, losses: &[f64]) -> f64 {
    let row = |place: usize| {
        let row = built.row(PlaceId::at(place)).unwrap();
        let expected = row.iter().zip(&losses[place * PLACES..]).map(|(z, loss)| z * loss);
        built.prior[place] * expected.sum::<f64>()
    };
    (0..PLACES).map(row).sum()
}

#[test]
fn the_tiles_and_the_rounds_of_a_server_are_cheap_by_the_operators_own_costs() {
    let scratch = Scratch::new();
    let losses = northing();
    let config = with_costs(&write(&scratch.0.join("costs.csv"), &losses));
    let data = scratch.0.join("own");
    let server = Running::start(map(PLACES), &data, &config);
    let own = published(&data);
    let other = Scratch::new();
    drop(Running::start(map(PLACES), &other.0, &common::config(2)));
    let travel = published(&other.0);
    let (own_cost, travel_cost) = (cost(&own, &losses), cost(&travel, &losses));
    assert!((own.expected_cost - own_cost).abs() <= 1e-9 * own_cost, "that is its account");
    assert!(own_cost < 0.9 * travel_cost, "{own_cost} where kilometres give {travel_cost}");

    // Rounds: two users who know the costs from the server's table.
    let map = map(PLACES);
    let version = map.version();
    let utility = Arc::new(LossMatrix::new(PLACES, losses.clone()).unwrap());
    let city = City::with_utility(map, version, utility).unwrap();
    let plan = config.plan(&city).unwrap();
    let users = Users { city, plan };
    let joined = [3, 12].map(|place| {
        let upload = users.upload(place);
        let ticket = server.join(&upload);
        (upload, ticket)
    });
    for (upload, ticket) in &joined {
        let matrix = server.matrix(ticket);
        let rows: Vec<&[f64]> = matrix.values.chunks_exact(matrix.columns.len()).collect();
        let km = |i: usize, j: usize| upload.between[i * rows.len() + j];
        let epsilon = Epsilon::per_km(users.plan.epsilon.value()).unwrap();
        assert!(by_distance(&rows, km, epsilon, users.plan.notion.reach_km()).is_private());
        assert_eq!(matrix.certificate.users, 2);
        // What the users uploaded are these costs, times the prior, to within the table's cells.
        let largest = upload.cost.iter().copied().fold(0.0, f64::max);
        assert!(largest > 0.0 && largest <= server.catalogue.ceiling());
    }
    // Phones that solve for themselves read them from the table.
    let about: lrgeo_protocol::public::MapDescription = server.message(path::MAP);
    let weighed = losses.iter().enumerate().map(|(at, loss)| own.prior[at / PLACES] * loss);
    let most = weighed.fold(0.0, f64::max);
    assert!(about.local.is_some() && about.ceiling >= most, "{} < {most}", about.ceiling);
    // Targets are told by distance, whatever a report costs.
    let path = format!("{}?map={}&place=4&limit=5", path::TARGETS, about.map);
    let targets: lrgeo_protocol::public::Targets = server.message(&path);
    assert!(targets.targets.len() == 5 && targets.targets[0].estimated_km > 0.0);
}

fn refusal(data: &Path, config: &Config) -> String {
    let home = Home { data, tiles: None, key: None, retiring_key: None, solving: None };
    let opened = Catalogue::open(map(PLACES), &home, config, 1_800_000_000, &());
    opened.err().expect("refused").to_string()
}

#[test]
fn costs_that_cannot_be_are_refused_with_what_is_wrong() {
    let scratch = Scratch::new();
    let file = scratch.0.join("costs.csv");
    let refused = |costs: &[f64]| refusal(&scratch.0, &with_costs(&write(&file, costs)));
    let losses = northing();
    assert!(refused(&losses[..PLACES * (PLACES - 1)]).contains("30"), "one row is missing");
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let mut losses = losses.clone();
        losses[7] = bad;
        let said = refused(&losses);
        assert!(said.contains("costs.csv") || said.contains("losses"), "{bad}: {said}");
    }
    let missing = refusal(&scratch.0, &with_costs(&scratch.0.join("none.npy")));
    assert!(missing.contains("none.npy"), "{missing}");
    let nonsense = with_utility("comfort").check().unwrap_err();
    assert!(nonsense.to_string().contains("utility"), "{nonsense}");
}

#[test]
fn other_costs_are_another_publication_and_the_old_one_stays() {
    let scratch = Scratch::new();
    let file = scratch.0.join("costs.csv");
    let data = scratch.0.join("data");
    let folders = || std::fs::read_dir(data.join("maps")).unwrap().count();
    let open = |utility: &str| {
        let home = Home { data: &data, tiles: None, key: None, retiring_key: None, solving: None };
        let config = with_utility(utility);
        let catalogue = Catalogue::open(map(PLACES), &home, &config, 1_800_000_000, &()).unwrap();
        catalogue.manifest[0].hash
    };
    let path = write(&file, &northing()).display().to_string();
    let first = open(&path);
    assert_eq!((open(&path), folders()), (first, 1), "the same file is the same publication");
    let doubled: Vec<f64> = northing().iter().map(|loss| 1.0 + 2.0 * loss).collect();
    write(&file, &doubled);
    assert!(open(&path) != first && folders() == 2, "the content counts, not the name");
    open("straight-line");
    open("travel-time");
    assert_eq!(folders(), 4);
}
