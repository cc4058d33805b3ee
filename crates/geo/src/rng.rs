//! A small seeded generator for generated data: the same numbers on every machine, for ever.
//!
//! Not for privacy: reports are drawn elsewhere, from the operating system's generator.

/// Steele, Lea and Flood's SplitMix64.
#[derive(Clone, Debug)]
pub struct SplitMix {
    state: u64,
}

impl SplitMix {
    /// A generator that always gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0 .. n (n > 0). The bias is below n / 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// `count` different indices out of 0 .. n, in random order (all of them if n is smaller).
    pub fn choose(&mut self, n: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        let count = count.min(n);
        for i in 0..count {
            all.swap(i, i + self.below(n - i));
        }
        all.truncate(count);
        all
    }
}
