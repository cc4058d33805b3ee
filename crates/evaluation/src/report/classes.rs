//! Which colour a value has: round classes, by logarithms where values span orders of magnitude.

use super::scale::{decimal, round_step};

/// Colours from little to much, in `style.css`.
const COLOURS: usize = 9;
/// Values that span more than this are told apart by their logarithms.
const ORDERS: f64 = 100.0;

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Unknown,
    /// Has no place on a logarithmic scale.
    Nothing,
    Colour(usize),
}

impl Class {
    /// Its class in `style.css`.
    pub fn style(self) -> String {
        match self {
            Self::Unknown => "unknown".into(),
            Self::Nothing => "zero".into(),
            Self::Colour(index) => format!("q{index}"),
        }
    }
}

/// Round edges between the colours.
pub(super) struct Classes {
    pub log: bool,
    pub edges: Vec<f64>,
    /// Whether there are values below the first edge, which join the first colour.
    pub cut: bool,
}

impl Classes {
    /// Classes of values that are not negative.
    pub fn of(values: &[f64]) -> Self {
        let finite = || values.iter().copied().filter(|v| v.is_finite() && *v >= 0.0);
        let most = finite().fold(0.0, f64::max).min(1e150);
        let least = finite().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min).min(most);
        if most <= 0.0 {
            return Self { log: false, edges: vec![0.0, 1.0], cut: false };
        }
        if most / least <= ORDERS {
            let from = if least < most / 2.0 || least == most { 0.0 } else { least };
            let edges = |step: f64| {
                let first = (from / step + 1e-9).floor();
                let count = ((most / step - 1e-9).ceil() - first).max(1.0) as usize;
                (0..=count).map(|i| (first + i as f64) * step).collect::<Vec<f64>>()
            };
            let step = round_step((most - from) / COLOURS as f64);
            let fine = edges(step);
            // Rounding at both ends may take one colour more than there are.
            let edges =
                if fine.len() <= COLOURS + 1 { fine } else { edges(round_step(1.5 * step)) };
            return Self { log: false, edges, cut: false };
        }
        // Downwards from the most, by decades or half decades; what is less still joins the last.
        let top = most.log10().ceil() as i32;
        let halves = (most / least).log10() <= 4.0;
        let mut edges: Vec<f64> = Vec::new();
        for k in 0..=COLOURS as i32 {
            edges.push(match halves {
                true if k % 2 == 1 => decimal(3.0, top - 1 - k / 2),
                true => decimal(1.0, top - k / 2),
                false => decimal(1.0, top - k),
            });
            if edges.len() > 1 && edges[edges.len() - 1] <= least {
                break;
            }
        }
        if edges[1] >= most && edges.len() > 2 {
            edges.remove(0);
        }
        edges.reverse();
        Self { log: true, cut: least < edges[0], edges }
    }

    /// Where a value belongs.
    pub fn class(&self, value: f64) -> Class {
        if !value.is_finite() {
            Class::Unknown
        } else if self.log && value <= 0.0 {
            Class::Nothing
        } else {
            let bins = self.edges.len() - 1;
            let bin =
                self.edges[1..bins].iter().filter(|edge| value >= **edge * (1.0 - 1e-9)).count();
            Class::Colour(self.colour(bin))
        }
    }

    /// The palette's colour of a bin, the last always the strongest.
    pub fn colour(&self, bin: usize) -> usize {
        let bins = self.edges.len() - 1;
        COLOURS - 1 - (bins - 1 - bin) * (COLOURS - 1) / (bins - 1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_round_and_hold_every_value() {
        let near = Classes::of(&[0.3, 0.9]);
        assert_eq!((near.log, near.edges.len(), near.edges[9].round()), (false, 10, 1.0));
        assert_eq!((near.class(0.35), near.class(0.9)), (Class::Colour(3), Class::Colour(8)));
        let far = Classes::of(&[0.0, 2e-3, 0.25]);
        assert_eq!((far.log, &*far.edges), (true, [0.001, 0.003, 0.01, 0.03, 0.1, 0.3].as_slice()));
        assert_eq!((far.class(0.0), far.class(2e-3)), (Class::Nothing, Class::Colour(0)));
        let farther = Classes::of(&[1e-30, 1.0]);
        assert!(farther.cut && farther.edges.len() <= COLOURS + 1);
        assert_eq!(
            (farther.class(1e-30), farther.class(1.0)),
            (Class::Colour(0), Class::Colour(8))
        );
        assert_eq!(farther.class(f64::NAN), Class::Unknown);
    }
}
