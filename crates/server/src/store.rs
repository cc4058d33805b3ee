//! What survives the process: tickets, sealed uploads, sealed results, counts of reports. One `redb` file, every
//! write on disk before it is answered.
//!
//! Deleting frees pages and does not clear them, so nothing that must be gone one day is written as it is: uploads
//! and results come here sealed ([`crate::seal`]), and the keys do not.

use std::path::{Path, PathBuf};

use lrgeo_geo::{Digest, PlaceId};
use lrgeo_protocol::Refusal;
use lrgeo_protocol::encoding::Encoding;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableHandle};
use serde::{Deserialize, Serialize};

use crate::{ServerError, owner_only};

const TICKETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tickets");
const UPLOADS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("sealed uploads");
const RESULTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("sealed results");
/// Where uploads stood in the clear before they were sealed.
const IN_THE_CLEAR: &str = "uploads";
const REPORTS: TableDefinition<'_, (&[u8], u32), u64> = TableDefinition::new("reports");
const TOTALS: TableDefinition<'_, &[u8], u64> = TableDefinition::new("totals");

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
    database: Database,
    path: PathBuf,
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
        let file = owner_only::file(path)?;
        let failed = |reason| ServerError::Store { path: path.into(), reason };
        let database = redb::Builder::new().create_file(file).map_err(|error| {
            failed(match error {
                redb::DatabaseError::DatabaseAlreadyOpen => {
                    "is in use by another server; stop it, or choose another `data`".to_owned()
                }
                other => format!("{other}; move it away to begin anew"),
            })
        })?;
        let store = Self { database, path: path.into() };
        if store.was_in_the_clear().map_err(|error| store.failed(error))? {
            // Its free pages hold what users once uploaded, whatever is deleted from its tables.
            let reason =
                "keeps uploads in the clear, as earlier versions did; delete it to begin anew";
            return Err(failed(reason.to_owned()));
        }
        store.make_tables().map_err(|error| store.failed(error))?;
        Ok(store)
    }

    fn was_in_the_clear(&self) -> Result<bool, redb::Error> {
        let read = self.database.begin_read()?;
        Ok(read.list_tables()?.any(|table| table.name() == IN_THE_CLEAR))
    }

    fn failed(&self, error: impl std::fmt::Display) -> ServerError {
        ServerError::Store { path: self.path.clone(), reason: error.to_string() }
    }

    fn make_tables(&self) -> Result<(), redb::Error> {
        let write = self.database.begin_write()?;
        for table in [TICKETS, UPLOADS, RESULTS] {
            write.open_table(table)?;
        }
        write.open_table(REPORTS)?;
        write.open_table(TOTALS)?;
        write.commit()?;
        Ok(())
    }

    /// Keeps a sealed upload under a new ticket.
    pub fn accept(&self, id: &str, ticket: &Ticket, upload: &[u8]) -> Result<(), ServerError> {
        let run = || -> Result<(), redb::Error> {
            let write = self.database.begin_write()?;
            write.open_table(TICKETS)?.insert(id, Encoding::Cbor.encode(ticket).as_slice())?;
            write.open_table(UPLOADS)?.insert(id, upload)?;
            write.commit()?;
            Ok(())
        };
        run().map_err(|error| self.failed(error))
    }

    /// A ticket.
    pub fn ticket(&self, id: &str) -> Result<Option<Ticket>, ServerError> {
        let bytes = self.read(TICKETS, id)?;
        bytes.map(|bytes| Encoding::Cbor.decode(&bytes)).transpose().map_err(|e| self.failed(e))
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
        let run = || -> Result<Option<Vec<u8>>, redb::Error> {
            let table = self.database.begin_read()?.open_table(table)?;
            Ok(table.get(id)?.map(|bytes| bytes.value().to_vec()))
        };
        run().map_err(|error| self.failed(error))
    }

    /// All tickets, with their ids.
    pub fn tickets(&self) -> Result<Vec<(String, Ticket)>, ServerError> {
        let run = || -> Result<Vec<(String, Vec<u8>)>, redb::Error> {
            let table = self.database.begin_read()?.open_table(TICKETS)?;
            let entries = table.iter()?.map(|entry| {
                let (id, bytes) = entry?;
                Ok((id.value().to_owned(), bytes.value().to_vec()))
            });
            entries.collect()
        };
        let entries = run().map_err(|error| self.failed(error))?;
        let decode = |(id, bytes): (String, Vec<u8>)| {
            let ticket = Encoding::Cbor.decode(&bytes).map_err(|error| self.failed(error))?;
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
        let run = || -> Result<(), redb::Error> {
            let write = self.database.begin_write()?;
            {
                let mut tickets = write.open_table(TICKETS)?;
                let mut uploads = write.open_table(UPLOADS)?;
                let mut results = write.open_table(RESULTS)?;
                for (id, outcome) in outcomes {
                    uploads.remove(id.as_str())?;
                    let known = tickets.get(id.as_str())?.map(|bytes| bytes.value().to_vec());
                    let known =
                        known.and_then(|bytes| Encoding::Cbor.decode::<Ticket>(&bytes).ok());
                    let Some(ticket) = known.filter(|t| t.stage == Stage::Accepted) else {
                        continue;
                    };
                    let stage = match outcome {
                        Ok(matrix) => {
                            results.insert(id.as_str(), matrix.bytes.as_slice())?;
                            Stage::Done(matrix.users)
                        }
                        Err(refusal) => Stage::Failed(refusal.clone()),
                    };
                    let bytes = Encoding::Cbor.encode(&Ticket { stage, since: now, ..ticket });
                    tickets.insert(id.as_str(), bytes.as_slice())?;
                }
            }
            write.commit()?;
            Ok(())
        };
        run().map_err(|error| self.failed(error))
    }

    /// Forgets results that are older than `keep` seconds, uploads of an earlier process that nobody has come back for
    /// in as long since `started`, and tickets that have been expired for as long again. `is_live` says which tickets
    /// this process is about to answer: those stay. Says how many went.
    pub fn expire(
        &self,
        now: u64,
        keep: u64,
        started: u64,
        is_live: impl Fn(&str) -> bool,
    ) -> Result<usize, ServerError> {
        let is_old = |(id, ticket): &(String, Ticket)| {
            let since = match ticket.stage {
                Stage::Accepted if is_live(id) => return false,
                Stage::Accepted => ticket.since.max(started),
                _ => ticket.since,
            };
            now.saturating_sub(since) > keep
        };
        let tickets: Vec<_> = self.tickets()?.into_iter().filter(is_old).collect();
        if tickets.is_empty() {
            return Ok(0);
        }
        let run = || -> Result<usize, redb::Error> {
            let write = self.database.begin_write()?;
            let mut gone = 0;
            {
                let mut table = write.open_table(TICKETS)?;
                let mut results = write.open_table(RESULTS)?;
                let mut uploads = write.open_table(UPLOADS)?;
                for (id, ticket) in &tickets {
                    if ticket.stage == Stage::Expired {
                        table.remove(id.as_str())?;
                        continue;
                    }
                    let result = results.remove(id.as_str())?.is_some();
                    let upload = uploads.remove(id.as_str())?.is_some();
                    gone += usize::from(result || upload);
                    let ticket = Ticket { stage: Stage::Expired, since: now, ..ticket.clone() };
                    table.insert(id.as_str(), Encoding::Cbor.encode(&ticket).as_slice())?;
                }
            }
            write.commit()?;
            Ok(gone)
        };
        run().map_err(|error| self.failed(error))
    }

    /// Counts a report of a place. How often each place was reported is all that is kept: no time,
    /// no sender.
    pub fn count_report(&self, map: Digest, place: PlaceId) -> Result<u64, ServerError> {
        let run = || -> Result<u64, redb::Error> {
            let write = self.database.begin_write()?;
            let total = {
                let mut reports = write.open_table(REPORTS)?;
                let key = (map.0.as_slice(), place.number());
                let count = reports.get(key)?.map_or(0, |count| count.value()) + 1;
                reports.insert(key, count)?;
                let mut totals = write.open_table(TOTALS)?;
                let total = totals.get(map.0.as_slice())?.map_or(0, |count| count.value()) + 1;
                totals.insert(map.0.as_slice(), total)?;
                total
            };
            write.commit()?;
            Ok(total)
        };
        run().map_err(|error| self.failed(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store in a file that is gone afterwards, with a ticket for each name, accepted at 1000.
    fn with_store(name: &str, tickets: &[&str], test: impl FnOnce(&Store)) {
        let name = format!("lrgeo-store-{}-{name}.redb", std::process::id());
        let path = std::env::temp_dir().join(name);
        let store = Store::open(&path).unwrap();
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
}
