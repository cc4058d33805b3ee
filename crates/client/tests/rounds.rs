//! Programmes of rounds, from what real clients upload.

mod common;

use common::service;
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::{Described, offload};
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::lr_geo::coefficients::Coefficients;
use lrgeo_mechanism::lr_geo::round::Programme;

/// Where each user is, and what her draws are seeded with. The optimum of this round is degenerate: row sums hang on weights of
/// 1e-10, and the first projection onto them leaves more than it found. It used to end without a matrix.
const DEGENERATE: [(u32, u64); 5] = [
    (33, 11669654294386047600),
    (62, 6481869233764705593),
    (14, 7377386238933988170),
    (92, 12785886366527027894),
    (117, 9233973948140636334),
];

#[test]
fn a_degenerate_round_ends_with_exact_row_sums() {
    let service = service();
    let catalogue = &service.catalogue;
    let bytes = &catalogue.description_file.bytes;
    let described = Described::open(bytes, &service.manifest, &service.places()).unwrap();
    let ground = service.ground();
    let uploads = DEGENERATE.map(|(user, seed)| {
        let place = ground.locate(service.near(user)).unwrap();
        let table = catalogue.circle(&offload::circle(&described, PlaceId::new(user))).unwrap();
        let draws = &mut Rehearsal::seeded(seed);
        let join = offload::prepare(&described, &place, table, draws).unwrap().join;
        Coefficients {
            rows: join.rows as usize,
            columns: join.columns,
            between: join.between,
            towards: join.towards,
            cost: join.cost,
            ties: Vec::new(),
        }
        .tie(&catalogue.ties)
    });
    let plan = &catalogue.plan;
    let uploads: Vec<&Coefficients> = uploads.iter().collect();
    let places = ground.places();
    let programme =
        Programme::new(&uploads, &catalogue.ties, plan.notion, places, catalogue.ceiling())
            .unwrap();
    let solution = programme.solve(plan).unwrap();
    assert!(solution.gap <= 1e-6, "{}", solution.gap);
    assert!(solution.certificate.worst_row_sum_error <= 1e-12);
}
