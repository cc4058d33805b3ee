//! `lrgeo demo`: the whole story on a city that does not exist. A server publishes a verified
//! mechanism, and people who do not exist use it in all four modes.

mod account;
mod people;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use lrgeo_geo::units::Length;
use lrgeo_mechanism::meaning::SCALED_SPACING;
use lrgeo_server::config::Landmark;
use lrgeo_server::{Config, Home, Server};
use lrgeo_show::demo::{Target, demo_city, demo_map};
use lrgeo_tiles::Epsilon;

use crate::failure::Failure;
use crate::heartbeat;
use crate::map::rounded_km;
use crate::ui::Ui;
use crate::{serve, solve};
use account::Account;

/// How many invented people use mode `offload` together.
const ROUND: usize = 4;

/// Build the demo city, serve a verified mechanism for it, and use the service in all four modes.
#[derive(Args)]
#[command(
    after_help = "Example:\n  lrgeo demo --epsilon 1/km --no-serve\nSomething smaller: --epsilon 2/km --cell 1km"
)]
pub struct Demo {
    /// Privacy: the smaller, the more private.
    #[arg(long, default_value = "1/km", allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// Side of the cells that are the places [default: half of 1/epsilon, but no less than 500 m, so that solving takes seconds].
    #[arg(long, allow_hyphen_values = true)]
    cell: Option<Length>,
    /// Seed of the city.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the server listens; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: String,
    /// End after the summary instead of leaving the server up.
    #[arg(long)]
    no_serve: bool,
    /// Open the server's page in a browser, at the story that was told.
    #[arg(long, conflicts_with = "no_serve")]
    open: bool,
    /// Print the account as JSON.
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let begun = Instant::now();
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Failure::Read { path: "threads".into(), error })?;
        let folder = Folder::new()?;

        let cell = match self.cell {
            Some(cell) => cell,
            None => self.cell_for_epsilon(ui)?,
        };
        let map = demo_map(self.seed, cell)?;
        let mut config = Config::default();
        config.privacy.epsilon = format!("{}/km", self.epsilon.value());
        config.rounds.users = ROUND;
        // Nobody's targets: they may be seen.
        config.page.costs = true;
        config.page.landmarks = landmarks(self.seed);
        // A demonstration must not fail because the machine has something else to do.
        (config.rounds.user_seconds, config.rounds.time_limit_seconds) = (120.0, 120.0);
        let bar = (!ui.is_quiet()).then(solve::bar);
        let solving = bar.clone().map(solve::show_progress);
        let data = folder.0.join("server");
        let home = Home { data: &data, tiles: None, key: None, retiring_key: None, solving };
        let server = runtime.block_on(Server::open(map, &home, &config, &self.listen, ui));
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let server = server?;
        let (catalogue, stopper) = (server.catalogue(), server.stopper());
        let address = server.url();
        let made = begun.elapsed().as_secs_f64();

        let running = runtime.spawn(server.run());
        let people = people::use_the_service(&address, &folder.0, &catalogue, ROUND)?;
        let seconds = [made, begun.elapsed().as_secs_f64()];
        let account = Account::new(self.seed, &cell, &catalogue, address, people, seconds)?;
        match self.json {
            true => ui.json(&account.as_json()),
            false => print!("{}", account.as_text(self.no_serve)),
        }
        if self.open && open_in_browser(&account.page()).is_err() {
            ui.remark("no browser could be opened; the address stands above");
        }
        heartbeat::at_work(false);
        if !self.no_serve {
            runtime.block_on(serve::stop_signal());
        }
        stopper.stop();
        let ended = runtime.block_on(running);
        ended.map_err(|error| Failure::Read { path: "server".into(), error: error.into() })?;
        Ok(())
    }
}

/// The names of the demo city, for its map: the likeliest targets first.
fn landmarks(seed: u64) -> Vec<Landmark> {
    let mut targets = demo_city(seed).demand.targets;
    targets.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let mark = |t: &Target| Landmark { name: t.name.to_owned(), at: [t.at.lat(), t.at.lon()] };
    targets.iter().map(mark).collect()
}

/// Hands an address to whatever the system opens addresses with.
fn open_in_browser(address: &str) -> std::io::Result<()> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(opener);
    let quiet = std::process::Stdio::null;
    command.arg(address).stdout(quiet()).stderr(quiet()).spawn().map(|_| ())
}

/// Finer cells make more places than a demonstration has time to optimise over.
const FINEST_CELL_KM: f64 = 0.5;

impl Demo {
    /// Cells as `lrgeo map build` chooses them, but for the size.
    fn cell_for_epsilon(&self, ui: &Ui) -> Result<Length, Failure> {
        let epsilon = self.epsilon.value();
        let wanted_km = SCALED_SPACING / epsilon;
        let cell = Length::from_km(rounded_km(wanted_km.max(FINEST_CELL_KM)))?;
        let why = match wanted_km >= FINEST_CELL_KM {
            true => "finer ones gain little, coarser ones tell neighbours apart",
            false => {
                "what was asked for wants finer ones, which a demonstration has no time for (--cell)"
            }
        };
        ui.remark(format!(
            "cells of {cell}: epsilon x spacing is {:.2}; {why}",
            epsilon * cell.km()
        ));
        Ok(cell)
    }
}

/// Where the demo keeps its files; gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("lrgeo-demo-{}", std::process::id()));
        let made = std::fs::create_dir_all(&path);
        made.map_err(|error| Failure::Read { path: path.clone(), error })?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
