//! The container that maps, cost tables and mechanisms are kept in: named sections, a version, a checksum.
//!
//! Layout, little-endian: magic (8 bytes), kind (8), version (u32), section count (u32), BLAKE3 of
//! all that follows (32), a table of (name 8, offset u64, length u64), then the sections. The
//! checksum doubles as the identity of a map version.

use std::io::Write;
use std::path::Path;

use lrgeo_geo::Digest;
use lrgeo_geo::bytes::Plain;

use crate::MapError;

/// Like PNG's: a copy that mangled line ends is recognised at once.
const MAGIC: &[u8; 8] = b"LRGEO\r\n\x1a";
const HEADER: usize = 8 + 8 + 4 + 4 + 32;
const ENTRY: usize = 8 + 8 + 8;

/// What a file holds: its kind and the version of its format.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// As it stands in the file, padded with spaces to eight bytes.
    pub tag: [u8; 8],
    /// As people call it.
    pub name: &'static str,
    /// The version of the format; other versions are refused.
    pub version: u32,
    /// The command that makes such a file.
    pub made_by: &'static str,
}

/// What people call the file that a tag stands in: eight bytes are too few for some names.
fn called(tag: &[u8]) -> String {
    match tag {
        b"table   " => "cost table".to_owned(),
        b"mechanis" => "mechanism".to_owned(),
        other => String::from_utf8_lossy(other).trim().to_owned(),
    }
}

/// Collects sections and writes them in one go.
pub struct Writer {
    kind: Kind,
    sections: Vec<([u8; 8], Vec<u8>)>,
}

impl Writer {
    /// An empty file of a kind.
    pub fn new(kind: Kind) -> Self {
        Self { kind, sections: Vec::new() }
    }

    /// A section of numbers.
    pub fn numbers<T: Plain>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|v| v.put(&mut bytes));
        self.bytes(name, bytes);
    }

    /// A section of bytes; names have at most eight letters.
    pub fn bytes(&mut self, name: &str, bytes: Vec<u8>) {
        self.sections.push((section_name(name), bytes));
    }

    /// Texts, one per line (they hold no line ends: the readers refuse those).
    pub fn texts<'a>(&mut self, name: &str, texts: impl IntoIterator<Item = &'a str>) {
        let mut bytes = Vec::new();
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(b'\n');
        }
        self.bytes(name, bytes);
    }

    /// The table of sections as it stands in the file.
    fn table(&self) -> Vec<u8> {
        let mut table = Vec::new();
        let mut offset = (HEADER + ENTRY * self.sections.len()) as u64;
        for (name, bytes) in &self.sections {
            table.extend_from_slice(name);
            offset.put(&mut table);
            (bytes.len() as u64).put(&mut table);
            offset += bytes.len() as u64;
        }
        table
    }

    /// The checksum that the file has or would have.
    pub fn fingerprint(&self) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.table());
        self.sections.iter().for_each(|(_, bytes)| {
            hasher.update(bytes);
        });
        Digest(*hasher.finalize().as_bytes())
    }

    /// Writes the file; on any error nothing is left behind under `path`.
    pub fn save(self, path: &Path) -> Result<Digest, MapError> {
        let fingerprint = self.fingerprint();
        let mut head = Vec::with_capacity(HEADER);
        head.extend_from_slice(MAGIC);
        head.extend_from_slice(&self.kind.tag);
        self.kind.version.put(&mut head);
        (self.sections.len() as u32).put(&mut head);
        head.extend_from_slice(&fingerprint.0);
        head.extend_from_slice(&self.table());
        let sections = self.sections.iter().map(|(_, bytes)| bytes.as_slice());
        write_whole(path, std::iter::once(head.as_slice()).chain(sections))?;
        Ok(fingerprint)
    }
}

/// Writes a file whole or not at all; see [`write_stream`].
pub fn write_whole<'a>(
    path: &Path,
    parts: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(), MapError> {
    write_stream(path, |file| parts.into_iter().try_for_each(|part| file.write_all(part)))
}

