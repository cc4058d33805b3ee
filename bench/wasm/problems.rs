//! The two programmes that are solved natively and in WebAssembly: no file, no clock, no thread.

use lrgeo_optim::{Arc, DenseCost, Error, Problem, ProblemParts, Settings, Ties, colgen};

/// Kilometres between neighbours of the grid.
const SPACING: f64 = 0.47;

fn km(side: usize, i: usize, j: usize) -> f64 {
    let place = |p: usize| ((p % side) as f64, (p / side) as f64);
    let ((a, b), (c, d)) = (place(i), place(j));
    SPACING * (a - c).hypot(b - d)
}

/// Arcs between the given places within a kilometre, their rows beginning at `offset`.
fn arcs(side: usize, places: &[usize], offset: usize) -> Vec<Arc> {
    let mut arcs = Vec::new();
    for (a, &i) in places.iter().enumerate() {
        for (b, &j) in places.iter().enumerate().skip(a + 1) {
            let d = km(side, i, j);
            if d <= 1.0 {
                arcs.push(Arc { i: offset + a, j: offset + b, d });
            }
        }
    }
    arcs
}

fn costs(side: usize, rows: &[usize]) -> Result<DenseCost, Error> {
    let columns = side * side;
    let entries = rows.iter().flat_map(|&i| (0..columns).map(move |k| km(side, i, k)));
    DenseCost::new(rows.len(), columns, entries.map(|km| km / rows.len() as f64).collect())
}

/// The OMG of an even grid.
pub fn omg(side: usize, epsilon: f64) -> Result<Problem, Error> {
    let all: Vec<usize> = (0..side * side).collect();
    Problem::new(ProblemParts::untied(epsilon, costs(side, &all)?, arcs(side, &all, 0)))
}

/// CLR-Geo on an even grid: users along its diagonal with the `near` nearest places each, free within 1 km,
/// tied up to 4 km (range rule *each*, `docs/specification.md` section 4).
pub fn clr(side: usize, users: usize, near: usize, epsilon: f64) -> Result<Problem, Error> {
    let (mut rows, mut groups, mut all_arcs) = (Vec::new(), Vec::new(), Vec::new());
    for user in 0..users {
        let own = user * (side + 1) % (side * side);
        let mut places: Vec<usize> = (0..side * side).collect();
        places.sort_by(|&a, &b| km(side, own, a).total_cmp(&km(side, own, b)).then(a.cmp(&b)));
        places.truncate(near);
        all_arcs.extend(arcs(side, &places, rows.len()));
        groups.extend(places.iter().map(|_| user));
        rows.extend(places);
    }
    let factor = |km: f64| (km > 1.0).then(|| (-epsilon * km.min(4.0) / 2.0).exp());
    let columns = side * side;
    let entries = rows.iter().flat_map(|&i| (0..columns).map(move |k| factor(km(side, i, k))));
    let ties = Some(Ties::new(rows.len(), columns, &entries.collect::<Vec<_>>())?);
    let parts = ProblemParts::untied(epsilon, costs(side, &rows)?, all_arcs);
    Problem::new(ProblemParts { groups, ties, ..parts })
}

/// The cost of the cheapest matrix to a gap of 1e-6; not a number where there is none.
pub fn objective(problem: Result<Problem, Error>) -> f64 {
    let settings = Settings { clock: None, threads: 1, ..Settings::default() };
    let solved = problem.and_then(|problem| colgen::solve(&problem, &settings));
    solved.map_or(f64::NAN, |solution| solution.objective)
}
