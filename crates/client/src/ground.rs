//! The map as a client sees it, and the step from a coordinate to a place.

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::spacing::{reach_km, spacing_km};
use lrgeo_geo::{BoundingBox, Coord, Digest, PlaceId};
use lrgeo_tiles::{Epsilon, PublicKey};

use crate::ClientError;

/// The number of the place that the user is at. Cannot be printed, compared with a report, or written
/// into a message: only [`Ground`] and the rows of a mechanism know what to do with it.
#[derive(Clone)]
pub struct OwnPlace(pub(crate) PlaceId);

/// Places of one version of an operator's map, and the epsilon that reports on it have.
pub struct Ground {
    /// Who says so.
    pub operator: PublicKey,
    /// Which version, as the operator calls it.
    pub map: Digest,
    /// The hash of the coordinates: which version it really is.
    pub grid: Digest,
    /// The epsilon of a report, between places.
    pub epsilon: Epsilon,
    /// From a place to its nearest neighbour.
    pub spacing_km: f64,
    /// How far from a place somebody may be who counts as being there; who is farther from every place is off the
    /// map. The promise to people is that between places times `exp(2 eps reach)`.
    pub reach_km: f64,
    coords: Vec<Coord>,
    index: SpatialIndex,
    bounds: BoundingBox,
}

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
        let bytes = coords.iter().flat_map(|at| [at.lat(), at.lon()]).flat_map(f64::to_le_bytes);
        let grid = Digest::of(&bytes.collect::<Vec<u8>>());
        let reach_km = reach_km(spacing_km);
        let bounds = BoundingBox::around(coords.iter().copied())?;
        Some(Self { operator, map, grid, epsilon, spacing_km, reach_km, coords, index, bounds })
    }

    /// The place that somebody at `at` counts as being at: all of the coordinate that a draw depends on.
    pub fn locate(&self, at: Coord) -> Result<OwnPlace, ClientError> {
        match self.index.nearest(at) {
            Some((place, km)) if km <= self.reach_km => Ok(OwnPlace(PlaceId::new(place))),
            _ => Err(self.off()),
        }
    }

    /// What is said to somebody whom no place reaches.
    pub(crate) fn off(&self) -> ClientError {
        ClientError::OffTheMap { reach_km: self.reach_km, bounds: self.bounds }
    }

    /// By how much more than the promise between places two people may be told apart, because they are somewhere
    /// around their places: at most `exp(2 eps reach)`.
    pub fn off_grid_factor(&self) -> f64 {
        (2.0 * self.epsilon.value() * self.reach_km).exp()
    }

    /// Half the diagonal of a cell, in kilometres.
    pub(crate) fn half_cell_km(&self) -> f64 {
        self.spacing_km * std::f64::consts::FRAC_1_SQRT_2
    }

    /// K.
    pub fn places(&self) -> usize {
        self.coords.len()
    }

    /// Where the user's place is.
    pub(crate) fn coord(&self, place: &OwnPlace) -> Coord {
        self.coords[place.0.index()]
    }

    /// Where a reported place is; `None` where there is none of that number.
    pub fn report_coord(&self, report: PlaceId) -> Option<[f64; 2]> {
        self.coords.get(report.index()).map(|at| [at.lat(), at.lon()])
    }

    /// The place nearest to where an earlier report was.
    pub(crate) fn nearest_report(&self, at: Coord) -> Option<PlaceId> {
        self.index.nearest(at).map(|(place, _)| PlaceId::new(place))
    }
}
