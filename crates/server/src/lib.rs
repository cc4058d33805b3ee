//! The service: publishes a mechanism in tiles, holds rounds of the paper's protocol, takes reports
//! and answers them (`docs/specification.md` section 9).
//!
//! [`catalogue`] is what is the same for everybody, `rounds` what is not; `store` survives the
//! process; `http` is a thin layer over them. Nothing here ever learns or logs where a user is.
//!
//! ```
//! let config = lrgeo_server::Config::default();
//! config.check()?;
//! assert_eq!(config.privacy.epsilon, "2/km");
//! # Ok::<(), lrgeo_server::ServerError>(())
//! ```

mod access;
mod budget;
pub mod catalogue;
mod chain;
mod clock;
pub mod config;
mod counters;
mod database;
mod error;
mod handover;
mod held_body;
mod http;
mod listen;
mod metrics;
mod owner_only;
mod page;
mod refuse;
mod reports;
mod rounds;
mod seal;
mod service;
mod slices;
mod solve;
mod store;
mod upload;
mod ways;

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use lrgeo_map::map::Map;
use lrgeo_map::progress::Progress;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

pub use access::{Scope, Token, TokenFile, Wanted as WantedToken};
pub use catalogue::{Catalogue, Home};
pub use config::Config;
pub use error::ServerError;
pub use handover::HandedReport;
use listen::{Front, Listener, Tls};

/// How often it is seen whether there is a new certificate.
const LOOK_AT_CERTIFICATE: Duration = Duration::from_secs(5);
/// How long a round that was told to stop may take to hear it.
const LAST_ROUND: Duration = Duration::from_secs(5);

/// A server that is ready to run.
pub struct Server {
    running: Arc<Running>,
    address: SocketAddr,
    /// What has been going on since the address was bound; ends with this.
    tasks: JoinSet<()>,
    /// The data directory is this process's until then.
    _data: File,
}

/// What is going on, and what is exchanged while it does.
struct Running {
    service: RwLock<service::App>,
    front: Arc<Front>,
    tls: Option<Arc<Tls>>,
    stop: watch::Sender<bool>,
    rounds: Mutex<JoinSet<()>>,
}

