//! Where uniform bits come from.

use std::convert::Infallible;

use lrgeo_geo::rng::SplitMix;

use crate::DrawError;

/// A source of uniform bits. Not public: outside this crate there are the two sources below and no
/// third, and each function names the one it takes.
pub(super) trait Bits {
    /// What can go wrong.
    type Failure;

    /// 128 uniform bits.
    fn bits(&mut self) -> Result<u128, Self::Failure>;

    /// Uniform in (0, 1), never 0 or 1, and as fine near 0 as 128 bits allow.
    fn unit(&mut self) -> Result<f64, Self::Failure> {
        // 2^-128 (bits + 1/2); rounding reaches 1 only from the last few units below it.
        let unit = (self.bits()? as f64 + 0.5) / 2f64.powi(128);
        Ok(unit.min(1.0 - f64::EPSILON / 2.0))
    }
}

/// The operating system's generator: the only source for what is really reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandomness;

impl Bits for SystemRandomness {
    type Failure = DrawError;

    fn bits(&mut self) -> Result<u128, DrawError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(u128::from_le_bytes(bytes))
    }
}

impl SystemRandomness {
    /// Uniform in (0, 1), never 0 or 1, and as fine near 0 as 128 bits allow.
    pub fn unit(&mut self) -> Result<f64, DrawError> {
        Bits::unit(self)
    }

    /// A uniform number of 64 bits.
    pub fn number(&mut self) -> Result<u64, DrawError> {
        Ok(getrandom::u64()?)
    }
}

/// The same generator, asked for the bits of many draws at once, for one call that draws many reports. Not to be kept: a
/// process that forks would have the same bits twice.
#[derive(Debug, Default)]
pub struct ManyDraws {
    ahead: Vec<u128>,
}

/// So many draws at once.
const AHEAD: usize = 1024;

impl Bits for ManyDraws {
    type Failure = DrawError;

    fn bits(&mut self) -> Result<u128, DrawError> {
        if let Some(bits) = self.ahead.pop() {
            return Ok(bits);
        }
        let mut bytes = [0; 16 * AHEAD];
        getrandom::fill(&mut bytes)?;
        let number = |chunk: &[u8]| chunk.try_into().map(u128::from_le_bytes).unwrap_or_default();
        self.ahead.extend(bytes.chunks_exact(16).map(number));
        self.ahead.pop().ok_or(DrawError::TooExtreme)
    }
}

/// The same bits for the same seed, for tests and experiments. Predictable: whoever reports with it
/// reports where they are.
#[derive(Clone, Debug)]
pub struct SeededRandomness(SplitMix);

impl SeededRandomness {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    /// Uniform in (0, 1), as [`SystemRandomness::unit`] has it.
    pub fn unit(&mut self) -> f64 {
        let Ok(unit) = Bits::unit(self);
        unit
    }
}

impl Bits for SeededRandomness {
    type Failure = Infallible;

    fn bits(&mut self) -> Result<u128, Infallible> {
        Ok(u128::from(self.0.bits()) << 64 | u128::from(self.0.bits()))
    }
}
