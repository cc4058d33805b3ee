//! LR-Geo (sections 4.2-4.5 of the paper): each user's locally relevant matrix, solved together with
//! those of the other users of a round (CLR-Geo, Eq. 19-21).
//!
//! The work is split as in the paper: [`coefficients`] is what a user does, [`round`] what the server
//! does with the uploads. Here both run in one process.

pub mod coefficients;
pub mod round;

use lrgeo_map::progress::Progress;
use lrgeo_tiles::{Cover, Guarantee, Notion};

use crate::mechanism::{Made, Mechanism};
use crate::programme::ensure_connected;
use crate::relevant::{TieRule, geo_ind_graph};
use crate::rows::{Round, UserMatrix};
use crate::{Beyond, City, Indicator, MechanismError, Plan, Proof, Rows};
use coefficients::{Costs, UserPart, ceiling};

/// The paper's mechanism.
pub struct LrGeo {
    /// Gamma is infinite, so every pair of relevant places is constrained: LR-Geo-F.
    pub fully_connected: bool,
}

impl LrGeo {
    fn plan(&self, plan: &Plan) -> Plan {
        let notion = if self.fully_connected { Notion::AllPairs } else { plan.notion };
        Plan { notion, ..plan.clone() }
    }
}

impl Mechanism for LrGeo {
    fn name(&self) -> &'static str {
        if self.fully_connected { "lr-geo-f" } else { "lr-geo" }
    }

    fn about(&self) -> &'static str {
        match self.fully_connected {
            true => "LR-Geo with gamma infinite: all pairs of relevant places (LR-Geo-F)",
            false => "one locally relevant matrix per user of a round (the paper's LR-Geo)",
        }
    }

    fn guarantee(&self, plan: &Plan) -> Guarantee {
        let notion = self.plan(plan).notion;
        Guarantee { notion, epsilon: plan.epsilon, cover: Cover::Round }
    }

    fn per_user(&self) -> bool {
        true
    }

    fn make(
        &self,
        city: &City,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<Made, MechanismError> {
        make(city, &self.plan(plan), progress)
    }
}

fn make(city: &City, plan: &Plan, progress: &dyn Progress) -> Result<Made, MechanismError> {
    let graph = geo_ind_graph(city, plan);
    if let (Some(graph), Notion::Within { gamma_km }) = (&graph, plan.notion) {
        ensure_connected(city, graph, gamma_km, plan.allow_disconnected)?;
    }
    let tables = city.tables(plan.division, progress)?;
    let rule = TieRule::of(plan, city)?;
    let mut parts: Vec<(UserPart, Vec<f64>)> = Vec::new();
    for (at, &user) in plan.users.iter().enumerate() {
        let shares = match plan.shares.get(at) {
            Some(shares) => city.check_shares(shares)?,
            None => city.shares_at(user),
        };
        let costs = Costs::of(city, &tables, shares.clone());
        parts
            .push((UserPart::prepare(city, graph.as_deref(), &costs, (plan, &rule), user), shares));
    }

    let uploads: Vec<_> = parts.iter().map(|(part, _)| &part.upload).collect();
    let outside = match plan.beyond {
        Beyond::Nothing => 0.0,
        Beyond::Ceiling | Beyond::Table => ceiling(city, &tables),
    };
    let programme = round::Programme::new(&uploads, &rule, plan.notion, city.places(), outside)?;
    let solution = programme.solve(plan)?;

    let weight: f64 =
        parts.iter().flat_map(|(part, _)| &part.relevant).map(|i| city.prior()[i.index()]).sum();
    let proof = Proof::of(&solution, weight.max(f64::MIN_POSITIVE));
    let matrices = programme.split(&solution);
    let users = parts.into_iter().zip(matrices);
    let users = users
        .map(|((part, shares), values)| UserMatrix {
            place: part.place,
            shares: if city.ways().len() > 1 { shares } else { Vec::new() },
            relevant: part.relevant,
            values,
        })
        .collect();
    let columns = programme.columns.into();
    let notes = notes(city, plan, &rule);
    let rows = Rows::Users(Round { places: city.places(), columns, users, ties: rule });
    Ok(Made {
        rows,
        proof: Some(proof),
        witness: Vec::new(),
        floor: None,
        notes,
        real_epsilon: None,
    })
}

fn notes(city: &City, plan: &Plan, rule: &TieRule) -> Vec<(&'static str, String)> {
    let radii = plan.radii;
    let which = if plan.sampled.is_some() { "sampled" } else { "the nearest" };
    let capped = radii.relevant_max.map_or(String::new(), |n| format!(", {n} at most, {which}"));
    let mut notes = vec![
        ("Gamma", format!("{:.3} km{capped}", radii.relevant)),
        ("r_exp", format!("{:.3} km", radii.exponential)),
        ("r_obf", format!("{:.3} km", radii.obfuscation)),
        ("range rule", plan.range.name().to_owned()),
        ("table", plan.division.to_string()),
    ];
    match plan.indicator {
        Indicator::Radius => {}
        Indicator::Mass(share) => {
            notes.push(("free entries", format!("the nearest with {share} of the kernel's mass")));
        }
        Indicator::Random { share, seed } => {
            notes.push(("free entries", format!("{share} of those within r_exp, seed {seed}")));
        }
    }
    if plan.beyond != Beyond::default() {
        notes.push(("reports out of range cost", plan.beyond.name().to_owned()));
    }
    let outside = city.places() as f64 * rule.outside();
    if outside > 0.01 {
        let text = format!(
            "K exp(-eps r_obf / 2) = {outside:.2}: reports out of range are not rare; raise `radii.obfuscation`"
        );
        notes.push(("warning", text));
    }
    notes
}
