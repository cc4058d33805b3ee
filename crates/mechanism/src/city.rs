//! A city as mechanisms see it: places, how likely each is, and what a wrong report costs.

use std::sync::{Arc, Mutex, OnceLock};

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::parallel::*;
use lrgeo_geo::spacing::spacing_km;
use lrgeo_geo::{Coord, Digest, PlaceId};
use lrgeo_map::map::Map;
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::progress::Progress;
use lrgeo_map::table::{CostTable, Division};
use lrgeo_map::utility::{Mixture, Utility, UtilityKind};
use lrgeo_optim::{Cost, DenseCost};

use crate::{Losses, MechanismError, Way};

/// Up to here the losses of all pairs are kept as one matrix; above they are worked out when
/// asked for.
const DENSE_PLACES: usize = 2_000;

/// Where the places of a city are and how likely each is: as much as a phone knows of it.
pub struct Geography {
    coords: Vec<Coord>,
    prior: Vec<f64>,
    index: SpatialIndex,
    spacing_km: f64,
    /// The last threshold asked for and its graph.
    neighbours: Mutex<Option<(f64, Arc<NeighbourGraph>)>>,
}

impl Geography {
    /// Places with a coordinate and a prior each; at least two that can be told apart, so that the spacing is positive.
    /// Everything that looks for places in growing circles begins with it and would not end without.
    pub fn new(coords: Vec<Coord>, prior: Vec<f64>) -> Result<Self, MechanismError> {
        let Some(spacing_km) = spacing_km(&coords) else {
            let reason = match coords.len() {
                0 | 1 => "a mechanism needs at least two places".to_owned(),
                n => format!(
                    "all {n} are at one spot; a mechanism needs two that are 1 m apart or more"
                ),
            };
            return Err(MechanismError::invalid("places", reason));
        };
        let is_weight = |p: &f64| p.is_finite() && *p >= 0.0;
        if prior.len() != coords.len() || !prior.iter().all(is_weight) {
            return Err(MechanismError::invalid("prior", "must be one probability per place"));
        }
        let index = SpatialIndex::new(&coords);
        Ok(Self { coords, prior, index, spacing_km, neighbours: Mutex::new(None) })
    }

    /// K.
    pub fn places(&self) -> usize {
        self.coords.len()
    }

    /// Where the places are.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// How likely a user is at each place.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// The place nearest to a point, and its distance in kilometres.
    pub fn nearest(&self, to: Coord) -> Option<(PlaceId, f64)> {
        self.index.nearest(to).map(|(place, km)| (PlaceId::new(place), km))
    }

    /// All places at most `radius_km` from a point and their distances, by number.
    pub fn within(&self, of: Coord, radius_km: f64) -> Vec<(PlaceId, f64)> {
        let found = self.index.within(of, radius_km);
        found.into_iter().map(|(place, km)| (PlaceId::new(place), km)).collect()
    }

    /// Who is within `gamma_km` of whom, made at the first call: it takes longer the larger the map is, and what a
    /// round takes must not.
    pub fn neighbours(&self, gamma_km: f64) -> Arc<NeighbourGraph> {
        let mut slot = self.neighbours.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, graph)) = slot.as_ref().filter(|(made_for, _)| *made_for == gamma_km) {
            return graph.clone();
        }
        let graph = Arc::new(NeighbourGraph::new(&self.coords, gamma_km));
        *slot = Some((gamma_km, graph.clone()));
        graph
    }

    /// The median distance to the nearest other place.
    pub fn spacing_km(&self) -> f64 {
        self.spacing_km
    }

    /// The straight distance between two places.
    pub fn distance_km(&self, i: PlaceId, j: PlaceId) -> f64 {
        self.coords[i.index()].distance_km(self.coords[j.index()])
    }
}

/// A geography with streets and what a wrong report costs on them: as much as a server knows.
pub struct City {
    map: Map,
    version: Digest,
    geography: Geography,
    /// The ways that people go, at least one.
    ways: Vec<Way>,
    /// How many of the people at each place go each way: one list of places per way.
    split: Vec<Vec<f64>>,
    /// Of people as the split has them.
    utility: Arc<dyn Utility>,
    /// Of all pairs, where there are few enough: the optimiser asks for them, and what a matrix costs follows from them.
    losses: OnceLock<Vec<f64>>,
}

/// A city is its places, and more: whatever needs the places only takes a [`Geography`].
impl std::ops::Deref for City {
    type Target = Geography;

    fn deref(&self) -> &Geography {
        &self.geography
    }
}

