//! Finding what is near: an R*-tree over points on the unit sphere.

use rstar::primitives::GeomWithData;
use rstar::{PointDistance, RTree};

use crate::{Coord, EARTH_RADIUS_KM};

/// Points to search by distance. On the sphere in three dimensions the straight chord orders
/// points just as the haversine does, at any latitude and across the antimeridian.
pub struct SpatialIndex {
    tree: RTree<GeomWithData<[f64; 3], u32>>,
    coords: Vec<Coord>,
}

impl SpatialIndex {
    /// An index of `coords`; answers are positions in it.
    pub fn new(coords: &[Coord]) -> Self {
        let points = coords
            .iter()
            .enumerate()
            .map(|(i, &c)| GeomWithData::new(c.on_sphere(), i as u32))
            .collect();
        Self { tree: RTree::bulk_load(points), coords: coords.to_vec() }
    }

    /// The nearest point and its distance in kilometres; of equals, the one with the lower index.
    pub fn nearest(&self, to: Coord) -> Option<(u32, f64)> {
        let target = to.on_sphere();
        let found = self.tree.nearest_neighbor(target)?;
        let tie = found.distance_2(&target) * (1.0 + 1e-12);
        let index = self
            .tree
            .locate_within_distance(target, tie)
            .map(|p| p.data)
            .min()
            .unwrap_or(found.data);
        Some((index, self.coords[index as usize].distance_km(to)))
    }

    /// How far the nearest point other than the `index`-th itself is from `coord`.
    pub fn nearest_other(&self, index: u32, coord: Coord) -> f64 {
        self.tree
            .nearest_neighbor_iter(coord.on_sphere())
            .find(|p| p.data != index)
            .map_or(f64::INFINITY, |p| self.coords[p.data as usize].distance_km(coord))
    }

    /// All points at most `radius_km` away and their distances, by index.
    pub fn within(&self, of: Coord, radius_km: f64) -> Vec<(u32, f64)> {
        // The chord of the radius, a little generous; the haversine then decides.
        let angle = (radius_km / EARTH_RADIUS_KM / 2.0).min(std::f64::consts::FRAC_PI_2);
        let chord = 2.0 * angle.sin() * (1.0 + 1e-9) + 1e-12;
        let mut found: Vec<(u32, f64)> = self
            .tree
            .locate_within_distance(of.on_sphere(), chord * chord)
            .map(|p| (p.data, self.coords[p.data as usize].distance_km(of)))
            .filter(|&(_, d)| d <= radius_km)
            .collect();
        found.sort_unstable_by_key(|&(i, _)| i);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;

    fn random_points(seed: u64, n: usize) -> Vec<Coord> {
        let mut rng = SplitMix::new(seed);
        (0..n)
            .map(|_| Coord::new(60.0 + rng.unit(), -180.0 + 0.8 * rng.unit()).unwrap())
            .chain((0..n).map(|i| Coord::new(60.5, 179.2 + 0.8 * i as f64 / n as f64).unwrap()))
            .collect()
    }

    #[test]
    fn agrees_with_looking_at_every_point_even_across_the_antimeridian() {
        let points = random_points(7, 300);
        let index = SpatialIndex::new(&points);
        for &q in points.iter().step_by(17) {
            let q = q.offset_km(3.0, -2.0);
            let brute = points.iter().map(|p| p.distance_km(q)).fold(f64::INFINITY, f64::min);
            assert_eq!(index.nearest(q).unwrap().1, brute);
            let within: Vec<u32> = index.within(q, 25.0).iter().map(|&(i, _)| i).collect();
            let expected: Vec<u32> = (0..points.len() as u32)
                .filter(|&i| points[i as usize].distance_km(q) <= 25.0)
                .collect();
            assert_eq!(within, expected);
        }
    }

    #[test]
    fn an_empty_index_has_no_nearest() {
        assert!(SpatialIndex::new(&[]).nearest(Coord::new(0.0, 0.0).unwrap()).is_none());
    }
}
