//! Files and directories that nobody but the operator's account can read.

use std::fs::File;
use std::path::Path;

use crate::ServerError;

/// Makes a directory for its owner alone, or takes one from everybody else. One that is shared by design, like
/// `/tmp`, is refused: taking it away would break what others keep there.
pub fn directory(path: &Path) -> Result<(), ServerError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(ServerError::io(path))?;
    tighten(path, 0o700)
}

/// Opens a file for reading and writing that its owner alone can read; made if there is none.
pub fn file(path: &Path) -> Result<File, ServerError> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(ServerError::io(path))?;
    tighten(path, 0o600)?;
    Ok(file)
}

/// Gives a file that is complete its name. A kill before that leaves nothing under this name, one after it the whole file.
pub fn settle(part: &Path, path: &Path) -> Result<(), ServerError> {
    File::open(part).and_then(|file| file.sync_all()).map_err(ServerError::io(part))?;
    std::fs::rename(part, path).map_err(ServerError::io(path))?;
    // The name is on disk once the directory around it is; not every system can say so.
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        let _ = File::open(parent).and_then(|parent| parent.sync_all());
    }
    Ok(())
}

/// A directory of which this process alone makes use, for as long as the lock is kept.
pub fn lock(directory: &Path) -> Result<File, ServerError> {
    let path = directory.join("lock");
    let lock = file(&path)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(std::fs::TryLockError::WouldBlock) => {
            let reason = "is in use by another server; stop it, or choose another `data`";
            Err(ServerError::Store { path: directory.into(), reason: reason.into() })
        }
        Err(std::fs::TryLockError::Error(error)) => Err(ServerError::io(&path)(error)),
    }
}

#[cfg(unix)]
fn tighten(path: &Path, wanted: u32) -> Result<(), ServerError> {
    use std::os::unix::fs::PermissionsExt;
    const STICKY: u32 = 0o1000;
    let io = || ServerError::io(path);
    let mode = std::fs::metadata(path).map_err(io())?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    if mode & STICKY != 0 {
        let shared = "is shared with other accounts; choose a directory of its own for `data`";
        return Err(io()(std::io::Error::new(std::io::ErrorKind::PermissionDenied, shared)));
    }
    tracing::warn!(path = %path.display(), "others could read this; now only its owner can");
    std::fs::set_permissions(path, PermissionsExt::from_mode(wanted)).map_err(io())
}

/// Other systems give new files of an account to that account.
#[cfg(not(unix))]
fn tighten(_: &Path, _: u32) -> Result<(), ServerError> {
    Ok(())
}
