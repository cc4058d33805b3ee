//! The operator's secret in an owner-only file.

use std::io::Write;
use std::path::Path;

use lrgeo_geo::{from_hex, to_hex};
use lrgeo_tiles::SecretKey;

use super::PublishError;

/// The first line of a key file.
const HEAD: &str = "lrgeo secret key 1 (ed25519): whoever has this file can publish in your name";

/// Writes a new file that only its owner can read; an existing one is never overwritten.
pub fn save_new_key(key: &SecretKey, path: &Path) -> Result<(), PublishError> {
    let part = path.with_extension("part");
    let failed = |source: std::io::Error| {
        let _ = std::fs::remove_file(&part);
        match source.kind() {
            std::io::ErrorKind::AlreadyExists => PublishError::Key(format!(
                "{} exists and is not overwritten: tiles signed with it would become worthless",
                path.display()
            )),
            _ => PublishError::Io { path: path.into(), source },
        }
    };
    write_key(key, &part).map_err(failed)?;
    // A second name, not another one: that would replace a key that is there. A kill in between leaves no half of a key under `path`.
    std::fs::hard_link(&part, path).map_err(failed)?;
    std::fs::remove_file(&part).map_err(failed)?;
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        // Not every system can say so of a directory.
        let _ = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
    }
    Ok(())
}

/// On disk, for its owner alone. What a kill left of an earlier attempt is no key.
fn write_key(key: &SecretKey, part: &Path) -> std::io::Result<()> {
    if part.exists() {
        std::fs::remove_file(part)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(part)?;
    file.write_all(format!("{HEAD}\n{}\n", to_hex(&key.seed())).as_bytes())?;
    file.sync_all()
}

/// Opens a file that [`save_new_key`] wrote, unless others can read it.
pub fn open_key(path: &Path) -> Result<SecretKey, PublishError> {
    let refuse = |reason: &str| Err(PublishError::Key(format!("{} {reason}", path.display())));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).map_err(PublishError::io(path))?.permissions().mode();
        if mode & 0o077 != 0 {
            return refuse("can be read by others; make a new key, or chmod 600 it if nobody did");
        }
    }
    let text = std::fs::read_to_string(path).map_err(PublishError::io(path))?;
    match text.split_once('\n') {
        Some((HEAD, seed)) => match seed.strip_suffix('\n').and_then(from_hex) {
            Some(seed) => Ok(SecretKey::from_seed(seed)?),
            None => refuse("is damaged: its second line is not a key"),
        },
        _ => refuse("is not a secret key of lrgeo; make a new one"),
    }
}
