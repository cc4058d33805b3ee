//! Shortest ways against an oracle that nobody can get wrong.

mod common;

use common::{random_city, random_streets};
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::units::{Travel, UNREACHABLE};
use lrgeo_map::graph::{Direction, Metric, StreetGraph};
use lrgeo_map::search::{Search, search_all};

/// Bellman-Ford: relax every arc until nothing changes.
fn oracle(graph: &StreetGraph, source: u32, direction: Direction, metric: Metric) -> Vec<Travel> {
    let mut distance = vec![UNREACHABLE; graph.node_count()];
    distance[source as usize] = 0;
    loop {
        let mut changed = false;
        for (from, to, mm, ms) in graph.arcs() {
            let (from, to) = match direction {
                Direction::Forward => (from as usize, to as usize),
                Direction::Reversed => (to as usize, from as usize),
            };
            let cost = if metric == Metric::Distance { mm } else { ms };
            let there = distance[from].saturating_add(cost);
            if there < distance[to] {
                distance[to] = there;
                changed = true;
            }
        }
        if !changed {
            return distance;
        }
    }
}

#[test]
fn dijkstra_equals_bellman_ford_on_random_directed_graphs() {
    let mut rng = SplitMix::new(42);
    for case in 0..120 {
        let nodes = 2 + rng.below(60);
        let streets = if case % 2 == 0 {
            random_streets(&mut rng, nodes)
        } else {
            random_city(&mut rng, nodes)
        };
        let graph = StreetGraph::new(&streets);
        for metric in [Metric::Distance, Metric::Time] {
            let mut search = Search::new(&graph, metric);
            for direction in [Direction::Forward, Direction::Reversed] {
                let source = rng.below(nodes) as u32;
                let expected = oracle(&graph, source, direction, metric);
                assert_eq!(
                    search.all(source, direction),
                    expected,
                    "case {case}: {} arcs",
                    streets.arcs.len()
                );

                let limit = rng.below(3_000_000) as Travel;
                let mut within = search.within(source, direction, limit);
                within.sort_unstable();
                let expected: Vec<(u32, Travel)> = expected
                    .iter()
                    .enumerate()
                    .filter(|&(_, &d)| d <= limit)
                    .map(|(v, &d)| (v as u32, d))
                    .collect();
                assert_eq!(within, expected, "case {case}, limit {limit}");
            }
        }
    }
}

#[test]
fn forward_and_reversed_agree_to_the_last_millimetre() {
    let graph = StreetGraph::new(&random_city(&mut SplitMix::new(3), 50));
    let sources: Vec<u32> = (0..50).collect();
    let read = |_: usize, d: &[Travel]| d.to_vec();
    let forth = search_all(&graph, Metric::Distance, Direction::Forward, &sources, &(), read);
    let back = search_all(&graph, Metric::Distance, Direction::Reversed, &sources, &(), read);
    for a in 0..50 {
        for b in 0..50 {
            assert_eq!(forth[a][b], back[b][a]);
            for c in 0..50 {
                assert!(forth[a][c] <= forth[a][b] + forth[b][c], "triangle {a} {b} {c}");
            }
        }
    }
}

#[test]
fn the_largest_strong_component_is_found_and_is_strong() {
    let mut rng = SplitMix::new(5);
    for case in 0..60 {
        let nodes = 1 + rng.below(40);
        let graph = StreetGraph::new(&random_streets(&mut rng, nodes));
        // Two nodes are together when each reaches the other.
        let reach: Vec<Vec<Travel>> = (0..nodes as u32)
            .map(|v| oracle(&graph, v, Direction::Forward, Metric::Distance))
            .collect();
        let together =
            |a: usize, b: usize| reach[a][b] != UNREACHABLE && reach[b][a] != UNREACHABLE;
        let size =
            (0..nodes).map(|a| (0..nodes).filter(|&b| together(a, b)).count()).max().unwrap();

        let (component, kept) = graph.largest_component();
        assert_eq!(kept.len(), size, "case {case}");
        assert_eq!(component.node_count(), size);
        let strong = kept.iter().all(|&a| kept.iter().all(|&b| together(a as usize, b as usize)));
        assert!(strong, "case {case}: {kept:?}");
        for (new, &old) in kept.iter().enumerate() {
            assert_eq!(component.coords()[new], graph.coords()[old as usize]);
            let inside = oracle(&component, new as u32, Direction::Forward, Metric::Distance);
            for (other, &old_other) in kept.iter().enumerate() {
                assert_eq!(inside[other], reach[old as usize][old_other as usize], "case {case}");
            }
        }
    }
}

#[test]
fn a_long_chain_does_not_overflow_the_stack() {
    let mut streets = random_streets(&mut SplitMix::new(1), 0);
    let origin = lrgeo_geo::Coord::new(0.0, 0.0).unwrap();
    streets.nodes = vec![origin; 300_000];
    (1..300_000).for_each(|v| streets.add(v - 1, v, 0.001, 50.0, false));
    assert_eq!(StreetGraph::new(&streets).largest_component().1.len(), 300_000);
}