impl City {
    /// A map where all go the same way, with the losses of one kind measured on it.
    pub fn new(
        map: Map,
        version: Digest,
        kind: UtilityKind,
        progress: &dyn Progress,
    ) -> Result<Self, MechanismError> {
        let name = map.travel.name().to_owned();
        Self::with_ways(map, version, vec![(name, Losses::Measured(kind))], Vec::new(), progress)
    }

    /// A map with losses of one's own.
    pub fn with_utility(
        map: Map,
        version: Digest,
        utility: Arc<dyn Utility>,
    ) -> Result<Self, MechanismError> {
        let ways = vec![("own".to_owned(), Losses::Given(utility))];
        Self::with_ways(map, version, ways, Vec::new(), &())
    }

    /// A map whose people go different ways (the paper's future work): on foot, by car, or what a file says it costs. `split`
    /// says for each way how many of the people at each place go it; without, all ways are alike everywhere.
    pub fn with_ways(
        map: Map,
        version: Digest,
        ways: Vec<(String, Losses)>,
        split: Vec<Vec<f64>>,
        progress: &dyn Progress,
    ) -> Result<Self, MechanismError> {
        Self::made(map, version, ways, split, None, progress)
    }

    /// The same with the cost reference tables of the ways, for whoever will ask for [`City::tables`]: losses and tables are then read from the
    /// same shortest-path trees, which are what takes long.
    pub fn with_tables(
        map: Map,
        version: Digest,
        ways: Vec<(String, Losses)>,
        split: Vec<Vec<f64>>,
        division: Division,
        progress: &dyn Progress,
    ) -> Result<Self, MechanismError> {
        Self::made(map, version, ways, split, Some(division), progress)
    }

    fn made(
        map: Map,
        version: Digest,
        ways: Vec<(String, Losses)>,
        split: Vec<Vec<f64>>,
        division: Option<Division>,
        progress: &dyn Progress,
    ) -> Result<Self, MechanismError> {
        for (at, (name, _)) in ways.iter().enumerate() {
            if ways[..at].iter().any(|(known, _)| known == name) {
                let reason =
                    format!("there are two called {name}; the map itself is {}", ways[0].0);
                return Err(MechanismError::invalid("ways", reason));
            }
        }
        let prior = map.places.iter().map(|p| p.prior).collect();
        let geography = Geography::new(map.coords(), prior)?;
        let even = || vec![vec![1.0 / ways.len() as f64; geography.places()]; ways.len()];
        let split = if split.is_empty() { even() } else { split };
        if split.len() != ways.len() {
            let reason = format!("are given for {} ways, there are {}", split.len(), ways.len());
            return Err(MechanismError::invalid("shares", reason));
        }
        let way = |(name, losses)| Way::new(name, losses, (&map, version), division, progress);
        let ways = ways.into_iter().map(way);
        let ways = ways.collect::<Result<Vec<Way>, MechanismError>>()?;
        let utility: Arc<dyn Utility> = match ways.as_slice() {
            [only] => only.utility().clone(),
            _ => {
                let parts = ways.iter().map(|way| way.utility().clone()).zip(split.clone());
                Arc::new(Mixture::new(parts.collect())?)
            }
        };
        Ok(Self { map, version, geography, ways, split, utility, losses: OnceLock::new() })
    }

    /// The map.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Which version of the map.
    pub fn version(&self) -> Digest {
        self.version
    }

    /// The ways that people go.
    pub fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// How many of the people at a place go each way.
    pub fn shares_at(&self, place: PlaceId) -> Vec<f64> {
        self.split.iter().map(|of_way| of_way[place.index()]).collect()
    }

    /// How often one user goes each way, where that can be.
    pub fn check_shares(&self, shares: &[f64]) -> Result<Vec<f64>, MechanismError> {
        let sum: f64 = shares.iter().sum();
        let sound = shares.iter().all(|s| *s >= 0.0) && (sum - 1.0).abs() <= 1e-6;
        if shares.len() != self.ways.len() || !sound {
            let reason = format!(
                "of a user must be {} numbers, none negative, that sum to one",
                self.ways.len()
            );
            return Err(MechanismError::invalid("shares", reason));
        }
        Ok(shares.to_vec())
    }

    /// What a report costs the service; the prior is not in it.
    pub fn utility(&self) -> &dyn Utility {
        &*self.utility
    }

    /// Whether the losses are errors of ways on its streets, so that people between places have theirs too.
    pub fn measures_ways(&self) -> bool {
        self.map.streets().is_ok() && matches!(self.ways.as_slice(), [only] if only.is_distance())
    }

