//! What survives the process: tickets, sealed uploads, sealed results, counts of reports. One `redb` file, every
//! write on disk before it is answered.
//!
//! Deleting frees pages and does not clear them, so nothing that must be gone one day is written as it is: uploads
//! and results come here sealed ([`crate::seal`]), and the keys do not.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lrgeo_geo::{Digest, PlaceId};
use lrgeo_protocol::Refusal;
use lrgeo_protocol::encoding::Encoding;
use redb::{ReadableTable, TableDefinition, TableHandle};
use serde::{Deserialize, Serialize};

use crate::database::File;
use crate::reports::{self, Reports};
use crate::{ServerError, refuse};

const TICKETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tickets");
const UPLOADS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("sealed uploads");
const RESULTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("sealed results");
/// Where uploads stood in the clear before they were sealed.
const IN_THE_CLEAR: &str = "uploads";

/// A ticket as it is kept. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// What the token is recognised by: the file does not hold what opens it.
    pub token: Digest,
    /// The version of the map it was given out for.
    pub map: Digest,
    /// How far it is.
    pub stage: Stage,
    /// When it was given out, or became what it is.
    pub since: u64,
}

/// How far a ticket is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Stage {
    /// Its upload is kept and will be solved: at once by the process that accepted it, by a later one as soon as
    /// its owner asks, with the token that opens it.
    Accepted,
    /// Its matrix is kept; with the number of users of its round.
    Done(u32),
    /// It was refused; its upload is gone.
    Failed(Refusal),
    /// Its matrix is gone, or nobody came back for it.
    Expired,
}

/// The file.
pub struct Store {
    file: Arc<File>,
    reports: Reports,
    /// How long all uploads and results are together.
    kept: AtomicU64,
}

/// A matrix as it is kept.
pub struct Sealed {
    /// The users of its round.
    pub users: u32,
    /// The matrix, readable with its ticket's token only.
    pub bytes: Vec<u8>,
}

impl Store {
    /// Opens the file, or makes it, for the operator's account alone.
    pub fn open(path: &Path) -> Result<Self, ServerError> {
        let file = File::open(path, |write| {
            for table in [TICKETS, UPLOADS, RESULTS] {
                write.open_table(table)?;
            }
            reports::make_tables(write)
        })?;
        if file.read(|read| Ok(read.list_tables()?.any(|table| table.name() == IN_THE_CLEAR)))? {
            // Its free pages hold what users once uploaded, whatever is deleted from its tables.
            let reason =
                "keeps uploads in the clear, as earlier versions did; delete it to begin anew";
            return Err(file.failed(reason));
        }
        let kept = file.read(|read| {
            let mut kept = 0;
            for table in [UPLOADS, RESULTS] {
                for entry in read.open_table(table)?.iter()? {
                    kept += entry?.1.value().len() as u64;
                }
            }
            Ok(kept)
        })?;
        file.give_back(kept)?;
        let file = Arc::new(file);
        let reports = Reports::new(file.clone()).map_err(ServerError::io(path))?;
        Ok(Self { file, reports, kept: AtomicU64::new(kept) })
    }

    /// How long all uploads and results are together, in bytes.
    pub fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    /// Whether it can be read, and written as far as is known.
    pub fn is_sound(&self) -> bool {
        self.file.is_sound()
    }

    /// Gives the disk back what is no longer needed.
    pub fn give_back(&self) -> Result<(), ServerError> {
        self.file.give_back(self.kept())
    }

