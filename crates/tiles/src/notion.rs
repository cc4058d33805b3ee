//! What a mechanism promises: which notion of Geo-Ind, at which epsilon, for which rows.

use crate::Epsilon;

/// Which pairs of places must have nearly equal reports (`docs/specification.md` section 1). Costs are compared only
/// within one notion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notion {
    /// The paper's: `z_ik <= exp(eps d_ij) z_jk` for pairs with `d_ij <= gamma`. Farther pairs have
    /// `eps D_ij` only (Theorem 3.1), D being the path distance in the Geo-Ind graph.
    Within {
        /// The neighbour threshold, in kilometres.
        gamma_km: f64,
    },
    /// The same for every pair of places.
    AllPairs,
    /// The same for every two coordinates of the service area, wherever people stand (`docs/specification.md` section 1). Words like "factor 2
    /// within 300 m" are a promise of this kind.
    Coordinates,
}

impl Notion {
    /// The largest distance of a pair that the notion speaks of; infinite for all pairs.
    pub fn reach_km(self) -> f64 {
        match self {
            Notion::Within { gamma_km } => gamma_km,
            Notion::AllPairs | Notion::Coordinates => f64::INFINITY,
        }
    }
}

impl std::fmt::Display for Notion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Notion::Within { gamma_km } => write!(f, "pairs within {gamma_km:.3} km"),
            Notion::AllPairs => f.write_str("all pairs of places"),
            Notion::Coordinates => f.write_str("all coordinates"),
        }
    }
}

/// Which rows the promise is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// One matrix for everybody: every pair of places of the notion, every report.
    WholeMap,
    /// One matrix per user of a round (CLR-Geo): within each matrix every pair of the notion, and
    /// between users the entries that both tie to the shared y (Theorem 4.4). Free entries of two
    /// users are *not* covered; how often they violate is measured (Proposition 4.5).
    Round,
}

/// The promise itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guarantee {
    /// Which pairs.
    pub notion: Notion,
    /// How nearly equal.
    pub epsilon: Epsilon,
    /// Which rows.
    pub cover: Cover,
}

impl std::fmt::Display for Guarantee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} Geo-Ind, {}", self.epsilon, self.notion)?;
        match self.cover {
            Cover::WholeMap if self.notion == Notion::Coordinates => f.write_str(" of the map"),
            Cover::WholeMap => f.write_str(", every place"),
            Cover::Round => f.write_str(
                ", within each user's matrix; between users of the round tied entries only",
            ),
        }
    }
}
