//! Lengths as people write them, and travel amounts as the street graph adds them up.

use crate::Invalid;

/// A positive, finite length.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Length {
    km: f64,
}

impl Length {
    /// The side of the cells of a cost reference table, unless asked otherwise.
    pub const HUNDRED_METRES: Self = Self { km: 0.1 };

    /// A length of `km` kilometres, if positive and finite.
    pub fn from_km(km: f64) -> Result<Self, Invalid> {
        if km.is_finite() && km > 0.0 {
            Ok(Self { km })
        } else {
            Err(Invalid::new("length", format!("{km} km is not a positive length")))
        }
    }

    /// A length of `m` metres, if positive and finite.
    pub fn from_m(m: f64) -> Result<Self, Invalid> {
        Self::from_km(m / 1000.0)
    }

    /// In kilometres.
    pub fn km(self) -> f64 {
        self.km
    }

    /// In metres.
    pub fn m(self) -> f64 {
        self.km * 1000.0
    }
}

impl std::str::FromStr for Length {
    type Err = Invalid;

    /// Reads `500m`, `500 m`, `0.5km`; a bare number has no unit and is refused.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let (number, per_km) = if let Some(number) = text.strip_suffix("km") {
            (number, 1.0)
        } else if let Some(number) = text.strip_suffix('m') {
            (number, 1000.0)
        } else {
            return Err(Invalid::new(
                "length",
                format!("`{text}` has no unit; write it like 500m or 0.5km"),
            ));
        };
        let value: f64 = number
            .trim()
            .parse()
            .map_err(|_| Invalid::new("length", format!("`{text}` is not a number and a unit")))?;
        Self::from_km(value / per_km)
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.km < 1.0 {
            write!(f, "{} m", round(self.m(), 1))
        } else {
            write!(f, "{} km", round(self.km, 3))
        }
    }
}

/// `value` with at most `digits` decimals and no trailing zeros.
fn round(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}

/// A travel amount: millimetres of way or milliseconds of time.
///
/// Whole numbers make shortest paths exact: the sum along a path does not depend on the order
/// of its arcs, so forward and reversed searches agree to the last bit and the triangle
/// inequality, on which Lemmas B.1 and B.2 rest, holds without any tolerance. The range is
/// 4,294 km or 49 days.
pub type Travel = u32;

/// No way leads there.
pub const UNREACHABLE: Travel = Travel::MAX;

/// Millimetres for a length in kilometres, rounded up so that a way is never shorter than the
/// straight line between its ends.
pub fn travel_from_km(km: f64) -> Travel {
    (km * 1e6).ceil().min(f64::from(UNREACHABLE)) as Travel
}

/// Milliseconds to cover `km` at `kmh`, rounded up.
pub fn travel_time(km: f64, kmh: f64) -> Travel {
    (km / kmh * 3.6e6).ceil().min(f64::from(UNREACHABLE)) as Travel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_with_their_unit() {
        assert_eq!("500m".parse::<Length>().unwrap().km(), 0.5);
        assert_eq!(" 0.5 km ".parse::<Length>().unwrap().m(), 500.0);
        for bad in ["500", "0m", "-3km", "NaNm", "infkm", "m", ""] {
            assert!(bad.parse::<Length>().is_err(), "{bad} was accepted");
        }
    }

    #[test]
    fn lengths_print_in_the_unit_people_expect() {
        assert_eq!(Length::from_m(500.0).unwrap().to_string(), "500 m");
        assert_eq!(Length::from_km(1.25).unwrap().to_string(), "1.25 km");
    }
}
