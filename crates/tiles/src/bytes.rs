//! Reading numbers from bytes that may end too early.

use lrgeo_geo::Digest;
use lrgeo_geo::bytes::Plain;

use crate::TileError;

/// What is left of a file.
pub struct Cursor<'a> {
    file: &'static str,
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// From the beginning of a file; `file` says what it is in errors.
    pub fn new(file: &'static str, bytes: &'a [u8]) -> Self {
        Self { file, rest: bytes }
    }

    /// The next `count` bytes; `field` says what they are.
    pub fn take(&mut self, field: &'static str, count: usize) -> Result<&'a [u8], TileError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| TileError::malformed(self.file, field, "ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next number.
    pub fn number<T: Plain>(&mut self, field: &'static str) -> Result<T, TileError> {
        Ok(T::get(self.take(field, T::SIZE)?))
    }

    /// The next `count` numbers.
    pub fn numbers<T: Plain>(
        &mut self,
        field: &'static str,
        count: usize,
    ) -> Result<Vec<T>, TileError> {
        let bytes = count.saturating_mul(T::SIZE);
        Ok(self.take(field, bytes)?.chunks_exact(T::SIZE).map(T::get).collect())
    }

    /// The next 32 bytes.
    pub fn digest(&mut self, field: &'static str) -> Result<Digest, TileError> {
        let mut digest = Digest([0; 32]);
        digest.0.copy_from_slice(self.take(field, 32)?);
        Ok(digest)
    }

    /// Refuses anything but zeros after the end.
    pub fn padding(self) -> Result<(), TileError> {
        match self.rest.iter().all(|byte| *byte == 0) {
            true => Ok(()),
            false => Err(TileError::malformed(self.file, "padding", "holds more than zeros")),
        }
    }

    /// Refuses bytes after the end.
    pub fn end(self) -> Result<(), TileError> {
        match self.rest {
            [] => Ok(()),
            _ => Err(TileError::malformed(self.file, "end", "is followed by more bytes")),
        }
    }
}

/// Appends numbers.
pub fn put<T: Plain>(out: &mut Vec<u8>, values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(|value| value.put(out));
}
