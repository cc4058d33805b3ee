//! The file under the store: made whole or not at all, opened again after the disk failed, made smaller when most of it is free.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use redb::{Database, ReadTransaction, ReadableDatabase, TableDefinition, WriteTransaction};

use crate::{ServerError, owner_only};

/// Where it is tried out whether the disk takes anything again.
const PROBE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("probe");
/// More than the free pages that a deleted report leaves, less than anybody's upload.
const PROBE_BYTES: usize = 64 << 10;
/// While writing fails it is tried this often at most, whoever asks.
const PROBE_EVERY: Duration = Duration::from_secs(1);
/// A file of less than this is never made smaller.
const SMALL_FILE: u64 = 64 << 20;

/// A file of tables.
///
/// After an error of the disk `redb` refuses everything until the file is opened again. So it is closed then, and whoever comes next
/// opens it; what was committed is there, what was not is not.
pub struct File {
    path: PathBuf,
    open: RwLock<Option<Database>>,
    /// Whether the last write failed.
    failing: AtomicBool,
    probed: Mutex<Option<Instant>>,
}

impl File {
    /// Opens the file, or makes it with these tables, for the operator's account alone.
    pub fn open(
        path: &Path,
        make: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, ServerError> {
        // One without a byte is what a kill at the wrong moment left of an earlier version's first start.
        if std::fs::metadata(path).is_ok_and(|found| found.len() > 0) {
            let database = open(path)?;
            return Self { path: path.into(), ..Self::of(database) }.with_tables(make);
        }
        let part = path.with_extension("part");
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ServerError::io(&part)(error));
            }
            _ => {}
        }
        drop(Self { path: part.clone(), ..Self::of(open(&part)?) }.with_tables(make)?);
        owner_only::settle(&part, path)?;
        Ok(Self { path: path.into(), ..Self::of(open(path)?) })
    }

    fn of(database: Database) -> Self {
        Self {
            path: PathBuf::new(),
            open: RwLock::new(Some(database)),
            failing: AtomicBool::new(false),
            probed: Mutex::default(),
        }
    }

    fn with_tables(
        self,
        make: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, ServerError> {
        {
            let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
            let made = open.as_ref().map(|database| -> Result<(), redb::Error> {
                let write = database.begin_write()?;
                make(&write)?;
                write.commit()?;
                Ok(())
            });
            made.transpose().map_err(|error| self.failed(error))?;
        }
        Ok(self)
    }

    /// What somebody reads.
    pub fn read<T>(
        &self,
        read: impl Fn(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, ServerError> {
        self.with(|database| read(&database.begin_read()?))
    }

    /// What somebody writes, on disk when this returns.
    pub fn write<T>(
        &self,
        write: impl Fn(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, ServerError> {
        let written = self.with(|database| {
            let transaction = database.begin_write()?;
            let done = write(&transaction)?;
            transaction.commit()?;
            Ok(done)
        });
        let was_failing = self.failing.swap(written.is_err(), Ordering::Relaxed);
        if was_failing && written.is_ok() {
            tracing::info!("the storage can be written again");
        }
        written
    }

    /// Does something with the open file; once again where it was closed because of what somebody else did.
    fn with<T>(&self, run: impl Fn(&Database) -> Result<T, redb::Error>) -> Result<T, ServerError> {
        let mut again = true;
        loop {
            {
                let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
                let done = open.as_ref().map(&run);
                drop(open);
                match done {
                    Some(Ok(done)) => return Ok(done),
                    Some(Err(error)) => {
                        if matches!(error, redb::Error::Io(_) | redb::Error::PreviousIo) {
                            self.close();
                        }
                        if !again || !matches!(error, redb::Error::PreviousIo) {
                            return Err(self.failed(error));
                        }
                        again = false;
                    }
                    None => {}
                }
            }
            let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
            if open.is_none() {
                *open = Some(self::open(&self.path)?);
            }
        }
    }

    fn close(&self) {
        drop(self.open.write().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Whether it can be read, and written as far as is known. While writing fails this tries again.
    pub fn is_sound(&self) -> bool {
        if self.failing.load(Ordering::Relaxed) {
            let mut probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
            if probed.is_none_or(|last| last.elapsed() >= PROBE_EVERY) {
                *probed = Some(Instant::now());
                self.probe();
            }
        }
        let answers = self.read(|read| Ok(read.list_tables()?.count())).is_ok();
        answers && !self.failing.load(Ordering::Relaxed)
    }

    /// Writes something, and takes it away again.
    fn probe(&self) {
        let wrote = self.write(|write| {
            write.open_table(PROBE)?.insert("disk", [0; PROBE_BYTES].as_slice())?;
            Ok(())
        });
        if wrote.is_ok() {
            let _ = self.write(|write| Ok(write.delete_table(PROBE)?));
        }
    }

    /// Gives back to the system what is free, if that is most of the file; `kept` bytes are not. Others wait meanwhile.
    pub fn give_back(&self, kept: u64) -> Result<(), ServerError> {
        let length = || std::fs::metadata(&self.path).map_or(0, |found| found.len());
        let before = length();
        if before < SMALL_FILE || before / 3 < kept {
            return Ok(());
        }
        let begun = Instant::now();
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = open.as_mut() else { return Ok(()) };
        if let Err(error) = database.compact() {
            *open = None;
            return Err(self.failed(error));
        }
        drop(open);
        let seconds = begun.elapsed().as_secs_f64();
        tracing::info!(before, after = length(), seconds, "the storage was made smaller");
        Ok(())
    }

    /// Where it is.
    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error about this file.
    pub fn failed(&self, error: impl std::fmt::Display) -> ServerError {
        ServerError::Store { path: self.path.clone(), reason: error.to_string() }
    }
}

fn open(path: &Path) -> Result<Database, ServerError> {
    let file = owner_only::file(path)?;
    let failed = |reason| ServerError::Store { path: path.into(), reason };
    redb::Builder::new().create_file(file).map_err(|error| {
        failed(match error {
            redb::DatabaseError::DatabaseAlreadyOpen => {
                "is in use by another server; stop it, or choose another `data`".to_owned()
            }
            redb::DatabaseError::Storage(redb::StorageError::Io(error)) => error.to_string(),
            other => format!("{other}; move it away to begin anew"),
        })
    })
}
