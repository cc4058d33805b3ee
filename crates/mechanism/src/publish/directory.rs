//! The directory that a server serves: written whole or not at all, and never changed.

use std::io::Write;
use std::path::{Path, PathBuf};

use lrgeo_tiles::{
    Envelope, Issued, Manifest, PlaceId, Places, PublicKey, SignedManifest, Tile, TileError,
};

use super::{Publication, PublishError};

const MANIFEST: &str = "manifest.json";
const SIGNATURE: &str = "manifest.sig";

/// What writing a publication came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The directory is new.
    New,
    /// The same version was there since then; nothing was changed.
    Already(Issued),
}

impl Publication {
    /// Writes all files beside `dir` under a temporary name, reads them back, and renames. An
    /// existing directory is refused unless it holds the same version, intact; then nothing changes.
    pub fn write(&self, dir: &Path) -> Result<Written, PublishError> {
        if dir.symlink_metadata().is_ok() {
            return self.compare(dir);
        }
        let staging = Staging::beside(dir)?;
        for (name, bytes) in self.files() {
            let path = staging.path.join(name);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(PublishError::io(folder))?;
            }
            write_synced(&path, bytes)?;
        }
        for (name, bytes) in self.files() {
            if read(&staging.path.join(name))? != bytes {
                return Err(PublishError::ReadBack { what: "a file" });
            }
        }
        staging.become_final(dir)?;
        Ok(Written::New)
    }

    /// The files by name.
    pub fn files(&self) -> impl Iterator<Item = (String, &[u8])> {
        let (manifest, Envelope { bytes, signature }) =
            (self.signed.manifest(), self.signed.envelope());
        let head = [
            (MANIFEST.to_owned(), bytes.as_slice()),
            (SIGNATURE.to_owned(), signature.as_slice()),
            (manifest.places_path(), self.places.as_slice()),
        ];
        let noise = manifest.noise_path().zip(self.noise.as_deref());
        let tiles = self.tiles.iter().enumerate().filter_map(|(number, bytes)| {
            manifest.tile_path(number).map(|path| (path, bytes.as_slice()))
        });
        head.into_iter().chain(noise).chain(tiles)
    }

    fn compare(&self, dir: &Path) -> Result<Written, PublishError> {
        let occupied = |reason: String| PublishError::Occupied { path: dir.into(), reason };
        let there = Directory::open(dir, &self.signed.signer())
            .map_err(|error| occupied(error.to_string()))?;
        let manifest = there.manifest();
        if !manifest.same_content(self.signed.manifest()) {
            let (map, mechanism) = (manifest.map, manifest.mechanism);
            let reason = format!("map version {map}, mechanism {mechanism}, or other tiles");
            return Err(occupied(reason));
        }
        // The two manifests differ in their links at most; all other files must be the same.
        for (name, bytes) in self.files().filter(|(name, _)| name.contains('/')) {
            let intact = std::fs::read(dir.join(&name)).is_ok_and(|found| found == bytes);
            if !intact {
                return Err(occupied(format!("this version, but {name} is damaged or missing")));
            }
        }
        Ok(Written::Already(manifest.link.issued))
    }
}

/// A directory that somebody published.
#[derive(Debug)]
pub struct Directory {
    root: PathBuf,
    /// What is in it, as it was signed.
    pub signed: SignedManifest,
}

impl Directory {
    /// Reads and verifies the manifest; files are verified when they are asked for.
    pub fn open(root: &Path, key: &PublicKey) -> Result<Self, PublishError> {
        let (bytes, signature) = (read(&root.join(MANIFEST))?, read(&root.join(SIGNATURE))?);
        Ok(Self { root: root.into(), signed: Envelope { bytes, signature }.open(key)? })
    }

    /// What is in it.
    pub fn manifest(&self) -> &Manifest {
        self.signed.manifest()
    }

    /// The bytes of a file by the path that the manifest has for it, whatever they are.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, PublishError> {
        read(&self.root.join(path))
    }

    /// The list of places.
    pub fn places(&self) -> Result<Places, PublishError> {
        Ok(self.manifest().open_places(&self.read(&self.manifest().places_path())?)?)
    }

    /// The bytes of the noise for coordinates, where it was published, found right.
    pub fn noise(&self, places: &Places) -> Result<Option<Vec<u8>>, PublishError> {
        let Some(path) = self.manifest().noise_path() else { return Ok(None) };
        let bytes = self.read(&path)?;
        self.manifest().open_noise(&bytes, places)?;
        Ok(Some(bytes))
    }

    /// The bytes of a tile, by number, whatever they are.
    pub fn tile_bytes(&self, number: usize) -> Result<Vec<u8>, PublishError> {
        let unknown = || TileError::malformed("tile", "number", "is not in the manifest");
        self.read(&self.manifest().tile_path(number).ok_or_else(unknown)?)
    }

    /// A tile, by number, with the places that [`Manifest::members`] puts into it.
    pub fn tile(&self, number: usize, members: &[PlaceId]) -> Result<Tile, PublishError> {
        Ok(self.manifest().open_tile(number, members, &self.tile_bytes(number)?)?)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, PublishError> {
    std::fs::read(path).map_err(PublishError::io(path))
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    let written = std::fs::File::create_new(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(PublishError::io(path))
}

/// A directory under a temporary name; gone when it is dropped before it became final.
struct Staging {
    path: PathBuf,
}

impl Staging {
    fn beside(dir: &Path) -> Result<Self, PublishError> {
        let no_name = || std::io::Error::other("is not the name of a new directory");
        let name = dir.file_name().ok_or_else(no_name).map_err(PublishError::io(dir))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let path = dir.with_file_name(hidden);
        // A process that had this number, as all of a container do, may have been killed here.
        if path.exists() {
            std::fs::remove_dir_all(&path).map_err(PublishError::io(&path))?;
        }
        std::fs::create_dir(&path).map_err(PublishError::io(&path))?;
        Ok(Self { path })
    }

    fn become_final(mut self, dir: &Path) -> Result<(), PublishError> {
        std::fs::rename(&self.path, dir).map_err(PublishError::io(dir))?;
        self.path = PathBuf::new();
        // The name is on disk once the directory around it is; not every system can say so.
        if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            let _ = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
