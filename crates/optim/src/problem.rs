//! The one shape of all the linear programs, valid by construction.
//!
//! ```text
//! minimise   sum c_ik z_ik
//! subject to sum_k z_ik = 1                     for every row i
//!            z_ik <= exp(eps * d_ij) * z_jk     for every arc (i, j), both ways, every column k
//!            z_ik  = y_k * f_ik                 where (i, k) is tied; y_k >= 0, shared by all groups
//!            low <= z_ik <= high                where (i, k) is bounded
//! ```

#[cfg(feature = "parallel")]
use crate::cost::SomePlaces;
use crate::cost::{Cost, DenseCost};
use crate::error::{Error, length, non_negative};
use std::collections::HashMap;

/// Engines take no `eps d` for larger than this: `exp` of it, and of it with a margin, is finite. A shorter arc asks for more, so a
/// matrix made with it satisfies the arc as it is; the checkers look at the arc as it is.
pub(crate) const LONGEST: f64 = 700.0;

/// An undirected arc: rows `i` and `j` at distance `d`, the constraint holding both ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arc {
    /// First row.
    pub i: usize,
    /// Second row.
    pub j: usize,
    /// Distance, in the unit of 1/epsilon.
    pub d: f64,
}

/// A bound `low <= z_ik <= high` on a free entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntryBound {
    /// Row of the entry.
    pub row: usize,
    /// Column of the entry.
    pub column: usize,
    /// Smallest value allowed.
    pub low: f64,
    /// Largest value allowed.
    pub high: f64,
}

/// Which entries are tied, `z_ik = y_k * f_ik`, and to what factor.
#[derive(Debug, Clone, PartialEq)]
pub struct Ties {
    columns: usize,
    /// Row-major factors; zero, which no factor can be, marks a free entry.
    factors: Vec<f64>,
}

impl Ties {
    /// From row-major entries, `None` being free; factors must lie in (0, 1].
    pub fn new(rows: usize, columns: usize, entries: &[Option<f64>]) -> Result<Self, Error> {
        length("tie", &[], rows.saturating_mul(columns), entries.len())?;
        let mut factors = vec![0.0; entries.len()];
        for (position, entry) in entries.iter().enumerate() {
            let Some(value) = *entry else { continue };
            if !(value > 0.0 && value <= 1.0) {
                let index = vec![position / columns, position % columns];
                return Err(Error::OutOfRange { field: "tie", index, value, range: "(0, 1]" });
            }
            factors[position] = value;
        }
        Ok(Self { columns, factors })
    }

    /// From nested rows, as in a problem file; ragged rows are an error.
    pub fn from_rows(rows: &[Vec<Option<f64>>]) -> Result<Self, Error> {
        let columns = rows.first().map_or(0, Vec::len);
        for (i, row) in rows.iter().enumerate() {
            length("tie", &[i], columns, row.len())?;
        }
        Self::new(rows.len(), columns, &rows.concat())
    }

    /// The factor of an entry, `None` when it is free.
    pub fn at(&self, row: usize, column: usize) -> Option<f64> {
        let factor = self.factors[row * self.columns + column];
        (factor > 0.0).then_some(factor)
    }

    fn rows(&self) -> usize {
        self.factors.len() / self.columns.max(1)
    }
}

/// The fields of a problem before validation.
#[derive(Debug)]
pub struct ProblemParts {
    /// Privacy parameter, above zero.
    pub epsilon: f64,
    /// The group (user) of every row; empty means that all rows are one group.
    pub groups: Vec<usize>,
    /// Costs, the prior included.
    pub cost: Box<dyn Cost>,
    /// Undirected arcs, each pair once, within one group.
    pub arcs: Vec<Arc>,
    /// Tied entries; `None` when every entry is free.
    pub ties: Option<Ties>,
    /// Bounds on free entries, each entry at most once.
    pub bounds: Vec<EntryBound>,
    /// Fixed y, one per column; `None` when y is to be optimised.
    pub fixed_y: Option<Vec<f64>>,
}