    /// Whether the losses of all pairs are kept.
    pub(crate) fn keeps_losses(&self) -> bool {
        self.places() <= DENSE_PLACES
    }

    /// The losses of all pairs, row-major, measured at the first call.
    fn losses(&self) -> &[f64] {
        self.losses.get_or_init(|| self.utility.all())
    }

    /// The losses of all pairs, row-major, where there are few enough places to keep them.
    pub(crate) fn kept_losses(&self) -> Option<&[f64]> {
        self.keeps_losses().then(|| self.losses())
    }

    /// Hands the losses of each of `places` in reporting any place to `take`, which says what to make of them.
    pub(crate) fn for_each_loss<T: Send>(
        &self,
        places: &[PlaceId],
        take: impl Fn(usize, &[f64]) -> T + Sync,
    ) -> Vec<T> {
        let all: Vec<PlaceId> = PlaceId::all(self.places()).collect();
        let indexed = places.par_iter().enumerate();
        if self.keeps_losses() {
            let (losses, width) = (self.losses(), all.len());
            let row = |place: PlaceId| &losses[place.index() * width..][..width];
            return indexed.map(|(at, &place)| take(at, row(place))).collect();
        }
        indexed.map(|(at, &place)| take(at, &self.utility.losses(&[place], &all))).collect()
    }

    /// The true costs `c_ik = p_i loss(i, k)` of all places (Eq. 3-5), for the optimiser.
    pub fn cost(&self) -> Result<Box<dyn Cost>, MechanismError> {
        let places = self.places();
        if !self.keeps_losses() {
            let (utility, prior) = (self.utility.clone(), self.prior().to_vec());
            let all = PlaceId::all(places).collect();
            return Ok(Box::new(MeasuredCost { utility, prior, all }));
        }
        let mut values = self.losses().to_vec();
        for (line, p) in values.chunks_exact_mut(places).zip(self.prior()) {
            line.iter_mut().for_each(|c| *c *= p);
        }
        Ok(Box::new(DenseCost::new(places, places, values)?))
    }

    /// The cost reference tables of the ways, each made at the first call.
    pub fn tables(
        &self,
        division: Division,
        progress: &dyn Progress,
    ) -> Result<Vec<Arc<CostTable>>, MechanismError> {
        let table = |way: &Way| way.table(&self.map, self.version, division, progress);
        self.ways.iter().map(table).collect()
    }

    /// The cost reference table of a city with one way, or of the first.
    pub fn table(
        &self,
        division: Division,
        progress: &dyn Progress,
    ) -> Result<Arc<CostTable>, MechanismError> {
        self.ways[0].table(&self.map, self.version, division, progress)
    }

    /// Uses a table of the first way that was made before, when it was made from this map.
    pub fn use_table(&self, table: CostTable) -> Result<(), MechanismError> {
        if table.map != self.version {
            return Err(MechanismError::OtherMap { made_for: table.map, given: self.version });
        }
        self.ways[0].use_table(table)
    }
}

/// Losses worked out when asked for: no K x K array on a large map.
struct MeasuredCost {
    utility: Arc<dyn Utility>,
    prior: Vec<f64>,
    all: Vec<PlaceId>,
}

impl std::fmt::Debug for MeasuredCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MeasuredCost").field("places", &self.all.len()).finish_non_exhaustive()
    }
}

impl Cost for MeasuredCost {
    fn rows(&self) -> usize {
        self.all.len()
    }

    fn columns(&self) -> usize {
        self.all.len()
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.prior[row] * self.utility.loss(self.all[row], self.all[column])
    }

    fn fill(&self, column: usize, rows: &[u32], out: &mut [f64]) {
        // Losses need not be symmetric, so the column is asked for as such.
        let places: Vec<PlaceId> = rows.iter().map(|&row| self.all[row as usize]).collect();
        let losses = self.utility.losses(&places, &[self.all[column]]);
        for ((slot, loss), &row) in out.iter_mut().zip(losses).zip(rows) {
            *slot = self.prior[row as usize] * loss;
        }
    }

    fn fill_row(&self, row: usize, out: &mut [f64]) {
        let losses = self.utility.losses(&[self.all[row]], &self.all);
        for (slot, loss) in out.iter_mut().zip(losses) {
            *slot = self.prior[row] * loss;
        }
    }

    /// [`Utility`] promises finite losses that are not negative, and a map such priors.
    fn validate(&self) -> Result<(), lrgeo_optim::Error> {
        Ok(())
    }
}
