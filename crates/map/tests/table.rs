//! The cost reference table: Lemmas B.1 and B.2 and Proposition 4.3 on directed streets, every pair.

mod common;

use std::sync::Arc;

use common::{Scratch, random_map};
use lrgeo_geo::PlaceId;
use lrgeo_geo::units::{Length, UNREACHABLE};
use lrgeo_map::MapError;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, Weights, build};
use lrgeo_map::graph::{Direction, Metric};
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::places::Place;
use lrgeo_map::region::Region;
use lrgeo_map::search::Search;
use lrgeo_map::table::{CostTable, Division, MAX_SLICE_CELLS, PlaceCell, Tile};
use lrgeo_map::travel::TravelMatrix;
use lrgeo_map::utility::{LossMatrix, Utility, UtilityKind};
use lrgeo_show::demo::demo_city;

/// Adding up a few dozen numbers of a few kilometres in another order.
const ROUNDING: f64 = 1e-12;

fn demo_map(metres: f64) -> Map {
    let city = demo_city(1);
    let targets = city.demand.targets.iter().map(|t| (t.at, t.weight)).collect();
    let plan = MapPlan {
        source: Source::Demo(1),
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Grid(Length::from_m(metres).unwrap()),
        snap: None,
        prior: PriorPlan::Uniform,
        targets: TargetPlan::Weights(Weights::At(targets)),
    };
    build(city.streets, plan).unwrap().0
}

fn table(map: &Map, metres: f64) -> CostTable {
    table_of(map, Division::Grid(Length::from_m(metres).unwrap()), UtilityKind::TravelDistance)
}

fn table_of(map: &Map, division: Division, loss: UtilityKind) -> CostTable {
    CostTable::build(map, map.version(), division, loss, &()).unwrap()
}

/// `sum_l q_l |tc(i,l) - tc(k,l)|` in the plainest way (Eq. 3-5).
fn plain_beta(matrix: &TravelMatrix, i: usize, k: usize) -> f64 {
    let terms = matrix.row(i).iter().zip(matrix.row(k)).zip(matrix.weights());
    terms.map(|((a, b), q)| q * (f64::from(*a) - f64::from(*b)).abs()).sum::<f64>() * matrix.scale()
}

#[test]
fn travel_costs_are_what_single_searches_say() {
    let map = random_map(2, 60, 25, 18);
    for metric in [Metric::Distance, Metric::Time] {
        let matrix = TravelMatrix::of_places(&map, metric, &()).unwrap();
        let mut search = Search::new(&map.graph, metric);
        for (i, place) in map.places.iter().enumerate() {
            let from_here = search.all(place.node, Direction::Forward);
            for (l, target) in map.targets.iter().enumerate() {
                let leg = match metric {
                    Metric::Distance => place.leg,
                    Metric::Time => {
                        lrgeo_geo::units::travel_time(f64::from(place.leg) * 1e-6, 20.0)
                    }
                };
                assert_eq!(matrix.row(i)[l], from_here[target.node as usize] + leg);
            }
        }
    }
}

#[test]
fn beta_is_the_plain_sum_for_every_number_of_targets() {
    for targets in [1, 2, 15, 16, 17, 31, 33, 64, 70] {
        let map = random_map(targets as u64, 80, 37, targets);
        let matrix = TravelMatrix::of_places(&map, Metric::Distance, &()).unwrap();
        let all = matrix.all();
        for i in 0..37 {
            for k in 0..37 {
                let plain = plain_beta(&matrix, i, k);
                assert!((all[i * 37 + k] - plain).abs() <= ROUNDING, "{targets} targets, {i} {k}");
                assert_eq!(all[i * 37 + k], all[k * 37 + i], "beta is symmetric to the bit");
                assert_eq!(all[i * 37 + k], matrix.loss(PlaceId::at(i), PlaceId::at(k)));
            }
        }
    }
}

