//! What client and server say to each other (`docs/specification.md` section 9; sections 4.2-4.5 of the paper).
//!
//! The messages are sorted by what they disclose, because that is what matters about them:
//!
//! - [`public`] comes from the server and is the same for everybody;
//! - [`quiet`] is all that a client sends in the modes `published` and `local`: names of public files,
//!   and the report. No type in it can hold another place or a coordinate;
//! - [`offload`] is the paper's protocol, in which a client sends the coefficients of its programme.
//!   `docs/what-the-server-learns.md` says what that discloses.
//!
//! Every message has two encodings, JSON and CBOR ([`encoding`]). Whatever the server refuses, it
//! refuses with a [`Refusal`].
//!
//! ```
//! use lrgeo_protocol::{Digest, PlaceId};
//! use lrgeo_protocol::encoding::Encoding;
//! use lrgeo_protocol::quiet::{Report, ReportedPlace};
//!
//! let report = Report::new(Digest([7; 32]), ReportedPlace(PlaceId::new(42)));
//! let bytes = Encoding::Cbor.encode(&report);
//! assert_eq!(Encoding::Cbor.decode::<Report>(&bytes)?, report);
//! # Ok::<(), lrgeo_protocol::encoding::Malformed>(())
//! ```

pub mod encoding;
pub mod offload;
pub mod path;
pub mod public;
pub mod quiet;
mod reference;
mod refusal;

pub use lrgeo_geo::{Digest, PlaceId};
pub use reference::{NoReference, Reference};
pub use refusal::{Reason, Refusal};

/// The version of these messages, in every path and description; others are refused.
pub const VERSION: u32 = 2;
