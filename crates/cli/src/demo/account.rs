//! What the demo says: in lines for people, as JSON for programs.

use std::sync::Arc;

use lrgeo_geo::PlaceId;
use lrgeo_geo::units::Length;
use lrgeo_server::Catalogue;
use lrgeo_show::demo::demo_city;
use serde_json::json;

use super::people::Person;
use crate::failure::Failure;
use crate::ui::{aligned, count};

/// Where the story goes on.
const NEXT: &str = "\
See for yourself what it is worth and what leaks, on the same city:
  lrgeo evaluate laplace lp published -o evaluation    then open evaluation/index.html
  lrgeo attack upload
  lrgeo reproduce --quick -o report                    the paper's evaluation, some minutes
";

/// Everything that happened.
pub struct Account {
    seed: u64,
    cell: Length,
    catalogue: Arc<Catalogue>,
    address: String,
    people: Vec<Person>,
    /// Mean loss between different places: the table's lower estimate, the truth, the upper one.
    mean_loss_km: [f64; 3],
    table_cells: usize,
    /// Until the server was ready, and altogether.
    seconds: [f64; 2],
}

impl Account {
    pub fn new(
        seed: u64,
        cell: &Length,
        catalogue: &Arc<Catalogue>,
        address: String,
        people: Vec<Person>,
        seconds: [f64; 2],
    ) -> Result<Self, Failure> {
        let city = &catalogue.city;
        let places: Vec<PlaceId> = PlaceId::all(city.places()).collect();
        let table = city.table(catalogue.plan.division, &())?;
        let (lower, upper) = (table.lower(&places, &places), table.upper(&places, &places));
        let mean = |values: &[f64]| {
            let k = places.len();
            let off_diagonal = values.iter().enumerate().filter(|(at, _)| at % (k + 1) != 0);
            off_diagonal.map(|(_, v)| v).sum::<f64>() / (k * k.saturating_sub(1)).max(1) as f64
        };
        Ok(Self {
            seed,
            cell: *cell,
            address,
            people,
            mean_loss_km: [mean(&lower), mean(&city.utility().all()), mean(&upper)],
            table_cells: table.cells().len(),
            seconds,
            catalogue: catalogue.clone(),
        })
    }

    pub fn as_text(&self, ended: bool) -> String {
        let Self { catalogue, .. } = self;
        let (city, tiles) = (&catalogue.city, &catalogue.tiles);
        let graph = &city.map().graph;
        let epsilon = tiles.promise.epsilon_per_km;
        let proven = tiles.optimum.as_ref().map_or(1.0, |optimum| optimum.gap);
        let [lower, loss, upper] = self.mean_loss_km;
        let lines = [
            (
                "city",
                format!(
                    "{} street nodes, {} one-way arcs, {:.0} km; generated from seed {}",
                    count(graph.node_count()),
                    count(graph.arc_count()),
                    graph.arc_length_km(),
                    self.seed
                ),
            ),
            (
                "places",
                format!(
                    "{} cells of {}, spacing {:.0} m, and {} targets, both weighted",
                    count(city.places()),
                    self.cell,
                    1000.0 * city.spacing_km(),
                    city.map().targets.len()
                ),
            ),
            (
                "costs",
                format!(
                    "a report of another place misjudges the way to a target by {loss:.2} km on average"
                ),
            ),
            (
                "cost table",
                format!(
                    "{} {} let a phone work that out itself: between {lower:.2} and {upper:.2} km",
                    count(self.table_cells),
                    catalogue.plan.division
                ),
            ),
            (
                "for people",
                format!(
                    "noise around where they stand, epsilon {epsilon}/km: no report is more than twice as likely from one\n\
                     of two people within {:.0} m as from the other, wherever they are; one public file of {} kB",
                    1000.0 * 2f64.ln() / epsilon,
                    tiles.noise.as_ref().map_or(0, |file| file.bytes.div_ceil(1000))
                ),
            ),
            (
                "for places",
                format!(
                    "published, epsilon {epsilon}/km: neighbouring *places*, {:.0} m apart, report alike up to a factor of {:.1};\n\
                     {:.3} km of misjudged way per report between places, within {:.2} % of what its arcs allow, proven",
                    1000.0 * city.spacing_km(),
                    (epsilon * city.spacing_km()).exp(),
                    tiles.expected_cost,
                    100.0 * proven
                ),
            ),
            (
                "check",
                format!(
                    "{} pairs of places, every report: {} violations; worst log-excess {:.4} (private: at most 0)",
                    count(tiles.check.pairs),
                    tiles.check.violations,
                    tiles.check.worst_log_excess.unwrap_or(0.0)
                ),
            ),
            (
                "server",
                format!(
                    "{} tiles, signed by {}; ready after {:.1} s",
                    tiles.tiles.len(),
                    catalogue.key,
                    self.seconds[0]
                ),
            ),
        ];
        let mut text = aligned(&lines);
        text.push_str("\nSomebody uses the service, in each of the four modes:\n\n");
        let people: Vec<(&str, String)> =
            self.people.iter().map(|p| (p.outcome.mode.name(), self.story(p))).collect();
        text.push_str(&aligned(&people));
        text.push_str(&format!("\nAll of it took {:.1} s. ", self.seconds[1]));
        if ended {
            text.push_str("Without --no-serve the server stays up to be tried.\n");
            return text + NEXT;
        }
        let at = city.coords()[city.places() / 2];
        text.push_str(&format!(
            "The server is up until Ctrl-C. See the first of them from both sides, in a browser:\n  {}\n\
             Or try, in another terminal:\n  lrgeo client obfuscate --server {} --at {:.4},{:.4} --state /tmp/me.json\n  \
             curl {}/v1/openapi.json\n",
            self.page(),
            self.address,
            at.lat(),
            at.lon(),
            self.address
        ));
        text + NEXT
    }