impl ProblemParts {
    /// An untied problem with one group: the OMG of the paper.
    pub fn untied(epsilon: f64, cost: impl Cost + 'static, arcs: Vec<Arc>) -> Self {
        Self {
            epsilon,
            groups: Vec::new(),
            cost: Box::new(cost),
            arcs,
            ties: None,
            bounds: Vec::new(),
            fixed_y: None,
        }
    }
}

/// A valid problem. Immutable; [`Problem::with_epsilon`] and [`Problem::with_cost`] make variants.
#[derive(Debug, Clone)]
pub struct Problem {
    epsilon: f64,
    rows: usize,
    columns: usize,
    groups: Vec<usize>,
    cost: std::sync::Arc<dyn Cost>,
    arcs: Vec<Arc>,
    ties: Option<Ties>,
    bounds: Vec<EntryBound>,
    fixed_y: Option<Vec<f64>>,
}

impl Problem {
    /// Validates the parts; every error names field and index.
    pub fn new(parts: ProblemParts) -> Result<Self, Error> {
        let ProblemParts { epsilon, mut groups, cost, arcs, ties, bounds, fixed_y } = parts;
        let (rows, columns) = (cost.rows(), cost.columns());
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { field: "cost" });
        }
        for (field, found) in [("rows", rows), ("columns", columns)] {
            if found >= u32::MAX as usize {
                return Err(Error::TooLarge { field, found, limit: u32::MAX as usize - 1 });
            }
        }
        validate_epsilon(epsilon)?;
        cost.validate()?;
        if groups.is_empty() {
            groups = vec![0; rows];
        }
        length("groups", &[], rows, groups.len())?;
        validate_arcs(&arcs, &groups)?;
        if let Some(ties) = &ties {
            length("tie", &[], rows, ties.rows())?;
            length("tie", &[0], columns, ties.columns)?;
        }
        validate_bounds(&bounds, ties.as_ref(), rows, columns)?;
        if let Some(y) = &fixed_y {
            validate_y(y, columns)?;
        }
        let cost = std::sync::Arc::from(cost);
        Ok(Self { epsilon, rows, columns, groups, cost, arcs, ties, bounds, fixed_y })
    }

    /// The same problem with another epsilon.
    pub fn with_epsilon(&self, epsilon: f64) -> Result<Self, Error> {
        validate_epsilon(epsilon)?;
        Ok(Self { epsilon, ..self.clone() })
    }

    /// The same problem with other costs of the same shape.
    pub fn with_cost(&self, cost: impl Cost + 'static) -> Result<Self, Error> {
        length("cost", &[], self.rows, cost.rows())?;
        length("cost", &[0], self.columns, cost.columns())?;
        cost.validate()?;
        Ok(Self { cost: std::sync::Arc::new(cost), ..self.clone() })
    }

    /// The same problem with every entry at the same price, so that any matrix is as good as another.
    pub(crate) fn with_even_costs(&self) -> Result<Self, Error> {
        self.with_cost(DenseCost::new(
            self.rows,
            self.columns,
            vec![1.0; self.rows * self.columns],
        )?)
    }

    /// The same problem with every factor of a column multiplied by a number of its own, a power of two; a fixed y is
    /// divided by it. `None` where a factor would leave (0, 1].
    pub(crate) fn with_factors_scaled(&self, scale: &[f64]) -> Option<Self> {
        let ties = self.ties.as_ref()?;
        let mut factors = ties.factors.clone();
        for row in factors.chunks_exact_mut(self.columns) {
            row.iter_mut().zip(scale).for_each(|(factor, scale)| *factor *= scale);
        }
        if factors.iter().any(|factor| *factor > 1.0) {
            return None;
        }
        let fixed_y = self.fixed_y.as_ref();
        let fixed_y = fixed_y.map(|y| y.iter().zip(scale).map(|(y, scale)| y / scale).collect());
        let ties = Some(Ties { columns: self.columns, factors });
        Some(Self { ties, fixed_y, ..self.clone() })
    }

    /// The same problem without the arcs whose `eps d` is above a limit; `None` where there are none.
    pub(crate) fn without_arcs_beyond(&self, limit: f64) -> Option<Self> {
        let is_near = |arc: &Arc| self.epsilon * arc.d <= limit;
        if self.arcs.iter().all(is_near) {
            return None;
        }
        let arcs = self.arcs.iter().copied().filter(is_near).collect();
        Some(Self { arcs, ..self.clone() })
    }

    /// The same problem with y fixed.
    pub fn with_fixed_y(&self, y: Vec<f64>) -> Result<Self, Error> {
        validate_y(&y, self.columns)?;
        Ok(Self { fixed_y: Some(y), ..self.clone() })
    }

    /// The same problem over some of its places, which must not repeat: their rows, their columns and the arcs between them.
    /// For untied problems whose row i and column i are the same place.
    #[cfg(feature = "parallel")]
    pub(crate) fn of_places(&self, places: &[u32]) -> Self {
        let mut position = vec![None; self.rows];
        for (p, &place) in places.iter().enumerate() {
            position[place as usize] = Some(p);
        }
        let cost = self.cost.restricted(places).unwrap_or_else(|| {
            Box::new(SomePlaces { cost: self.cost.clone(), places: places.to_vec() })
        });
        Self {
            epsilon: self.epsilon,
            rows: places.len(),
            columns: places.len(),
            groups: places.iter().map(|&i| self.groups[i as usize]).collect(),
            cost: cost.into(),
            arcs: self.arcs_between(&position),
            ties: None,
            bounds: Vec::new(),
            fixed_y: None,
        }
    }

    /// The arcs between rows that have a new position, in terms of that.
    fn arcs_between(&self, position: &[Option<usize>]) -> Vec<Arc> {
        let moved = |arc: &Arc| Some(Arc { i: position[arc.i]?, j: position[arc.j]?, d: arc.d });
        self.arcs.iter().filter_map(moved).collect()
    }

    /// The mean over the rows of the shortest arc's length in logarithms: eps times the spacing of the map.
    pub(crate) fn mean_shortest_arc(&self) -> f64 {
        let mut shortest = vec![f64::INFINITY; self.rows];
        for arc in &self.arcs {
            let length = self.log_ratio(arc);
            for row in [arc.i, arc.j] {
                shortest[row] = shortest[row].min(length);
            }
        }
        let finite: Vec<f64> = shortest.into_iter().filter(|length| length.is_finite()).collect();
        finite.iter().sum::<f64>() / finite.len().max(1) as f64
    }

    /// The parts of the same problem over some of its rows, which must not repeat; arcs to other rows are dropped.
    pub(crate) fn parts_of_rows(&self, rows: &[usize]) -> Result<ProblemParts, Error> {
        let columns = self.columns;
        let mut position = vec![None; self.rows];
        let mut costs = vec![0.0; rows.len() * columns];
        for (p, &row) in rows.iter().enumerate() {
            position[row] = Some(p);
            self.cost.fill_row(row, &mut costs[p * columns..][..columns]);
        }
        let ties = self.ties.as_ref().map(|ties| {
            let factors = rows.iter().flat_map(|row| &ties.factors[row * columns..][..columns]);
            Ties { columns, factors: factors.copied().collect() }
        });
        let bounds = self
            .bounds
            .iter()
            .filter_map(|bound| Some(EntryBound { row: position[bound.row]?, ..*bound }));
        Ok(ProblemParts {
            epsilon: self.epsilon,
            groups: rows.iter().map(|&row| self.groups[row]).collect(),
            cost: Box::new(DenseCost::new(rows.len(), columns, costs)?),
            arcs: self.arcs_between(&position),
            ties,
            bounds: bounds.collect(),
            fixed_y: self.fixed_y.clone(),
        })
    }

    /// Privacy parameter.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The group of every row.
    pub fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// The costs.
    pub fn cost(&self) -> &dyn Cost {
        &*self.cost
    }

    /// The arcs, each pair once.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// `eps d` of an arc for the engines: the logarithm of the largest ratio across it, at most [`LONGEST`].
    pub(crate) fn log_ratio(&self, arc: &Arc) -> f64 {
        (self.epsilon * arc.d).min(LONGEST)
    }

    /// Whether any entry may be tied.
    pub fn has_ties(&self) -> bool {
        self.ties.is_some()
    }

    /// The factor of a tied entry, `None` when the entry is free.
    pub fn tie(&self, row: usize, column: usize) -> Option<f64> {
        self.ties.as_ref().and_then(|ties| ties.at(row, column))
    }

    /// The bounds on free entries.
    pub fn bounds(&self) -> &[EntryBound] {
        &self.bounds
    }

    /// The fixed y, when there is one.
    pub fn fixed_y(&self) -> Option<&[f64]> {
        self.fixed_y.as_deref()
    }

    /// The cost of the matrix that reports every column equally often: the scale that absolute gaps
    /// are measured against when the optimum itself is nearly zero.
    pub fn mean_cost(&self) -> f64 {
        let mut row = vec![0.0; self.columns];
        let mut total = 0.0;
        for i in 0..self.rows {
            self.cost.fill_row(i, &mut row);
            total += row.iter().sum::<f64>();
        }
        total / self.columns as f64
    }
}

