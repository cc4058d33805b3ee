//! `lrgeo demo`: the main job on a city that does not exist, told step by step.

use std::time::Instant;

use clap::Args;
use lrgeo_map::demo::{demo_city, demo_map};
use lrgeo_map::graph::Metric;
use lrgeo_map::map::Map;
use lrgeo_map::table::CostTable;
use lrgeo_map::travel::TravelMatrix;
use lrgeo_map::units::Length;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::sample::{SystemRandomness, draw};
use lrgeo_mechanism::verify::{Finding, verify};
use lrgeo_mechanism::{Built, City, Epsilon, Plan, build, by_name};
use serde_json::json;

use crate::failure::Failure;
use crate::solve;
use crate::ui::{Ui, aligned, count};

/// Build the demo city, its places and costs, a mechanism; check it; draw a report.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo demo --epsilon 2/km --cell 500m")]
pub struct Demo {
    /// Privacy: the smaller, the more private.
    #[arg(long, default_value = "2/km", allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// Side of the cells that are the places.
    #[arg(long, default_value = "500m", allow_hyphen_values = true)]
    cell: Length,
    /// Seed of the city.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// End after the account (there is no server to leave running yet).
    #[arg(long)]
    no_serve: bool,
    /// Print the account as JSON.
    #[arg(long)]
    json: bool,
}

/// What happened, in numbers.
struct Account {
    city: City,
    table_cells: usize,
    /// Mean loss between different places: the table's lower estimate, the truth, the upper one.
    mean_loss_km: [f64; 3],
    mechanism: Built,
    checked: Finding,
    report: Report,
    seconds: f64,
}

/// One report of a user who does not exist.
struct Report {
    /// How far the reported place is from the real one.
    moved_km: f64,
    target: String,
    true_km: f64,
    estimated_km: f64,
}