    /// The server's page, showing what the first person reported. Where they are stands in the fragment, which no browser sends.
    pub fn page(&self) -> String {
        let Some(Person { at, outcome, .. }) = self.people.first() else {
            return format!("{}/", self.address);
        };
        format!(
            "{}/#/sees?mode={}&at={:.5},{:.5}&report={}",
            self.address,
            outcome.mode.name(),
            at.lat(),
            at.lon(),
            outcome.report
        )
    }

    fn story(&self, person: &Person) -> String {
        let Person { outcome, moved_km, estimated_km, true_km, loss_km, same_again, .. } = person;
        let again = match same_again {
            true => "asked again: the same report, nothing spent",
            false => "asked again: ANOTHER report",
        };
        format!(
            "reports a place {moved_km:.2} km away; the service takes the way to the {} for {estimated_km:.2} km, \
             it is {true_km:.2} km\n(over all targets it is {loss_km:.2} km off); {:.2} s; {again}\n\
             the server learns {}",
            self.name_of(person.target),
            outcome.times.opening + outcome.times.preparing + outcome.times.sending,
            outcome.learnt,
        )
    }

    fn name_of(&self, target: usize) -> String {
        let map = self.catalogue.city.map();
        let at = map.graph.coords()[map.targets[target].node as usize];
        let city = demo_city(self.seed);
        let named = city.demand.targets.iter().find(|t| t.at == at);
        named.map_or("nearest target".into(), |t| t.name.to_lowercase())
    }

    pub fn as_json(&self) -> serde_json::Value {
        let Self { catalogue, .. } = self;
        let (city, tiles) = (&catalogue.city, &catalogue.tiles);
        let person = |p: &Person| {
            json!({
                "mode": p.outcome.mode.name(),
                "moved_km": p.moved_km,
                "true_km": p.true_km,
                "estimated_km": p.estimated_km,
                "loss_km": p.loss_km,
                "server_learns": p.outcome.learnt.to_string(),
                "same_again": p.same_again,
                "elapsed_s": p.outcome.times.opening + p.outcome.times.preparing + p.outcome.times.sending,
            })
        };
        json!({
            "epsilon_per_km": tiles.promise.epsilon_per_km,
            "seed": self.seed,
            "nodes": city.map().graph.node_count(),
            "arcs": city.map().graph.arc_count(),
            "places": city.places(),
            "targets": city.map().targets.len(),
            "spacing_km": city.spacing_km(),
            "table_cells": self.table_cells,
            "mean_loss_km": {
                "lower_bound": self.mean_loss_km[0], "true": self.mean_loss_km[1], "upper_bound": self.mean_loss_km[2]
            },
            "kind": tiles.kind,
            "pairs": tiles.check.pairs,
            "violations": tiles.check.violations,
            "worst_log_excess": tiles.check.worst_log_excess,
            "expected_cost": tiles.expected_cost,
            "gap": tiles.optimum.as_ref().map(|optimum| optimum.gap),
            "address": self.address,
            "page": self.page(),
            "public_key": catalogue.key.to_string(),
            "people": self.people.iter().map(person).collect::<Vec<_>>(),
            "elapsed_s": self.seconds[1],
        })
    }
}