/// Writes a file under a temporary name beside `path` and renames it when it is complete, so that
/// `path` is always either the old file or the whole new one.
pub fn write_stream(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> Result<(), MapError> {
    let name = path.file_name().ok_or_else(|| MapError::file(path, "not a file name"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", std::process::id()));
    let partial = path.with_file_name(hidden);
    let written = (|| {
        let mut file = std::io::BufWriter::new(std::fs::File::create(&partial)?);
        write(&mut file)?;
        file.into_inner()?.sync_all()?;
        std::fs::rename(&partial, path)
    })();
    written.map_err(|source| {
        let _ = std::fs::remove_file(&partial);
        MapError::Io { path: path.into(), source }
    })
}

/// A file whose checksum was found right.
pub struct Reader<'p> {
    path: &'p Path,
    bytes: Vec<u8>,
    sections: Vec<([u8; 8], std::ops::Range<usize>)>,
    /// Its checksum.
    pub fingerprint: Digest,
}

impl<'p> Reader<'p> {
    /// Opens a file of a kind and checks version and checksum.
    pub fn open(path: &'p Path, kind: Kind) -> Result<Self, MapError> {
        let bytes = std::fs::read(path).map_err(MapError::io(path))?;
        let refuse = |reason: String| Err(MapError::file(path, reason));
        let rebuild = format!("make it again with `{}`", kind.made_by);
        if bytes.len() < HEADER || bytes[..8] != *MAGIC {
            return refuse(format!("not an lrgeo file, or cut off at the start; {rebuild}"));
        }
        if bytes[8..16] != kind.tag {
            return refuse(format!("is a {}, not a {}", called(&bytes[8..16]), kind.name));
        }
        let version = u32::get(&bytes[16..20]);
        if version != kind.version {
            return refuse(format!(
                "version: the file has format {version}, this lrgeo reads {}; {rebuild}",
                kind.version
            ));
        }
        let mut checksum = Digest([0; 32]);
        checksum.0.copy_from_slice(&bytes[24..HEADER]);
        if Digest::of(&bytes[HEADER..]) != checksum {
            return refuse(format!("checksum: the file is cut off or damaged; {rebuild}"));
        }
        let count = u32::get(&bytes[20..24]) as usize;
        let Some(table) = count.checked_mul(ENTRY).and_then(|n| bytes.get(HEADER..HEADER + n))
        else {
            return refuse(format!("section table: longer than the file; {rebuild}"));
        };
        let mut sections = Vec::with_capacity(count);
        for entry in table.chunks_exact(ENTRY) {
            let (start, length) = (u64::get(&entry[8..16]), u64::get(&entry[16..24]));
            match start.checked_add(length) {
                Some(end) if end <= bytes.len() as u64 => {
                    let mut name = [0; 8];
                    name.copy_from_slice(&entry[..8]);
                    sections.push((name, start as usize..end as usize));
                }
                _ => return refuse(format!("section table: points outside the file; {rebuild}")),
            }
        }
        Ok(Self { path, bytes, sections, fingerprint: checksum })
    }

    /// Whether there is a section of that name.
    pub fn has(&self, name: &str) -> bool {
        let wanted = section_name(name);
        self.sections.iter().any(|(name, _)| *name == wanted)
    }

    /// The bytes of a section.
    pub fn bytes(&self, name: &str) -> Result<&[u8], MapError> {
        let wanted = section_name(name);
        match self.sections.iter().find(|(name, _)| *name == wanted) {
            Some((_, range)) => Ok(&self.bytes[range.clone()]),
            None => Err(self.broken(name, "missing")),
        }
    }

    /// The numbers of a section.
    pub fn numbers<T: Plain>(&self, name: &str) -> Result<Vec<T>, MapError> {
        let bytes = self.bytes(name)?;
        if bytes.len() % T::SIZE != 0 {
            return Err(self.broken(name, "has a broken length"));
        }
        Ok(bytes.chunks_exact(T::SIZE).map(T::get).collect())
    }

    /// The digest that a section holds.
    pub fn digest(&self, name: &str) -> Result<Digest, MapError> {
        let bytes = self.bytes(name)?.try_into();
        Ok(Digest(bytes.map_err(|_| self.broken(name, "must have 32 bytes"))?))
    }

    /// The lines of a section.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, MapError> {
        let text = std::str::from_utf8(self.bytes(name)?)
            .map_err(|_| self.broken(name, "is not UTF-8"))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The error for a section whose checksum is right and whose content is not.
    pub fn broken(&self, name: &str, what: &str) -> MapError {
        MapError::file(self.path, format!("section {name}: {what}"))
    }
}

fn section_name(name: &str) -> [u8; 8] {
    let mut padded = [b' '; 8];
    padded[..name.len()].copy_from_slice(name.as_bytes());
    padded
}
