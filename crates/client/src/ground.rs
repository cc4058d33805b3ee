//! The map as a client sees it, and the step from a coordinate to a place.

use lrgeo_map::geo::Coord;
use lrgeo_map::index::SpatialIndex;
use lrgeo_map::places::spacing_km;
use lrgeo_mechanism::Epsilon;
use lrgeo_mechanism::publish::PublicKey;
use lrgeo_protocol::Digest;

use crate::ClientError;

/// The number of the place that the user is at. Cannot be printed, compared with a report, or written
/// into a message: only [`Ground`] and the rows of a mechanism know what to do with it.
#[derive(Clone)]
pub struct OwnPlace(pub(crate) u32);

/// Places of one version of an operator's map, and the epsilon that reports on it have.
pub struct Ground {
    /// Who says so.
    pub operator: PublicKey,
    /// Which version.
    pub map: Digest,
    /// The epsilon of a report.
    pub epsilon: Epsilon,
    /// From a place to its nearest neighbour.
    pub spacing_km: f64,
    coords: Vec<Coord>,
    index: SpatialIndex,
}

/// Farther than so many spacings from every place is off the map.
const REACH: f64 = 1.5;

impl Ground {
    /// From coordinates by number; `None` for fewer than two places.
    pub fn new(
        operator: PublicKey,
        map: Digest,
        epsilon: Epsilon,
        coords: Vec<Coord>,
    ) -> Option<Self> {
        let spacing_km = spacing_km(&coords)?;
        let index = SpatialIndex::new(&coords);
        Some(Self { operator, map, epsilon, spacing_km, coords, index })
    }

    /// The place that somebody at `at` counts as being at. The coordinate goes no further than this.
    pub fn locate(&self, at: Coord) -> Result<OwnPlace, ClientError> {
        let reach_km = REACH * self.spacing_km;
        match self.index.nearest(at) {
            Some((place, km)) if km <= reach_km => Ok(OwnPlace(place)),
            _ => Err(ClientError::OffTheMap { reach_km }),
        }
    }

    /// K.
    pub fn places(&self) -> usize {
        self.coords.len()
    }

    /// Where the user's place is.
    pub(crate) fn coord(&self, place: &OwnPlace) -> Coord {
        self.coords[place.0 as usize]
    }

    /// Where a reported place is; `None` where there is none of that number.
    pub fn report_coord(&self, report: u32) -> Option<[f64; 2]> {
        self.coords.get(report as usize).map(|at| [at.lat(), at.lon()])
    }

    /// The place nearest to where an earlier report was.
    pub(crate) fn nearest_report(&self, at: Coord) -> Option<u32> {
        self.index.nearest(at).map(|(place, _)| place)
    }
}
