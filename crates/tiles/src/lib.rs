//! What is published of a mechanism, read without trust: all that a phone needs between a server's bytes and a report.
//!
//! A phone gets the manifest and the list of places, which are the same for everybody, and either the noise for coordinates or
//! tiles: the exact rows of some places. It opens them by [`Envelope::open`] and its successors ([`Tip::next`]),
//! [`Manifest::open_places`], [`Manifest::open_noise`] or [`Manifest::open_tile`] and [`check_rows`], on bytes from wherever, and
//! draws from a row by [`sample`]. `docs/tiles.md` describes the files, `docs/coordinates.md` the noise.
//!
//! Who makes and writes all that is `mechanism`'s business. Nothing here has a file, a clock or a solver.
//!
//! ```
//! use lrgeo_tiles::sample::{SystemRandomness, Urn};
//! use lrgeo_tiles::{Distribution, Privacy};
//!
//! let asked: Privacy = "factor 2 within 300 m".parse()?;
//! assert!((asked.epsilon.value() - 2f64.ln() / 0.3).abs() < 1e-12);
//! let row = Distribution::new(vec![0.5, 0.25, 0.25])?;
//! let report = Urn::new(&row)?.draw(&mut SystemRandomness)?;
//! assert!(report < 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod chain;
pub mod coordinates;
mod distribution;
pub mod earth;
mod envelope;
mod epsilon;
mod error;
mod grid;
mod issued;
mod key;
mod likely;
mod manifest;
mod noise;
mod notion;
mod places;
pub mod plane;
mod posterior;
pub mod sample;
mod sparse;
mod tile;
pub mod verify;

pub use chain::{LONGEST_DAYS, Link, Tip};
pub use distribution::{Distribution, NoDistribution, SUM_ERROR};
pub use envelope::{Envelope, SignedManifest};
pub use epsilon::{Epsilon, Privacy};
pub use error::{DrawError, TileError};
pub use grid::{Grid, MOST_CELLS};
pub use issued::Issued;
pub use key::{PublicKey, SecretKey};
pub use likely::{Likely, likely_places};
pub use lrgeo_geo::{Digest, PlaceId};
pub use manifest::{Check, FORMAT_NAME, FileEntry, Manifest, Optimum, Promise, TileEntry};
pub use noise::encode_noise;
pub use notion::{Cover, Guarantee, Notion};
pub use places::Places;
pub use posterior::{HELD, posterior_radius_km};
pub use sparse::SparseMatrix;
pub use tile::{Tile, check_rows};

/// The version of the format of the manifest and of the files it lists; others are refused.
pub const FORMAT: u32 = 3;

/// The map is cut into tiles as long as each keeps so many likely places, unless the operator asks for
/// others: see [`Grid`].
pub const LEAST_PLACES: usize = 50;

/// A tile with more places is cut further or refused: a phone checks every pair of its rows.
pub const MOST_PLACES: usize = 2_000;
