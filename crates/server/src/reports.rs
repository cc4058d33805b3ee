//! Reports, many at a time: what has come while one commit was on its way to the disk goes there with the next. Each is answered
//! when it is there.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use lrgeo_geo::{Digest, PlaceId};
use lrgeo_protocol::Reason;
use redb::{ReadableTable, TableDefinition, WriteTransaction};
use tokio::sync::oneshot;

use crate::database::File;
use crate::refuse;

const REPORTS: TableDefinition<'_, (&[u8], u32), u64> = TableDefinition::new("reports");
const TOTALS: TableDefinition<'_, &[u8], u64> = TableDefinition::new("totals");

/// So many wait at most: some seconds' worth.
const MOST_WAITING: usize = 1 << 16;
/// So many go into one commit at most.
const MOST_AT_ONCE: usize = 1 << 13;

/// A place that was reported, and who waits to hear how many reports there were.
struct Report {
    map: Digest,
    place: PlaceId,
    counted: oneshot::Sender<Option<u64>>,
}

/// Counts reports, in a thread of its own. How often each place was reported is all that is kept: no time, no sender.
pub struct Reports {
    queue: Option<SyncSender<Report>>,
    thread: Option<JoinHandle<()>>,
}

/// The tables that are needed.
pub fn make_tables(write: &WriteTransaction) -> Result<(), redb::Error> {
    write.open_table(REPORTS)?;
    write.open_table(TOTALS)?;
    Ok(())
}

impl Reports {
    /// In this file.
    pub fn new(file: Arc<File>) -> std::io::Result<Self> {
        let (queue, waiting) = sync_channel(MOST_WAITING);
        let thread = std::thread::Builder::new().name("reports".into());
        let thread = thread.spawn(move || write_all(&file, &waiting))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Counts a report; how many there are of its map, this one included, once that is on disk.
    pub async fn count(&self, map: Digest, place: PlaceId) -> refuse::Result<u64> {
        let (counted, answer) = oneshot::channel();
        let sent = self.queue.as_ref().map(|queue| queue.try_send(Report { map, place, counted }));
        match sent {
            Some(Ok(())) => answer.await.ok().flatten().ok_or_else(refuse::failed),
            Some(Err(TrySendError::Full(_))) => {
                refuse::because(Reason::Busy, "too many reports are waiting; try again later")
            }
            Some(Err(TrySendError::Disconnected(_))) | None => Err(refuse::failed()),
        }
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        // Without a sender the thread ends; the file is free again once it has.
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(file: &File, waiting: &Receiver<Report>) {
    while let Ok(first) = waiting.recv() {
        let mut batch = vec![first];
        batch.extend(waiting.try_iter().take(MOST_AT_ONCE - 1));
        // A panic below must not end all reports.
        let written = std::panic::catch_unwind(AssertUnwindSafe(|| write(file, &batch)));
        let reports = batch.len();
        let mut totals = match written {
            Ok(Ok(totals)) => Some(totals),
            Ok(Err(error)) => {
                tracing::error!(%error, reports, "reports could not be kept");
                None
            }
            Err(_) => {
                tracing::error!(reports, "keeping reports panicked");
                None
            }
        };
        for Report { map, counted, .. } in batch {
            let total = totals.as_mut().and_then(|totals| totals.get_mut(&map));
            // Whoever has gone away meanwhile was counted all the same.
            let _ = counted.send(total.map(|total| {
                *total += 1;
                *total
            }));
        }
    }
}

/// Puts all on disk, or none; how many reports each map had before.
fn write(file: &File, batch: &[Report]) -> Result<HashMap<Digest, u64>, crate::ServerError> {
    let mut places: HashMap<(Digest, PlaceId), u64> = HashMap::new();
    let mut maps: HashMap<Digest, u64> = HashMap::new();
    for Report { map, place, .. } in batch {
        *places.entry((*map, *place)).or_default() += 1;
        *maps.entry(*map).or_default() += 1;
    }
    file.write(|write| {
        let mut reports = write.open_table(REPORTS)?;
        for ((map, place), more) in &places {
            let key = (map.0.as_slice(), place.number());
            let count = reports.get(key)?.map_or(0, |count| count.value());
            reports.insert(key, count + more)?;
        }
        let (mut totals, mut before) = (write.open_table(TOTALS)?, HashMap::new());
        for (map, more) in &maps {
            let total = totals.get(map.0.as_slice())?.map_or(0, |count| count.value());
            totals.insert(map.0.as_slice(), total + more)?;
            before.insert(*map, total);
        }
        Ok(before)
    })
}
