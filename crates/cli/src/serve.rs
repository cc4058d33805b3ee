//! `lrgeo serve`: the service, until it is told to stop.

use std::path::PathBuf;

use clap::Args;
use lrgeo_map::map::Map;
use lrgeo_server::{Config, Home, Server};

use crate::failure::Failure;
use crate::log::LogOptions;
use crate::solve;
use crate::ui::{Ui, count};

/// Run the server: publish a mechanism, hold rounds, take reports and answer them.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo map build --demo -o demo.lrmap
  lrgeo serve --map demo.lrmap --data demo-data
  lrgeo client obfuscate --server http://127.0.0.1:8417 --at 46.00,-30.00
  lrgeo serve --map demo.lrmap --utility costs.npy --data own-costs
Without --tiles the mechanism of the map is computed, verified and published at the first start, in at most
20 minutes (solve_seconds); later starts find it in the data directory. A directory with noise for coordinates is served at once. Ctrl-C stops: requests are finished, rounds are taken up again.
docs/server.md describes the interface, docs/server.sample.toml the settings.")]
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
    #[command(flatten)]
    log: LogOptions,
}

impl Serve {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let mut config = match &self.config {
            Some(path) => Config::open(path)?,
            None => self.settings_of_tiles()?,
        };
        if let Some(utility) = &self.utility {
            config.utility.clone_from(utility);
        }
        let (map, version) = Map::open(&self.map)?;
        self.log.start(ui);
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Failure::Read { path: "threads".into(), error })?;
        runtime.block_on(async {
            let bar = (!ui.is_quiet()).then(solve::bar);
            let home = Home {
                data: &self.data,
                tiles: self.tiles.as_deref(),
                key: self.key.as_deref(),
                retiring_key: self.retiring_key.as_deref(),
                solving: bar.clone().map(solve::show_progress),
            };
            let server = Server::open(map, &home, &config, &self.listen, ui).await;
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
            let server = server?;
            let catalogue = server.catalogue();
            println!("listening on http://{}", server.address()?);
            ui.lines(&[
                ("map", format!("{}, {} places", version.short(), count(catalogue.city.places()))),
                ("signed by", catalogue.key.to_string()),
                ("page", format!("http://{}/", server.address()?)),
                (
                    "interface",
                    format!("http://{}{}", server.address()?, lrgeo_protocol::path::OPENAPI),
                ),
            ]);
            let stopper = server.stopper();
            tokio::spawn(async move {
                stop_signal().await;
                stopper.stop();
            });
            server.run().await?;
            ui.remark("stopped; what was accepted is kept for the next start");
            Ok(())
        })
    }
}

impl Serve {
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
