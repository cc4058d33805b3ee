//! Killed by SIGKILL at random moments, in the middle of reports, rounds and publications, a server keeps what it promised.

#[path = "../../server/tests/common/mod.rs"]
mod common;
#[path = "common/operated.rs"]
mod operated;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::{Users, bearer, get};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Join, Joined, Phase, TicketState};
use lrgeo_protocol::path;
use lrgeo_server::Config;
use operated::{Place, Server};

/// So many kills, unless `LRGEO_KILLS` says another number.
const KILLS: u64 = 8;

/// An answer, unless the server is killed meanwhile.
fn ask(url: &str, token: Option<&str>, body: Option<(&str, &[u8])>) -> Option<(u16, Vec<u8>)> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)));
    let agent: ureq::Agent = config.build().into();
    let answer = match body {
        Some((media, body)) => agent.post(url).content_type(media).send(body),
        None => {
            let request = agent.get(url).header("accept", "application/cbor");
            token.into_iter().fold(request, |r, t| r.header("authorization", t)).call()
        }
    };
    let (parts, mut body) = answer.ok()?.into_parts();
    Some((parts.status.as_u16(), body.with_config().limit(1 << 30).read_to_vec().ok()?))
}

/// What was promised so far.
#[derive(Default)]
struct Promises {
    sent: AtomicU64,
    counted: AtomicU64,
    /// Tickets that were given out, with the matrix where it was fetched.
    tickets: Mutex<Vec<(Joined, Option<Vec<u8>>)>>,
}

/// Reports, joins and publications until the server is gone.
fn work(place: &Place, server: &Server, map: &str, uploads: &[Join], promises: &Promises) {
    let over = AtomicBool::new(false);
    let mut random = [0; 2];
    getrandom(&mut random);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let body = format!("{{\"map\":\"{map}\",\"place\":7}}");
            while !over.load(Ordering::Relaxed) {
                promises.sent.fetch_add(1, Ordering::Relaxed);
                let sent = Some(("application/json", body.as_bytes()));
                let answer = ask(&place.url(path::REPORTS), None, sent);
                let counted = u64::from(answer.is_some_and(|(status, _)| status == 200));
                promises.counted.fetch_add(counted, Ordering::Relaxed);
            }
        });
        for upload in uploads {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let upload = Encoding::Cbor.encode(upload);
                    let sent = Some(("application/cbor", upload.as_slice()));
                    let Some((202, joined)) = ask(&place.url(path::ROUNDS), None, sent) else {
                        continue;
                    };
                    let joined: Joined = Encoding::Json.decode(&joined).unwrap();
                    promises.tickets.lock().unwrap().push((joined.clone(), None));
                    let url = place.url(&format!("{}?wait=20", path::ticket(&joined.ticket)));
                    ask(&url, Some(&bearer(&joined)), None);
                    let url = place.url(&path::matrix(&joined.ticket));
                    if let Some((200, matrix)) = ask(&url, Some(&bearer(&joined)), None) {
                        let mut tickets = promises.tickets.lock().unwrap();
                        let known = tickets.iter_mut().find(|(one, _)| one.ticket == joined.ticket);
                        known.unwrap().1 = Some(matrix);
                    }
                }
            });
        }
        for number in 0..1 + random[1] / 64 {
            // Other settings are another manifest.
            settings(place, 0.2 + f64::from(number % 2) / 10.0);
            server.signal("-HUP");
            std::thread::sleep(Duration::from_millis(u64::from(random[0])));
        }
        server.signal("-KILL");
        over.store(true, Ordering::Relaxed);
    });
}

fn getrandom(bytes: &mut [u8]) {
    let mut file = std::fs::File::open("/dev/urandom").unwrap();
    std::io::Read::read_exact(&mut file, bytes).unwrap();
}

fn settings(place: &Place, window_seconds: f64) -> Config {
    let path = place.path("c.toml");
    let text = format!(
        "[privacy]\ngamma = \"1.2km\"\nlr_radius = \"1.2km\"\nexp_radius = \"1.065km\"\nobf_radius = \"2km\"\nmost_tail = 1.0\n\
         local = false\n[rounds]\nusers = 2\nwindow_seconds = {window_seconds}\nkeep_seconds = 100000.0\n[page]\nserve = false\n"
    );
    std::fs::write(place.path("c.part"), text).unwrap();
    std::fs::rename(place.path("c.part"), &path).unwrap();
    Config::open(&path).unwrap()
}

#[test]
fn killed_at_random_moments_it_keeps_every_promise() {
    let kills = std::env::var("LRGEO_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let place = Place::new(12);
    let users = Users::new(common::map(12), &settings(&place, 0.2));
    let (map, uploads) = (users.map().to_string(), [users.upload(3), users.upload(8)]);
    let (promises, mut sequence, mut answered) = (Promises::default(), 0, 0_u64);
    let start = || {
        let mut command = place.serve("data");
        // Nobody reads its log, which would fill the pipe.
        command.arg("--quiet").arg("--config").arg(place.path("c.toml"));
        Server::start(&mut command).ready()
    };
    for _ in 0..kills {
        let server = start();
        let manifest: serde_json::Value = get(&place.url(path::MANIFEST), &[]).json();
        let now = manifest["link"]["sequence"].as_u64().unwrap();
        assert!(now >= sequence, "the chain went back from {sequence} to {now}");
        sequence = now;
        let promised = std::mem::take(&mut *promises.tickets.lock().unwrap());
        for (joined, matrix) in promised {
            let url = place.url(&format!("{}?wait=50", path::ticket(&joined.ticket)));
            let (status, state) = ask(&url, Some(&bearer(&joined)), None).unwrap();
            assert_eq!(status, 200, "a ticket was lost");
            let state: TicketState = Encoding::Cbor.decode(&state).unwrap();
            assert_eq!(state.phase, Phase::Done, "{state:?}");
            let url = place.url(&path::matrix(&joined.ticket));
            let (status, again) = ask(&url, Some(&bearer(&joined)), None).unwrap();
            assert_eq!(status, 200);
            assert!(matrix.is_none_or(|matrix| matrix == again), "two answers for one ticket");
            answered += 1;
        }
        work(&place, &server, &map, &uploads, &promises);
    }
    let _server = start();
    let body = format!("{{\"map\":\"{map}\",\"place\":7}}");
    let last = common::post(&place.url(path::REPORTS), "application/json", body.as_bytes());
    let total = last.json::<serde_json::Value>()["reports"].as_u64().unwrap() - 1;
    let [counted, sent] = [&promises.counted, &promises.sent].map(|n| n.load(Ordering::Relaxed));
    assert!((counted..=sent).contains(&total), "{total} kept, {counted} answered, {sent} sent");
    eprintln!(
        "{kills} kills: {answered} tickets answered, {counted} reports answered and {total} kept of {sent} sent, {sequence} manifests"
    );
    assert!(answered > 0 && counted > 0);
}
