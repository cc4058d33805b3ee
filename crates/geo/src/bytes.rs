//! Numbers as files keep them, and the checksum that a file is known by.

/// The checksum of a file: which version of a map it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl std::fmt::Display for Fingerprint {
    /// Sixteen hexadecimal digits: enough to tell versions apart at a glance.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A number that can stand in a section.
pub trait Plain: Copy {
    /// Bytes per number.
    const SIZE: usize;
    /// Appends it, little-endian.
    fn put(self, out: &mut Vec<u8>);
    /// Reads it from exactly [`Plain::SIZE`] bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl Plain for $t {
            const SIZE: usize = size_of::<$t>();
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                let mut buffer = [0; size_of::<$t>()];
                buffer.copy_from_slice(bytes);
                <$t>::from_le_bytes(buffer)
            }
        }
    )*};
}
plain!(u32, u64, f64);
