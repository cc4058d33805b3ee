//! What the server does with the uploads of a round (section 4.3 of the paper): one programme for
//! all users, coupled by y.

use lrgeo_geo::PlaceId;
use lrgeo_optim::presolve::idle_columns;
use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Solution, Ties, colgen};
use lrgeo_tiles::Notion;

use super::coefficients::Coefficients;
use crate::programme::settle;
use crate::relevant::TieRule;
use crate::{Engine, MechanismError, Plan};

/// The CLR-Geo programme of some uploads (Eq. 19-21).
pub struct Programme {
    /// The programme.
    pub problem: Problem,
    /// The reported places of its columns, ascending.
    pub columns: Vec<PlaceId>,
    /// Rows of each user.
    rows: Vec<usize>,
    /// What the rows weigh if every place is as likely as any other; the server does not know which they are.
    #[cfg_attr(not(feature = "direct"), allow(dead_code))]
    reports: f64,
}

impl Programme {
    /// Puts the uploads together. Columns are the places that any user uploaded and one more that
    /// stands for all others: those are alike (tied everywhere, at the same price), so the optimum
    /// needs one of them at most, and the size does not depend on how large the map is.
    ///
    /// `ceiling` is what a report outside a user's range costs.
    pub fn new(
        uploads: &[&Coefficients],
        rule: &TieRule,
        notion: Notion,
        places: usize,
        ceiling: f64,
    ) -> Result<Self, MechanismError> {
        let mut columns: Vec<PlaceId> = uploads.iter().flat_map(|u| &u.columns).copied().collect();
        columns.sort_unstable();
        columns.dedup();
        let elsewhere = PlaceId::all(places).find(|k| columns.binary_search(k).is_err());
        if let Some(k) = elsewhere {
            let at = columns.partition_point(|&c| c < k);
            columns.insert(at, k);
        }
        let reports = uploads.iter().map(|u| u.rows).sum::<usize>() as f64 / places as f64;
        let programme = Self::over(columns, uploads, rule, notion, ceiling, None)?;
        Ok(Self { reports, ..programme })
    }

    /// The programme of one user with a public y (`docs/specification.md` section 9, `local`): tied entries are
    /// constants, so nobody else is needed. All places are columns, since what is tied outside the
    /// range counts in the row sums.
    pub fn alone(
        upload: &Coefficients,
        rule: &TieRule,
        notion: Notion,
        ceiling: f64,
        public_y: &[f64],
    ) -> Result<Self, MechanismError> {
        let columns = PlaceId::all(public_y.len()).collect();
        Self::over(columns, &[upload], rule, notion, ceiling, Some(public_y.to_vec()))
    }

    fn over(
        columns: Vec<PlaceId>,
        uploads: &[&Coefficients],
        rule: &TieRule,
        notion: Notion,
        ceiling: f64,
        fixed_y: Option<Vec<f64>>,
    ) -> Result<Self, MechanismError> {
        let width = columns.len();
        let rows: Vec<usize> = uploads.iter().map(|upload| upload.rows).collect();
        let height: usize = rows.iter().sum();
        let mut cost = vec![ceiling; height * width];
        let mut factors = vec![Some(rule.outside()); height * width];
        let (mut groups, mut arcs, mut first) = (Vec::with_capacity(height), Vec::new(), 0);
        for (user, upload) in uploads.iter().enumerate() {
            let position: Vec<usize> =
                upload.columns.iter().map(|k| columns.partition_point(|c| c < k)).collect();
            for i in 0..upload.rows {
                let (row, at) = ((first + i) * width, i * upload.columns.len());
                for (column, &position) in position.iter().enumerate() {
                    cost[row + position] = upload.cost[at + column];
                    factors[row + position] = upload.ties[at + column];
                }
                for j in 0..i {
                    let d = upload.between[i * upload.rows + j];
                    if d <= notion.reach_km() {
                        arcs.push(Arc { i: first + i, j: first + j, d });
                    }
                }
            }
            groups.extend(std::iter::repeat_n(user, upload.rows));
            first += upload.rows;
        }
        let problem = Problem::new(ProblemParts {
            epsilon: rule.epsilon.value(),
            groups,
            cost: Box::new(DenseCost::new(height, width, cost)?),
            arcs,
            ties: Some(Ties::new(height, width, &factors)?),
            bounds: Vec::new(),
            fixed_y,
        })?;
        let reports = height as f64 / width as f64;
        Ok(Self { problem, columns, rows, reports })
    }

    /// Solves it with the engine of the plan.
    pub fn solve(&self, plan: &Plan) -> Result<Solution, MechanismError> {
        let engine: idle_columns::Engine = match plan.engine {
            Engine::ColumnGeneration => colgen::solve,
            #[cfg(feature = "direct")]
            Engine::Benders => lrgeo_optim::benders::solve,
            #[cfg(feature = "direct")]
            Engine::PlainBenders => return self.solve_plainly(plan),
            #[cfg(not(feature = "direct"))]
            Engine::Benders | Engine::PlainBenders => {
                let reason = "this lrgeo was built without the paper's decomposition";
                return Err(MechanismError::invalid("engine", reason));
            }
        };
        Ok(idle_columns::solve(&self.problem, &plan.settings(1e-6), engine)?)
    }

    /// As the paper does, with nothing of ours: no column is left out, and 0.01 km per report is near enough.
    #[cfg(feature = "direct")]
    fn solve_plainly(&self, plan: &Plan) -> Result<Solution, MechanismError> {
        use lrgeo_optim::benders::{Guide, Options, solve_with};
        let options = Options { guide: Guide::Master, reports: self.reports, ..Options::default() };
        Ok(solve_with(&self.problem, &plan.settings(0.0), &options)?)
    }

    /// The matrix of each user, row-major over the columns.
    pub fn split(&self, solution: &Solution) -> Vec<Vec<f64>> {
        let mut row = 0;
        let matrix = |rows: &usize| {
            let mut values = Vec::with_capacity(rows * self.columns.len());
            for _ in 0..*rows {
                let mut line = solution.z.row(row);
                settle(&mut line, |k| self.problem.tie(row, k).is_none());
                values.extend(line);
                row += 1;
            }
            values
        };
        self.rows.iter().map(matrix).collect()
    }
}
