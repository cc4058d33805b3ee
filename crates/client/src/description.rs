//! The signed description of a map, read without trust.

use std::sync::Mutex;

use lrgeo_map::geo::Coord;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::publish::{Issued, PublicKey};
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph, relevant_places};
use lrgeo_mechanism::{Epsilon, Geography, Notion, Plan, Radii, RangeRule};
use lrgeo_protocol::VERSION;
use lrgeo_protocol::public::{DESCRIPTION, MapDescription, Parameters, Range, Signed};

use crate::ground::{Ground, OwnPlace};
use crate::slice::Slice;
use crate::{ClientError, Lie};

const WHAT: &str = "map description";

/// A description whose signature and numbers were found right, and what follows from it.
pub struct Described {
    /// What was signed.
    pub description: MapDescription,
    /// When.
    pub issued: Issued,
    /// Its places for the mechanisms.
    pub geography: Geography,
    /// Its parameters for the mechanisms.
    pub plan: Plan,
    /// Which entries are tied.
    pub ties: TieRule,
    /// Its places for finding one's own.
    pub ground: Ground,
}

impl Described {
    /// Checks signature, version and every number of a description.
    pub fn open(signed: Signed<MapDescription>, key: &PublicKey) -> Result<Self, ClientError> {
        let wrong = |field, reason: &str| Lie::nonsense(WHAT, field, reason);
        let unsigned = || Lie::Signature { what: WHAT };
        let signature = hex_64(&signed.signature).ok_or_else(unsigned)?;
        let bytes = Signed::bytes(DESCRIPTION, &signed.body);
        key.verify(&bytes, &signature).map_err(|_| unsigned())?;

        let description = signed.body;
        if description.protocol != VERSION {
            return Err(wrong("protocol", "has another version than this client").into());
        }
        let issued = description.issued.parse::<Issued>().map_err(|e| wrong("issued", e))?;
        let coords = description.places.iter().map(|&[lat, lon]| Coord::new(lat, lon));
        let coords: Vec<Coord> =
            coords.collect::<Result<_, _>>().map_err(|_| wrong("places", "are no coordinates"))?;
        let places = coords.len();
        let table = &description.table;
        if table.cells.len() != places || table.offsets_mm.len() != places {
            return Err(wrong("table", "must have a cell and an offset per place").into());
        }
        if !(is_amount(table.ceiling) && is_amount(table.cell_km)) {
            return Err(wrong("table", "has a ceiling or cells without size").into());
        }
        if let Some(local) = &description.local
            && (local.y.len() != places || !local.y.iter().copied().all(is_amount))
        {
            return Err(wrong("y", "must be one number per place, none below zero").into());
        }
        let nonsense = |field: &'static str| {
            move |e: lrgeo_mechanism::MechanismError| Lie::nonsense(WHAT, field, e)
        };
        let geography = Geography::new(coords.clone(), description.prior.clone())
            .map_err(nonsense("places"))?;
        let plan = plan(&description.parameters).map_err(nonsense("parameters"))?;
        plan.check(&geography).map_err(nonsense("parameters"))?;
        let ties = TieRule::of(&plan).map_err(nonsense("parameters"))?;
        let ground = Ground::new(*key, description.map, plan.epsilon, coords)
            .ok_or_else(|| wrong("places", "are fewer than two"))?;
        Ok(Self { description, issued, geography, plan, ties, ground })
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

fn hex_64(text: &str) -> Option<[u8; 64]> {
    let mut bytes = [0; 64];
    if text.len() != 128 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}
