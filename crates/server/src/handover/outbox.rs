//! Reports that wait to be handed on, in a file of their own. One thread writes, as many at a time as have come: a commit costs a
//! millisecond of disk, whatever is in it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use lrgeo_protocol::encoding::Encoding;
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use tokio::sync::{oneshot, watch};

use super::HandedReport;
use crate::{ServerError, owner_only};

/// By sequence.
const REPORTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("reports");
/// The next sequence: they are not given twice, though the table be empty.
const NEXT: TableDefinition<'_, (), u64> = TableDefinition::new("next sequence");
/// So many orders go into one commit.
const MOST_AT_ONCE: usize = 1000;

/// The file.
pub struct Outbox {
    shared: Arc<Shared>,
    /// `None` only while it is dropped.
    orders: Option<mpsc::SyncSender<Order>>,
    writer: Option<JoinHandle<()>>,
    most: u64,
}

struct Shared {
    path: PathBuf,
    /// `None` after a failure, until it is opened again.
    database: RwLock<Option<Database>>,
    waiting: AtomicU64,
    /// The last sequence that was kept.
    news: watch::Sender<u64>,
}

enum Order {
    Keep(Box<HandedReport>, oneshot::Sender<Result<(), NotKept>>),
    Forget(u64),
    ForgetUpTo(u64, oneshot::Sender<Result<u64, NotKept>>),
}

/// Why a report is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// Too many wait.
    Full,
    /// The disk.
    Failed,
}

impl Outbox {
    /// Opens the file, or makes it, for the operator's account alone.
    pub fn open(path: &Path, most: u64) -> Result<Self, ServerError> {
        let (database, waiting) = open(path)?;
        let shared = Arc::new(Shared {
            path: path.into(),
            database: RwLock::new(Some(database)),
            waiting: AtomicU64::new(waiting),
            news: watch::Sender::new(0),
        });
        let (orders, to_do) = mpsc::sync_channel(MOST_AT_ONCE);
        let of_writer = shared.clone();
        let writer = std::thread::Builder::new().name("outbox".into());
        let writer =
            writer.spawn(move || of_writer.write(&to_do)).map_err(ServerError::io(path))?;
        Ok(Self { shared, orders: Some(orders), writer: Some(writer), most })
    }

    /// How many reports wait.
    pub fn waiting(&self) -> u64 {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Changes whenever there are new ones.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.shared.news.subscribe()
    }

    /// Keeps a report; it is on disk when this is over.
    pub async fn keep(&self, report: HandedReport) -> Result<(), NotKept> {
        if self.waiting() >= self.most {
            return Err(NotKept::Full);
        }
        let (done, kept) = oneshot::channel();
        self.order(Order::Keep(Box::new(report), done))?;
        kept.await.unwrap_or(Err(NotKept::Failed))
    }

    /// Forgets one, soon.
    pub async fn forget(&self, sequence: u64) {
        while self.order(Order::Forget(sequence)) == Err(NotKept::Full) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Forgets all up to this one; says how many there were.
    pub async fn forget_up_to(&self, sequence: u64) -> Result<u64, NotKept> {
        if sequence == 0 || self.waiting() == 0 {
            return Ok(0);
        }
        let (done, forgotten) = oneshot::channel();
        self.order(Order::ForgetUpTo(sequence, done))?;
        forgotten.await.unwrap_or(Err(NotKept::Failed))
    }

    /// A full queue means that the disk is far behind: whoever waits for it is told, and the threads of the server do not wait.
    fn order(&self, order: Order) -> Result<(), NotKept> {
        let sent = self.orders.as_ref().map(|orders| orders.try_send(order));
        match sent {
            Some(Ok(())) => Ok(()),
            Some(Err(mpsc::TrySendError::Full(_))) => Err(NotKept::Full),
            _ => Err(NotKept::Failed),
        }
    }

    /// At most so many reports after this sequence, oldest first.
    pub fn after(&self, sequence: u64, most: usize) -> Result<Vec<HandedReport>, ServerError> {
        let failed = |error: &dyn std::fmt::Display| self.shared.failed(error);
        let database = self.shared.database.read().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = &*database else { return Err(failed(&"is not open")) };
        let run = || -> Result<Vec<(u64, Vec<u8>)>, redb::Error> {
            let table = database.begin_read()?.open_table(REPORTS)?;
            let entries = table.range(sequence.saturating_add(1)..)?.take(most).map(|entry| {
                let (sequence, bytes) = entry?;
                Ok((sequence.value(), bytes.value().to_vec()))
            });
            entries.collect()
        };
        let decode = |(sequence, bytes): (u64, Vec<u8>)| {
            let report = Encoding::Cbor.decode(&bytes).map_err(|error| failed(&error))?;
            Ok(HandedReport { sequence, ..report })
        };
        run().map_err(|error| failed(&error))?.into_iter().map(decode).collect()
    }
}

impl Drop for Outbox {
    /// Whoever opens the file next finds it closed.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Shared {
    fn failed(&self, error: &dyn std::fmt::Display) -> ServerError {
        ServerError::Store { path: self.path.clone(), reason: error.to_string() }
    }