fn validate_epsilon(epsilon: f64) -> Result<(), Error> {
    if !epsilon.is_finite() {
        return Err(Error::NotFinite { field: "epsilon", index: vec![], value: epsilon });
    }
    if epsilon <= 0.0 {
        let range = "(0, infinity)";
        return Err(Error::OutOfRange { field: "epsilon", index: vec![], value: epsilon, range });
    }
    Ok(())
}

fn validate_y(y: &[f64], columns: usize) -> Result<(), Error> {
    length("y", &[], columns, y.len())?;
    for (k, &value) in y.iter().enumerate() {
        non_negative("y", &[k], value)?;
    }
    Ok(())
}

fn validate_arcs(arcs: &[Arc], groups: &[usize]) -> Result<(), Error> {
    let mut seen = HashMap::with_capacity(arcs.len());
    for (position, arc) in arcs.iter().enumerate() {
        for value in [arc.i, arc.j] {
            if value >= groups.len() {
                let index = vec![position];
                return Err(Error::IndexOutOfRange {
                    field: "arcs",
                    index,
                    value,
                    limit: groups.len(),
                });
            }
        }
        non_negative("arcs", &[position], arc.d)?;
        if arc.i == arc.j {
            return Err(Error::ArcLoop { arc: position, row: arc.i });
        }
        if groups[arc.i] != groups[arc.j] {
            return Err(Error::ArcBetweenGroups { arc: position, i: arc.i, j: arc.j });
        }
        let pair = (arc.i.min(arc.j) as u32, arc.i.max(arc.j) as u32);
        if let Some(first) = seen.insert(pair, position) {
            return Err(Error::Duplicate { field: "arcs", first, second: position });
        }
    }
    Ok(())
}

fn validate_bounds(
    bounds: &[EntryBound],
    ties: Option<&Ties>,
    rows: usize,
    columns: usize,
) -> Result<(), Error> {
    let mut seen = HashMap::with_capacity(bounds.len());
    for (position, bound) in bounds.iter().enumerate() {
        let &EntryBound { row, column, low, high } = bound;
        for (value, limit) in [(row, rows), (column, columns)] {
            if value >= limit {
                let index = vec![position];
                return Err(Error::IndexOutOfRange { field: "bounds", index, value, limit });
            }
        }
        non_negative("bounds", &[position], low)?;
        non_negative("bounds", &[position], high)?;
        if low > high {
            return Err(Error::EmptyBound { index: position, low, high });
        }
        if ties.is_some_and(|ties| ties.at(row, column).is_some()) {
            return Err(Error::BoundOnTie { index: position, row, column });
        }
        if let Some(first) = seen.insert((row, column), position) {
            return Err(Error::Duplicate { field: "bounds", first, second: position });
        }
    }
    Ok(())
}
