//! Classes of places whose users upload the same.

#[path = "common/city.rs"]
mod city;

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::alike::classes;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{Plan, RangeRule, build, by_name};
use lrgeo_tiles::Epsilon;

/// The parts are a partition, each of at least k places and less than 2k.
#[test]
fn parts_hold_every_place_once_and_are_of_like_size() {
    let city = city::block(3, 500.0, 90);
    for count in [1, 4, 7, 90] {
        let parts = classes(city.coords(), count);
        let mut all: Vec<PlaceId> = parts.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, PlaceId::all(90).collect::<Vec<_>>());
        assert!(parts.iter().all(|part| part.len() >= count && part.len() < 2 * count), "{count}");
    }
}

/// The proof: whoever is in a part, the upload holds the same rows, in whatever order.
#[test]
fn users_of_one_part_upload_the_same() {
    let city = city::block(3, 500.0, 90);
    let mut plan = Plan::new(&city, Epsilon::per_km(2.0).unwrap());
    plan.alike = Some(6);
    let graph = geo_ind_graph(&city, &plan);
    let tables = city.tables(plan.division, &()).unwrap();
    let costs = Costs::of(&city, &tables, vec![1.0]);
    let ties = TieRule::of(&plan, &city).unwrap();
    let sorted_upload = |place: PlaceId| {
        let part = UserPart::prepare(&city, graph.as_deref(), &costs, (&plan, &ties), place);
        assert_eq!(part.relevant[0], place);
        let width = part.upload.columns.len();
        let row = |i: usize| {
            let at = i * width..(i + 1) * width;
            let bits =
                |values: &[f64]| -> Vec<u64> { values.iter().map(|v| v.to_bits()).collect() };
            let mut between =
                bits(&part.upload.between[i * part.upload.rows..][..part.upload.rows]);
            between.sort_unstable();
            (bits(&part.upload.cost[at.clone()]), bits(&part.upload.towards[at]), between)
        };
        let mut rows: Vec<_> = (0..part.upload.rows).map(row).collect();
        rows.sort_unstable();
        (part.upload.columns.clone(), rows)
    };
    let parts = classes(city.coords(), 6);
    let uploads: Vec<_> = parts.iter().map(|part| sorted_upload(part[0])).collect();
    for (part, upload) in parts.iter().zip(&uploads) {
        assert!(part.iter().all(|&place| sorted_upload(place) == *upload));
    }
    assert!(uploads[0] != uploads[1], "parts are told apart: the bound is met, not beaten");
}

/// A round with it keeps its promise; where the rows depend on the user it is refused.
#[test]
fn a_round_of_alike_users_is_verified_and_contradictions_are_refused() {
    let city = city::block(3, 500.0, 90);
    let mut plan = Plan::new(&city, Epsilon::per_km(2.0).unwrap());
    (plan.alike, plan.users) = (Some(6), [3, 40, 41].map(PlaceId::new).to_vec());
    let kind = by_name("lr-geo").unwrap();
    assert!(verify(&build(kind, &city, &plan, &()).unwrap(), &()).holds());
    let own = Plan { range: RangeRule::Own, ..plan.clone() };
    assert!(build(kind, &city, &own, &()).unwrap_err().to_string().contains("alike"));
    let none = Plan { alike: Some(0), ..plan };
    assert!(build(kind, &city, &none, &()).unwrap_err().to_string().contains("alike"));
}
