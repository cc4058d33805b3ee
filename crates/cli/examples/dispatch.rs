//! A small dispatch service: riders report where they are, blurred; each gets the nearest of ten drivers; once matched, a rider reports finer.
//! docs/integration.md explains it step by step.
//!
//! `cargo run --example dispatch -p lrgeo`

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::http::Http;
use lrgeo_client::state::StateFile;
use lrgeo_client::{Client, ClientError, Mode};
use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::units::Length;
use lrgeo_map::graph::{Direction, Metric};
use lrgeo_map::map::Map;
use lrgeo_map::search::Search;
use lrgeo_server::{Config, HandedReport, Home, Server, Stopper};
use sha2::Sha256;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// One epsilon for everybody who asks for a ride, another for the one who has a driver.
const BLURRED: &str = "2/km";
const FINER: &str = "8/km";
const RIDES: usize = 6;

fn main() -> Outcome<()> {
    let folder = Folder::new()?;
    let map = lrgeo_show::demo::demo_map(1, Length::from_m(500.0)?)?;
    let map = map.with_places(&map.central_block(80));
    let hook = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/reports", hook.local_addr()?);

    let blurred = Service::start(map.clone(), &folder.0.join("blurred"), BLURRED, &address)?;
    let finer = Service::start(map.clone(), &folder.0.join("finer"), FINER, &address)?;
    let streets = Streets::new(&map);
    let drivers: Vec<u32> = (0..10).map(|n| streets.node(map.places[n * 7 + 3].coord)).collect();

    println!(
        "ride     reported     driver   way, estimated   way, true   nearest, true   finer report   spent"
    );
    println!(
        "         km off                km               km          km              km off         1/km"
    );
    let mut totals = [0.0; 4];
    for ride in 0..RIDES {
        let reference = format!("ride-{ride}");
        // What only the rider knows, and this example, which compares.
        let at = map.places[(ride * 13 + 5) % map.places.len()].coord.offset_km(0.04, -0.07);
        let rider =
            Rider { at, reference: &reference, state: folder.0.join(format!("{reference}.json")) };

        rider.report(&blurred, ride as u64)?;
        let pick_up = receive(&hook, &blurred.secret, &reference)?;
        let estimated = streets.ways_to(pick_up)?;
        let (driver, estimated_km) = nearest(&drivers, &estimated)?;
        let truly = streets.ways_to(at)?;
        let (_, best_km) = nearest(&drivers, &truly)?;
        let true_km = truly[drivers[driver] as usize];

        // Matched: the driver needs to know more, and the rider says more, to the service for those who are.
        let spent = rider.report(&finer, 1000 + ride as u64)?;
        let meeting = receive(&hook, &finer.secret, &reference)?;
        let off = [pick_up, meeting].map(|reported| at.distance_km(reported));
        println!(
            "{reference:<9}{:<13.2}{driver:<9}{estimated_km:<17.2}{true_km:<12.2}{best_km:<16.2}{:<15.2}{spent}",
            off[0], off[1]
        );
        for (total, km) in totals.iter_mut().zip([off[0], true_km, best_km, off[1]]) {
            *total += km / RIDES as f64;
        }
    }
    let [blur, way, best, fine] = totals;
    println!(
        "mean: a report is {blur:.2} km off, then {fine:.2} km; the driver comes {way:.2} km, the nearest would come {best:.2} km"
    );
    Ok(())
}

/// A rider's phone: its own state, and so its own memory and ledger, for both services.
struct Rider<'a> {
    at: Coord,
    reference: &'a str,
    state: PathBuf,
}

impl Rider<'_> {
    /// Reports; says what the rider has spent so far.
    fn report(&self, service: &Service, seed: u64) -> Outcome<f64> {
        let mut kept = StateFile::open(&self.state).map_err(ClientError::from)?;
        // 8/km is more than a person accepts who has not said so: `lrgeo client policy --per-report 8/km`.
        kept.state.policy.most_epsilon_per_km = 8.0;
        let http = Http::new(&service.address).map_err(ClientError::from)?;
        // Seeded, so that this prints the same every time; a person's client is `Client::new`.
        let client = Client::rehearse(http, kept, Rehearsal::seeded(seed));
        let mut client = client.reference(Some(self.reference.parse()?));
        let outcome = client.obfuscate(self.at, Mode::Coordinates)?;
        Ok(outcome.balance.spent_per_km)
    }
}

