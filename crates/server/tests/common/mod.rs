//! A real server on loopback, from an empty data directory, and users who upload real coefficients.

// Not every test uses everything.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lrgeo_geo::Digest;
use lrgeo_geo::PlaceId;
use lrgeo_geo::units::Length;
use lrgeo_map::map::Map;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::{City, Plan};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Join, Joined, Phase, TicketState, UserMatrix};
use lrgeo_protocol::{Reason, Refusal, path};
use lrgeo_server::{Catalogue, Config, Home, Server, Stopper};
use lrgeo_show::demo::demo_map;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The middle of the demo city.
pub fn map(places: usize) -> Map {
    let map = demo_map(1, Length::from_m(500.0).unwrap()).unwrap();
    map.with_places(&map.central_block(places))
}

/// A directory of this test's own; gone afterwards.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lrgeo-server-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server in a thread of its own.
pub struct Running {
    pub url: String,
    pub catalogue: Arc<Catalogue>,
    stopper: Stopper,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    pub fn start(map: Map, data: &Path, config: &Config) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let home = Home { data, tiles: None, key: None, retiring_key: None, solving: None };
        let server = runtime.block_on(Server::open(map, &home, config, "127.0.0.1:0", &()));
        let server = server.unwrap();
        let url = server.url();
        let (stopper, catalogue) = (server.stopper(), server.catalogue());
        let thread = std::thread::spawn(move || runtime.block_on(server.run()));
        Self { url, catalogue, stopper, thread: Some(thread) }
    }

    /// Stops it and waits until it has.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    /// An answer: status, headers, body.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        get(&format!("{}{path}", self.url), headers)
    }

    pub fn post(&self, path: &str, media: &str, body: &[u8]) -> Answer {
        post(&format!("{}{path}", self.url), media, body)
    }

    pub fn post_json(&self, path: &str, body: &impl Serialize) -> Answer {
        self.post(path, "application/json", &Encoding::Json.encode(body))
    }

    pub fn message<T: DeserializeOwned>(&self, path: &str) -> T {
        self.get(path, &[]).json()
    }

    pub fn join(&self, join: &Join) -> Joined {
        let answer = self.post(path::ROUNDS, "application/cbor", &Encoding::Cbor.encode(join));
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()
    }

    pub fn state(&self, ticket: &Joined, wait: u32) -> TicketState {
        let path = format!("{}?wait={wait}", path::ticket(&ticket.ticket));
        self.get(&path, &[("authorization", &bearer(ticket))]).json()
    }

    pub fn matrix(&self, ticket: &Joined) -> UserMatrix {
        let state = self.state(ticket, 50);
        assert_eq!(state.phase, Phase::Done, "{state:?}");
        self.get(&path::matrix(&ticket.ticket), &[("authorization", &bearer(ticket))]).json()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.end();
        }
    }
}

pub fn get(url: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = agent().get(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::of(request.call().unwrap())
}

pub fn post(url: &str, media: &str, body: &[u8]) -> Answer {
    Answer::of(agent().post(url).content_type(media).send(body).unwrap())
}

pub fn bearer(ticket: &Joined) -> String {
    format!("Bearer {}", ticket.token)
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(120)));
    config.build().into()
}

pub struct Answer {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn of(response: ureq::http::Response<ureq::Body>) -> Self {
        let (parts, mut body) = response.into_parts();
        let body = body.with_config().limit(1 << 30).read_to_vec().unwrap();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json<T: DeserializeOwned>(&self) -> T {
        let encoding = Encoding::of(self.header("content-type")).unwrap_or_default();
        encoding.decode(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// Why it was refused.
    pub fn reason(&self) -> Reason {
        self.json::<Refusal>().reason
    }
}

/// What users upload who are at real places of the map.
pub struct Users {
    pub city: City,
    pub plan: Plan,
}

impl Users {
    pub fn new(map: Map, config: &Config) -> Self {
        let version = map.version();
        let city = City::new(map, version, UtilityKind::TravelDistance, &()).unwrap();
        let plan = config.plan(&city).unwrap();
        Self { city, plan }
    }

    pub fn map(&self) -> Digest {
        self.city.version()
    }

    pub fn upload(&self, place: u32) -> Join {
        let graph = geo_ind_graph(&self.city, &self.plan);
        let tables = self.city.tables(self.plan.division, &()).unwrap();
        let costs = Costs::of(&self.city, &tables, vec![1.0]);
        let part = UserPart::prepare(
            &self.city,
            graph.as_deref(),
            &costs,
            (&self.plan, &TieRule::of(&self.plan, &self.city).unwrap()),
            PlaceId::new(place),
        );
        let upload = part.upload;
        Join {
            map: self.map(),
            rows: upload.rows as u32,
            columns: upload.columns,
            between: upload.between,
            towards: upload.towards,
            cost: upload.cost,
        }
    }
}

/// Settings for tests: rounds of `users`, held at once when they are complete.
pub fn config(users: usize) -> Config {
    let mut config = Config::default();
    config.rounds.users = users;
    config.rounds.window_seconds = 30.0;
    config.privacy.lr_radius = Some("1.2km".into());
    config.privacy.gamma = Some("1.2km".into());
    config.privacy.exp_radius = Some("1.065km".into());
    config.privacy.obf_radius = Some("2km".into());
    config.privacy.most_tail = 1.0;
    config
}
