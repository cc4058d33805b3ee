//! Violations of Geo-Ind, counted both ways (`docs/specification.md` section 7).

use lrgeo_mechanism::Rows;
use lrgeo_mechanism::verify::{Examined, among_reported, as_the_paper_counts, violation_bound};
use lrgeo_tiles::verify::Finding;

/// How a mechanism keeps its epsilon between the pairs of its notion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Violations {
    /// Over all rows of all matrices, whether anybody uses them or not (Eq. 32). With one matrix
    /// for everybody there is nothing else to count.
    pub as_the_paper_counts: Finding,
    /// Ours: the same rows over the columns that somebody may report.
    pub among_reported: Finding,
    /// Over the rows that are really used: with one matrix per user, the row of the user's own
    /// place in its own matrix, compared between users.
    pub deployed: Finding,
    /// Proposition 4.5: the paper's ratio is at most this. One matrix per user only.
    pub bound: Option<f64>,
}

/// Counts the violations of a mechanism at the epsilon and for the pairs of its guarantee.
pub fn violations(built: &Examined) -> Violations {
    let (epsilon, reach_km) = (built.guarantee.epsilon, built.guarantee.notion.reach_km());
    let found = built.verdict().guaranteed;
    let deployed = built.verdict().deployed.unwrap_or(found);
    match &built.rows {
        Rows::Users(round) => Violations {
            as_the_paper_counts: as_the_paper_counts(round, &built.coords, epsilon, reach_km),
            among_reported: among_reported(round, &built.coords, epsilon, reach_km),
            deployed,
            bound: Some(violation_bound(round, &built.coords, reach_km)),
        },
        Rows::Dense(_) | Rows::Sparse(_) | Rows::Noise(_) => {
            Violations { as_the_paper_counts: found, among_reported: found, deployed, bound: None }
        }
    }
}
