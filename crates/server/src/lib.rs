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
pub mod catalogue;
mod chain;
pub mod config;
mod counters;
mod error;
mod handover;
mod http;
mod metrics;
mod owner_only;
mod page;
mod refuse;
mod rounds;
mod seal;
mod service;
mod slices;
mod solve;
mod store;
mod upload;
mod ways;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use lrgeo_map::map::Map;
use lrgeo_map::progress::Progress;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub use access::{Scope, Token, TokenFile, Wanted as WantedToken};
pub use catalogue::{Catalogue, Home};
pub use config::Config;
pub use error::ServerError;
pub use handover::HandedReport;

/// A server that is ready to run.
pub struct Server {
    service: service::App,
    listener: TcpListener,
    stop: watch::Sender<bool>,
}

/// What stops a running server: it finishes the requests at hand and leaves rounds for the next start.
#[derive(Clone)]
pub struct Stopper(watch::Sender<bool>, service::App);

impl Stopper {
    /// Stops it.
    pub fn stop(&self) {
        self.1.rounds.cancel();
        if let Some(invented) = self.1.page.as_ref().and_then(|page| page.rounds.as_ref()) {
            invented.cancel();
        }
        self.0.send_replace(true);
    }
}

impl Server {
    /// Makes or opens everything and listens; port 0 takes a free one.
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
        owner_only::directory(home.data)?;
        let store = Arc::new(store::Store::open(&store_path(home.data))?);
        let catalogue = Catalogue::open(map, home, config, rounds::now(), progress)?;
        let catalogue = Arc::new(catalogue);
        let settings = config.rounds.clone();
        let counters = Arc::<counters::Counters>::default();
        let rounds = rounds::Rounds::new(catalogue.clone(), store.clone(), settings);
        let rounds = Arc::new(rounds.counted_by(counters.clone()));
        let page = page::Page::new(&catalogue, &config.page);
        let limits = config.limits.clone();
        let browsers = config.browsers.allowed()?;
        let service = service::Service {
            catalogue,
            store,
            rounds,
            limits,
            browsers,
            page,
            counters,
            access: access::Access::open(&config.access, &config.routes, home.data)?,
            handover: handover::Handover::open(&config.handover, home.data)?,
            compressed: http::Compressed::default(),
        };
        Ok(Self { service: Arc::new(service), listener, stop: watch::Sender::new(false) })
    }

    /// Where it listens.
    pub fn address(&self) -> Result<SocketAddr, ServerError> {
        self.listener
            .local_addr()
            .map_err(|error| ServerError::Listen { address: "?".into(), error })
    }

    /// What is public about it.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.service.catalogue.clone()
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone(), self.service.clone())
    }

    /// Serves until it is stopped.
    pub async fn run(self) -> Result<(), ServerError> {
        let rounds = tokio::spawn(self.service.rounds.clone().run(self.stop.subscribe()));
        let handover = self.service.handover.clone();
        let handing = handover.map(|h| tokio::spawn(h.run(self.stop.subscribe())));
        let mut stop = self.stop.subscribe();
        let stopped = async move {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        let address = self.address()?.to_string();
        let served = axum::serve(self.listener, http::app(self.service.clone()));
        let served = served.with_graceful_shutdown(stopped).await;
        let _ = rounds.await;
        if let Some(handing) = handing {
            let _ = handing.await;
        }
        served.map_err(|error| ServerError::Listen { address, error })
    }
}

fn store_path(data: &Path) -> std::path::PathBuf {
    data.join("store.redb")
}