/// The next report that comes in: it must be signed, and of this ride.
fn receive(hook: &TcpListener, secret: &[u8], reference: &str) -> Outcome<Coord> {
    let (stream, _) = hook.accept()?;
    let (head, body) = read(&stream)?;
    let header =
        |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let (id, timestamp) =
        (header("webhook-id").ok_or("no id")?, header("webhook-timestamp").ok_or("no time")?);
    let mut mac = Hmac::<Sha256>::new_from_slice(secret)?;
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(&body);
    let signature = header("webhook-signature").and_then(|text| text.strip_prefix("v1,"));
    mac.verify_slice(&STANDARD.decode(signature.ok_or("not signed")?)?)?;
    // A receiver also refuses times that are minutes off, and remembers ids: a report may come twice.
    let report: HandedReport = serde_json::from_slice(&body)?;
    (&stream).write_all(b"HTTP/1.1 204 taken\r\nconnection: close\r\n\r\n")?;
    if report.reference.is_none_or(|given| given.as_str() != reference) {
        return Err("a report of another ride".into());
    }
    Ok(Coord::new(report.at[0], report.at[1])?)
}

/// Head and body of a request; names of headers come in small letters.
fn read(stream: &TcpStream) -> Outcome<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err("a request without an end".into());
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.ok_or("a request without a length")?];
    reader.read_exact(&mut body)?;
    Ok((head, body))
}

/// The driver with the shortest way.
fn nearest(drivers: &[u32], ways: &[f64]) -> Outcome<(usize, f64)> {
    let ways = drivers.iter().map(|&node| ways[node as usize]).enumerate();
    ways.min_by(|(_, a), (_, b)| a.total_cmp(b)).ok_or_else(|| "no drivers".into())
}

/// The operator's streets.
struct Streets<'a> {
    map: &'a Map,
    index: SpatialIndex,
}

impl<'a> Streets<'a> {
    fn new(map: &'a Map) -> Self {
        Self { map, index: SpatialIndex::new(map.graph.coords()) }
    }

    fn node(&self, at: Coord) -> u32 {
        self.index.nearest(at).map_or(0, |(node, _)| node)
    }

    /// The way from every node to here, in kilometres.
    fn ways_to(&self, at: Coord) -> Outcome<Vec<f64>> {
        let mut search = Search::new(&self.map.graph, Metric::Distance);
        let ways = search.all(self.node(at), Direction::Reversed);
        Ok(ways.iter().map(|&way| f64::from(way) * Metric::Distance.scale()).collect())
    }
}

/// A running `lrgeo` service that posts its reports.
struct Service {
    address: String,
    secret: Vec<u8>,
    stopper: Stopper,
    runtime: Option<(tokio::runtime::Runtime, tokio::task::JoinHandle<()>)>,
}

impl Service {
    fn start(map: Map, data: &Path, epsilon: &str, webhook: &str) -> Outcome<Self> {
        let mut config = Config::default();
        config.privacy.epsilon = epsilon.to_owned();
        config.privacy.local = false; // nobody solves on the phone here
        config.handover.webhook = Some(webhook.to_owned());
        let runtime = tokio::runtime::Runtime::new()?;
        let home = Home { data, tiles: None, key: None, retiring_key: None, solving: None };
        let server = runtime.block_on(Server::open(map, &home, &config, "127.0.0.1:0", &()))?;
        let (address, stopper) = (server.url(), server.stopper());
        let running = runtime.spawn(server.run());
        let secret = std::fs::read_to_string(data.join("webhook.secret"))?;
        let secret = STANDARD.decode(secret.trim().trim_start_matches("whsec_"))?;
        Ok(Self { address, secret, stopper, runtime: Some((runtime, running)) })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some((runtime, running)) = self.runtime.take() {
            let _ = runtime.block_on(running);
        }
    }
}

/// A folder of its own; gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Outcome<Self> {
        let path = std::env::temp_dir().join(format!("lrgeo-dispatch-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
