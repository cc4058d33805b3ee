//! What all handlers share.

use std::sync::{Arc, Mutex, PoisonError};

use lrgeo_geo::Digest;
use lrgeo_tiles::Issued;
use tokio::sync::Semaphore;
use tower_http::cors::AllowOrigin;

use crate::access::Access;
use crate::budget::Budget;
use crate::catalogue::{Catalogue, File};
use crate::config::Limits;
use crate::counters::Counters;
use crate::handover::Handover;
use crate::http::Compressed;
use crate::page::Page;
use crate::rounds::Rounds;
use crate::store::Store;
use crate::{clock, refuse};

/// The service behind the handlers.
pub struct Service {
    /// What is public.
    pub catalogue: Arc<Catalogue>,
    /// What is kept.
    pub store: Arc<Store>,
    /// Who waits.
    pub rounds: Arc<Rounds>,
    /// What one request may ask for.
    pub limits: Limits,
    /// The memory of bodies that are being read or decoded.
    pub bodies: Arc<Budget>,
    /// As much computing for requests at a time as there are processors.
    pub processors: Arc<Semaphore>,
    /// Which pages of other origins may ask; `None` for none.
    pub browsers: Option<AllowOrigin>,
    /// The server's own page; `None` where there is none.
    pub page: Option<Page>,
    /// What it counts about itself.
    pub counters: Arc<Counters>,
    /// Who may ask, and how much.
    pub access: Access,
    /// Where reports go besides being counted; `None` for nowhere.
    pub handover: Option<Arc<Handover>>,
    /// Public files as they were packed.
    pub compressed: Compressed,
    /// The version before this one, for phones that have not heard of the new one yet.
    pub before: Mutex<Option<App>>,
}

/// What outlives a version: it is opened once, however often something new is published.
pub struct Kept {
    /// See [`Service`].
    pub store: Arc<Store>,
    /// Likewise.
    pub counters: Arc<Counters>,
    /// Likewise.
    pub handover: Option<Arc<Handover>>,
}

/// A handle to it.
pub type App = Arc<Service>;

impl Service {
    /// What the next version goes on with.
    pub fn kept(&self) -> Kept {
        let Self { store, counters, handover, .. } = self;
        Kept { store: store.clone(), counters: counters.clone(), handover: handover.clone() }
    }

    /// The version before this one, while what it published has not expired.
    fn before(&self) -> Option<App> {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let expires = before.as_ref().map(|before| before.catalogue.tiles.link.expires)?;
        if expires < Issued::from_unix(clock::now()) {
            *before = None;
        }
        before.clone()
    }

    /// Which version was before this one.
    pub fn set_before(&self, before: Option<App>) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = before;
    }

    /// Stops whatever is being solved as soon as possible.
    pub fn cancel(&self) {
        self.rounds.cancel();
        if let Some(invented) = self.page.as_ref().and_then(|page| page.rounds.as_ref()) {
            invented.cancel();
        }
        if let Some(before) = self.before() {
            before.cancel();
        }
    }

    /// What is public about a map: the present one, unless it is the one before.
    pub fn catalogue_of(&self, map: Digest) -> Arc<Catalogue> {
        let earlier = || self.before().filter(|before| before.catalogue.map() == map);
        let earlier = (self.catalogue.map() != map).then(earlier).flatten();
        earlier.map_or_else(|| self.catalogue.clone(), |before| before.catalogue.clone())
    }

    /// A public file of this version, or of the one before.
    pub fn file(&self, find: impl Fn(&Catalogue) -> Option<&File>) -> Option<File> {
        let earlier = || find(&self.before()?.catalogue).cloned();
        find(&self.catalogue).cloned().or_else(earlier)
    }

    /// Whether a file is a tile, of this version or of the one before.
    pub fn is_tile(&self, hash: Digest) -> bool {
        let has =
            |catalogue: &Catalogue| catalogue.tiles.tiles.iter().any(|tile| tile.hash == hash);
        has(&self.catalogue) || self.before().is_some_and(|before| has(&before.catalogue))
    }

    /// The rounds that a ticket is being solved in: those of the version before until they are done.
    pub fn rounds_of(&self, ticket: &str) -> Arc<Rounds> {
        let earlier = self.before().filter(|before| before.rounds.is_live(ticket));
        earlier.map_or_else(|| self.rounds.clone(), |before| before.rounds.clone())
    }

    /// Computes something for a request where it does not hold up others: not on the threads that answer, and no more at a time than
    /// there are processors.
    pub async fn heavy<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> refuse::Result<T> + Send + 'static,
    ) -> refuse::Result<T> {
        // Kept by the work itself: it goes on when nobody waits for it any more.
        let permit = self.processors.clone().acquire_owned().await.ok();
        let work = move || {
            let _permit = permit;
            work()
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(refuse::failed()))
    }
}
