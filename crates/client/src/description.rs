//! The description of a map, read without trust.

use std::sync::Mutex;

use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph, relevant_places};
use lrgeo_mechanism::rows::Round;
use lrgeo_mechanism::verify::promised;
use lrgeo_mechanism::{Geography, Plan, Radii, RangeRule};
use lrgeo_protocol::VERSION;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{MapDescription, Parameters, Range};
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::{Epsilon, Hash, Manifest, Notion, Places};

use crate::ground::OwnPlace;
use crate::policy::{Policy, Refused, distinct_places};
use crate::session::Common;
use crate::slice::Slice;
use crate::steps::Wire;
use crate::{ClientError, Lie, Mode};

const WHAT: &str = "map description";
/// A description of a city of 100,000 places has about 3 MB.
const MOST_DESCRIPTION: u64 = 256 << 20;

/// A description that the signed manifest speaks of, whose numbers were found right, and what follows from it.
pub struct Described {
    /// What it says.
    pub description: MapDescription,
    /// The places for the mechanisms.
    pub geography: Geography,
    /// Its parameters for the mechanisms.
    pub plan: Plan,
    /// Which entries are tied.
    pub ties: TieRule,
}

impl Described {
    /// Fetches the one that the manifest speaks of, the same for everybody, and the epsilon that it has if the owner accepts that.
    pub(crate) async fn fetch(
        wire: &Wire,
        policy: &Policy,
        mode: Mode,
        manifest: &Manifest,
        places: &Places,
    ) -> Result<(Box<Self>, Epsilon), ClientError> {
        if manifest.description.is_none() {
            let reason = "its manifest speaks of no description";
            return Err(ClientError::NotOffered { mode, reason });
        }
        let bytes = wire.ask(Request::Map, MOST_DESCRIPTION).await?.body;
        let described = Self::open(&bytes, manifest, places)?;
        let epsilon = described.plan.epsilon;
        policy.allow_epsilon(epsilon.value())?;
        Ok((Box::new(described), epsilon))
    }

    /// Checks the hash, version and every number of a description. Places and prior are those of the manifest.
    pub fn open(bytes: &[u8], manifest: &Manifest, places: &Places) -> Result<Self, Lie> {
        let wrong = |field, reason: &str| Lie::nonsense(WHAT, field, reason);
        if Some(Hash::of(bytes)) != manifest.description {
            return Err(Lie::OtherBytes { what: WHAT });
        }
        let description: MapDescription =
            Encoding::Cbor.decode(bytes).map_err(|error| Lie::nonsense(WHAT, "message", error))?;
        if description.protocol != VERSION {
            return Err(wrong("protocol", "has another version than this client"));
        }
        if description.map.0 != manifest.map.0 {
            return Err(Lie::OtherMap { what: WHAT });
        }
        let count = places.coords().len();
        let table = &description.table;
        if table.cells.len() != count || table.offsets_mm.len() != count {
            return Err(wrong("table", "must have a cell and an offset per place"));
        }
        if !(is_amount(table.ceiling) && is_amount(table.cell_km)) {
            return Err(wrong("table", "has a ceiling or cells without size"));
        }
        let y = description.local.iter().flat_map(|local| &local.y);
        let lengths = description.local.iter().all(|local| local.y.len() == count);
        if !(lengths && y.copied().all(is_amount)) {
            return Err(wrong("y", "must be one number per place, none below zero"));
        }
        let nonsense = |field: &'static str| {
            move |e: lrgeo_mechanism::MechanismError| Lie::nonsense(WHAT, field, e)
        };
        let geography = Geography::new(places.coords().to_vec(), places.prior().to_vec())
            .map_err(nonsense("places"))?;
        let plan = plan(&description.parameters).map_err(nonsense("parameters"))?;
        plan.check(&geography).map_err(nonsense("parameters"))?;
        let ties = TieRule::of(&plan).map_err(nonsense("parameters"))?;
        Ok(Self { description, geography, plan, ties })
    }

    /// The user's LR set, ranges and coefficients (sections 4.1, 4.2 and 4.5 of the paper) from a part of the
    /// cost table.
    pub(crate) fn prepare(
        &self,
        slice: &Slice,
        place: &OwnPlace,
        relevant_max: Option<usize>,
    ) -> Result<UserPart, Lie> {
        let plan = self.capped(relevant_max);
        let graph = geo_ind_graph(&self.geography, &plan);
        let table = &self.description.table;
        // Costs cannot fail where they are asked for: what failed is kept and looked at afterwards.
        let failed = Mutex::new(None);
        let costs = Costs::new(table.ceiling, |rows, columns| {
            slice.upper(table, rows, columns).unwrap_or_else(|lie| {
                failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).replace(lie);
                vec![0.0; rows.len() * columns.len()]
            })
        });
        let part = UserPart::prepare(&self.geography, graph.as_deref(), &costs, &plan, place.0);
        drop(costs);
        match failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            Some(lie) => Err(lie),
            None => Ok(part),
        }
    }

    /// The LR set N_m alone, nearest first.
    pub(crate) fn relevant(&self, place: &OwnPlace, relevant_max: Option<usize>) -> Vec<u32> {
        let plan = self.capped(relevant_max);
        let graph = geo_ind_graph(&self.geography, &plan);
        relevant_places(&self.geography, graph.as_deref(), &plan, place.0)
    }

    fn capped(&self, relevant_max: Option<usize>) -> Plan {
        let radii = Radii { relevant_max, ..self.plan.radii };
        Plan { radii, ..self.plan.clone() }
    }
}

impl Common {
    /// Enough relevant places, counted here.
    pub(crate) fn allow_relevant(&self, policy: &Policy, relevant: &[u32]) -> Result<(), Refused> {
        let coords = self.places.coords();
        policy.allow_relevant(distinct_places(coords, relevant), coords.len())
    }

    /// The epsilon that the rows of a user's own matrix have between every two of them, whatever gamma the server wants
    /// compared; refused above the owner's.
    pub(crate) fn effective_epsilon(
        &self,
        policy: &Policy,
        round: &Round,
    ) -> Result<f64, ClientError> {
        let claimed = self.ground.epsilon;
        let finding = promised(round, self.places.coords(), claimed, f64::INFINITY);
        let epsilon = finding.effective_epsilon.max(claimed.value());
        policy.allow_epsilon(epsilon)?;
        Ok(epsilon)
    }
}

/// The parameters as the mechanisms read them.
fn plan(parameters: &Parameters) -> Result<Plan, lrgeo_mechanism::MechanismError> {
    let Parameters { relevant_km, exponential_km, obfuscation_km, .. } = *parameters;
    if ![relevant_km, exponential_km, obfuscation_km].into_iter().all(f64::is_finite) {
        let reason = "a phone cannot look infinitely far";
        return Err(lrgeo_mechanism::MechanismError::invalid("radii", reason));
    }
    let notion = match parameters.gamma_km {
        Some(gamma_km) => Notion::Within { gamma_km },
        None => Notion::AllPairs,
    };
    let radii = Radii {
        relevant: relevant_km,
        relevant_max: parameters.relevant_max.map(|n| n as usize),
        exponential: exponential_km,
        obfuscation: obfuscation_km,
    };
    let range = match parameters.range {
        Range::Own => RangeRule::Own,
        Range::Each => RangeRule::Each,
    };
    let epsilon = Epsilon::per_km(parameters.epsilon_per_km)?;
    Ok(Plan { range, ..Plan::with_radii(epsilon, notion, radii) })
}

/// Finite and not below zero.
fn is_amount(x: f64) -> bool {
    x.is_finite() && x >= 0.0
}
