//! The cheapest private matrix of a small problem, with a proof that no other is much cheaper.
//!
//! `cargo run --example cheapest_matrix -p lrgeo-optim`

use lrgeo_optim::certificate::check;
use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Settings, solve};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Five bus stops, 400 m apart, of which the middle one is where most people are. Reporting another stop costs the distance to it.
    let (stops, apart_km, epsilon) = (5, 0.4, 2.0);
    let prior = [0.1, 0.2, 0.4, 0.2, 0.1];
    let km = |i: usize, k: usize| i.abs_diff(k) as f64 * apart_km;
    let costs = (0..stops).flat_map(|i| (0..stops).map(move |k| prior[i] * km(i, k)));
    let cost = DenseCost::new(stops, stops, costs.collect())?;
    let arcs = (1..stops).map(|j| Arc { i: j - 1, j, d: apart_km }).collect();

    let problem = Problem::new(ProblemParts::untied(epsilon, cost, arcs))?;
    let solution = solve(&problem, &Settings::default())?;

    println!("what somebody at each stop reports, epsilon {epsilon}/km:");
    for i in 0..stops {
        let row: Vec<String> = (0..stops).map(|k| format!("{:.3}", solution.z.at(i, k))).collect();
        println!("  stop {i}  {}", row.join("  "));
    }
    println!(
        "{:.4} km per report; no private matrix costs less than {:.4} km",
        solution.objective, solution.lower_bound
    );

    // Whoever does not believe the solver checks every inequality again, without tolerance.
    let report = check(&problem, &solution.z, &solution.y);
    assert!(report.worst_log_excess <= 0.0, "not private");
    println!(
        "checked: largest ln(z_ik / z_jk) - eps d_ij is {:.1e} (private: at most 0)",
        report.worst_log_excess
    );
    Ok(())
}