/// Lemma B.1: never below the truth; Lemma B.2: never above it. Every pair.
fn check_lemmas(map: &Map, division: Division, loss: UtilityKind) -> (f64, f64) {
    let truth = loss.of(map, &()).unwrap();
    let table = table_of(map, division, loss);
    assert_eq!(table.unit(), truth.unit());
    let places: Vec<PlaceId> = PlaceId::all(map.places.len()).collect();
    let (lower, upper) = (table.lower(&places, &places), table.upper(&places, &places));
    for (at, ((low, true_cost), up)) in lower.iter().zip(truth.all()).zip(&upper).enumerate() {
        let (i, k) = (at / places.len(), at % places.len());
        assert!(*low <= true_cost + ROUNDING, "B.2 at {i}, {k}: {low} > {true_cost}");
        assert!(true_cost <= *up + ROUNDING, "B.1 at {i}, {k}: {true_cost} > {up}");
        assert!(*up <= table.ceiling(), "the ceiling is below {up}");
    }
    (lower.iter().sum(), upper.iter().sum())
}

#[test]
fn both_lemmas_hold_on_random_one_way_streets() {
    for seed in 0..25 {
        let map = random_map(seed, 20 + 10 * seed as usize, 30, 1 + seed as usize);
        for length in [40.0, 250.0, 1000.0].map(|m| Length::from_m(m).unwrap()) {
            for (loss, _) in UtilityKind::ALL {
                check_lemmas(&map, Division::Grid(length), loss);
                check_lemmas(&map, Division::Segments(length), loss);
            }
        }
    }
}

#[test]
fn both_lemmas_hold_on_the_demo_city_and_finer_cells_are_closer() {
    let map = demo_map(500.0);
    for (loss, name) in UtilityKind::ALL {
        for division in [Division::Grid as fn(Length) -> Division, Division::Segments] {
            let of = |m| check_lemmas(&map, division(Length::from_m(m).unwrap()), loss);
            let ((coarse_low, coarse_up), (fine_low, fine_up)) = (of(400.0), of(50.0));
            assert!(coarse_low < fine_low && fine_up < coarse_up, "{name}");
        }
    }
}

#[test]
fn no_place_is_farther_from_its_road_segment_than_half_of_it() {
    let map = demo_map(500.0);
    let length = Length::from_m(200.0).unwrap();
    let worst = |division| {
        let table = table_of(&map, division, UtilityKind::TravelDistance);
        let beyond = |(place, cell): (&Place, &PlaceCell)| cell.offset - place.leg;
        let worst = map.places.iter().zip(table.places()).map(beyond).max().unwrap();
        (table.cells().len(), f64::from(worst) * 1e-3)
    };
    let (segments, by_road) = worst(Division::Segments(length));
    assert!(by_road <= 100.0, "{by_road} m");
    // What cells do not promise: behind a one-way street or a river a node of the same cell is farther than its diagonal.
    let (cells, by_cell) = worst(Division::Grid(length));
    assert!(
        by_cell > 200.0 * 2f64.sqrt(),
        "{cells} cells: {by_cell} m, {segments} segments: {by_road} m"
    );
}

#[test]
fn losses_of_ones_own_have_a_table_that_is_exact() {
    let map = random_map(3, 60, 12, 4);
    let losses: Vec<f64> = (0..144).map(|at| f64::from(at * 7 % 31)).collect();
    let own = LossMatrix::new(12, losses.clone()).unwrap();
    let division = Division::Grid(Length::from_m(100.0).unwrap());
    let table = CostTable::given(&map, map.version(), division, Arc::new(own)).unwrap();
    let places: Vec<PlaceId> = PlaceId::all(12).collect();
    assert_eq!(table.upper(&places, &places), losses);
    assert_eq!(table.lower(&places, &places), losses);
    let scratch = Scratch::new("given");
    table.save(&scratch.path("given.lrtable")).unwrap();
    let again = CostTable::open(&scratch.path("given.lrtable")).unwrap();
    assert_eq!(again.upper(&places, &places), losses);
}

