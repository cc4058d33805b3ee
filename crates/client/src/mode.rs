//! The ways to a report (`docs/specification.md` section 9).

use serde::{Deserialize, Serialize};

/// How a report is made, by what the server learns on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// From noise around where somebody stands: private between any two coordinates. The server learns the report alone.
    #[default]
    Coordinates,
    /// From a row of a public tile: private between places. The server learns which tiles were fetched.
    Published,
    /// From a programme solved on the device with a public y. The server learns which tiles' slices were fetched.
    Local,
    /// From a programme that the server solves, as in the paper. The server learns its coefficients,
    /// and with them the place.
    Offload,
}

impl Mode {
    /// All, with the names used in options and files.
    pub const ALL: [(Mode, &'static str); 4] = [
        (Mode::Coordinates, "coordinates"),
        (Mode::Published, "published"),
        (Mode::Local, "local"),
        (Mode::Offload, "offload"),
    ];

    /// Whether this client was built with it.
    pub fn is_built_in(self) -> bool {
        match self {
            Mode::Coordinates | Mode::Published => true,
            Mode::Local => cfg!(feature = "local"),
            Mode::Offload => cfg!(feature = "offload"),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Mode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.iter().find(|(_, name)| *name == text);
        known.map(|(mode, _)| *mode).ok_or("must be coordinates, published, local or offload")
    }
}
