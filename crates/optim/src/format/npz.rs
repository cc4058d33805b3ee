//! Problems and solutions as numpy's `.npz`: a zip archive with one `.npy` per array.

use super::npy::{Array, Values};
use super::{FormatError, Limits, SolutionFile, VERSION, finite, matrix, written};
use crate::cost::{Cost, DenseCost};
use crate::error::{Error, length};
use crate::matrix::Matrix;
use crate::problem::{Arc, EntryBound, Problem, ProblemParts, Ties};
use crate::solution::{Certificate, Solution, Status};
use crate::sparse_rows::SparseRows;
use std::io::{Cursor, Read, Write};
use std::sync::Arc as Shared;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

pub(super) fn is_npz(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK")
}

/// The archive being read.
struct Reader<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    limit: usize,
}

impl<'a> Reader<'a> {
    /// Opens the archive and checks its version.
    fn new(bytes: &'a [u8], limits: &Limits) -> Result<Self, FormatError> {
        let archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|_| FormatError::Truncated { path: "archive".to_owned() })?;
        let mut reader = Self { archive, limit: limits.bytes };
        match reader.integer("version")? {
            VERSION => Ok(reader),
            found => Err(FormatError::Version { found, supported: VERSION }),
        }
    }

    fn optional(&mut self, field: &'static str) -> Result<Option<Array>, FormatError> {
        let name = format!("{field}.npy");
        if self.archive.index_for_name(&name).is_none() {
            return Ok(None);
        }
        let broken = || FormatError::Truncated { path: field.to_owned() };
        let file = self.archive.by_name(&name).map_err(|_| broken())?;
        // One byte more than allowed tells a file at the limit from one beyond.
        let mut bytes = Vec::new();
        file.take(self.limit as u64 + 1).read_to_end(&mut bytes).map_err(|_| broken())?;
        Limits::at_most(field, bytes.len(), self.limit)?;
        Array::read(field, &bytes).map(Some)
    }

    fn array(&mut self, field: &'static str) -> Result<Array, FormatError> {
        self.optional(field)?.ok_or(FormatError::Missing { field })
    }

    fn integer(&mut self, field: &'static str) -> Result<u64, FormatError> {
        let array = self.array(field)?;
        match indices(field, &array)?.as_slice() {
            [value] => Ok(*value as u64),
            _ => Err(shape_error(field, &array, "a single integer")),
        }
    }

    fn float(&mut self, field: &'static str) -> Result<f64, FormatError> {
        let array = self.array(field)?;
        match floats(field, array.clone())?.as_slice() {
            [value] => Ok(*value),
            _ => Err(shape_error(field, &array, "a single number")),
        }
    }

    /// A matrix of numbers: its shape and its values, row-major.
    fn table(&mut self, field: &'static str) -> Result<Option<Table>, FormatError> {
        let Some(array) = self.optional(field)? else { return Ok(None) };
        let &[rows, columns] = array.shape.as_slice() else {
            return Err(shape_error(field, &array, "a matrix"));
        };
        Ok(Some(Table { rows, columns, values: floats(field, array)? }))
    }

    /// `<name>_index` (n x 2) and `<name>_<value>` (n x width) side by side.
    fn pairs(
        &mut self,
        [index, value]: [&'static str; 2],
        width: usize,
    ) -> Result<Option<Pairs>, FormatError> {
        let Some(array) = self.optional(index)? else { return Ok(None) };
        let pairs = indices(index, &array)?;
        if array.shape.len() != 2 || array.shape[1] != 2 {
            return Err(shape_error(index, &array, "a matrix with 2 columns"));
        }
        let values = self.array(value).and_then(|array| floats(value, array))?;
        length(value, &[], pairs.len() / 2 * width, values.len())?;
        Ok(Some((pairs, values)))
    }

    /// A misspelt `tie` would silently be another problem.
    fn refuse_unknown(&self, known: &[&str]) -> Result<(), FormatError> {
        for name in self.archive.file_names() {
            let name = name.map_err(|_| FormatError::Truncated { path: "archive".to_owned() })?;
            if !name.strip_suffix(".npy").is_some_and(|field| known.contains(&field)) {
                let message = format!("unknown array, expected one of {}", known.join(", "));
                return Err(FormatError::Syntax { path: name.into_owned(), message });
            }
        }
        Ok(())
    }
}

