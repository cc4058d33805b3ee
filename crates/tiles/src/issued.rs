//! When something was published.

/// A moment in UTC, to the second: `2026-11-16T00:40:00Z`. Passed in, never taken from a clock here.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(into = "String", try_from = "String")]
pub struct Issued(u64);

const DAY: u64 = 86_400;
/// The last second of the year 9999: later ones have no four-digit year.
const LAST: u64 = 253_402_300_799;

impl Issued {
    /// From seconds since 1970, leap seconds not counted; later than the year 9999 is that year's end.
    pub fn from_unix(seconds: u64) -> Self {
        Self(seconds.min(LAST))
    }

    /// Seconds since 1970.
    pub fn unix(self) -> u64 {
        self.0
    }

    /// So many days later.
    pub fn plus_days(self, days: u64) -> Self {
        Self::from_unix(self.0.saturating_add(days.saturating_mul(DAY)))
    }
}

/// Days before each month of a year without leap day.
const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

fn days_before(year: u64, month: u64) -> u64 {
    let leap_days = |y: u64| y / 4 - y / 100 + y / 400;
    let years = 365 * (year - 1970) + leap_days(year - 1) - leap_days(1969);
    years + BEFORE[month as usize - 1] + u64::from(month > 2 && is_leap(year))
}

impl std::fmt::Display for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (days, second) = (self.0 / DAY, self.0 % DAY);
        // Never too early by more than a year.
        let guess = 1970 + days / 366;
        let year = (guess..).take_while(|&y| days_before(y, 1) <= days).last().unwrap_or(guess);
        let month = (1..=12).rev().find(|&m| days_before(year, m) <= days).unwrap_or(1);
        let day = days - days_before(year, month) + 1;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl std::str::FromStr for Issued {
    type Err = &'static str;

    /// Reads `2026-11-16T00:40:00Z`, or `2026-11-16` for the beginning of that day.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "must be a date like 2026-11-16 or 2026-11-16T00:40:00Z, in UTC";
        let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
        let number = |from: usize, to: usize| {
            let digits = whole.get(from..to).filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
            digits.and_then(|d| d.parse::<u64>().ok()).ok_or(WRONG)
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if year < 1970 || !(1..=12).contains(&month) || day == 0 || day > 31 {
            return Err(WRONG);
        }
        let days = days_before(year, month) + day - 1;
        let issued = Self(days * DAY + 3600 * hour + 60 * minute + second);
        // Written again it must be what was read: this refuses 31 April, 25 o'clock and other forms.
        if issued.to_string() == whole { Ok(issued) } else { Err(WRONG) }
    }
}

impl From<Issued> for String {
    fn from(issued: Issued) -> Self {
        issued.to_string()
    }
}

impl TryFrom<String> for Issued {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (1_735_603_200, "2024-12-31T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (LAST, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(Issued::from_unix(seconds).to_string(), text);
            assert_eq!(text.parse(), Ok(Issued::from_unix(seconds)), "{text}");
        }
        for day in (0..60_000).map(|day| Issued::from_unix(day * DAY + 4321)) {
            assert_eq!(day.to_string().parse(), Ok(day));
        }
        assert_eq!("2024-03-01".parse(), Ok(Issued::from_unix(1_709_251_200)));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for bad in [
            "",
            "2026",
            "2026-11-31",
            "2026-02-29",
            "2026-13-01",
            "2026-00-01",
            "1969-12-31",
            "2026-11-16T24:00:00Z",
            "2026-11-16T00:60:00Z",
            "2026-11-16 00:00:00Z",
            "2026-11-16T00:00:00",
            "2026-11-16T00:00:00+01:00",
            "+026-11-16",
            "2026-11-1é",
        ] {
            assert!(bad.parse::<Issued>().is_err(), "{bad} was accepted");
        }
    }
}
