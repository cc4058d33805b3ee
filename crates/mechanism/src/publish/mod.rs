//! One mechanism for everybody, cut into public tiles and signed (`docs/specification.md` section 9, `published`).
//!
//! The operator's side: [`publish`] makes a [`Publication`], [`Publication::write`] puts it into a directory, [`Directory`] reads that
//! again. What the files are, and how a phone reads them without trust, is `lrgeo_tiles`; `docs/tiles.md` describes both.

mod cut;
mod directory;
mod error;
mod key_file;
mod publication;

pub use directory::{Directory, Written};
pub use error::PublishError;
pub use key_file::{open_key, save_new_key};
pub use publication::{Publication, publish};