/// Pairs of indices one after the other, and the numbers that go with them.
type Pairs = (Vec<usize>, Vec<f64>);

/// The arrays that a problem may have.
const PROBLEM_ARRAYS: [&str; 10] = [
    "version",
    "epsilon",
    "groups",
    "cost",
    "arcs_index",
    "arcs_distance",
    "tie",
    "bounds_index",
    "bounds_range",
    "y",
];

impl Reader<'_> {
    /// `z` as a whole, or by its explicit entries and tails.
    fn solution_matrix(&mut self, limits: &Limits) -> Result<Matrix, FormatError> {
        if let Some(z) = self.table("z")? {
            Limits::at_most("z", z.rows.saturating_mul(z.columns), limits.entries)?;
            return matrix(z.rows, z.columns, z.values);
        }
        let Some(start) = self.optional("z_start")? else {
            return Err(FormatError::Missing { field: "z" });
        };
        let start = indices("z_start", &start)?;
        let column = self.array("z_column").and_then(|array| indices("z_column", &array))?;
        Limits::at_most("z_column", column.len(), limits.entries)?;
        let value = self.array("z_value").and_then(|array| floats("z_value", array))?;
        let tail = self.array("z_tail").and_then(|array| floats("z_tail", array))?;
        let present = self.array("z_present").and_then(|array| indices("z_present", &array))?;
        let present = present.into_iter().map(|flag| flag != 0).collect();
        finite("z_value", &value)?;
        finite("z_tail", &tail)?;
        let rows = SparseRows::from_parts(start, column, value, tail, present)?;
        Ok(Matrix::Rows(Shared::new(rows)))
    }
}

/// The arrays of a matrix: whole, or where it is kept so its explicit entries and tails.
fn matrix_arrays(z: &Matrix) -> Result<Vec<(&'static str, Array)>, FormatError> {
    let (rows, columns) = (z.rows(), z.columns());
    let Some(sparse) = z.as_sparse() else {
        Limits::at_most("z", rows.saturating_mul(columns), Limits::default().entries)?;
        let mut values = vec![0.0; rows * columns];
        for (i, row) in values.chunks_exact_mut(columns.max(1)).enumerate() {
            z.fill_row(i, row);
        }
        return Ok(vec![("z", Array::floats(&[rows, columns], values))]);
    };
    let (mut start, mut column, mut value) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        let (columns, values) = sparse.explicit(row);
        column.extend(columns.iter().map(|&k| i64::from(k)));
        value.extend_from_slice(values);
        start.push(column.len() as i64);
    }
    let tail = (0..rows).map(|row| sparse.tail(row)).collect();
    let present = sparse.present().iter().map(|&present| i64::from(present)).collect();
    Ok(vec![
        ("z_start", Array::integers(&[rows + 1], start)),
        ("z_column", Array::integers(&[column.len()], column)),
        ("z_value", Array::floats(&[value.len()], value)),
        ("z_tail", Array::floats(&[rows], tail)),
        ("z_present", Array::integers(&[columns], present)),
    ])
}

