//! How somebody goes through a city, and what a wrong report then costs: one cost reference table per way.

use std::sync::{Arc, Mutex, PoisonError};

use lrgeo_geo::Digest;
use lrgeo_geo::twins::LEAST_DISTANCE_KM;
use lrgeo_map::map::Map;
use lrgeo_map::progress::Progress;
use lrgeo_map::table::{CostTable, Division};
use lrgeo_map::utility::{Utility, UtilityKind};

use crate::MechanismError;

/// Where the losses of a way come from.
pub enum Losses {
    /// Measured on the city's own streets.
    Measured(UtilityKind),
    /// Measured on other streets with the same places: footpaths, cycleways.
    On(Box<Map>, UtilityKind),
    /// Losses of one's own.
    Given(Arc<dyn Utility>),
}

/// A way of going: by car, on foot, or whatever a file says it costs.
pub struct Way {
    name: String,
    losses: Losses,
    utility: Arc<dyn Utility>,
    table: Mutex<Option<Arc<CostTable>>>,
}

impl Way {
    /// Measures the losses, and with a division also the cost reference table.
    pub(crate) fn new(
        name: String,
        losses: Losses,
        (map, version): (&Map, Digest),
        division: Option<Division>,
        progress: &dyn Progress,
    ) -> Result<Self, MechanismError> {
        // With a table, both read the same searches.
        let measure = |map: &Map, kind: UtilityKind| -> Result<_, MechanismError> {
            Ok(match division {
                Some(division) => {
                    let (table, utility) =
                        CostTable::with_losses(map, version, division, kind, progress)?;
                    (utility, Some(Arc::new(table)))
                }
                None => (Arc::from(kind.of(map, progress)?), None),
            })
        };
        let (utility, table) = match &losses {
            Losses::Measured(kind) => measure(map, *kind)?,
            Losses::On(other, kind) => {
                ensure_same_places(&name, map, other)?;
                measure(other, *kind)?
            }
            Losses::Given(utility) => (utility.clone(), None),
        };
        let (losses_of, places) = (utility.places(), map.places.len());
        if losses_of != places {
            let reason = format!("are for {losses_of} places, the map has {places}");
            return Err(MechanismError::invalid("losses", reason));
        }
        Ok(Self { name, losses, utility, table: Mutex::new(table) })
    }

    /// What people call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a report costs somebody who goes this way.
    pub fn utility(&self) -> &Arc<dyn Utility> {
        &self.utility
    }

    /// Whether it is distance on the streets of this map itself.
    pub(crate) fn is_distance(&self) -> bool {
        matches!(self.losses, Losses::Measured(UtilityKind::TravelDistance))
    }

    pub(crate) fn table(
        &self,
        map: &Map,
        version: Digest,
        division: Division,
        progress: &dyn Progress,
    ) -> Result<Arc<CostTable>, MechanismError> {
        let mut slot = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = slot.as_ref().filter(|table| table.division() == division) {
            return Ok(table.clone());
        }
        let table = Arc::new(match &self.losses {
            Losses::Measured(kind) => CostTable::build(map, version, division, *kind, progress)?,
            Losses::On(other, kind) => CostTable::build(other, version, division, *kind, progress)?,
            Losses::Given(utility) => CostTable::given(map, version, division, utility.clone())?,
        });
        *slot = Some(table.clone());
        Ok(table)
    }

    pub(crate) fn use_table(&self, table: CostTable) -> Result<(), MechanismError> {
        if table.unit() != self.utility.unit() {
            let reason =
                format!("is in {}, the losses are in {}", table.unit(), self.utility.unit());
            return Err(MechanismError::invalid("table", reason));
        }
        *self.table.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(table));
        Ok(())
    }
}

/// Ways are comparable between the same places only.
fn ensure_same_places(name: &str, map: &Map, other: &Map) -> Result<(), MechanismError> {
    let (here, there) = (map.coords(), other.coords());
    let same = |(a, b): (&_, &_)| lrgeo_geo::Coord::distance_km(*a, *b) < LEAST_DISTANCE_KM;
    if here.len() == there.len() && here.iter().zip(&there).all(same) {
        return Ok(());
    }
    let reason = format!(
        "way {name}: its map has {} places, the city {}, or others; build its map for the places \
         of the other (`same_places`), with a `snap` that keeps all of them",
        there.len(),
        here.len()
    );
    Err(MechanismError::invalid("ways", reason))
}
