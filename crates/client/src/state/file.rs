//! The state in one owner-only file.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::sealed::StateKey;
use super::{Keeper, Kept, State, StateError};

/// A state file that is locked until this is dropped; whoever comes second waits.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    /// What it is sealed with, if it is.
    key: Option<StateKey>,
    /// The file itself is replaced at every save, so a lock on it would lock what is gone.
    _lock: File,
}

impl StateFile {
    /// Opens a plain state, or begins one where there is none: whoever gets the file has the places in it. Where the system does not
    /// keep others from it better than a file's permissions do, [`StateFile::open_sealed`] is for that.
    pub fn open(path: &Path) -> Result<Kept, StateError> {
        let lock = lock(path)?;
        let name = path.display().to_string();
        let state = match read(path)? {
            Some(bytes) => State::from_bytes(&bytes, &name)?,
            None => State::default(),
        };
        Ok(Kept::new(state, Self { path: path.to_owned(), key: None, _lock: lock }))
    }

    /// Opens a sealed state, or begins one. A plain one is sealed at once, before anything else happens.
    ///
    /// `key` is asked with whether there is a sealed state already: a store that has lost its key must not make another one then.
    pub fn open_sealed(
        path: &Path,
        key: impl FnOnce(bool) -> Result<StateKey, StateError>,
    ) -> Result<Kept, StateError> {
        let lock = lock(path)?;
        let name = path.display().to_string();
        let bytes = read(path)?;
        let is_sealed = bytes.as_deref().is_some_and(State::is_sealed);
        let key = key(is_sealed)?;
        let text = match (&bytes, is_sealed) {
            (Some(bytes), true) => Some(key.open(bytes, &name)?),
            _ => bytes,
        };
        let state = match text {
            Some(text) => State::from_bytes(&text, &name)?,
            None => State::default(),
        };
        let mut keeper = Self { path: path.to_owned(), key: Some(key), _lock: lock };
        if !is_sealed {
            keeper.save(&state.to_bytes())?;
        }
        Ok(Kept::new(state, keeper))
    }
}

/// Keeps others waiting until it is dropped.
fn lock(path: &Path) -> Result<File, StateError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder).map_err(io(folder))?;
    }
    let beside = beside(path, "lock")?;
    let lock = owner_only().create(true).truncate(false).open(&beside).map_err(io(&beside))?;
    lock.lock().map_err(io(&beside))?;
    Ok(lock)
}

/// What a file that nobody else can read holds; `None` where there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, StateError> {
    match std::fs::read(path) {
        Ok(bytes) => refuse_exposed(path).map(|()| Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(path)(error)),
    }
}

impl Keeper for StateFile {
    fn save(&mut self, text: &[u8]) -> Result<(), StateError> {
        let partial = beside(&self.path, "part")?;
        let written = (|| {
            let sealed = self.key.as_ref().map(|key| key.seal(text)).transpose()?;
            let text = sealed.as_deref().unwrap_or(text);
            // Left over from a crash; the lock says that nobody is writing it now.
            if partial.symlink_metadata().is_ok() {
                std::fs::remove_file(&partial)?;
            }
            let mut file = owner_only().create_new(true).open(&partial)?;
            file.write_all(text)?;
            file.sync_all()?;
            std::fs::rename(&partial, &self.path)?;
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            // The name is on disk once the folder is. Not every system can open folders.
            match File::open(folder.unwrap_or(Path::new("."))) {
                Ok(folder) => folder.sync_all(),
                Err(_) => Ok(()),
            }
        })();
        written.map_err(io(&self.path))
    }
}

pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> StateError {
    let name = path.display().to_string();
    move |source| StateError::Io { name, source }
}

/// `.client.json.part` beside `client.json`.
fn beside(path: &Path, ending: &str) -> Result<PathBuf, StateError> {
    let no_name = || std::io::Error::other("is not the name of a file");
    let name = path.file_name().ok_or_else(no_name).map_err(io(path))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{ending}"));
    Ok(path.with_file_name(hidden))
}

pub(super) fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(super) fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
pub(super) fn refuse_exposed(path: &Path) -> Result<(), StateError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).map_err(io(path))?.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(StateError::Exposed { name: path.display().to_string(), mode }),
    }
}

#[cfg(not(unix))]
pub(super) fn refuse_exposed(_: &Path) -> Result<(), StateError> {
    Ok(())
}