struct Table {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

fn shape_error(field: &'static str, array: &Array, expected: &'static str) -> FormatError {
    FormatError::Array { field, found: format!("of shape {:?}", array.shape), expected }
}

fn floats(field: &'static str, array: Array) -> Result<Vec<f64>, FormatError> {
    match array.values {
        Values::Floats(values) => Ok(values),
        Values::Integers(values) => Ok(values.into_iter().map(|value| value as f64).collect()),
        Values::Text(_) => {
            Err(FormatError::Array { field, found: "text".to_owned(), expected: "numbers" })
        }
    }
}

fn indices(field: &'static str, array: &Array) -> Result<Vec<usize>, FormatError> {
    let Values::Integers(values) = &array.values else {
        let found = "not of an integer type".to_owned();
        return Err(FormatError::Array { field, found, expected: "integers" });
    };
    let index = |(at, value): (usize, &i64)| {
        usize::try_from(*value).map_err(|_| {
            FormatError::from(Error::Negative { field, index: vec![at], value: *value as f64 })
        })
    };
    values.iter().enumerate().map(index).collect()
}

pub(super) fn read_problem(bytes: &[u8], limits: &Limits) -> Result<Problem, FormatError> {
    let mut file = Reader::new(bytes, limits)?;
    file.refuse_unknown(&PROBLEM_ARRAYS)?;
    let cost = file.table("cost")?.ok_or(FormatError::Missing { field: "cost" })?;
    Limits::at_most("cost", cost.rows.saturating_mul(cost.columns), limits.entries)?;
    let groups = match file.optional("groups")? {
        Some(array) => indices("groups", &array)?,
        None => Vec::new(),
    };
    let cost = DenseCost::new(cost.rows, cost.columns, cost.values)?;
    if !groups.is_empty() {
        length("groups", &[], cost.rows(), groups.len())?;
    }
    let arcs = file.pairs(["arcs_index", "arcs_distance"], 1)?;
    let (pairs, distances) = arcs.ok_or(FormatError::Missing { field: "arcs_index" })?;
    Limits::at_most("arcs", distances.len(), limits.arcs)?;
    let arcs = pairs.chunks_exact(2).zip(&distances);
    let (entries, ranges) = file.pairs(["bounds_index", "bounds_range"], 2)?.unwrap_or_default();
    Limits::at_most("bounds", ranges.len() / 2, limits.arcs)?;
    let bounds = entries.chunks_exact(2).zip(ranges.chunks_exact(2));
    let ties = match file.table("tie")? {
        // Zero, which no factor can be, marks a free entry; NaN is an error like everywhere.
        Some(tie) => {
            let entries: Vec<_> = tie.values.iter().map(|f| (*f != 0.0).then_some(*f)).collect();
            Some(Ties::new(tie.rows, tie.columns, &entries)?)
        }
        None => None,
    };
    let y = file.optional("y")?;
    Ok(Problem::new(ProblemParts {
        epsilon: file.float("epsilon")?,
        groups,
        arcs: arcs.map(|(pair, &d)| Arc { i: pair[0], j: pair[1], d }).collect(),
        ties,
        bounds: bounds
            .map(|(entry, range)| EntryBound {
                row: entry[0],
                column: entry[1],
                low: range[0],
                high: range[1],
            })
            .collect(),
        fixed_y: y.map(|y| floats("y", y)).transpose()?,
        cost: Box::new(cost),
    })?)
}

pub(super) fn read_solution(bytes: &[u8], limits: &Limits) -> Result<SolutionFile, FormatError> {
    let mut file = Reader::new(bytes, limits)?;
    let Values::Text(word) = file.array("status")?.values else {
        let found = "not a text".to_owned();
        return Err(FormatError::Array { field: "status", found, expected: "a text" });
    };
    let status = Status::from_word(&word).ok_or(FormatError::Status { found: word })?;
    if status == Status::Infeasible {
        return Ok(SolutionFile::Infeasible);
    }
    let z = file.solution_matrix(limits)?;
    let mu = match file.optional("mu")? {
        Some(array) => floats("mu", array)?,
        None => Vec::new(),
    };
    finite("mu", &mu)?;
    Ok(SolutionFile::Found(Solution {
        status,
        objective: file.float("objective")?,
        lower_bound: file.float("lower_bound")?,
        gap: file.float("gap")?,
        iterations: file.integer("iterations")? as usize,
        columns: file.integer("columns")? as usize,
        seconds: file.float("seconds")?,
        z,
        y: file.array("y").and_then(|array| floats("y", array))?,
        certificate: Certificate {
            worst_log_excess: file.float("worst_log_excess")?,
            worst_row_sum_error: file.float("worst_row_sum_error")?,
            mu,
        },
        trace: Vec::new(),
    }))
}

/// Writes a problem as `.npz`.
pub fn problem_to_npz(problem: &Problem) -> Result<Vec<u8>, FormatError> {
    let (n, columns) = (problem.rows(), problem.columns());
    Limits::at_most("cost", n.saturating_mul(columns), Limits::default().entries)?;
    let mut costs = vec![0.0; n * columns];
    for (i, row) in costs.chunks_exact_mut(columns).enumerate() {
        problem.cost().fill_row(i, row);
    }
    let integers = |values: Vec<usize>| values.into_iter().map(|v| v as i64).collect::<Vec<_>>();
    let (arcs, bounds) = (problem.arcs(), problem.bounds());
    let mut arrays = vec![
        ("version", Array::integers(&[], vec![VERSION as i64])),
        ("epsilon", Array::floats(&[], vec![problem.epsilon()])),
        ("groups", Array::integers(&[n], integers(problem.groups().to_vec()))),
        ("cost", Array::floats(&[n, columns], costs)),
        (
            "arcs_index",
            Array::integers(
                &[arcs.len(), 2],
                integers(arcs.iter().flat_map(|arc| [arc.i, arc.j]).collect()),
            ),
        ),
        ("arcs_distance", Array::floats(&[arcs.len()], arcs.iter().map(|arc| arc.d).collect())),
    ];
    if problem.has_ties() {
        let factor = |p| problem.tie(p / columns, p % columns).unwrap_or(0.0);
        arrays.push(("tie", Array::floats(&[n, columns], (0..n * columns).map(factor).collect())));
    }
    if !bounds.is_empty() {
        let index = bounds.iter().flat_map(|b| [b.row, b.column]).collect();
        let range = bounds.iter().flat_map(|b| [b.low, b.high]).collect();
        arrays.push(("bounds_index", Array::integers(&[bounds.len(), 2], integers(index))));
        arrays.push(("bounds_range", Array::floats(&[bounds.len(), 2], range)));
    }
    if let Some(y) = problem.fixed_y() {
        arrays.push(("y", Array::floats(&[columns], y.to_vec())));
    }
    archive(arrays)
}

/// Writes a solution as `.npz`.
pub fn solution_to_npz(solution: &SolutionFile) -> Result<Vec<u8>, FormatError> {
    let mut arrays = vec![
        ("version", Array::integers(&[], vec![VERSION as i64])),
        ("status", Array::text(solution.status().as_str())),
    ];
    if let Some(found) = solution.found() {
        arrays.extend(matrix_arrays(&found.z)?);
        let number = |value: f64| Array::floats(&[], vec![written(value)]);
        arrays.extend([
            ("objective", number(found.objective)),
            ("lower_bound", number(found.lower_bound)),
            ("gap", number(found.gap)),
            ("iterations", Array::integers(&[], vec![found.iterations as i64])),
            ("columns", Array::integers(&[], vec![found.columns as i64])),
            ("seconds", number(found.seconds)),
            ("y", Array::floats(&[found.y.len()], found.y.clone())),
            ("worst_log_excess", number(found.certificate.worst_log_excess)),
            ("worst_row_sum_error", number(found.certificate.worst_row_sum_error)),
            ("mu", Array::floats(&[found.certificate.mu.len()], found.certificate.mu.clone())),
        ]);
    }
    archive(arrays)
}

pub(super) fn archive(arrays: Vec<(&'static str, Array)>) -> Result<Vec<u8>, FormatError> {
    let broken = |message: String| FormatError::Syntax { path: "output".to_owned(), message };
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let bytes = array.write();
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(bytes.len() >= u32::MAX as usize);
        zip.start_file(format!("{name}.npy"), options).map_err(|e| broken(e.to_string()))?;
        zip.write_all(&bytes).map_err(|e| broken(e.to_string()))?;
    }
    Ok(zip.finish().map_err(|e| broken(e.to_string()))?.into_inner())
}
