//! What a mechanism is worth: how much it costs, how far that is from the best, and what an attacker
//! learns from it (section 5 of the paper, `docs/specification.md` section 7).
//!
//! One file per metric, each a function of the rows, the prior and the places; [`assess`] takes all
//! of them of one mechanism and says in words what must not be overlooked.
//!
//! ```
//! use lrgeo_evaluation::adversary::{adversary, blind};
//! use lrgeo_geo::units::Length;
//! use lrgeo_map::utility::UtilityKind;
//! use lrgeo_mechanism::{City, Plan, build, by_name};
//! use lrgeo_tiles::Epsilon;
//!
//! let map = lrgeo_show::demo::demo_map(1, Length::from_km(1.5)?)?;
//! let version = map.version();
//! let city = City::new(map, version, UtilityKind::TravelDistance, &())?;
//! let built = build(by_name("exp")?, &city, &Plan::new(&city, Epsilon::per_km(1.0)?), &())?;
//! let guess = adversary(&built, city.prior(), &());
//! assert!(guess.inference_error_km < blind(city.coords(), city.prior()).inference_error_km);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod adversary;
mod assess;
pub mod attack;
pub mod bounds;
pub mod curves;
pub mod experiments;
pub mod optimum;
pub mod report;
pub mod spending;
pub mod street;
pub mod tiles;
pub mod violations;

pub use assess::{Assessment, Flag, assess};
