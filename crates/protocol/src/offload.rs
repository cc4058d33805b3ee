//! The paper's protocol (sections 4.2-4.5): a user uploads the coefficients of its programme and gets a
//! matrix. `docs/what-the-server-learns.md` says what each field discloses.

use serde::{Deserialize, Serialize};

use crate::{Digest, PlaceId};

/// The circle of the cost table around v_a, a random relevant place (Proposition 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[serde(deny_unknown_fields)]
pub struct Circle {
    /// The version of the map.
    pub map: Digest,
    /// The number of the place in its centre.
    #[cfg_attr(feature = "schema", schema(value_type = u32), param(value_type = u32))]
    pub centre: PlaceId,
    /// Its radius.
    pub radius_km: f64,
}

/// What the tables say about the places of a circle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TableCircle {
    /// The version of the map.
    pub map: Digest,
    /// Of every way, in the order of the description.
    pub ways: Vec<CirclePart>,
}

/// What a cost table says between all cells of a circle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CirclePart {
    /// The cells that stand for the places in the circle, ascending.
    pub cells: Vec<u32>,
    /// `beta` between all of them, row-major.
    pub beta: Vec<f64>,
}

/// The coefficients of a user's LR-OMG (Eq. 14-17). Rows have no names and come in random order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The version of the map.
    pub map: Digest,
    /// How many relevant places.
    pub rows: u32,
    /// The numbers of the places that may be reported, ascending.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u32>))]
    pub columns: Vec<PlaceId>,
    /// Distances between relevant places, row-major, in kilometres.
    pub between: Vec<f64>,
    /// Distances from relevant to reported places, row-major.
    pub towards: Vec<f64>,
    /// Estimated costs over the same, priors included.
    pub cost: Vec<f64>,
}

/// The answer to a [`Join`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Joined {
    /// What to ask about, in paths.
    pub ticket: String,
    /// What shows that the ticket is yours: `Authorization: Bearer <token>`.
    pub token: String,
}

/// How far a ticket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Others may still join.
    Waiting,
    /// The round is being solved.
    Solving,
    /// The matrix is there.
    Done,
    /// There is none: see `refusal`.
    Failed,
}

/// The state of a ticket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TicketState {
    /// How far it is.
    pub phase: Phase,
    /// How many users are in the round, as far as is known.
    pub users: u32,
    /// The bounds of the round so far, once there are any.
    pub bounds: Option<Bounds>,
    /// Why it failed.
    pub refusal: Option<crate::Refusal>,
}

/// The bounds of Proposition 4.2 as they move; in kilometres times prior, as the costs are uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Iterations so far.
    pub iteration: u64,
    /// The cost of the best matrices so far; absent before there are any.
    pub upper: Option<f64>,
    /// No matrices cost less.
    pub lower: f64,
}

/// A user's matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UserMatrix {
    /// The version of the map.
    pub map: Digest,
    /// The places that may be reported, ascending: those that were uploaded, and all others whose y is not zero.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u32>))]
    pub columns: Vec<PlaceId>,
    /// The rows in the order of the upload, row-major.
    pub values: Vec<f64>,
    /// The y that tied entries hang on, one per column; `certificate.shared` says with whom it is shared.
    pub y: Vec<f64>,
    /// What was proven about the matrices that were solved together.
    pub certificate: Certificate,
}

/// With whom a user shares y. All users of a round get the same way: Theorem 4.4 of the paper speaks of
/// users who share one y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// With the users of the round, whose costs decided about it, within the bound that the server states.
    Round,
    /// With everybody: it is the public y of the map, and nobody's upload decided about it.
    PublicY,
    /// With nobody: there is no public y, and the user was solved alone.
    Alone,
}

/// What was proven about matrices that were solved together: those of a round, or one user's alone. Costs as
/// uploaded, so priors included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// With whom y is shared.
    pub shared: Shared,
    /// Which engine solved it.
    pub engine: String,
    /// How it ended: `optimal`, `gap` or `limit`.
    pub status: String,
    /// How many users were solved together; one unless y is the round's.
    pub users: u32,
    /// What the matrices of all of them cost.
    pub cost: f64,
    /// No matrices cost less.
    pub lower_bound: f64,
    /// `(cost - lower_bound) / cost`.
    pub gap: f64,
    /// Iterations of the engine.
    pub iterations: u64,
    /// The largest `ln(z_ik / z_jk) - eps d_ij` of the programme; at most zero.
    pub worst_log_excess: f64,
    /// The largest distance of a row's sum from one.
    pub worst_row_sum_error: f64,
}
