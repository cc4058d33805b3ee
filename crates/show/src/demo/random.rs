//! Chance and smooth noise, the same on every platform.

use lrgeo_geo::rng::SplitMix;

use super::plane::Point;

/// Scrambles a number: the first output of a generator seeded with it.
fn mix(seed: u64) -> u64 {
    SplitMix::new(seed).bits()
}

/// What happens by chance in one stage of building the city.
#[derive(Clone, Debug)]
pub(super) struct Chance(SplitMix);

impl Chance {
    /// A stream of its own for each `stage`, so that a change in one stage leaves the others alone.
    pub(super) fn new(seed: u64, stage: &str) -> Self {
        let label = stage.bytes().fold(0u64, |h, b| mix(h ^ u64::from(b)));
        Self(SplitMix::new(mix(seed) ^ label))
    }

    /// Uniform between `low` and `high`.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.between(low, high)
    }

    /// True with probability `p`.
    pub(super) fn happens(&mut self, p: f64) -> bool {
        self.0.unit() < p
    }

    /// A noise field of its own.
    pub(super) fn noise(&mut self) -> Noise {
        Noise { key: self.0.bits() }
    }
}

/// Value noise: random values on a square lattice, smoothly interpolated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    key: u64,
}

impl Noise {
    /// A fixed random number in [0, 1) for a lattice point and a channel.
    pub(super) fn hash(self, i: i64, j: i64, channel: u64) -> f64 {
        let key = mix(channel ^ mix(i as u64 ^ mix(j as u64)));
        SplitMix::new(self.key ^ key).unit()
    }

    fn value(self, p: Point, wavelength: f64, channel: u64) -> f64 {
        let (x, y) = (p.x / wavelength, p.y / wavelength);
        let (i, j) = (x.floor(), y.floor());
        let ease = |t: f64| t * t * (3.0 - 2.0 * t);
        let (u, v) = (ease(x - i), ease(y - j));
        let (i, j) = (i as i64, j as i64);
        let south = self.hash(i, j, channel) * (1.0 - u) + self.hash(i + 1, j, channel) * u;
        let north = self.hash(i, j + 1, channel) * (1.0 - u) + self.hash(i + 1, j + 1, channel) * u;
        2.0 * (south * (1.0 - v) + north * v) - 1.0
    }

    /// A displacement with both components in [-1, 1] that varies over `wavelength` metres.
    pub(super) fn drift(self, p: Point, wavelength: f64) -> Point {
        Point::new(self.value(p, wavelength, 1), self.value(p, wavelength, 2))
    }
}