impl Demo {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let account = self.work(ui)?;
        if self.json {
            ui.json(&self.as_json(&account));
        } else {
            print!("{}", self.as_text(&account));
        }
        Ok(())
    }

    fn work(&self, ui: &Ui) -> Result<Account, Failure> {
        let begun = Instant::now();
        let map = demo_map(self.seed, self.cell)?;
        let version = map.version();
        let travel = TravelMatrix::of_places(&map, Metric::Distance, ui)?;
        let city = City::new(map, version, UtilityKind::TravelDistance, ui)?;
        let places: Vec<u32> = (0..city.places() as u32).collect();
        let losses = city.utility().all();
        let table = CostTable::build(city.map(), version, Length::HUNDRED_METRES, ui)?;
        let (lower, upper) = (table.lower(&places, &places), table.upper(&places, &places));

        let mut plan = Plan::new(&city, self.epsilon);
        let bar = (!ui.is_quiet()).then(solve::bar);
        plan.solver.progress = bar.clone().map(solve::show_progress);
        let mechanism = build(by_name("published")?, &city, &plan, ui);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let mechanism = mechanism?;
        let checked = verify(&mechanism, ui).guaranteed;

        let user = draw(city.prior(), &mut SystemRandomness)?;
        let row = mechanism.row(user as u32).ok_or(Failure::NotPrivate)?;
        let reported = draw(&row, &mut SystemRandomness)?;
        let targets = &city.map().targets;
        let target = (0..targets.len())
            .max_by(|&a, &b| targets[a].weight.total_cmp(&targets[b].weight))
            .unwrap_or(0);
        let way = |place: usize| f64::from(travel.row(place)[target]) * travel.scale();
        let report = Report {
            moved_km: city.distance_km(user as u32, reported as u32),
            target: self.name_of(city.map(), target),
            true_km: way(user),
            estimated_km: way(reported),
        };
        let mean = |values: &[f64]| {
            let pairs = (places.len() * places.len().saturating_sub(1)).max(1) as f64;
            let k = places.len() + 1;
            let off_diagonal = values.iter().enumerate().filter(|(at, _)| at % k != 0);
            off_diagonal.map(|(_, v)| v).sum::<f64>() / pairs
        };
        Ok(Account {
            table_cells: table.cells().len(),
            mean_loss_km: [mean(&lower), mean(&losses), mean(&upper)],
            mechanism,
            checked,
            report,
            seconds: begun.elapsed().as_secs_f64(),
            city,
        })
    }

    fn name_of(&self, map: &Map, target: usize) -> String {
        let at = map.graph.coords()[map.targets[target].node as usize];
        let city = demo_city(self.seed);
        let named = city.demand.targets.iter().find(|t| t.at == at);
        named.map_or("the likeliest target".into(), |t| t.name.to_lowercase())
    }

    fn as_text(&self, a: &Account) -> String {
        let graph = &a.city.map().graph;
        let factor = (self.epsilon.value() * 0.5).exp();
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
                    count(a.city.places()),
                    self.cell,
                    1000.0 * a.city.spacing_km(),
                    a.city.map().targets.len()
                ),
            ),
            (
                "costs",
                format!(
                    "a report of another place misjudges the way to a target by {:.2} km on average",
                    a.mean_loss_km[1]
                ),
            ),
            (
                "cost table",
                format!(
                    "{} cells of 100 m let a phone work that out itself: between {:.2} and {:.2} km",
                    count(a.table_cells),
                    a.mean_loss_km[0],
                    a.mean_loss_km[2]
                ),
            ),
            (
                "mechanism",
                format!(
                    "published, epsilon {}: places 500 m apart report alike up to a factor of {factor:.1}; \
                     within {:.2} % of the optimum, proven",
                    self.epsilon,
                    100.0 * a.mechanism.proof.map_or(1.0, |proof| proof.gap)
                ),
            ),
            (
                "check",
                format!(
                    "{} inequalities, {} violated; worst log-excess {:.4} (private: at most 0)",
                    count(a.checked.checked),
                    a.checked.violations,
                    a.checked.worst_log_excess
                ),
            ),
            (
                "price",
                format!(
                    "{:.3} km of misjudged way per report (epsilon x spacing {:.2})",
                    a.mechanism.expected_cost,
                    self.epsilon.value() * a.city.spacing_km()
                ),
            ),
            (
                "a report",
                format!(
                    "an invented user reports a place {:.2} km away from the true one; the service takes\n\
                     the way to the {} for {:.2} km, it is {:.2} km",
                    a.report.moved_km, a.report.target, a.report.estimated_km, a.report.true_km
                ),
            ),
        ];
        let mut text = aligned(&lines);
        text.push_str(&format!("\nAll of it took {:.2} s. Next:\n", a.seconds));
        text.push_str("  lrgeo map build --demo -o demo.lrmap && lrgeo map export demo.lrmap --svg demo.svg\n");
        text.push_str("  then open demo.svg in a browser; lrgeo --help lists the rest\n");
        text
    }

    fn as_json(&self, a: &Account) -> serde_json::Value {
        json!({
            "epsilon_per_km": self.epsilon.value(),
            "seed": self.seed,
            "nodes": a.city.map().graph.node_count(),
            "arcs": a.city.map().graph.arc_count(),
            "places": a.city.places(),
            "targets": a.city.map().targets.len(),
            "spacing_km": a.city.spacing_km(),
            "table_cells": a.table_cells,
            "mean_loss_km": { "lower": a.mean_loss_km[0], "true": a.mean_loss_km[1], "upper": a.mean_loss_km[2] },
            "mechanism": a.mechanism.kind,
            "checked": a.checked.checked,
            "violations": a.checked.violations,
            "worst_log_excess": a.checked.worst_log_excess,
            "expected_cost": a.mechanism.expected_cost,
            "report": {
                "moved_km": a.report.moved_km,
                "target": a.report.target,
                "true_km": a.report.true_km,
                "estimated_km": a.report.estimated_km,
            },
            "seconds": a.seconds,
        })
    }
}
