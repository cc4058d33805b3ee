//! Mechanisms: what a place reports, and the proof that it may.
//!
//! A [`City`] and a [`Plan`] go in; [`build`] asks one of the mechanisms of the [`REGISTRY`] for its
//! rows, has them checked by [`verify`], which trusts nobody, and hands back a [`verify::Verified`] one that can be
//! saved, published in tiles ([`publish`]) and drawn from ([`lrgeo_tiles::sample`]).
//!
//! ```
//! use lrgeo_geo::units::Length;
//! use lrgeo_map::utility::UtilityKind;
//! use lrgeo_mechanism::{City, Plan, build, by_name};
//! use lrgeo_tiles::Epsilon;
//!
//! let map = lrgeo_show::demo::demo_map(1, Length::from_km(1.5)?)?;
//! let version = map.version();
//! let city = City::new(map, version, UtilityKind::TravelDistance, &())?;
//! let plan = Plan::new(&city, Epsilon::per_km(1.0)?);
//! let built = build(by_name("exp")?, &city, &plan, &())?;
//! assert_eq!(built.verdict().guaranteed.violations, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod alike;
mod built;
mod city;
pub mod const_opt;
pub mod coordinates;
mod error;
pub mod exponential;
pub mod import;
pub mod laplace;
pub mod lp;
pub mod lr_geo;
mod matrix;
pub mod meaning;
mod mechanism;
mod plan;
pub mod programme;
pub mod publish;
pub mod published;
pub mod relevant;
pub mod remap;
pub mod rows;
pub mod spanner;
pub mod stand_in;
pub mod tail;
pub mod verify;
mod way;

pub use built::{Built, Proof, expected_cost};
pub use city::{City, Geography};
pub use error::MechanismError;
pub use matrix::ObfuscationMatrix;
pub use mechanism::{Made, Mechanism, REGISTRY, build, by_name};
pub use plan::{
    Beyond, Engine, Exponent, Indicator, Plan, Radii, RangeRule, STRETCH, connecting_gamma,
};
pub use rows::Rows;
pub use way::{Losses, Way};
