//! Where users are and where they go: weights of files brought onto places and street nodes.

use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::parallel::*;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::spacing::spacing_km;

use super::{BuildReport, Ends, PriorPlan, TargetPlan, Weights};
use crate::MapError;
use crate::map::Target;
use crate::places::Place;
use crate::region::Polygon;

fn coords_of(places: &[Place]) -> Vec<Coord> {
    places.iter().map(|place| place.coord).collect()
}

/// Pieces of an area along the distance between two places: the shares are then right to a few per cent.
const PIECES: f64 = 8.0;

/// Spreads the weight of areas evenly over their pieces, each of which counts for the nearest place.
fn spread(places: &mut [Place], areas: &[(Polygon, f64)], report: &mut BuildReport) {
    let coords = coords_of(places);
    let index = SpatialIndex::new(&coords);
    let step_km = spacing_km(&coords).unwrap_or(report.snap_km) / PIECES;
    let limit = report.snap_km;
    let shares: Vec<Vec<(u32, f64)>> = areas
        .par_iter()
        .map(|(area, weight)| {
            let pieces = area.pieces(step_km);
            let share = weight / pieces.len() as f64;
            let near = |&piece: &Coord| index.nearest(piece).filter(|(_, km)| *km <= limit);
            pieces.iter().filter_map(near).map(|(place, _)| (place, share)).collect()
        })
        .collect();
    for of_area in shares {
        report.prior_rows_unmatched += usize::from(of_area.is_empty());
        of_area.iter().for_each(|&(place, share)| places[place as usize].prior += share);
    }
}

/// Gives every place its prior. What belongs to no place is counted.
pub(super) fn weigh_places(
    places: &mut [Place],
    prior: &PriorPlan,
    report: &mut BuildReport,
) -> Result<(), MapError> {
    let mut offered = 0.0;
    match prior {
        PriorPlan::Uniform => places.iter_mut().for_each(|p| p.prior = 1.0),
        PriorPlan::Density(density) => {
            places.iter_mut().for_each(|p| p.prior = density(p.coord).max(0.0));
        }
        PriorPlan::Weights(Weights::ById(weights)) => {
            offered = weights.values().sum();
            let mut matched = 0;
            for place in places.iter_mut() {
                if let Some(weight) = weights.get(&place.id) {
                    place.prior = *weight;
                    matched += 1;
                }
            }
            report.prior_rows_unmatched = weights.len() - matched;
        }
        PriorPlan::Weights(Weights::At(points)) => {
            offered = points.iter().map(|(_, weight)| weight).sum();
            let index = SpatialIndex::new(&coords_of(places));
            for &(coord, weight) in points {
                match index.nearest(coord).filter(|(_, km)| *km <= report.snap_km) {
                    Some((nearest, _)) => places[nearest as usize].prior += weight,
                    None => report.prior_rows_unmatched += 1,
                }
            }
        }
        PriorPlan::Weights(Weights::Over(areas)) => {
            offered = areas.iter().map(|(_, weight)| weight).sum();
            spread(places, areas, report);
        }
    }
    let total: f64 = places.iter().map(|p| p.prior).sum();
    if total <= 0.0 || !total.is_finite() {
        return Err(MapError::Empty {
            what: "prior",
            advice: "no weight belongs to any place; do the ids or coordinates match?".into(),
        });
    }
    if offered > 0.0 {
        report.prior_unmatched = (1.0 - total / offered).max(0.0);
    }
    places.iter_mut().for_each(|p| p.prior /= total);
    Ok(())
}

/// The targets of a plan, each with its probability.
pub(super) fn pick_targets(
    plan: &TargetPlan,
    ends: &Ends<'_>,
    places: &[Place],
    report: &mut BuildReport,
) -> Result<Vec<Target>, MapError> {
    let mut weights = std::collections::BTreeMap::<u32, f64>::new();
    let mut aim = |coord: Coord, weight: f64| match ends.index.nearest(coord) {
        Some((end, distance)) if distance <= report.snap_km => {
            *weights.entry(ends.first + end).or_default() += weight;
        }
        _ => report.targets_without_street += 1,
    };
    match plan {
        TargetPlan::Uniform => {
            places.iter().for_each(|p| *weights.entry(p.node).or_default() += 1.0);
        }
        TargetPlan::Random { count, seed } => {
            if *count == 0 {
                return Err(MapError::invalid(
                    "targets",
                    "random:0 picks none; ask for at least 1",
                ));
            }
            let chosen = SplitMix::new(*seed).choose(ends.count, *count);
            weights.extend(chosen.into_iter().map(|end| (ends.first + end as u32, 1.0)));
        }
        TargetPlan::Weights(Weights::ById(by_id)) => {
            for place in places {
                if let Some(weight) = by_id.get(&place.id) {
                    aim(place.coord, *weight);
                }
            }
        }
        TargetPlan::Weights(Weights::At(points)) => {
            points.iter().for_each(|&(coord, weight)| aim(coord, weight));
        }
        // People go to an area as a whole: to its middle.
        TargetPlan::Weights(Weights::Over(areas)) => {
            areas.iter().for_each(|(area, weight)| {
                aim(area.centroid().unwrap_or(area.bounds().centre()), *weight);
            });
        }
    }
    weights.retain(|_, weight| *weight > 0.0);
    let total: f64 = weights.values().sum();
    if weights.is_empty() || !total.is_finite() {
        return Err(MapError::Empty {
            what: "target list",
            advice: "no target has a positive weight and a street within the limit (`snap`)".into(),
        });
    }
    Ok(weights.into_iter().map(|(node, weight)| Target { node, weight: weight / total }).collect())
}
