//! The state in one owner-only file.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Keeper, Kept, State, StateError};

/// A state file that is locked until this is dropped; whoever comes second waits.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    /// The file itself is replaced at every save, so a lock on it would lock what is gone.
    _lock: File,
}

impl StateFile {
    /// Opens a state, or begins one where there is none.
    pub fn open(path: &Path) -> Result<Kept, StateError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder).map_err(io(folder))?;
        }
        let beside = beside(path, "lock")?;
        let lock = owner_only().create(true).truncate(false).open(&beside).map_err(io(&beside))?;
        lock.lock().map_err(io(&beside))?;
        let state = match std::fs::read(path) {
            Ok(bytes) => {
                refuse_exposed(path)?;
                State::from_bytes(&bytes, &path.display().to_string())?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::default(),
            Err(error) => return Err(io(path)(error)),
        };
        Ok(Kept::new(state, Self { path: path.to_owned(), _lock: lock }))
    }
}

impl Keeper for StateFile {
    fn save(&mut self, text: &[u8]) -> Result<(), StateError> {
        let partial = beside(&self.path, "part")?;
        let written = (|| {
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

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> StateError {
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

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn refuse_exposed(path: &Path) -> Result<(), StateError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).map_err(io(path))?.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(StateError::Exposed { name: path.display().to_string(), mode }),
    }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path) -> Result<(), StateError> {
    Ok(())
}
