//! What may be drawn from.

/// How far the sum of a distribution may be from one: the rounding of adding up as many numbers as a map has places. The one definition
/// for whatever is kept, published, verified and drawn from. Optimisers are held to less (`lrgeo_optim::ROW_SUM_ERROR`), since their rows are
/// raised and cut afterwards; what people type is allowed more, and divided by its sum.
pub const SUM_ERROR: f64 = 1e-9;

/// Why numbers are no distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoDistribution {
    /// One of them is below zero, infinite or not a number.
    #[error("holds a number that is no probability")]
    NoProbability,
    /// Their sum is farther from one than [`SUM_ERROR`], or there are none.
    #[error("does not sum to one")]
    Sum,
}

impl NoDistribution {
    /// The same in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoProbability => "holds a number that is no probability",
            Self::Sum => "does not sum to one",
        }
    }
}

/// Probabilities: finite, none below zero, with a sum of one but for [`SUM_ERROR`]. A row of a mechanism over all places of its map.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution(Vec<f64>);

impl Distribution {
    /// Takes numbers that are one.
    pub fn new(values: Vec<f64>) -> Result<Self, NoDistribution> {
        Self::check(&values)?;
        Ok(Self(values))
    }

    /// Whether numbers are one, for rows that stay where they are: in a matrix.
    pub fn check(values: &[f64]) -> Result<(), NoDistribution> {
        Self::check_sparse(values, 0.0, 0)
    }

    /// The same for a row that has some explicit values and the value `tail` so many times more.
    pub fn check_sparse(values: &[f64], tail: f64, times: usize) -> Result<(), NoDistribution> {
        let is_probability = |z: &f64| z.is_finite() && *z >= 0.0;
        if !values.iter().chain([&tail]).all(is_probability) {
            return Err(NoDistribution::NoProbability);
        }
        let sum = values.iter().sum::<f64>() + times as f64 * tail;
        match (sum - 1.0).abs() <= SUM_ERROR {
            true => Ok(()),
            false => Err(NoDistribution::Sum),
        }
    }

    /// The numbers alone.
    pub fn into_vec(self) -> Vec<f64> {
        self.0
    }
}

impl std::ops::Deref for Distribution {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl IntoIterator for Distribution {
    type Item = f64;
    type IntoIter = std::vec::IntoIter<f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Distribution {
    type Item = &'a f64;
    type IntoIter = std::slice::Iter<'a, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_distribution_cannot_become_one() {
        let good = [vec![1.0], vec![0.25; 4], vec![0.0, 1.0 - 0.9 * SUM_ERROR], vec![-0.0, 1.0]];
        for values in good {
            assert_eq!(*Distribution::new(values.clone()).unwrap(), values[..]);
        }
        let short = 1.0 - 1.1 * SUM_ERROR;
        let no_sum = [vec![], vec![0.0], vec![0.5, 0.4], vec![short], vec![1.0, 1.0]];
        for values in no_sum {
            assert_eq!(Distribution::new(values), Err(NoDistribution::Sum));
        }
        for bad in [f64::NAN, f64::INFINITY, -0.5, -1e-300] {
            assert_eq!(Distribution::new(vec![1.0, bad]), Err(NoDistribution::NoProbability));
            assert_eq!(
                Distribution::check_sparse(&[1.0], bad, 0),
                Err(NoDistribution::NoProbability)
            );
        }
    }

    #[test]
    fn tails_count_as_often_as_they_stand_there() {
        assert_eq!(Distribution::check_sparse(&[0.5], 0.125, 4), Ok(()));
        assert_eq!(Distribution::check_sparse(&[0.5], 0.125, 3), Err(NoDistribution::Sum));
        assert_eq!(Distribution::check_sparse(&[], 0.125, 8), Ok(()));
    }
}