    /// Writes something that makes what is kept longer or shorter by as much as it says.
    fn keep(
        &self,
        write: impl Fn(&redb::WriteTransaction) -> Result<i64, redb::Error>,
    ) -> Result<(), ServerError> {
        let change = self.file.write(write)?;
        let now = |kept: u64| Some(kept.saturating_add_signed(change));
        let _ = self.kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, now);
        Ok(())
    }

    /// Keeps a sealed upload under a new ticket.
    pub fn accept(&self, id: &str, ticket: &Ticket, upload: &[u8]) -> Result<(), ServerError> {
        self.keep(|write| {
            write.open_table(TICKETS)?.insert(id, Encoding::Cbor.encode(ticket).as_slice())?;
            write.open_table(UPLOADS)?.insert(id, upload)?;
            Ok(upload.len() as i64)
        })
    }

    /// A ticket.
    pub fn ticket(&self, id: &str) -> Result<Option<Ticket>, ServerError> {
        let bytes = self.read(TICKETS, id)?;
        bytes
            .map(|bytes| Encoding::Cbor.decode(&bytes))
            .transpose()
            .map_err(|e| self.file.failed(e))
    }

    /// A sealed upload that is still to be solved.
    pub fn upload(&self, id: &str) -> Result<Option<Vec<u8>>, ServerError> {
        self.read(UPLOADS, id)
    }

    /// A sealed result that is still kept.
    pub fn result(&self, id: &str) -> Result<Option<Vec<u8>>, ServerError> {
        self.read(RESULTS, id)
    }

    fn read(
        &self,
        table: TableDefinition<'_, &str, &[u8]>,
        id: &str,
    ) -> Result<Option<Vec<u8>>, ServerError> {
        self.file.read(|read| {
            let table = read.open_table(table)?;
            Ok(table.get(id)?.map(|bytes| bytes.value().to_vec()))
        })
    }

    /// All tickets, with their ids.
    pub fn tickets(&self) -> Result<Vec<(String, Ticket)>, ServerError> {
        let entries: Vec<(String, Vec<u8>)> = self.file.read(|read| {
            let table = read.open_table(TICKETS)?;
            let entries = table.iter()?.map(|entry| {
                let (id, bytes) = entry?;
                Ok((id.value().to_owned(), bytes.value().to_vec()))
            });
            entries.collect()
        })?;
        let decode = |(id, bytes): (String, Vec<u8>)| {
            let ticket = Encoding::Cbor.decode(&bytes).map_err(|error| self.file.failed(error))?;
            Ok((id, ticket))
        };
        entries.into_iter().map(decode).collect()
    }

    /// Ends a round: all its results, or none. A ticket that was answered before keeps its answer,
    /// so that nobody ever gets two different matrices. Uploads are forgotten.
    pub fn finish(
        &self,
        outcomes: &[(String, Result<Sealed, Refusal>)],
        now: u64,
    ) -> Result<(), ServerError> {
        self.keep(|write| {
            let mut change = 0;
            let mut tickets = write.open_table(TICKETS)?;
            let mut uploads = write.open_table(UPLOADS)?;
            let mut results = write.open_table(RESULTS)?;
            for (id, outcome) in outcomes {
                change -= length(uploads.remove(id.as_str())?);
                let known = tickets.get(id.as_str())?.map(|bytes| bytes.value().to_vec());
                let known = known.and_then(|bytes| Encoding::Cbor.decode::<Ticket>(&bytes).ok());
                let Some(ticket) = known.filter(|t| t.stage == Stage::Accepted) else {
                    continue;
                };
                let stage = match outcome {
                    Ok(matrix) => {
                        results.insert(id.as_str(), matrix.bytes.as_slice())?;
                        change += matrix.bytes.len() as i64;
                        Stage::Done(matrix.users)
                    }
                    Err(refusal) => Stage::Failed(refusal.clone()),
                };
                let bytes = Encoding::Cbor.encode(&Ticket { stage, since: now, ..ticket });
                tickets.insert(id.as_str(), bytes.as_slice())?;
            }
            Ok(change)
        })
    }

    /// Forgets results that are older than `keep` seconds, uploads of an earlier process that nobody has come back for
    /// in as long since `started`, and tickets that have been expired for as long again. `is_live` says which tickets
    /// this process is about to answer: those stay. Says how many went.
    ///
    /// A ticket from the future is one of before the clock was set back: its time begins anew.
    pub fn expire(
        &self,
        now: u64,
        keep: u64,
        started: u64,
        is_live: impl Fn(&str) -> bool,
    ) -> Result<usize, ServerError> {
        let is_old = |id: &str, ticket: &Ticket| {
            let since = match ticket.stage {
                Stage::Accepted if is_live(id) => return false,
                Stage::Accepted => ticket.since.max(started),
                _ => ticket.since,
            };
            now.saturating_sub(since) > keep
        };
        let (mut gone, mut old, mut anew) = (0, Vec::new(), Vec::new());
        for (id, ticket) in self.tickets()? {
            match &ticket {
                Ticket { stage: Stage::Expired, .. } if is_old(&id, &ticket) => {
                    old.push((id, None))
                }
                ticket if is_old(&id, ticket) => {
                    gone += usize::from(!matches!(ticket.stage, Stage::Failed(_)));
                    let expired = Ticket { stage: Stage::Expired, since: now, ..ticket.clone() };
                    old.push((id, Some(expired)));
                }
                ticket if ticket.since > now => {
                    anew.push((id, Ticket { since: now, ..ticket.clone() }));
                }
                _ => {}
            }
        }
        if old.is_empty() && anew.is_empty() {
            return Ok(0);
        }
        self.keep(|write| {
            let mut change = 0;
            let mut tickets = write.open_table(TICKETS)?;
            let mut results = write.open_table(RESULTS)?;
            let mut uploads = write.open_table(UPLOADS)?;
            for (id, ticket) in &anew {
                tickets.insert(id.as_str(), Encoding::Cbor.encode(ticket).as_slice())?;
            }
            for (id, expired) in &old {
                let Some(ticket) = expired else {
                    tickets.remove(id.as_str())?;
                    continue;
                };
                change -= length(results.remove(id.as_str())?);
                change -= length(uploads.remove(id.as_str())?);
                tickets.insert(id.as_str(), Encoding::Cbor.encode(ticket).as_slice())?;
            }
            Ok(change)
        })?;
        Ok(gone)
    }

    /// Counts a report of a place; how many there are of its map.
    pub async fn count_report(&self, map: Digest, place: PlaceId) -> refuse::Result<u64> {
        self.reports.count(map, place).await
    }
}