#[test]
fn haversine_offsets_as_the_paper_has_them_would_break_the_lemma() {
    // Why the departure: on one-way streets the straight offset is too small.
    let map = random_map(4, 60, 30, 8);
    let truth = TravelMatrix::of_places(&map, Metric::Distance, &()).unwrap().all();
    let table = table(&map, 600.0);
    let straight =
        |v: usize| map.places[v].coord.distance_km(table.cells()[table.places()[v].cell as usize]);
    let cells: Vec<u32> = table.places().iter().map(|p| p.cell).collect();
    let beta = table.beta(&cells, &cells);
    let n = map.places.len();
    let broken =
        (0..n * n).filter(|&at| truth[at] > beta[at] + straight(at / n) + straight(at % n)).count();
    assert!(broken > 0, "the paper's offset would have been enough here");
}

#[test]
fn every_place_has_the_cell_with_the_smallest_offset() {
    let map = random_map(6, 70, 30, 4);
    let table = table(&map, 300.0);
    let coords = map.graph.coords();
    let nodes: Vec<usize> =
        table.cells().iter().map(|c| coords.iter().position(|v| v == c).unwrap()).collect();
    let mut search = Search::new(&map.graph, Metric::Distance);
    for (place, found) in map.places.iter().zip(table.places()) {
        let forth = search.all(place.node, Direction::Forward).to_vec();
        let back = search.all(place.node, Direction::Reversed);
        let offset = |node: usize| forth[node].max(back[node]) + place.leg;
        let best = nodes.iter().map(|&node| offset(node)).min().unwrap();
        assert!(best < UNREACHABLE);
        assert_eq!(found.offset, best);
        assert_eq!(offset(nodes[found.cell as usize]), best);
    }
}

