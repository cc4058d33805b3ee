//! The linear program of a problem, written out: every free entry and every y_k is a variable.
//!
//! Both the direct engine and the subproblems of Benders use it. The y_k are always variables here;
//! a solve may hold them at given values, and their reduced costs are then the slope of the
//! optimum in y, which is exactly what a cut needs.

use crate::problem::{LONGEST, Problem};

/// `coefficients . variables <= at_most`, over one or two variables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inequality {
    /// Variable and coefficient; a coefficient of zero means that the term is absent.
    pub(crate) terms: [(usize, f64); 2],
    pub(crate) at_most: f64,
}

/// The program over some rows of a problem (all of them, or one group).
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// Rows of the problem, in order.
    pub(crate) rows: Vec<usize>,
    pub(crate) columns: usize,
    /// Free entries as (position in `rows`, column). Variable v is entry v; variable
    /// `entries.len() + k` is y_k.
    pub(crate) entries: Vec<(usize, usize)>,
    /// Costs of the variables; those of y_k are the paper's alpha_k over these rows.
    pub(crate) cost: Vec<f64>,
    /// Row sums: the terms of each row; every sum is 1.
    pub(crate) sums: Vec<Vec<(usize, f64)>>,
    pub(crate) inequalities: Vec<Inequality>,
    /// By arc within these rows, in the problem's order, and direction: where in `position` its
    /// inequalities start, and the ratio they were divided by. `None` where it holds anyway.
    pub(crate) arcs: Vec<[Option<(usize, f64)>; 2]>,
    /// Per arc, direction and column: the inequality, if there is one.
    pub(crate) position: Vec<Option<usize>>,
    /// The tied row with the largest factor of each column: position in `rows` and factor.
    pub(crate) anchor: Vec<Option<(usize, f64)>>,
}

impl Program {
    /// The program over the given rows, which must be whole groups.
    pub(crate) fn new(problem: &Problem, rows: Vec<usize>) -> Self {
        let columns = problem.columns();
        let mut position = vec![usize::MAX; problem.rows()];
        for (p, &row) in rows.iter().enumerate() {
            position[row] = p;
        }
        let mut program = Self {
            columns,
            entries: Vec::new(),
            cost: Vec::new(),
            sums: vec![Vec::new(); rows.len()],
            inequalities: Vec::new(),
            arcs: Vec::new(),
            position: Vec::new(),
            anchor: vec![None; columns],
            rows,
        };
        let variable = program.add_variables(problem);
        program.add_arcs(problem, &position, &variable);
        program.add_bounds(problem, &position, &variable);
        program
    }

    /// The same constraints with nothing to minimise.
    pub(crate) fn without_costs(&self) -> Self {
        Self { cost: vec![0.0; self.cost.len()], ..self.clone() }
    }

    /// Number of variables, the y_k included.
    pub(crate) fn variables(&self) -> usize {
        self.cost.len()
    }

    /// The variable of y_k.
    pub(crate) fn y(&self, column: usize) -> usize {
        self.entries.len() + column
    }

    /// Fills entries, costs, row sums and anchors; returns (variable, factor) of every entry,
    /// row-major: the free entry itself with factor 1, or y_k with the factor of the tie.
    fn add_variables(&mut self, problem: &Problem) -> Vec<(usize, f64)> {
        let columns = self.columns;
        for (p, &row) in self.rows.iter().enumerate() {
            for k in 0..columns {
                match problem.tie(row, k) {
                    None => self.entries.push((p, k)),
                    Some(f) if self.anchor[k].is_none_or(|(_, best)| f > best) => {
                        self.anchor[k] = Some((p, f));
                    }
                    Some(_) => {}
                }
            }
        }
        self.cost = vec![0.0; self.entries.len() + columns];
        let mut variable = Vec::with_capacity(self.rows.len() * columns);
        let mut free = 0;
        for (p, &row) in self.rows.iter().enumerate() {
            for k in 0..columns {
                let (v, f) = match problem.tie(row, k) {
                    None => {
                        free += 1;
                        (free - 1, 1.0)
                    }
                    Some(f) => (self.y(k), f),
                };
                self.cost[v] += f * problem.cost().at(row, k);
                self.sums[p].push((v, f));
                variable.push((v, f));
            }
        }
        variable
    }

    /// `z_ik - exp(eps d) z_jk <= 0`, both ways, every column; the exponential is rounded up, so
    /// that the program relaxes the problem and its bounds stay valid. Each is divided by it: with
    /// coefficients of at most 1 the solver holds out to much larger eps d.
    fn add_arcs(&mut self, problem: &Problem, position: &[usize], variable: &[(usize, f64)]) {
        for arc in problem.arcs() {
            let (i, j) = (position[arc.i], position[arc.j]);
            if i == usize::MAX {
                continue;
            }
            let log = problem.epsilon() * arc.d;
            let ratio = log.exp() * (1.0 + (log + 4.0) * 2.0 * f64::EPSILON);
            if log > LONGEST {
                // Left out: the program still relaxes the problem, and making a matrix strict closes the arc again.
                self.arcs.push([None, None]);
                continue;
            }
            let directions = [(i, j), (j, i)].map(|(i, j)| {
                let first = self.position.len();
                for k in 0..self.columns {
                    let (u, f) = variable[i * self.columns + k];
                    let (v, g) = variable[j * self.columns + k];
                    let next = self.inequalities.len();
                    // Below the normal numbers a quotient may be rounded up by more than its ratio was.
                    let f = if f / ratio < f64::MIN_POSITIVE { 0.0 } else { f / ratio };
                    if u != v {
                        self.at_most([(u, f), (v, -g)], 0.0);
                    } else if f > g {
                        self.at_most([(u, f - g), (v, 0.0)], 0.0);
                    }
                    self.position.push((self.inequalities.len() > next).then_some(next));
                }
                Some((first, ratio))
            });
            self.arcs.push(directions);
        }
    }

    fn add_bounds(&mut self, problem: &Problem, position: &[usize], variable: &[(usize, f64)]) {
        for bound in problem.bounds() {
            let p = position[bound.row];
            if p == usize::MAX {
                continue;
            }
            let (v, _) = variable[p * self.columns + bound.column];
            if bound.low > 0.0 {
                self.at_most([(v, -1.0), (v, 0.0)], -bound.low);
            }
            // A probability is at most 1 anyway.
            if bound.high < 1.0 {
                self.at_most([(v, 1.0), (v, 0.0)], bound.high);
            }
        }
    }

    fn at_most(&mut self, terms: [(usize, f64); 2], at_most: f64) {
        self.inequalities.push(Inequality { terms, at_most });
    }
}