/// How long something was that is no longer kept.
fn length(removed: Option<redb::AccessGuard<'_, &[u8]>>) -> i64 {
    removed.map_or(0, |bytes| bytes.value().len() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store in a file that is gone afterwards, with a ticket for each name, accepted at 1000.
    fn with_store(name: &str, tickets: &[&str], test: impl FnOnce(&Arc<Store>)) {
        let name = format!("lrgeo-store-{}-{name}.redb", std::process::id());
        let path = std::env::temp_dir().join(name);
        let store = Arc::new(Store::open(&path).unwrap());
        for id in tickets {
            let ticket = Ticket {
                token: Digest([0; 32]),
                map: Digest([1; 32]),
                stage: Stage::Accepted,
                since: 1000,
            };
            store.accept(id, &ticket, b"sealed upload").unwrap();
        }
        test(&store);
        drop(store);
        std::fs::remove_file(path).unwrap();
    }

    fn stage(store: &Store, id: &str) -> Option<Stage> {
        store.ticket(id).unwrap().map(|ticket| ticket.stage)
    }

    fn matrix(bytes: &[u8]) -> Result<Sealed, Refusal> {
        Ok(Sealed { users: 2, bytes: bytes.to_vec() })
    }

    #[test]
    fn a_ticket_is_answered_once() {
        with_store("once", &["a"], |store| {
            for attempt in ["first", "second"] {
                store.finish(&[("a".into(), matrix(attempt.as_bytes()))], 1001).unwrap();
            }
            assert_eq!(store.result("a").unwrap().unwrap(), b"first");
            assert_eq!(store.upload("a").unwrap(), None);
            assert_eq!(stage(store, "a"), Some(Stage::Done(2)));
        });
    }

    #[test]
    fn an_upload_that_nobody_comes_back_for_is_given_up() {
        with_store("given-up", &["live", "lost", "done"], |store| {
            store.finish(&[("done".into(), matrix(b"sealed matrix"))], 1000).unwrap();
            let expire = |now| store.expire(now, 60, 5000, |id| id == "live").unwrap();
            // The server was away for an hour: results have had their time, owners of uploads have not.
            assert_eq!(expire(5001), 1);
            assert_eq!(stage(store, "done"), Some(Stage::Expired));
            assert_eq!((store.result("done").unwrap(), expire(5060)), (None, 0));
            assert_eq!(stage(store, "lost"), Some(Stage::Accepted));
            assert_eq!(expire(5061), 1);
            assert_eq!(stage(store, "lost"), Some(Stage::Expired));
            assert_eq!(store.upload("lost").unwrap(), None);
            // Whoever this process is about to answer stays, and the expired are forgotten in the end.
            assert_eq!(expire(9000), 0);
            assert_eq!((stage(store, "lost"), stage(store, "done")), (None, None));
            assert_eq!(stage(store, "live"), Some(Stage::Accepted));
            assert!(store.upload("live").unwrap().is_some());
        });
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_nothing_for_ever() {
        with_store("set-back", &["a"], |store| {
            store.finish(&[("a".into(), matrix(b"sealed matrix"))], 9000).unwrap();
            let expire = |now| store.expire(now, 60, 1000, |_| false).unwrap();
            // It is 2000 now: the result is not from 7000 s ahead but new.
            assert_eq!((expire(2000), expire(2060)), (0, 0));
            assert!(store.result("a").unwrap().is_some());
            assert_eq!(expire(2061), 1);
            assert_eq!(store.result("a").unwrap(), None);
        });
    }

    #[test]
    fn what_is_kept_is_known_to_the_byte_and_given_back() {
        with_store("kept", &["a", "b"], |store| {
            let upload = b"sealed upload".len() as u64;
            assert_eq!(store.kept(), 2 * upload);
            let long = vec![7; 80 << 20];
            store.finish(&[("a".into(), matrix(&long))], 1000).unwrap();
            assert_eq!(store.kept(), upload + (80 << 20));
            let length = || std::fs::metadata(store.file.path()).unwrap().len();
            assert!(length() > 80 << 20);
            store.give_back().unwrap();
            assert!(length() > 80 << 20, "nothing to give back yet");
            store.expire(2000, 60, 1000, |_| false).unwrap();
            assert_eq!(store.kept(), 0);
            store.give_back().unwrap();
            assert!(length() < 8 << 20, "{} bytes", length());
            assert_eq!(stage(store, "a"), Some(Stage::Expired));
        });
    }

    #[test]
    fn reports_that_come_together_share_commits_and_each_is_counted() {
        const REPORTS: u64 = 4_000;
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        with_store("reports", &[], |store| {
            let map = Digest([1; 32]);
            let begun = std::time::Instant::now();
            for number in 1..=50 {
                assert_eq!(
                    runtime.block_on(store.count_report(map, PlaceId::new(3))).unwrap(),
                    number
                );
            }
            let one_by_one = 50.0 / begun.elapsed().as_secs_f64();
            let begun = std::time::Instant::now();
            let mut all = runtime.block_on(async {
                let mut reports = tokio::task::JoinSet::new();
                for number in 0..REPORTS {
                    let store = store.clone();
                    let place = PlaceId::new(number as u32 % 7);
                    reports.spawn(async move { store.count_report(map, place).await.unwrap() });
                }
                reports.join_all().await
            });
            let together = REPORTS as f64 / begun.elapsed().as_secs_f64();
            eprintln!("{one_by_one:.0} reports/s one by one, {together:.0} together");
            all.sort_unstable();
            assert!(all.iter().copied().eq(51..=50 + REPORTS), "each total once");
            assert!(together > 5.0 * one_by_one, "{together:.0} against {one_by_one:.0}");
        });
    }
}