    /// Does what is ordered until nobody can order any more.
    fn write(&self, orders: &mpsc::Receiver<Order>) {
        while let Ok(first) = orders.recv() {
            let mut batch = vec![first];
            batch.extend(orders.try_iter().take(MOST_AT_ONCE - 1));
            match self.commit(&batch) {
                Ok(Committed { last, forgotten }) => {
                    let mut forgotten = forgotten.into_iter();
                    for order in batch {
                        match order {
                            Order::Keep(_, done) => {
                                let _ = done.send(Ok(()));
                            }
                            Order::Forget(_) => {}
                            Order::ForgetUpTo(_, done) => {
                                let _ = done.send(Ok(forgotten.next().unwrap_or(0)));
                            }
                        }
                    }
                    if let Some(last) = last {
                        self.news.send_replace(last);
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "the outbox could not be written; it is opened again");
                    for order in batch {
                        match order {
                            Order::Keep(_, done) => {
                                let _ = done.send(Err(NotKept::Failed));
                            }
                            // Handed on once more after the next start: at least once.
                            Order::Forget(_) => {}
                            Order::ForgetUpTo(_, done) => {
                                let _ = done.send(Err(NotKept::Failed));
                            }
                        }
                    }
                    self.open_again();
                }
            }
        }
    }

    /// After a failure of the disk a database takes no more writes; what is on disk is whole.
    fn open_again(&self) {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        *database = None;
        match open(&self.path) {
            Ok((opened, waiting)) => {
                *database = Some(opened);
                self.waiting.store(waiting, Ordering::Relaxed);
            }
            // The next order tries again.
            Err(error) => tracing::error!(%error, "the outbox could not be opened again"),
        }
    }

    fn commit(&self, batch: &[Order]) -> Result<Committed, ServerError> {
        if self.database.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            self.open_again();
        }
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = &*database else { return Err(self.failed(&"is not open")) };
        let run = || -> Result<(Committed, u64), redb::Error> {
            let write = database.begin_write()?;
            let mut committed = Committed { last: None, forgotten: Vec::new() };
            let waiting = {
                let mut table = write.open_table(REPORTS)?;
                let mut next_of = write.open_table(NEXT)?;
                let mut next = next_of.get(())?.map_or(1, |next| next.value());
                for order in batch {
                    match order {
                        Order::Keep(report, _) => {
                            table.insert(next, Encoding::Cbor.encode(&**report).as_slice())?;
                            committed.last = Some(next);
                            next += 1;
                        }
                        Order::Forget(sequence) => drop(table.remove(sequence)?),
                        Order::ForgetUpTo(sequence, _) => {
                            let before = table.len()?;
                            table.retain_in(..=*sequence, |_, _| false)?;
                            committed.forgotten.push(before - table.len()?);
                        }
                    }
                }
                next_of.insert((), next)?;
                table.len()?
            };
            write.commit()?;
            Ok((committed, waiting))
        };
        let (committed, waiting) = run().map_err(|error| self.failed(&error))?;
        self.waiting.store(waiting, Ordering::Relaxed);
        Ok(committed)
    }
}

