//! Numbers as files keep them.

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

impl Plain for crate::PlaceId {
    const SIZE: usize = u32::SIZE;
    fn put(self, out: &mut Vec<u8>) {
        self.number().put(out);
    }
    fn get(bytes: &[u8]) -> Self {
        Self::new(u32::get(bytes))
    }
}
