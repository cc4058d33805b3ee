//! Everything random that a client does.
//!
//! What is reported for a person is drawn with the operating system's generator and nothing else:
//! [`crate::Client::new`] has no place for another. Rehearsals are a different type of client.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_tiles::sample::{SeededRandomness, SystemRandomness, Urn};
use lrgeo_tiles::{Distribution, DrawError};

mod sealed {
    /// There are the two sources below and no third.
    pub trait Sealed {}
    impl Sealed for lrgeo_tiles::sample::SystemRandomness {}
    impl Sealed for super::Rehearsal {}
}

/// Where a client's randomness comes from.
pub trait Draws: sealed::Sealed {
    /// Draws an entry of a distribution: which one.
    fn entry(&mut self, of: &Distribution) -> Result<usize, DrawError>;

    /// Draws a report from a row over all places.
    fn report(&mut self, row: &Distribution) -> Result<PlaceId, DrawError> {
        self.entry(row).map(PlaceId::at)
    }

    /// A uniform number below `count`, which is positive.
    fn below(&mut self, count: usize) -> Result<usize, DrawError>;
}

impl Draws for SystemRandomness {
    fn entry(&mut self, of: &Distribution) -> Result<usize, DrawError> {
        Urn::new(of)?.draw(self)
    }

    fn below(&mut self, count: usize) -> Result<usize, DrawError> {
        let count = count.max(1) as u64;
        // The largest multiple of `count` that fits: above it numbers would be favoured.
        let fair = u64::MAX - u64::MAX % count;
        loop {
            let number = self.number()?;
            if number < fair {
                return Ok((number % count) as usize);
            }
        }
    }
}

/// Predictable draws, for tests and for showing what goes over the wire. Never for a person.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    forced: VecDeque<PlaceId>,
    rows: SeededRandomness,
    numbers: SplitMix,
    record: Option<Record>,
}

/// The rows that a rehearsal drew from, for whoever tests that draws follow them.
pub type Record = Arc<Mutex<Vec<Vec<f64>>>>;

impl Rehearsal {
    /// The same seed, the same draws.
    pub fn seeded(seed: u64) -> Self {
        let (rows, numbers) = (SeededRandomness::new(seed), SplitMix::new(!seed));
        Self { forced: VecDeque::new(), rows, numbers, record: None }
    }

    /// Writes down every row that is drawn from.
    pub fn recorded(mut self, record: Record) -> Self {
        self.record = Some(record);
        self
    }

    /// Reports these places first, whatever the rows say.
    pub fn forced(mut self, reports: impl IntoIterator<Item = PlaceId>) -> Self {
        self.forced.extend(reports);
        self
    }

    fn urn(&self, of: &Distribution) -> Result<Urn, DrawError> {
        let urn = Urn::new(of)?;
        if let Some(record) = &self.record {
            record.lock().unwrap_or_else(PoisonError::into_inner).push(of.to_vec());
        }
        Ok(urn)
    }
}

impl Draws for Rehearsal {
    fn entry(&mut self, of: &Distribution) -> Result<usize, DrawError> {
        Ok(self.urn(of)?.rehearse(&mut self.rows))
    }

    fn report(&mut self, row: &Distribution) -> Result<PlaceId, DrawError> {
        match self.forced.pop_front() {
            // The row must be one to draw from, forced or not.
            Some(forced) => self.urn(row).map(|_| forced),
            None => self.entry(row).map(PlaceId::at),
        }
    }

    fn below(&mut self, count: usize) -> Result<usize, DrawError> {
        Ok((self.numbers.bits() % count.max(1) as u64) as usize)
    }
}

/// A uniformly random order of `0..count` (Fisher-Yates).
pub fn shuffled(draws: &mut dyn Draws, count: usize) -> Result<Vec<usize>, DrawError> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, draws.below(last + 1)?);
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_as_likely_as_any_other() {
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..12_000 {
            *counts.entry(shuffled(&mut SystemRandomness, 4).unwrap()).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        // 500 each; six standard deviations are 131.
        assert!(counts.values().all(|n| (369..=631).contains(n)), "{counts:?}");
    }

    #[test]
    fn rehearsals_repeat_and_can_be_forced() {
        let draws = |seed| {
            let mut rehearsal = Rehearsal::seeded(seed).forced([PlaceId::new(7)]);
            let row = Distribution::new(vec![0.25; 4]).unwrap();
            (0..20).map(|_| rehearsal.report(&row).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
        assert_eq!(draws(1)[0], PlaceId::new(7));
    }
}
