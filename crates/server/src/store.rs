//! What survives the process: tickets, uploads, results, counts of reports. One `redb` file, every
//! write on disk before it is answered.

use std::path::{Path, PathBuf};

use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Join, UserMatrix};
use lrgeo_protocol::{Digest, Refusal};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};

use crate::ServerError;

const TICKETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tickets");
const UPLOADS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("uploads");
const RESULTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("results");
const REPORTS: TableDefinition<'_, (&[u8], u32), u64> = TableDefinition::new("reports");
const TOTALS: TableDefinition<'_, &[u8], u64> = TableDefinition::new("totals");

/// A ticket as it is kept. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// The hash of the token: the file does not hold what opens it.
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
    /// Its upload is kept and will be solved.
    Accepted,
    /// Its matrix is kept; with the number of users of its round.
    Done(u32),
    /// It was refused; its upload is gone.
    Failed(Refusal),
    /// Its matrix is gone.
    Expired,
}

/// The file.
pub struct Store {
    database: Database,
    path: PathBuf,
}

/// What became of a ticket's round.
pub type Outcome = Result<UserMatrix, Refusal>;

impl Store {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Self, ServerError> {
        let database = Database::create(path).map_err(|error| {
            let reason = match error {
                redb::DatabaseError::DatabaseAlreadyOpen => {
                    "is in use by another server; stop it, or choose another --data".to_owned()
                }
                other => format!("{other}; move it away to begin anew"),
            };
            ServerError::Store { path: path.into(), reason }
        })?;
        let store = Self { database, path: path.into() };
        store.make_tables().map_err(|error| store.failed(error))?;
        Ok(store)
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

    /// Keeps an upload under a new ticket.
    pub fn accept(&self, id: &str, ticket: &Ticket, upload: &Join) -> Result<(), ServerError> {
        let run = || -> Result<(), redb::Error> {
            let write = self.database.begin_write()?;
            write.open_table(TICKETS)?.insert(id, Encoding::Cbor.encode(ticket).as_slice())?;
            write.open_table(UPLOADS)?.insert(id, Encoding::Cbor.encode(upload).as_slice())?;
            write.commit()?;
            Ok(())
        };
        run().map_err(|error| self.failed(error))
    }

    /// A ticket.
    pub fn ticket(&self, id: &str) -> Result<Option<Ticket>, ServerError> {
        self.read(TICKETS, id)
    }

    /// An upload that is still to be solved.
    pub fn upload(&self, id: &str) -> Result<Option<Join>, ServerError> {
        self.read(UPLOADS, id)
    }

    /// A result that is still kept.
    pub fn result(&self, id: &str) -> Result<Option<UserMatrix>, ServerError> {
        self.read(RESULTS, id)
    }

    fn read<T: serde::de::DeserializeOwned>(
        &self,
        table: TableDefinition<'_, &str, &[u8]>,
        id: &str,
    ) -> Result<Option<T>, ServerError> {
        let run = || -> Result<Option<Vec<u8>>, redb::Error> {
            let table = self.database.begin_read()?.open_table(table)?;
            Ok(table.get(id)?.map(|bytes| bytes.value().to_vec()))
        };
        let bytes = run().map_err(|error| self.failed(error))?;
        bytes.map(|bytes| Encoding::Cbor.decode(&bytes)).transpose().map_err(|e| self.failed(e))
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
    pub fn finish(&self, outcomes: &[(String, Outcome)], now: u64) -> Result<(), ServerError> {
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
                            let bytes = Encoding::Cbor.encode(matrix);
                            results.insert(id.as_str(), bytes.as_slice())?;
                            Stage::Done(matrix.certificate.users)
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

    /// Forgets results that are older than `keep` seconds, and tickets that have been expired for as
    /// long again. Says how many results went.
    pub fn expire(&self, now: u64, keep: u64) -> Result<usize, ServerError> {
        let old = |ticket: &Ticket| now.saturating_sub(ticket.since) > keep;
        let tickets = self.tickets()?;
        let tickets: Vec<_> = tickets
            .into_iter()
            .filter(|(_, ticket)| ticket.stage != Stage::Accepted && old(ticket))
            .collect();
        if tickets.is_empty() {
            return Ok(0);
        }
        let run = || -> Result<usize, redb::Error> {
            let write = self.database.begin_write()?;
            let mut gone = 0;
            {
                let mut table = write.open_table(TICKETS)?;
                let mut results = write.open_table(RESULTS)?;
                for (id, ticket) in &tickets {
                    if ticket.stage == Stage::Expired {
                        table.remove(id.as_str())?;
                        continue;
                    }
                    gone += usize::from(results.remove(id.as_str())?.is_some());
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
    pub fn count_report(&self, map: Digest, place: u32) -> Result<u64, ServerError> {
        let run = || -> Result<u64, redb::Error> {
            let write = self.database.begin_write()?;
            let total = {
                let mut reports = write.open_table(REPORTS)?;
                let key = (map.0.as_slice(), place);
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
