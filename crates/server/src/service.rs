//! What all handlers share.

use std::sync::Arc;

use tower_http::cors::AllowOrigin;

use crate::access::Access;
use crate::catalogue::Catalogue;
use crate::config::Limits;
use crate::counters::Counters;
use crate::handover::Handover;
use crate::http::Compressed;
use crate::page::Page;
use crate::rounds::Rounds;
use crate::store::Store;

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
}

/// A handle to it.
pub type App = Arc<Service>;
