//! The privacy parameter.

use crate::MechanismError;

/// Epsilon in 1/km: positive and finite. Smaller is more private.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Epsilon(f64);

impl Epsilon {
    /// `value` per kilometre.
    pub fn per_km(value: f64) -> Result<Self, MechanismError> {
        if value.is_finite() && value > 0.0 {
            return Ok(Self(value));
        }
        let reason = format!("{value} is not a positive number; write it like 2/km");
        Err(MechanismError::Invalid { field: "epsilon", reason })
    }

    /// In 1/km.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl std::str::FromStr for Epsilon {
    type Err = MechanismError;

    /// Reads `2/km`, `2 / km`, or a bare number, which is per kilometre.
    fn from_str(text: &str) -> Result<Self, MechanismError> {
        let number = text.trim().trim_end_matches("km").trim_end().trim_end_matches('/').trim();
        let value = number.parse().map_err(|_| MechanismError::Invalid {
            field: "epsilon",
            reason: format!("`{text}` is not a number per kilometre; write it like 2/km"),
        })?;
        Self::per_km(value)
    }
}

impl std::fmt::Display for Epsilon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/km", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_people_write_it() {
        assert_eq!("2/km".parse::<Epsilon>().unwrap().value(), 2.0);
        assert_eq!("0.5 / km".parse::<Epsilon>().unwrap().value(), 0.5);
        assert_eq!("3".parse::<Epsilon>().unwrap().value(), 3.0);
        for bad in ["0/km", "-1/km", "NaN", "inf/km", "two", ""] {
            assert!(bad.parse::<Epsilon>().is_err(), "{bad} was accepted");
        }
    }
}
