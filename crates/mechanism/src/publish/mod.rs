//! One mechanism for everybody, cut into public tiles and signed (spec section 9, `published`).
//!
//! A phone that wants to report gets the manifest and the list of places, which are the same for
//! everybody, works out its tile by itself and fetches it, hidden among others or all of them. What the
//! server learns is which tiles were fetched. `docs/tiles.md` describes the files.
//!
//! The operator's side: [`publish`] makes a [`Publication`], [`Publication::write`] puts it into a
//! directory. The reader's side: [`SignedManifest::open`] and its successors ([`SignedManifest::next`]),
//! [`Manifest::open_places`], [`Manifest::open_tile`] and [`check_rows`], on bytes from wherever; [`Directory`]
//! does the same on a directory.

mod bytes;
mod chain;
mod cut;
mod directory;
mod error;
mod grid;
mod hash;
mod issued;
mod key;
mod manifest;
mod noise;
mod places;
mod publication;
mod tile;

pub use chain::{LONGEST_DAYS, Link, SignedManifest, follow, peek};
pub use cut::likely_places;
pub use directory::{Directory, Written};
pub use error::TileError;
pub use grid::Grid;
pub use hash::Hash;
pub use issued::Issued;
pub use key::{PublicKey, SecretKey};
pub use manifest::{Check, FileEntry, Manifest, Optimum, Promise, TileEntry};
pub use noise::encode_noise;
pub use places::Places;
pub use publication::{Publication, publish};
pub use tile::{Tile, check_rows};

/// The version of the format of the manifest and of the files it lists; others are refused.
pub const FORMAT: u32 = 3;

/// The map is cut into tiles as long as each keeps so many likely places, unless the operator asks for
/// others: see [`Grid`].
pub const LEAST_PLACES: usize = 50;

/// A tile with more places is cut further or refused: a phone checks every pair of its rows.
pub const MOST_PLACES: usize = 2_000;
