//! One array of numpy's `.npy` format, versions 1 to 3: little-endian floats, integers and text.

use super::FormatError;

/// The values of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Floats(Vec<f64>),
    Integers(Vec<i64>),
    /// A single text, as numpy stores a Python string.
    Text(String),
}

/// An array, row-major.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) values: Values,
}

const MAGIC: &[u8] = b"\x93NUMPY";

impl Array {
    pub(super) fn floats(shape: &[usize], values: Vec<f64>) -> Self {
        Self { shape: shape.to_vec(), values: Values::Floats(values) }
    }

    pub(super) fn integers(shape: &[usize], values: Vec<i64>) -> Self {
        Self { shape: shape.to_vec(), values: Values::Integers(values) }
    }

    pub(super) fn text(text: &str) -> Self {
        Self { shape: vec![], values: Values::Text(text.to_owned()) }
    }

    /// Parses the bytes of a `.npy` file.
    pub(super) fn read(field: &'static str, bytes: &[u8]) -> Result<Self, FormatError> {
        let truncated = || FormatError::Truncated { path: field.to_owned() };
        if !bytes.starts_with(MAGIC) {
            return Err(wrong(field, "not a .npy array".to_owned(), "numpy's magic bytes"));
        }
        let version = *bytes.get(6).ok_or_else(truncated)?;
        let (start, size) = match version {
            1 => (10, bytes.get(8..10).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])))),
            2 | 3 => (12, bytes.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            other => {
                return Err(wrong(field, format!(".npy version {other}"), "version 1, 2 or 3"));
            }
        };
        let end = start + size.ok_or_else(truncated)? as usize;
        let header = std::str::from_utf8(bytes.get(start..end).ok_or_else(truncated)?)
            .map_err(|_| wrong(field, "a header that is not text".to_owned(), "a header"))?;
        let header = Header::parse(header)
            .ok_or_else(|| wrong(field, format!("header {header:?}"), "descr, order, shape"))?;
        let count = header.shape.iter().try_fold(1_usize, |count, n| count.checked_mul(*n));
        let count = count.ok_or_else(truncated)?;
        let width = header.width().ok_or_else(|| {
            wrong(field, format!("of type {:?}", header.descr), "float, integer or text")
        })?;
        let data = &bytes[end..];
        if count.checked_mul(width) != Some(data.len()) {
            return Err(truncated());
        }
        let values = header.decode(data, width);
        let mut array = Self { shape: header.shape, values };
        if header.fortran && array.shape.len() == 2 {
            array.transpose();
        }
        Ok(array)
    }

    /// The bytes of a `.npy` file, version 1.
    pub(super) fn write(&self) -> Vec<u8> {
        let (descr, data): (String, Vec<u8>) = match &self.values {
            Values::Floats(v) => ("<f8".into(), v.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Values::Integers(v) => ("<i8".into(), v.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Values::Text(text) => (
                format!("<U{}", text.chars().count()),
                text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
            ),
        };
        let shape: String = self.shape.iter().map(|n| format!("{n}, ")).collect();
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
        // numpy wants the data to start at a multiple of 64.
        while !(MAGIC.len() + 4 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    /// From column-major to row-major.
    fn transpose(&mut self) {
        fn turned<T: Copy>(values: &[T], rows: usize, columns: usize) -> Vec<T> {
            (0..rows * columns).map(|p| values[(p % columns) * rows + p / columns]).collect()
        }
        let (rows, columns) = (self.shape[0], self.shape[1]);
        match &mut self.values {
            Values::Floats(values) => *values = turned(values, rows, columns),
            Values::Integers(values) => *values = turned(values, rows, columns),
            Values::Text(_) => {}
        }
    }
}

fn wrong(field: &'static str, found: String, expected: &'static str) -> FormatError {
    FormatError::Array { field, found, expected }
}

struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`
    fn parse(text: &str) -> Option<Self> {
        let after = |key: &str| {
            let at = text.find(&format!("'{key}':"))?;
            Some(text[at + key.len() + 3..].trim_start())
        };
        let descr = after("descr")?.strip_prefix('\'')?.split('\'').next()?.to_owned();
        let fortran = after("fortran_order")?.starts_with("True");
        let shape = after("shape")?.strip_prefix('(')?.split(')').next()?;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape = sizes.map(|size| size.parse().ok()).collect::<Option<Vec<usize>>>()?;
        Some(Self { descr, fortran, shape })
    }

    /// Bytes per value; `None` for a type that is not understood.
    fn width(&self) -> Option<usize> {
        match self.descr.as_str() {
            "<f8" | "<i8" | "<u8" => Some(8),
            "<f4" | "<i4" | "<u4" => Some(4),
            "<i2" | "<u2" => Some(2),
            "|i1" | "|u1" | "|b1" => Some(1),
            text => text.strip_prefix("<U")?.parse::<usize>().ok()?.checked_mul(4),
        }
    }

    fn decode(&self, data: &[u8], width: usize) -> Values {
        if self.descr.starts_with("<U") {
            let code = |b: &[u8]| char::from_u32(u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            let text = data.chunks_exact(4).filter_map(code).filter(|c| *c != '\0');
            return Values::Text(text.collect());
        }
        let words = data.chunks_exact(width).map(|chunk| {
            let mut word = [0_u8; 8];
            word[..width].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        match self.descr.as_str() {
            "<f8" => Values::Floats(words.map(f64::from_bits).collect()),
            "<f4" => Values::Floats(words.map(|w| f64::from(f32::from_bits(w as u32))).collect()),
            // Sign-extend signed types from their width; unsigned 64-bit values wrap to negative and
            // are then refused as indices.
            descr if descr.contains('i') => {
                let shift = 64 - 8 * width as u32;
                Values::Integers(words.map(|w| ((w << shift) as i64) >> shift).collect())
            }
            _ => Values::Integers(words.map(|w| w as i64).collect()),
        }
    }
}
