//! Numbers for people: as many digits as mean something.

/// What stands where there is no number.
pub(super) const DASH: &str = "—";

/// A mean with its spread, in digits that the spread warrants.
#[derive(Debug, PartialEq)]
pub(super) struct Measured {
    pub mean: String,
    /// Without the sign `±`.
    pub spread: Option<String>,
}

/// Two significant digits of the spread and the mean to the same place, but at least one and at most
/// six significant digits of the mean; very large and very small ones by a common power of ten.
pub(super) fn measured(mean: f64, spread: Option<f64>) -> Measured {
    let Some(spread) = spread.filter(|s| s.is_finite() && mean.is_finite()) else {
        return Measured { mean: value(mean), spread: None };
    };
    if spread == 0.0 {
        return Measured { mean: value(mean), spread: Some("0".into()) };
    }
    let size = mean.abs().max(spread);
    if needs_power(size) {
        let power = exponent(size, 2);
        let small = measured(shifted(mean, power), Some(shifted(spread, power)));
        let close = format!("{})×{}", small.spread.unwrap_or_default(), power_of_ten(power));
        return Measured { mean: format!("({}", small.mean), spread: Some(close) };
    }
    let places = match mean {
        0.0 => places_for(spread, 2),
        _ => places_for(spread, 2).clamp(places_for(mean, 1), places_for(mean, 6)),
    };
    let rounded = fixed(spread, places);
    // A spread far below the mean's last digit would round to nothing.
    let vanishes = rounded.bytes().all(|b| matches!(b, b'0' | b'.'));
    Measured {
        mean: fixed(mean, places),
        spread: Some(if vanishes { significant(spread, 1) } else { rounded }),
    }
}

/// A number of which no spread is known: whole as it is, otherwise four significant digits.
pub(super) fn value(value: f64) -> String {
    if !value.is_finite() {
        DASH.into()
    } else if value == value.trunc() && value.abs() < 1e6 {
        fixed(value, 0)
    } else {
        significant(value, 4)
    }
}

/// A number in a sentence: two significant digits.
pub(crate) fn rounded(value: f64) -> String {
    if value.is_finite() { significant(value, 2) } else { "infinity".into() }
}

/// A setting or a tick: up to six significant digits without closing zeros.
pub(crate) fn short(value: f64) -> String {
    if !value.is_finite() {
        return DASH.into();
    }
    let text = significant(value, 6);
    let (digits, power) = text.split_once('×').map_or((&*text, None), |(d, p)| (d, Some(p)));
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    match power {
        None => digits.into(),
        Some(power) if digits == "1" => power.into(),
        Some(power) => format!("{digits}×{power}"),
    }
}

/// `value` with a number of significant digits.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !needs_power(value) {
        return fixed(value, places_for(value, digits));
    }
    let power = exponent(value, digits);
    let leading = shifted(value, power);
    format!("{}×{}", fixed(leading, digits - 1), power_of_ten(power))
}

fn needs_power(value: f64) -> bool {
    !(1e-3..1e6).contains(&value.abs())
}

/// The power of ten of the first of so many significant digits, after rounding: 1 of 9.97 in two digits.
fn exponent(value: f64, digits: i32) -> i32 {
    let text = format!("{value:.*e}", digits as usize - 1);
    text.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0)
}

/// `value` over ten to a power, in two steps: ten to the power of -324 is zero to a computer.
fn shifted(value: f64, power: i32) -> f64 {
    value / 10f64.powi(power / 2) / 10f64.powi(power - power / 2)
}

/// Decimal places that show so many significant digits.
fn places_for(value: f64, digits: i32) -> i32 {
    digits - 1 - exponent(value, digits)
}

/// Fixed decimal places, with commas from five digits on and a true minus sign.
fn fixed(value: f64, places: i32) -> String {
    let text = format!("{:.*}", places.clamp(0, 17) as usize, value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && whole.len() > 4 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

fn power_of_ten(power: i32) -> String {
    let raised = power.to_string().chars().map(raise).collect::<String>();
    format!("10{raised}")
}

fn raise(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => other.to_digit(10).and_then(|d| char::from_u32('⁰' as u32 + d)).unwrap_or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(mean: f64, spread: f64) -> String {
        let Measured { mean, spread } = measured(mean, Some(spread));
        format!("{mean} ± {}", spread.unwrap())
    }

    #[test]
    fn a_spread_decides_how_many_digits_a_mean_has() {
        assert_eq!(both(0.36172, 0.04123), "0.362 ± 0.041");
        assert_eq!(both(12345.678, 23.4), "12,346 ± 23");
        assert_eq!(both(0.003, 1.234), "0.003 ± 1.234");
        assert_eq!(both(-2.5, 0.5), "−2.50 ± 0.50");
        assert_eq!(both(0.0, 0.25), "0.00 ± 0.25");
        assert_eq!(both(1.25, 0.0), "1.250 ± 0");
        assert_eq!(both(1.25, 3e-12), "1.25000 ± 3×10⁻¹²");
        assert_eq!(both(1.234e-7, 4.5e-9), "(1.234 ± 0.045)×10⁻⁷");
        assert_eq!(both(5e9, 1.5e8), "(5.00 ± 0.15)×10⁹");
    }

    #[test]
    fn numbers_without_a_spread_have_four_digits() {
        for (number, text) in [
            (0.0, "0"),
            (1800.0, "1800"),
            (123456.0, "123,456"),
            (0.123456, "0.1235"),
            (1e-320, "1.000×10⁻³²⁰"),
            (9.99996, "10.00"),
            (-2.5e12, "−2.500×10¹²"),
            (f64::NAN, DASH),
            (f64::INFINITY, DASH),
        ] {
            assert_eq!(value(number), text);
        }
    }

    #[test]
    fn settings_and_ticks_are_short() {
        for (number, text) in
            [(0.275, "0.275"), (400.0, "400"), (1e-5, "10⁻⁵"), (2e7, "2×10⁷"), (0.1 + 0.2, "0.3")]
        {
            assert_eq!(short(number), text);
        }
    }
}
