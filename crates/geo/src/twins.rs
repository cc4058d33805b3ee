//! Places that nothing tells apart.
//!
//! Two places less than a metre apart are one place listed twice. No phone knows its position that well, five decimals of
//! a degree (what many tables have) are 1.1 m, and every mechanism must let both report alike: nothing is gained by having
//! two. Much is lost: the spacing of the places, which radii and gamma follow, becomes the distance of a place from itself.

use std::collections::HashMap;

use crate::{Coord, EARTH_RADIUS_KM};

/// Places nearer to each other than this are one place, in kilometres: one metre.
pub const LEAST_DISTANCE_KM: f64 = 1e-3;

/// A place, and one before it that it cannot be told apart from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twin {
    /// The one that stands first.
    pub first: u32,
    /// The one that stands later.
    pub second: u32,
    /// How far apart they are; less than [`LEAST_DISTANCE_KM`].
    pub km: f64,
}

/// Side of the cubes that places are sorted into, in least distances. Wide, so that few places lie near a side and the
/// next cube need not be looked at; not so wide that many places could share a cube.
const CUBE: f64 = 10.0;

/// Every place that cannot be told apart from one before it, in order. Without these places all others are at
/// least [`LEAST_DISTANCE_KM`] apart. Time grows with the places, however many of them coincide.
pub fn twins(coords: &[Coord]) -> Vec<Twin> {
    /// No further place in the cube.
    const NONE: u32 = u32::MAX;
    // In each cube the places kept so far: the last one, and for each the one before it.
    let mut last_in: HashMap<[i32; 3], u32> = HashMap::new();
    let mut before = vec![NONE; coords.len()];
    let mut twins = Vec::new();
    for (place, &coord) in (0..).zip(coords) {
        let at = coord.on_sphere().map(|x| x * EARTH_RADIUS_KM / (CUBE * LEAST_DISTANCE_KM));
        let home = at.map(|x| x.floor() as i32);
        let mut found = None;
        for cube in cubes_within_reach(at) {
            let mut other = last_in.get(&cube).copied().unwrap_or(NONE);
            while other != NONE {
                let km = coords[other as usize].distance_km(coord);
                if km < LEAST_DISTANCE_KM && found.is_none_or(|(first, _)| other < first) {
                    found = Some((other, km));
                }
                other = before[other as usize];
            }
        }
        match found {
            Some((first, km)) => twins.push(Twin { first, second: place, km }),
            None => before[place as usize] = last_in.insert(home, place).unwrap_or(NONE),
        }
    }
    twins
}

/// The places without their twins, in order.
pub fn apart(coords: &[Coord]) -> Vec<Coord> {
    let mut twins = twins(coords).into_iter().map(|twin| twin.second).peekable();
    let is_kept = |place: &u32| twins.next_if_eq(place).is_none();
    (0..coords.len() as u32).filter(is_kept).map(|place| coords[place as usize]).collect()
}

/// The cubes in which a point less than the least distance away may lie: mostly one.
fn cubes_within_reach(at: [f64; 3]) -> impl Iterator<Item = [i32; 3]> {
    // A chord is no longer than its arc; a hair more, for rounding.
    const REACH: f64 = 1.001 / CUBE;
    let range = |x: f64| (x - REACH).floor() as i32..=(x + REACH).floor() as i32;
    let [xs, ys, zs] = at.map(range);
    xs.flat_map(move |x| {
        let zs = zs.clone();
        ys.clone().flat_map(move |y| zs.clone().map(move |z| [x, y, z]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;

    /// The same by comparing all pairs.
    fn slowly(coords: &[Coord]) -> Vec<Twin> {
        let (mut kept, mut twins) = (Vec::<u32>::new(), Vec::new());
        for (second, coord) in (0..).zip(coords) {
            let distance = |&first: &u32| (first, coords[first as usize].distance_km(*coord));
            match kept.iter().map(distance).find(|&(_, km)| km < LEAST_DISTANCE_KM) {
                Some((first, km)) => twins.push(Twin { first, second, km }),
                None => kept.push(second),
            }
        }
        twins
    }

    #[test]
    fn twins_are_those_of_comparing_all_pairs_at_any_latitude_and_across_the_antimeridian() {
        let mut rng = SplitMix::new(3);
        for (lat, lon) in
            [(0.0, 0.0), (41.9, 12.5), (64.1, -21.9), (-33.0, 179.9999999), (89.9999, 7.0)]
        {
            let middle = Coord::new(lat, lon).unwrap();
            // So dense that every fifth place or so has a twin.
            let mut side = || 0.02 * rng.unit();
            let coords: Vec<Coord> = (0..600).map(|_| middle.offset_km(side(), side())).collect();
            let found = twins(&coords);
            assert!(found.len() > 20 && found.len() < 599, "{} at {lat}", found.len());
            assert_eq!(found, slowly(&coords));
            let kept = apart(&coords);
            assert_eq!(kept.len(), coords.len() - found.len());
            assert!(twins(&kept).is_empty());
        }
    }

    #[test]
    fn a_hundred_thousand_places_at_one_spot_are_seen_at_once() {
        let spot = Coord::new(41.9, 12.5).unwrap();
        let found = twins(&vec![spot; 100_000]);
        assert_eq!(found.len(), 99_999);
        assert!(found.iter().all(|twin| twin.first == 0 && twin.km == 0.0));
        assert_eq!(apart(&[spot, spot]), [spot]);
        assert!(twins(&[]).is_empty());
    }
}
