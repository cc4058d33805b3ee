//! How well places hide somebody who is at one of them.

/// How many places, and how unevenly likely.
#[derive(Clone, Copy, Default)]
pub struct Likely {
    /// How many.
    pub places: usize,
    /// Sum of `p` and of `p ln p`.
    mass: f64,
    plogp: f64,
}

impl Likely {
    /// One place of a weight.
    pub fn one(p: f64) -> Self {
        // A weight that is none (negative, not a number) is nobody's place.
        let mass = if p > 0.0 && p.is_finite() { p } else { 0.0 };
        Self { places: 1, mass, plogp: if mass > 0.0 { mass * mass.ln() } else { 0.0 } }
    }

    /// With others.
    pub fn add(&mut self, other: Self) {
        self.places += other.places;
        self.mass += other.mass;
        self.plogp += other.plogp;
    }

    /// [`likely_places`]. To the nearest millionth: equals are then equal whatever the order of sums.
    pub fn effective(&self) -> f64 {
        let number = match self.mass > 0.0 {
            true => (self.mass.ln() - self.plogp / self.mass).exp(),
            false => self.places as f64,
        };
        (number * 1e6).round() / 1e6
    }
}

/// How many equally likely places would hide as well as places of these weights, to the nearest
/// millionth: the exponential of the entropy. Weights that are all zero count as equal.
pub fn likely_places(weights: impl IntoIterator<Item = f64>) -> f64 {
    let mut all = Likely::default();
    weights.into_iter().for_each(|weight| all.add(Likely::one(weight)));
    all.effective()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likely_places_are_those_of_the_entropy() {
        assert_eq!(likely_places([2.0; 7]), 7.0);
        assert_eq!(likely_places([0.0; 3]), 3.0);
        assert_eq!(likely_places([0.0, 5.0, 0.0]), 1.0);
        assert!((likely_places([0.5, 0.25, 0.25]) - 2f64.powf(1.5)).abs() < 1e-6);
        assert!((likely_places([1e-300, 1e-300, 0.0]) - 2.0).abs() < 1e-6);
    }
}
