//! The privacy parameter, as a number or in words.

use lrgeo_geo::units::Length;

use lrgeo_geo::Invalid;

/// Epsilon in 1/km: positive and finite. Smaller is more private.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Epsilon(f64);

impl Epsilon {
    /// `value` per kilometre.
    pub fn per_km(value: f64) -> Result<Self, Invalid> {
        if value.is_finite() && value > 0.0 {
            return Ok(Self(value));
        }
        Err(invalid(format!("{value} is not a positive number; write it like 2/km")))
    }

    /// The epsilon at which a report is at most `factor` times as likely from one place as from
    /// another within `radius`: `ln(factor) / radius`.
    pub fn factor_within(factor: f64, radius: Length) -> Result<Self, Invalid> {
        if factor.is_finite() && factor > 1.0 {
            return Self::per_km(factor.ln() / radius.km());
        }
        Err(invalid(format!(
            "a factor of {factor} is not above one; write `factor 2 within 300 m`"
        )))
    }

    /// In 1/km.
    pub fn value(self) -> f64 {
        self.0
    }
}

fn invalid(reason: String) -> Invalid {
    Invalid { field: "epsilon", reason }
}

impl std::str::FromStr for Epsilon {
    type Err = Invalid;

    /// Reads `2/km`, `2 per km` and `factor 2 within 300 m`; a bare number has no unit and is refused, as a length is.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let lower = text.trim().to_lowercase();
        if let Some((factor, radius)) = lower.split_once("within") {
            return in_words(factor, radius).unwrap_or_else(|| {
                Err(invalid(format!("`{text}` is not understood; write `factor 2 within 300 m`")))
            });
        }
        if lower.parse::<f64>().is_ok() {
            let reason = "has no unit; write it like 2/km or `factor 2 within 300 m`";
            return Err(invalid(format!("`{text}` {reason}")));
        }
        let per_km = lower.strip_suffix("km").map(str::trim_end);
        let number = per_km.and_then(|rest| rest.strip_suffix('/').or(rest.strip_suffix("per")));
        let value = number.and_then(|number| number.trim().parse().ok()).ok_or_else(|| {
            let reason = "is not a number per kilometre; write `2/km` or `factor 2 within 300 m`";
            invalid(format!("`{text}` {reason}"))
        })?;
        Self::per_km(value)
    }
}

/// `factor 2 within 300 m`, or `a factor of 2 within 300m`, on both sides of `within`.
fn in_words(factor: &str, radius: &str) -> Option<Result<Epsilon, Invalid>> {
    let mut words = factor.split_whitespace().skip_while(|word| *word == "a");
    let number = match (words.next()?, words.next()?) {
        ("factor", "of") => words.next()?,
        ("factor", number) => number,
        _ => return None,
    };
    let (factor, radius) = (number.parse().ok()?, radius.trim().parse().ok()?);
    words.next().is_none().then(|| Epsilon::factor_within(factor, radius))
}

/// A promise to people, as they ask for it: `factor 2 within 300 m`, or an epsilon between any two coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Privacy {
    /// The epsilon that keeps it.
    pub epsilon: Epsilon,
    /// The factor and the radius, where it was asked for in words.
    pub words: Option<(f64, Length)>,
}

impl std::str::FromStr for Privacy {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let epsilon: Epsilon = text.parse()?;
        let lower = text.to_lowercase();
        let words = lower.split_once("within").and_then(|(factor, radius)| {
            let factor = factor.split_whitespace().last()?.parse().ok()?;
            Some((factor, radius.trim().parse().ok()?))
        });
        Ok(Self { epsilon, words })
    }
}

impl std::fmt::Display for Privacy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.words {
            Some((factor, radius)) => write!(f, "factor {factor} within {radius}"),
            None => write!(f, "{} between any two people", self.epsilon),
        }
    }
}

impl std::fmt::Display for Epsilon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Six digits are what people read; files and JSON keep all of them.
        let digits = (5 - self.0.log10().floor() as i32).clamp(0, 12) as usize;
        let text = format!("{:.digits$}", self.0);
        let text =
            if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        write!(f, "{text}/km")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_people_write_it() {
        for (text, value) in [("2/km", 2.0), ("0.5 / km", 0.5), (" 4 per KM", 4.0)] {
            assert_eq!(text.parse::<Epsilon>().unwrap().value(), value, "{text}");
        }
        for bad in ["0/km", "-1/km", "NaN", "inf/km", "two", "", "2km", "2/", "/km", "2/m", "3"] {
            assert!(bad.parse::<Epsilon>().is_err(), "{bad} was accepted");
        }
        let bare = "2".parse::<Epsilon>().unwrap_err().to_string();
        assert!(bare.contains("`2` has no unit; write it like 2/km"), "{bare}");
    }

    #[test]
    fn a_promise_to_people_keeps_its_words() {
        let promise: Privacy = "a factor of 2 within 300 m".parse().unwrap();
        assert_eq!(promise.words, Some((2.0, "300m".parse().unwrap())));
        assert_eq!(promise.to_string(), "factor 2 within 300 m");
        let promise: Privacy = "2/km".parse().unwrap();
        assert_eq!((promise.words, promise.epsilon.value()), (None, 2.0));
        assert!("factor 1 within 300 m".parse::<Privacy>().is_err());
    }

    #[test]
    fn is_read_in_words() {
        for (text, value) in [
            ("factor 2 within 300 m", 2f64.ln() / 0.3),
            ("a factor of 2 within 300m", 2f64.ln() / 0.3),
            ("Factor 4 within 1km", 4f64.ln()),
            ("factor of 1.5 within 0.2 km", 1.5f64.ln() / 0.2),
        ] {
            assert_eq!(text.parse::<Epsilon>().unwrap().value(), value, "{text}");
        }
        for bad in [
            "factor 1 within 300 m",
            "factor 0.5 within 300 m",
            "factor NaN within 300 m",
            "factor inf within 300 m",
            "factor 2 within 300",
            "factor 2 within 0 m",
            "factor within 300 m",
            "factor 2 3 within 300 m",
            "2 within 300 m",
            "within",
        ] {
            assert!(bad.parse::<Epsilon>().is_err(), "{bad} was accepted");
        }
    }
}
