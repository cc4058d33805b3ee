//! `lrgeo serve`: the service, until it is told to stop.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;
use lrgeo_geo::Digest;
use lrgeo_map::map::Map;
use lrgeo_map::progress::Progress;
use lrgeo_server::config::TlsSettings;
use lrgeo_server::{Config, Home, Renewer, Server};

use crate::failure::Failure;
use crate::log::LogOptions;
use crate::log_progress::{LogProgress, log_solving};
use crate::solve;
use crate::ui::{Ui, count};

/// Run the server: publish a mechanism, hold rounds, take reports and answer them.
#[derive(Args, Clone)]
#[command(after_help = "\
Example:
  lrgeo map build --demo -o demo.lrmap
  lrgeo serve --map demo.lrmap --data demo-data
  lrgeo client obfuscate --server http://127.0.0.1:8417 --at 46.00,-30.00
  lrgeo serve --map demo.lrmap --utility costs.npy --data own-costs
  lrgeo serve --map demo.lrmap --listen 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem
Without --tiles the mechanism of the map is computed, verified and published at the first start, in at most
20 minutes (solve_seconds); later starts find it in the data directory. A directory with noise for coordinates is served at once. Ctrl-C stops: requests are finished, rounds are taken up again.
SIGHUP reads map, tiles and settings again and publishes what has changed, without a pause.
docs/server.md describes the interface, docs/operations.md how to run it, docs/server.sample.toml the settings.")]
pub struct Serve {
    /// The map, from `lrgeo map build`.
    #[arg(long, value_name = "FILE")]
    map: PathBuf,
    /// Noise or tiles that were published before, from `lrgeo publish`, signed with the server's key.
    #[arg(long, value_name = "DIR")]
    tiles: Option<PathBuf>,
    /// The operator's secret key [default: one in the data directory, made at the first start].
    #[arg(long, value_name = "KEYFILE")]
    key: Option<PathBuf>,
    /// The key used so far, to hand over from it to another --key: clients follow if the old key says so.
    #[arg(long, value_name = "KEYFILE", requires = "key")]
    retiring_key: Option<PathBuf>,
    /// What a wrong report costs: travel-distance (km), travel-time (min), straight-line (km), or a matrix file (.npy, .csv) with
    /// a row per true place and a column per reported one [default: as the settings say, else travel-distance].
    #[arg(long)]
    utility: Option<String>,
    /// Settings; see docs/server.sample.toml.
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Where the server keeps what must survive it.
    #[arg(long, value_name = "DIR", default_value = "lrgeo-data")]
    data: PathBuf,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8417")]
    listen: String,
    /// The certificate (PEM), for https without a proxy in front; read again when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its secret key (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    #[command(flatten)]
    log: LogOptions,
}

impl Serve {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let config = self.settings()?;
        let (map, version) = Map::open(&self.map)?;
        self.log.start(ui);
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Failure::Read { path: "threads".into(), error })?;
        let served = runtime.block_on(async {
            // A bar for a terminal, lines for a log.
            let shown = std::io::stderr().is_terminal();
            let bar = (shown && !ui.is_quiet()).then(solve::bar);
            let solving = match &bar {
                Some(bar) => solve::show_progress(bar.clone()),
                None => log_solving(),
            };
            let home = Home { solving: Some(solving), ..self.home() };
            let lines = LogProgress::default();
            let progress: &dyn Progress = if shown { ui } else { &lines };
            let server = Server::open(map, &home, &config, &self.listen, progress).await;
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
            let server = server?;
            let catalogue = server.catalogue();
            println!("listening on {}", server.url());
            ui.lines(&[
                ("map", format!("{}, {} places", version.short(), count(catalogue.city.places()))),
                ("signed by", catalogue.key.to_string()),
                ("page", format!("{}/", server.url())),
                ("interface", format!("{}{}", server.url(), lrgeo_protocol::path::OPENAPI)),
            ]);
            let stopper = server.stopper();
            tokio::spawn(async move {
                stop_signal().await;
                stopper.stop();
            });
            tokio::spawn(self.clone().renew_on_hangup(server.renewer(), (version, config.clone())));
            server.run().await;
            ui.remark("stopped; what was accepted is kept for the next start");
            Ok(())
        });
        // Whatever still computes for somebody who has gone is not waited for.
        runtime.shutdown_background();
        served
    }
}

impl Serve {
    fn home(&self) -> Home<'_> {
        Home {
            data: &self.data,
            tiles: self.tiles.as_deref(),
            key: self.key.as_deref(),
            retiring_key: self.retiring_key.as_deref(),
            solving: None,
        }
    }

    /// What the files and the options say.
    fn settings(&self) -> Result<Config, Failure> {
        let mut config = match &self.config {
            Some(path) => Config::open(path)?,
            None => self.settings_of_tiles()?,
        };
        if let Some(utility) = &self.utility {
            config.utility.clone_from(utility);
        }
        if let Some((certificate, key)) = self.tls_cert.clone().zip(self.tls_key.clone()) {
            config.tls = Some(TlsSettings { certificate, key });
        }
        Ok(config)
    }

    /// Reads everything again and publishes it, if there is anything new; says what is served then.
    fn renew(
        &self,
        renewer: &Renewer,
        served: &(Digest, Config),
    ) -> Result<Option<(Digest, Config)>, Failure> {
        let config = self.settings()?;
        let (map, version) = Map::open(&self.map)?;
        let found = (version, config);
        // Tiles of one's own may be others under the same name.
        if self.tiles.is_none() && found == *served {
            return Ok(None);
        }
        let home = Home { solving: Some(log_solving()), ..self.home() };
        renewer.publish(map, &home, &found.1, &LogProgress::default())?;
        Ok(Some(found))
    }

    /// Whoever operates the server says by a signal that a file has changed. What cannot be used changes nothing.
    #[cfg(unix)]
    async fn renew_on_hangup(self, renewer: Renewer, mut served: (Digest, Config)) {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
        while hangup.recv().await.is_some() {
            let (serve, renewer, before) = (self.clone(), renewer.clone(), served.clone());
            let renewed = tokio::task::spawn_blocking(move || {
                renewer.certificate();
                serve.renew(&renewer, &before)
            });
            match renewed.await {
                Ok(Ok(Some(found))) => {
                    tracing::info!(map = %found.0.short(), "published anew");
                    served = found;
                }
                Ok(Ok(None)) => tracing::info!("map and settings are as before"),
                Ok(Err(error)) => tracing::error!(%error, "nothing was published"),
                Err(_) => tracing::error!("publishing anew panicked; nothing was published"),
            }
        }
    }

    /// Other systems have no such signal: publish by a new start.
    #[cfg(not(unix))]
    async fn renew_on_hangup(self, _: Renewer, _: (Digest, Config)) {}

    /// The defaults, at the epsilon of the files to serve. What these are worth is found out when they are opened.
    fn settings_of_tiles(&self) -> Result<Config, Failure> {
        let mut config = Config::default();
        if let Some(dir) = &self.tiles {
            let path = dir.join("manifest.json");
            let text = std::fs::read(&path);
            let text = text.map_err(|error| Failure::Read { path: path.clone(), error })?;
            let said: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
            if let Some(epsilon) = said["promise"]["epsilon_per_km"].as_f64() {
                config.privacy.epsilon = format!("{epsilon}/km");
            }
        }
        Ok(config)
    }
}

/// Ctrl-C, or what a service manager sends.
pub async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