/// What a commit did.
struct Committed {
    /// The last sequence that was given.
    last: Option<u64>,
    /// How many each order to forget found.
    forgotten: Vec<u64>,
}

/// The database, and how many reports wait in it.
fn open(path: &Path) -> Result<(Database, u64), ServerError> {
    let file = owner_only::file(path)?;
    let failed = |reason: String| ServerError::Store { path: path.into(), reason };
    let mut database = redb::Builder::new().create_file(file).map_err(|error| {
        failed(match error {
            redb::DatabaseError::DatabaseAlreadyOpen => {
                "is in use by another server; stop it, or choose another `data`".to_owned()
            }
            other => format!("{other}; reports wait in it to be handed on: restore it, or move it away to go on without them"),
        })
    })?;
    let make = |database: &Database| -> Result<u64, redb::Error> {
        let write = database.begin_write()?;
        let waiting = write.open_table(REPORTS)?.len()?;
        write.open_table(NEXT)?;
        write.commit()?;
        Ok(waiting)
    };
    let waiting = make(&database).map_err(|error| failed(error.to_string()))?;
    if waiting == 0 {
        // Deleting frees pages and does not clear them: with nothing in it the file is made small again.
        database.compact().map_err(|error| failed(error.to_string()))?;
    }
    Ok((database, waiting))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(place: u32) -> HandedReport {
        HandedReport {
            id: format!("{place:032x}"),
            sequence: 0,
            reference: "ride-17".parse().ok(),
            map: lrgeo_geo::Digest([1; 32]),
            place: lrgeo_geo::PlaceId::new(place),
            at: [46.0, -30.0],
            received_at: 1000,
        }
    }

    fn with_path(name: &str, test: impl AsyncFnOnce(&Path)) {
        let path = std::env::temp_dir().join(format!("lrgeo-outbox-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test(&path));
        std::fs::remove_file(path).unwrap();
    }

    fn places(outbox: &Outbox, after: u64) -> Vec<(u64, u32)> {
        let reports = outbox.after(after, 100).unwrap();
        reports.iter().map(|report| (report.sequence, report.place.number())).collect()
    }

    #[test]
    fn what_is_kept_survives_in_order_until_it_is_forgotten() {
        with_path("order", async |path| {
            let outbox = Outbox::open(path, 10).unwrap();
            for place in [7, 8, 9] {
                outbox.keep(report(place)).await.unwrap();
            }
            drop(outbox);
            let outbox = Outbox::open(path, 10).unwrap();
            assert_eq!(places(&outbox, 0), [(1, 7), (2, 8), (3, 9)]);
            assert_eq!(outbox.after(1, 1).unwrap()[0], HandedReport { sequence: 2, ..report(8) });
            outbox.forget(2).await;
            assert_eq!(outbox.forget_up_to(2).await, Ok(1));
            assert_eq!((places(&outbox, 0), outbox.waiting()), (vec![(3, 9)], 1));
            assert_eq!(outbox.forget_up_to(99).await, Ok(1));
            drop(outbox);
            // Sequences go on, and the file holds nothing any more of what went through it.
            let outbox = Outbox::open(path, 10).unwrap();
            let bytes = std::fs::read(path).unwrap();
            assert!(!bytes.windows(7).any(|part| part == b"ride-17"), "{} bytes", bytes.len());
            outbox.keep(report(5)).await.unwrap();
            assert_eq!(places(&outbox, 0), [(4, 5)]);
        });
    }

    #[test]
    fn a_full_outbox_takes_no_more() {
        with_path("full", async |path| {
            let outbox = Outbox::open(path, 2).unwrap();
            outbox.keep(report(1)).await.unwrap();
            outbox.keep(report(2)).await.unwrap();
            assert_eq!(outbox.keep(report(3)).await, Err(NotKept::Full));
            assert_eq!(outbox.forget_up_to(1).await, Ok(1));
            outbox.keep(report(4)).await.unwrap();
        });
    }
}