/// Proposition 4.3, with the radius of the range rule: whatever v_a the user picks from N_m, the slice
/// holds the cells of all of N_m and of every range it needs.
#[test]
fn the_requested_circle_covers_what_the_user_needs() {
    let map = demo_map(700.0);
    let table = table(&map, 150.0);
    let coords = map.coords();
    let graph = NeighbourGraph::new(&coords, 1.5);
    let (big_gamma, r_obf) = (1.6, 1.1);
    let mut tried = 0;
    for m in (0..coords.len()).step_by(23) {
        let relevant: Vec<PlaceId> =
            graph.within(PlaceId::at(m), big_gamma).iter().map(|&(j, _)| j).collect();
        let near = |i: usize| -> Vec<usize> {
            (0..coords.len()).filter(|&k| coords[i].distance_km(coords[k]) <= r_obf).collect()
        };
        let own: Vec<usize> = relevant.iter().map(|&j| j.index()).chain(near(m)).collect();
        let each: Vec<usize> = relevant.iter().flat_map(|&i| near(i.index())).collect();
        for &v_a in &relevant {
            let centre = coords[v_a.index()];
            let radius_own = f64::max(2.0 * big_gamma, big_gamma + r_obf);
            for (needed, radius) in [(&own, radius_own), (&each, 2.0 * big_gamma + r_obf)] {
                let cells = table.circle_cells(centre, radius);
                for &v in needed {
                    let cell = table.places()[v].cell;
                    assert!(cells.binary_search(&cell).is_ok(), "user {m}, v_a {v_a}, place {v}");
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 50);
}

#[test]
fn tiles_are_fixed_and_hold_every_cell_once() {
    let map = demo_map(700.0);
    let table = table(&map, 150.0);
    let tiles = table.tiles();
    let mut seen: Vec<u32> = tiles.values().flatten().copied().collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..table.cells().len() as u32).collect::<Vec<_>>());
    let (&tile, cells) = tiles.iter().nth(tiles.len() / 2).unwrap();
    let slice = table.tile_slice(&[tile, tile]).unwrap();
    assert_eq!(&slice.cells, cells);
    assert_eq!(slice.beta, table.beta(cells, cells));
    let error = table.tile_slice(&[Tile { row: 900, column: 1 }]).unwrap_err().to_string();
    assert!(error.starts_with("tile: 900,1"), "{error}");
}

#[test]
fn a_slice_above_the_limit_is_refused_with_advice() {
    let map = random_map(1, MAX_SLICE_CELLS + 500, 5, 2);
    let table = table(&map, 1.0);
    let error = table.circle(map.places[0].coord, 50.0).err().unwrap();
    assert!(matches!(error, MapError::TooLarge { .. }));
    assert!(error.to_string().contains("smaller circle"), "{error}");
    assert_eq!(
        table.circle(map.places[0].coord, 0.2).unwrap().cells,
        table.circle_cells(map.places[0].coord, 0.2)
    );
    let nowhere = lrgeo_geo::Coord::new(-41.0, 12.0).unwrap();
    assert!(matches!(table.circle(nowhere, 1.0), Err(MapError::Empty { .. })));
}

#[test]
fn tables_and_maps_survive_the_file_and_refuse_damage() {
    let scratch = Scratch::new("files");
    let map = random_map(8, 40, 20, 6);
    let (map_path, table_path) = (scratch.path("a.lrmap"), scratch.path("a.lrtable"));
    let version = map.save(&map_path).unwrap();
    let (again, same) = Map::open(&map_path).unwrap();
    assert!(again == map, "a map read back is another map");
    assert_eq!(same, version);
    assert_eq!(map.version(), version);

    let built = table(&map, 200.0);
    built.save(&table_path).unwrap();
    let opened = CostTable::open(&table_path).unwrap();
    assert_eq!((opened.cells(), opened.places()), (built.cells(), built.places()));
    assert!(opened.travel() == built.travel() && opened.map == version);
    assert_eq!(opened.tiles(), built.tiles());

    let wrong_kind = Map::open(&table_path).unwrap_err().to_string();
    assert!(wrong_kind.contains("is a cost table, not a map"), "{wrong_kind}");

    let bytes = std::fs::read(&map_path).unwrap();
    for at in (0..bytes.len()).step_by(97).chain([0, 8, 16, 20, 24, bytes.len() - 1]) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let path = scratch.file("damaged.lrmap", damaged);
        let error = Map::open(&path).expect_err(&format!("a flipped bit at {at} went unnoticed"));
        assert!(error.to_string().contains("damaged.lrmap"), "{error}");
    }
    for length in [0, 7, 30, 60, bytes.len() / 2, bytes.len() - 1] {
        assert!(
            Map::open(&scratch.file("cut.lrmap", &bytes[..length])).is_err(),
            "cut at {length}"
        );
    }
    let mut newer = bytes.clone();
    newer[16] = 9;
    let error = Map::open(&scratch.file("newer.lrmap", newer)).unwrap_err().to_string();
    assert!(error.contains("format 9") && error.contains("lrgeo map build"), "{error}");
    assert!(Map::open(&scratch.path("absent.lrmap")).is_err());

    // A file that cannot be put in its place leaves nothing behind.
    std::fs::create_dir(scratch.path("taken")).unwrap();
    assert!(map.save(&scratch.path("taken")).is_err());
    let left: Vec<_> = std::fs::read_dir(&scratch.0)
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains(".part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn utilities_measure_what_they_say() {
    let map = random_map(5, 50, 12, 7);
    let by = |kind: UtilityKind| kind.of(&map, &()).unwrap();
    let straight = by(UtilityKind::StraightLine);
    let d = map.places[2].coord.distance_km(map.places[9].coord);
    assert_eq!((straight.loss(PlaceId::new(2), PlaceId::new(9)), straight.unit()), (d, "km"));
    let time = by(UtilityKind::TravelTime);
    let minutes = TravelMatrix::of_places(&map, Metric::Time, &()).unwrap();
    assert!(
        (time.loss(PlaceId::new(2), PlaceId::new(9)) - plain_beta(&minutes, 2, 9)).abs() < ROUNDING
    );
    assert_eq!(time.unit(), "min");
    assert!(
        by(UtilityKind::TravelDistance).all().iter().all(|loss| loss.is_finite() && *loss >= 0.0)
    );
}
