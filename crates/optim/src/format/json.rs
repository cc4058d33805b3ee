//! JSON problems and solutions.

use super::{FormatError, Limits, SolutionFile, VERSION, finite, matrix, written};
use crate::cost::DenseCost;
use crate::error::length;
use crate::problem::{Arc, EntryBound, Problem, ProblemParts, Ties};
use crate::solution::{Certificate, Solution, Status};
use serde::de::DeserializeOwned;
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

/// Only the version, so that a file of another version is called that and not a syntax error.
#[derive(Deserialize)]
struct VersionOnly {
    version: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemJson {
    version: u64,
    epsilon: f64,
    #[serde(default)]
    groups: Vec<usize>,
    cost: Vec<Vec<f64>>,
    arcs: Vec<(usize, usize, f64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tie: Option<Vec<Vec<Option<f64>>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<Vec<(usize, usize, f64, f64)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    y: Option<Vec<f64>>,
}

#[derive(Deserialize)]
struct SolutionJson {
    version: u64,
    status: String,
    objective: Option<f64>,
    lower_bound: Option<f64>,
    gap: Option<f64>,
    iterations: Option<usize>,
    columns: Option<usize>,
    seconds: Option<f64>,
    z: Option<Vec<Vec<f64>>>,
    y: Option<Vec<f64>>,
    certificate: Option<CertificateJson>,
}

#[derive(Serialize, Deserialize)]
struct CertificateJson {
    worst_log_excess: f64,
    worst_row_sum_error: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mu: Vec<f64>,
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FormatError> {
    let mut source = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut source).map_err(|error| {
        let path = error.path().to_string();
        match error.inner() {
            inner if inner.is_eof() => FormatError::Truncated { path },
            inner => FormatError::Syntax { path, message: inner.to_string() },
        }
    })?;
    source.end().map_err(|error| FormatError::Syntax {
        path: "end".to_owned(),
        message: error.to_string(),
    })?;
    Ok(value)
}

/// Parses a file of this version. Where that fails, another version is the better explanation.
fn parse_version<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FormatError> {
    let version = || parse::<VersionOnly>(bytes).ok().map(|file| file.version);
    parse(bytes).map_err(|error| match version() {
        Some(None) => FormatError::Missing { field: "version" },
        Some(Some(found)) if found != VERSION => version_error(found),
        _ => error,
    })
}

fn version_error(found: u64) -> FormatError {
    FormatError::Version { found, supported: VERSION }
}

pub(super) fn read_problem(bytes: &[u8], limits: &Limits) -> Result<Problem, FormatError> {
    let file: ProblemJson = parse_version(bytes)?;
    if file.version != VERSION {
        return Err(version_error(file.version));
    }
    let columns = file.cost.first().map_or(0, Vec::len);
    Limits::at_most("cost", file.cost.len().saturating_mul(columns), limits.entries)?;
    Limits::at_most("arcs", file.arcs.len(), limits.arcs)?;
    let bounds = file.bounds.unwrap_or_default();
    Limits::at_most("bounds", bounds.len(), limits.arcs)?;
    let cost = DenseCost::from_rows(&file.cost)?;
    if !file.groups.is_empty() {
        length("groups", &[], file.cost.len(), file.groups.len())?;
    }
    let bound = |(row, column, low, high)| EntryBound { row, column, low, high };
    Ok(Problem::new(ProblemParts {
        epsilon: file.epsilon,
        groups: file.groups,
        cost: Box::new(cost),
        arcs: file.arcs.into_iter().map(|(i, j, d)| Arc { i, j, d }).collect(),
        ties: file.tie.map(|tie| Ties::from_rows(&tie)).transpose()?,
        bounds: bounds.into_iter().map(bound).collect(),
        fixed_y: file.y,
    })?)
}

/// Writes a problem; numbers are written so that reading gives the same bits.
pub fn problem_to_json(problem: &Problem) -> Result<String, FormatError> {
    let (rows, columns) = (problem.rows(), problem.columns());
    Limits::at_most("cost", rows.saturating_mul(columns), Limits::default().entries)?;
    let mut costs = vec![0.0; columns];
    let file = ProblemJson {
        version: VERSION,
        epsilon: problem.epsilon(),
        groups: problem.groups().to_vec(),
        cost: (0..rows)
            .map(|i| {
                problem.cost().fill_row(i, &mut costs);
                costs.clone()
            })
            .collect(),
        arcs: problem.arcs().iter().map(|arc| (arc.i, arc.j, arc.d)).collect(),
        tie: problem.has_ties().then(|| {
            (0..rows).map(|i| (0..columns).map(|k| problem.tie(i, k)).collect()).collect()
        }),
        bounds: (!problem.bounds().is_empty())
            .then(|| problem.bounds().iter().map(|b| (b.row, b.column, b.low, b.high)).collect()),
        y: problem.fixed_y().map(<[f64]>::to_vec),
    };
    to_string(&file)
}

pub(super) fn read_solution(bytes: &[u8], limits: &Limits) -> Result<SolutionFile, FormatError> {
    let file: SolutionJson = parse_version(bytes)?;
    if file.version != VERSION {
        return Err(version_error(file.version));
    }
    let status = Status::from_word(&file.status)
        .ok_or_else(|| FormatError::Status { found: file.status.clone() })?;
    if status == Status::Infeasible {
        return Ok(SolutionFile::Infeasible);
    }
    let need = |field| FormatError::Missing { field };
    let z = file.z.ok_or(need("z"))?;
    let columns = z.first().map_or(0, Vec::len);
    Limits::at_most("z", z.len().saturating_mul(columns), limits.entries)?;
    for (i, row) in z.iter().enumerate() {
        length("z", &[i], columns, row.len())?;
    }
    let certificate = file.certificate.ok_or(need("certificate"))?;
    finite("certificate.mu", &certificate.mu)?;
    Ok(SolutionFile::Found(Solution {
        status,
        objective: file.objective.ok_or(need("objective"))?,
        lower_bound: file.lower_bound.ok_or(need("lower_bound"))?,
        gap: file.gap.ok_or(need("gap"))?,
        iterations: file.iterations.ok_or(need("iterations"))?,
        columns: file.columns.ok_or(need("columns"))?,
        seconds: file.seconds.ok_or(need("seconds"))?,
        z: matrix(z.len(), columns, z.concat())?,
        y: file.y.ok_or(need("y"))?,
        certificate: Certificate {
            worst_log_excess: certificate.worst_log_excess,
            worst_row_sum_error: certificate.worst_row_sum_error,
            mu: certificate.mu,
        },
        trace: Vec::new(),
    }))
}

/// Writes a solution, the matrix row by row. An infeasible one has its status, zeros and no matrix.
pub fn solution_to_json(solution: &SolutionFile) -> Result<String, FormatError> {
    #[derive(Serialize)]
    struct File<'a> {
        version: u64,
        status: &'static str,
        objective: Option<f64>,
        lower_bound: Option<f64>,
        gap: Option<f64>,
        iterations: usize,
        columns: usize,
        seconds: f64,
        #[serde(serialize_with = "rows_of")]
        z: Option<&'a crate::matrix::Matrix>,
        y: &'a [f64],
        certificate: Option<CertificateJson>,
    }
    let found = solution.found();
    if let Some(found) = found {
        let entries = found.z.rows().saturating_mul(found.z.columns());
        Limits::at_most("z", entries, Limits::default().entries)?;
    }
    to_string(&File {
        version: VERSION,
        status: solution.status().as_str(),
        objective: found.map(|found| found.objective),
        lower_bound: found.map(|found| found.lower_bound),
        gap: found.map(|found| found.gap),
        iterations: found.map_or(0, |found| found.iterations),
        columns: found.map_or(0, |found| found.columns),
        seconds: found.map_or(0.0, |found| found.seconds),
        z: found.map(|found| &found.z),
        y: found.map_or(&[], |found| &found.y),
        certificate: found.map(|found| CertificateJson {
            worst_log_excess: written(found.certificate.worst_log_excess),
            worst_row_sum_error: written(found.certificate.worst_row_sum_error),
            mu: found.certificate.mu.clone(),
        }),
    })
}

fn rows_of<S: Serializer>(z: &Option<&crate::matrix::Matrix>, to: S) -> Result<S::Ok, S::Error> {
    let rows = z.map_or(0, crate::matrix::Matrix::rows);
    let mut sequence = to.serialize_seq(Some(rows))?;
    if let Some(z) = z {
        let mut row = vec![0.0; z.columns()];
        for i in 0..rows {
            z.fill_row(i, &mut row);
            sequence.serialize_element(&row)?;
        }
    }
    sequence.end()
}

fn to_string(file: &impl Serialize) -> Result<String, FormatError> {
    serde_json::to_string(file).map_err(|error| FormatError::Syntax {
        path: "output".to_owned(),
        message: error.to_string(),
    })
}