impl Running {
    fn service(&self) -> service::App {
        self.service.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hold_rounds(&self, rounds: Arc<rounds::Rounds>) {
        let mut all = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        all.spawn(rounds.run(self.stop.subscribe()));
    }

    fn take_rounds(&self) -> JoinSet<()> {
        std::mem::take(&mut *self.rounds.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What stops a running server: it finishes the requests at hand and leaves rounds for the next start.
#[derive(Clone)]
pub struct Stopper(Arc<Running>);

impl Stopper {
    /// Stops it.
    pub fn stop(&self) {
        self.0.service().cancel();
        self.0.stop.send_replace(true);
    }
}

/// What renews a running server without anybody noticing.
#[derive(Clone)]
pub struct Renewer(Arc<Running>);

impl Renewer {
    /// Reads the certificate again if it has changed.
    pub fn certificate(&self) {
        if let Some(tls) = &self.0.tls {
            tls.refresh();
        }
    }

    /// Publishes another version: of the map, the mechanism or the settings of both. It is made while the present one goes on being served, and
    /// takes its place when it is verified; the manifest follows the one before. What was published before is still served
    /// to phones that know nothing newer, until it expires or there is another version yet. Blocks for as long as that takes, in a thread of a tokio runtime.
    pub fn publish(
        &self,
        map: Map,
        home: &Home<'_>,
        config: &Config,
        progress: &dyn Progress,
    ) -> Result<Arc<Catalogue>, ServerError> {
        config.check()?;
        let before = self.0.service();
        let catalogue = Catalogue::open(map, home, config, clock::now(), progress)?;
        let catalogue = Arc::new(catalogue);
        let service = serve(catalogue.clone(), before.kept(), home.data, config)?;
        // One is enough: whoever has missed two versions begins with the manifest.
        before.set_before(None);
        before.rounds.retire();
        service.set_before(Some(before));
        self.0.hold_rounds(service.rounds.clone());
        *self.0.service.write().unwrap_or_else(PoisonError::into_inner) = service.clone();
        self.0.front.set(http::app(service));
        Ok(catalogue)
    }
}

/// The service of one version.
fn serve(
    catalogue: Arc<Catalogue>,
    kept: service::Kept,
    data: &Path,
    config: &Config,
) -> Result<service::App, ServerError> {
    let service::Kept { store, counters, handover } = kept;
    let rounds = rounds::Rounds::new(catalogue.clone(), store.clone(), config.rounds.clone());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Arc::new(service::Service {
        page: page::Page::new(&catalogue, &config.page),
        catalogue,
        store,
        rounds: Arc::new(rounds.counted_by(counters.clone())),
        limits: config.limits.clone(),
        bodies: budget::Budget::new(config.limits.bodies_bytes),
        processors: Arc::new(Semaphore::new(processors)),
        browsers: config.browsers.allowed()?,
        counters,
        access: access::Access::open(&config.access, &config.routes, data)?,
        handover,
        compressed: http::Compressed::default(),
        before: Mutex::default(),
    }))
}

impl Server {
    /// Listens, then makes or opens everything; port 0 takes a free one. From the first moment on `/healthz` is answered, and everything else is
    /// told to come later.
    pub async fn open(
        map: Map,
        home: &Home<'_>,
        config: &Config,
        listen: &str,
        progress: &dyn Progress,
    ) -> Result<Self, ServerError> {
        config.check()?;
        // The address first: nothing is computed for one that is taken.
        let failed = |error| ServerError::Listen { address: listen.to_owned(), error };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let tls = config.tls.as_ref().map(Tls::open).transpose()?.map(Arc::new);
        owner_only::directory(home.data)?;
        let data = owner_only::lock(home.data)?;

        let stop = watch::Sender::new(false);
        let front = Arc::new(Front::new(http::starting()));
        let mut tasks = JoinSet::new();
        if let Some(tls) = tls.clone() {
            tasks.spawn(look_at_certificate(tls, stop.subscribe()));
        }
        let listener = Listener::new(listener, front.clone(), tls.clone(), &config.limits);
        tasks.spawn(listener.run(stop.subscribe()));
        tracing::info!(%address, "getting ready: /healthz answers, /readyz says when");

        let store = Arc::new(store::Store::open(&store_path(home.data))?);
        let catalogue = Arc::new(Catalogue::open(map, home, config, clock::now(), progress)?);
        let handover = handover::Handover::open(&config.handover, home.data)?;
        let kept = service::Kept { store, counters: Arc::default(), handover };
        let service = serve(catalogue, kept, home.data, config)?;
        front.set(http::app(service.clone()));
        let (service, rounds) = (RwLock::new(service), Mutex::default());
        let running = Arc::new(Running { service, front, tls, stop, rounds });
        Ok(Self { running, address, tasks, _data: data })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it is found, like `https://127.0.0.1:8417`.
    pub fn url(&self) -> String {
        let scheme = if self.running.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// What is public about it.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.running.service().catalogue.clone()
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.running.clone())
    }

    /// What renews it.
    pub fn renewer(&self) -> Renewer {
        Renewer(self.running.clone())
    }

    /// Serves until it is stopped, and ends soon after: requests at hand have `limits.stop_seconds`.
    pub async fn run(mut self) {
        let service = self.running.service();
        self.running.hold_rounds(service.rounds.clone());
        if let Some(handover) = service.handover.clone() {
            self.tasks.spawn(handover.run(self.running.stop.subscribe()));
        }
        drop(service);
        while self.tasks.join_next().await.is_some() {}
        let mut rounds = self.running.take_rounds();
        let all_ended = async { while rounds.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST_ROUND, all_ended).await.is_err() {
            tracing::warn!(
                "a round did not hear that it is to stop; it is left for the next start"
            );
        }
    }
}

async fn look_at_certificate(tls: Arc<Tls>, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_AT_CERTIFICATE) => {}
            () = listen::wish_to_stop(&mut stop) => return,
        }
        let tls = tls.clone();
        let _ = tokio::task::spawn_blocking(move || tls.refresh()).await;
    }
}

fn store_path(data: &Path) -> std::path::PathBuf {
    data.join("store.redb")
}
