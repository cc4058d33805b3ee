//! The files of the page, as `npm run build` in `web/` made them. They are compiled in, so that a server needs no other file and
//! building one needs no node.

/// A file of the page.
pub struct Asset {
    /// Its name under `/`.
    pub name: &'static str,
    /// What it is.
    pub media: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

// `FILES`, written by the build beside the files themselves.
include!("../../page/files.rs");

/// The file of a name.
pub fn asset(name: &str) -> Option<&'static Asset> {
    FILES.iter().find(|file| file.name == name)
}
