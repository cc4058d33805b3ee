//! Classes of places whose users upload the same: a defence against what uploads tell where places are uneven (the
//! paper's first open question), with a proof.
//!
//! The map is cut, the longer side first, into parts of at least k and less than 2k places. A user's relevant places are
//! those within Gamma of the middle of its part, and the part itself. So the set of rows is a function of the part; under
//! range rule *each* the columns are the union of the rows' ranges, hence one too; and distances and costs follow from
//! rows and columns. Rows are shuffled, so an upload is a function of the part and of nothing else of the user.
//! Therefore it leaks at most log2(number of parts) bits, and of k equally likely places none is guessed with a
//! probability above 1/k. The price is that a user's place is no longer in the middle of its relevant places.

use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::neighbours::NeighbourGraph;

use crate::Geography;

/// The parts of a map: each at least `count` places, unless there are fewer in all; places ascending.
pub fn classes(coords: &[Coord], count: usize) -> Vec<Vec<PlaceId>> {
    let mut parts = Vec::new();
    cut(coords, PlaceId::all(coords.len()).collect(), count.max(1), &mut parts);
    parts
}

fn cut(coords: &[Coord], mut part: Vec<PlaceId>, count: usize, parts: &mut Vec<Vec<PlaceId>>) {
    if part.len() < 2 * count {
        part.sort_unstable();
        parts.push(part);
        return;
    }
    let at = |v: &PlaceId| coords[v.index()];
    let width = |of: &dyn Fn(Coord) -> f64| {
        let values = part.iter().map(|v| of(at(v)));
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        high - low
    };
    let shrink = at(&part[0]).lat().to_radians().cos();
    let tall = width(&Coord::lat) >= width(&Coord::lon) * shrink;
    let key = |v: &PlaceId| if tall { at(v).lat() } else { at(v).lon() };
    part.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
    let upper = part.split_off(part.len() / 2);
    cut(coords, part, count, parts);
    cut(coords, upper, count, parts);
}

/// How far any place is from the middle of its part, in kilometres.
pub fn reach_km(coords: &[Coord], count: usize) -> f64 {
    let parts = classes(coords, count);
    let away = |part: &Vec<PlaceId>| {
        let middle = coords[middle(coords, part).index()];
        part.iter().map(|v| coords[v.index()].distance_km(middle)).fold(0.0, f64::max)
    };
    parts.iter().map(away).fold(0.0, f64::max)
}

/// The place of a part that is nearest to its mean coordinate.
fn middle(coords: &[Coord], part: &[PlaceId]) -> PlaceId {
    let mean = |of: &dyn Fn(Coord) -> f64| {
        part.iter().map(|v| of(coords[v.index()])).sum::<f64>() / part.len() as f64
    };
    let (lat, lon) = (mean(&Coord::lat), mean(&Coord::lon));
    let away = |v: &&PlaceId| {
        let at = coords[v.index()];
        (at.lat() - lat).powi(2) + (at.lon() - lon).powi(2)
    };
    part.iter().min_by(|a, b| away(a).total_cmp(&away(b))).copied().unwrap_or(part[0])
}

/// The relevant places of a user: its own first, then those of its part and around the middle of it, ascending.
pub(crate) fn relevant(
    places: &Geography,
    graph: Option<&NeighbourGraph>,
    relevant_km: f64,
    count: usize,
    user: PlaceId,
) -> Vec<PlaceId> {
    let part = classes(places.coords(), count).into_iter().find(|part| part.contains(&user));
    let part = part.unwrap_or_else(|| vec![user]);
    let middle = middle(places.coords(), &part);
    let near = match graph {
        Some(graph) => graph.within(middle, relevant_km),
        None => places.within(places.coords()[middle.index()], relevant_km),
    };
    let mut all: Vec<PlaceId> = near.into_iter().map(|(v, _)| v).chain(part).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|v| *v != user);
    all.insert(0, user);
    all
}
