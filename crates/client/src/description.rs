//! The description of a map, read without trust.

use std::sync::Mutex;

use lrgeo_geo::Digest;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph, relevant_places};
use lrgeo_mechanism::rows::Round;
use lrgeo_mechanism::verify::promised;
use lrgeo_mechanism::{Geography, Plan, Radii, RangeRule};
use lrgeo_protocol::VERSION;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{MapDescription, Parameters, Range};
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::{Epsilon, Manifest, Notion, PlaceId, Places};

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
    /// How often the user goes each way. No message holds it.
    shares: Vec<f64>,
}

impl Described {
    /// Fetches the one that the manifest speaks of, the same for everybody, and the epsilon that it has if the owner accepts that.
    pub(crate) async fn fetch(
        wire: &Wire,
        policy: &Policy,
        (mode, going): (Mode, &[(String, f64)]),
        manifest: &Manifest,
        places: &Places,
    ) -> Result<(Box<Self>, Epsilon), ClientError> {
        if manifest.description.is_none() {
            let reason = "its manifest speaks of no description";
            return Err(ClientError::NotOffered { mode, reason });
        }
        let bytes = wire.ask(Request::Map, MOST_DESCRIPTION).await?.body;
        let described = Self::open(&bytes, manifest, places)?.going(going)?;
        let epsilon = described.plan.epsilon;
        policy.allow_epsilon(epsilon.value())?;
        Ok((Box::new(described), epsilon))
    }

    /// Checks the hash, version and every number of a description. Places and prior are those of the manifest.
    pub fn open(bytes: &[u8], manifest: &Manifest, places: &Places) -> Result<Self, Lie> {
        let wrong = |field, reason: &str| Lie::nonsense(WHAT, field, reason);
        let (found, named) = (Digest::of(bytes), manifest.description);
        let named = named.ok_or_else(|| wrong("hash", "is not in the manifest"))?;
        if found != named {
            return Err(Lie::other_bytes(WHAT, found, named));
        }
        let description: MapDescription =
            Encoding::Cbor.decode(bytes).map_err(|error| Lie::nonsense(WHAT, "message", error))?;
        if description.protocol != VERSION {
            return Err(wrong("protocol", "has another version than this client"));
        }
        if description.map != manifest.map {
            return Err(Lie::other_map(WHAT, description.map, manifest.map));
        }
        let count = places.coords().len();
        if description.ways.is_empty() || !is_amount(description.ceiling) {
            return Err(wrong("ways", "are none, or have no ceiling"));
        }
        for way in &description.ways {
            if way.cells.len() != count || way.offsets.len() != count {
                return Err(wrong("ways", "must have a cell and an offset per place"));
            }
            let numbers = way.offsets.iter().copied().chain([way.cell_km, way.share]);
            if !numbers.into_iter().all(is_amount) {
                return Err(wrong("ways", "have offsets, cells or shares that are no sizes"));
            }
        }
        let people: f64 = description.ways.iter().map(|way| way.share).sum();
        if !(people > 0.0 && people.is_finite()) {
            return Err(wrong("ways", "are gone by nobody"));
        }
        let shares = description.ways.iter().map(|way| way.share / people).collect();
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
        let ties = TieRule::of(&plan, &geography).map_err(nonsense("parameters"))?;
        Ok(Self { description, geography, plan, ties, shares })
    }

    /// The same for somebody who goes so often each way, by name; without a word, as people here do.
    pub fn going(mut self, ways: &[(String, f64)]) -> Result<Self, ClientError> {
        if ways.is_empty() {
            return Ok(self);
        }
        let mut shares = vec![0.0; self.description.ways.len()];
        for (name, share) in ways {
            let known = || self.description.ways.iter().map(|way| way.name.as_str());
            let Some(way) = known().position(|way| way == name) else {
                let known: Vec<&str> = known().collect();
                return Err(ClientError::UnknownWay { known: known.join(", ") });
            };
            shares[way] += share;
        }
        let sum: f64 = shares.iter().sum();
        if !(shares.iter().all(|share| *share >= 0.0) && sum > 0.0 && sum.is_finite()) {
            let known = "those that the server names, with shares above zero".into();
            return Err(ClientError::UnknownWay { known });
        }
        self.shares = shares.into_iter().map(|share| share / sum).collect();
        Ok(self)
    }

    /// The user's LR set, ranges and coefficients (sections 4.1, 4.2 and 4.5 of the paper) from a part of the
    /// cost table of each way.
    pub(crate) fn prepare(
        &self,
        slices: &[Slice],
        place: &OwnPlace,
        relevant_max: Option<usize>,
    ) -> Result<UserPart, Lie> {
        let plan = self.capped(relevant_max);
        let graph = geo_ind_graph(&self.geography, &plan);
        let ways = self.description.ways.iter().zip(slices).zip(&self.shares);
        let ways: Vec<_> = ways.filter(|(_, share)| **share > 0.0).collect();
        // Costs cannot fail where they are asked for: what failed is kept and looked at afterwards.
        let failed = Mutex::new(None);
        let costs = Costs::new(self.description.ceiling, |rows, columns| {
            let mut sum = vec![0.0; rows.len() * columns.len()];
            for ((way, slice), share) in &ways {
                match slice.upper(way, rows, columns) {
                    Ok(losses) => sum.iter_mut().zip(losses).for_each(|(s, c)| *s += *share * c),
                    Err(lie) => {
                        failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).replace(lie);
                    }
                }
            }
            sum
        });
        let part = UserPart::prepare(
            &self.geography,
            graph.as_deref(),
            &costs,
            (&plan, &self.ties),
            place.0,
        );
        drop(costs);
        match failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            Some(lie) => Err(lie),
            None => Ok(part),
        }
    }

    /// The LR set N_m alone, nearest first.
    pub(crate) fn relevant(&self, place: &OwnPlace, relevant_max: Option<usize>) -> Vec<PlaceId> {
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
    pub(crate) fn allow_relevant(
        &self,
        policy: &Policy,
        relevant: &[PlaceId],
    ) -> Result<(), Refused> {
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
    let alike = parameters.alike.map(|count| count as usize);
    Ok(Plan { range, alike, ..Plan::with_radii(epsilon, notion, radii) })
}

/// Finite and not below zero.
fn is_amount(x: f64) -> bool {
    x.is_finite() && x >= 0.0
}
