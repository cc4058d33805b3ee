//! A matrix from a file: `.npy` (numpy, 64-bit floats) or CSV without a header.

use std::path::Path;

use crate::MapError;
use crate::utility::LossMatrix;

/// Reads a square matrix of losses for `places` places, one row per true place.
pub fn read_losses(path: &Path, places: usize) -> Result<LossMatrix, MapError> {
    let values = read_square(path, places)?;
    LossMatrix::new(places, values).map_err(|error| MapError::file(path, error.to_string()))
}

/// Reads a square matrix of any numbers, row-major.
pub fn read_square(path: &Path, places: usize) -> Result<Vec<f64>, MapError> {
    let bytes = std::fs::read(path).map_err(MapError::io(path))?;
    let values = match bytes.starts_with(b"\x93NUMPY") {
        true => read_npy(path, &bytes, places)?,
        false => read_csv(path, &bytes, places)?,
    };
    match values.len() == places * places {
        true => Ok(values),
        false => Err(MapError::file(path, format!("must have {places} rows, one per place"))),
    }
}

fn read_csv(path: &Path, bytes: &[u8], places: usize) -> Result<Vec<f64>, MapError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let mut values = Vec::new();
    for (row, record) in reader.records().enumerate() {
        let line = row as u64 + 1;
        let error = |field: String, reason: String| MapError::Line {
            path: path.into(),
            line,
            field,
            reason,
        };
        let record = record.map_err(|e| error("row".into(), e.to_string()))?;
        if record.len() != places {
            return Err(error(
                "row".into(),
                format!("has {} numbers, needs {places}", record.len()),
            ));
        }
        for (column, text) in record.iter().enumerate() {
            let value = text.parse().map_err(|_| {
                error(format!("column {}", column + 1), format!("`{text}` is not a number"))
            })?;
            values.push(value);
        }
    }
    Ok(values)
}

/// Reads how many of the people at each place go each way: a CSV file with a column per way, by name, and a line per place
/// in the order of the map. Other columns are not looked at. One list of places per way.
pub fn read_shares(path: &Path, ways: &[&str], places: usize) -> Result<Vec<Vec<f64>>, MapError> {
    let bytes = std::fs::read(path).map_err(MapError::io(path))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes.as_slice());
    let refuse = |reason: String| MapError::file(path, reason);
    let header = reader.headers().map_err(|error| refuse(error.to_string()))?.clone();
    let column = |way: &&str| {
        let found = header.iter().position(|name| name == *way);
        found.ok_or_else(|| refuse(format!("has no column `{way}`")))
    };
    let columns = ways.iter().map(column).collect::<Result<Vec<usize>, MapError>>()?;
    let mut shares = vec![Vec::with_capacity(places); ways.len()];
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(|error| refuse(error.to_string()))?;
        for ((&column, way), of_way) in columns.iter().zip(ways).zip(&mut shares) {
            let text = record.get(column).unwrap_or_default();
            let reason = format!("`{text}` is not a number");
            let (path, line, field) = (path.into(), row as u64 + 2, (*way).to_owned());
            let number = text.parse().map_err(|_| MapError::Line { path, line, field, reason })?;
            of_way.push(number);
        }
    }
    match shares[0].len() == places {
        true => Ok(shares),
        false => Err(refuse(format!("has {} lines, the map {places} places", shares[0].len()))),
    }
}

/// Version 1 of numpy's format, little-endian doubles in C order: what `numpy.save` writes.
fn read_npy(path: &Path, bytes: &[u8], places: usize) -> Result<Vec<f64>, MapError> {
    let refuse = |reason: String| MapError::file(path, reason);
    let length = bytes.get(8..10).map_or(0, |b| usize::from(u16::from_le_bytes([b[0], b[1]])));
    let header = bytes.get(10..10 + length).map(String::from_utf8_lossy).unwrap_or_default();
    let compact: String = header.chars().filter(|c| !c.is_whitespace()).collect();
    if !compact.contains("'descr':'<f8'") || !compact.contains("'fortran_order':False") {
        return Err(refuse(
            "must hold 64-bit floats in C order (numpy.save of a float64 array)".into(),
        ));
    }
    if !compact.contains(&format!("'shape':({places},{places})")) {
        return Err(refuse(format!("shape: must be ({places}, {places}), one row per place")));
    }
    let data = &bytes[10 + length..];
    if data.len() != places * places * 8 {
        return Err(refuse("is cut off".into()));
    }
    let number = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    Ok(data.chunks_exact(8).map(number).collect())
}
