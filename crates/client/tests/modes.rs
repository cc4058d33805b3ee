//! All modes against a real server, from a new state.

mod common;

use common::proxy::Proxy;
use common::{InMemory, Scratch, client, config, map, rehearsing, serve, service};
use lrgeo_client::draws::{Record, Rehearsal};
use lrgeo_client::http::Http;
use lrgeo_client::policy::{Protects, Rule};
use lrgeo_client::state::{Limit, StateFile};
use lrgeo_client::transport::{Server, TransportError};
use lrgeo_client::{Client, ClientError, Learnt, Mode};
use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;

const MODES: [Mode; 3] = [Mode::Published, Mode::Local, Mode::Offload];

#[test]
fn every_mode_reports_and_remembers() {
    let service = service();
    let place = service.tile()[3];
    for mode in MODES {
        let memory = InMemory::default();
        let mut first = client(&service.address, memory.reopen(), Rehearsal::seeded(3));
        let drawn = first.obfuscate(service.near(place), mode).unwrap();
        assert!(drawn.remembered.is_none() && drawn.first_use);
        assert_eq!(drawn.balance.left_per_km, 20.0 - drawn.spent_per_km, "{mode}");
        assert_eq!(drawn.balance.lifetime_left_per_km, 400.0 - drawn.spent_per_km, "{mode}");
        // Between places the epsilon of the map; in a user's own matrix what was measured of it, gamma or not.
        assert!((2.0..2.32).contains(&drawn.spent_per_km), "{mode}: {}", drawn.spent_per_km);
        assert!(mode != Mode::Published || drawn.spent_per_km == 2.0);
        let compared = drawn.compared.unwrap();
        assert_eq!(compared.places == compared.of, mode == Mode::Published, "{compared}");
        assert_eq!(drawn.targets.len(), 3);
        assert!(drawn.targets.windows(2).all(|w| w[0].estimated_km <= w[1].estimated_km));
        match drawn.learnt {
            Learnt::Tiles { fetched, of, places, .. } => {
                assert_eq!((fetched, places as usize), (of, service.catalogue.city.places()));
            }
            Learnt::Coefficients { relevant, .. } => assert!(mode == Mode::Offload && relevant > 5),
            _ => panic!("{mode}: something was learnt"),
        }
        // Another process, other randomness, every mode: the same report, for free, and no tile.
        for again in MODES {
            let proxy = Proxy::honest(&service.address);
            let state = memory.0.lock().unwrap().clone().unwrap();
            let mut second = client(&proxy.address, memory.reopen(), Rehearsal::seeded(99));
            let known = second.obfuscate(service.near(place), again).unwrap();
            assert_eq!((known.report, known.spent_per_km), (drawn.report, 0.0), "{mode}, {again}");
            assert!(known.remembered.is_some() && known.learnt == Learnt::Nothing);
            assert_eq!(known.balance, drawn.balance);
            let told = |line: &String| {
                ["/v1/tiles", "/v1/table", "/v1/rounds"].iter().any(|path| line.contains(path))
            };
            assert!(!proxy.lines().iter().any(told), "{:?}", proxy.lines());
            *memory.0.lock().unwrap() = Some(state);
        }
    }
}

/// Where a report lies in its row when places are ordered by their number: the mass before it and a random share of its
/// own. Whatever the rows are, this is uniform if and only if reports are drawn from them.
fn position(row: &[f64], report: PlaceId, seed: u64) -> f64 {
    let before: f64 = row[..report.index()].iter().sum();
    before + SplitMix::new(seed).unit() * row[report.index()]
}

/// In every mode: reports of many people follow the rows that their clients drew from (Kolmogorov and Smirnov, one in a
/// thousand), and these rows are no mere truth.
#[test]
fn draws_of_all_modes_follow_their_rows() {
    let service = service();
    let place = service.tile()[5];
    for (mode, people) in [(Mode::Published, 64), (Mode::Local, 48), (Mode::Offload, 32)] {
        let report = |seed: u64| {
            let record = Record::default();
            let draws = Rehearsal::seeded(seed).recorded(record.clone());
            let kept = InMemory::default().reopen();
            let mut client = client(&service.address, kept, draws).targets(0);
            let report = client.obfuscate(service.near(place), mode).unwrap().report;
            let rows = record.lock().unwrap();
            assert_eq!(rows.len(), 1, "{mode}: one draw for one report");
            assert!(rows[0][place as usize] < 0.9, "{mode}: {}", rows[0][place as usize]);
            position(&rows[0], report, seed ^ 0x5eed)
        };
        // Rounds wait for others: eight at a time.
        let mut seen: Vec<f64> = Vec::new();
        for first in (0..people).step_by(8) {
            std::thread::scope(|scope| {
                let eight: Vec<_> =
                    (first..first + 8).map(|seed| scope.spawn(move || report(seed))).collect();
                seen.extend(eight.into_iter().map(|one| one.join().unwrap()));
            });
        }
        seen.sort_by(f64::total_cmp);
        let count = seen.len() as f64;
        let off = |(at, u): (usize, &f64)| {
            let (low, high) = (at as f64 / count, (at + 1) as f64 / count);
            (u - low).abs().max((u - high).abs())
        };
        let worst = seen.iter().enumerate().map(off).fold(0.0, f64::max);
        assert!(worst < 1.95 / count.sqrt(), "{mode}: {worst} of {count} draws");
    }
}

#[test]
fn a_client_for_a_person_works_on_a_file() {
    let service = service();
    let scratch = Scratch::new("person");
    let path = scratch.0.join("client.json");
    let obfuscate = |mode| {
        let http = Http::new(&format!("http://{}", service.address)).unwrap();
        assert_eq!(http.name(), format!("http://{}", service.address));
        let mut client = Client::new(http, StateFile::open(&path).unwrap());
        client.obfuscate(service.near(service.tile()[2]), mode)
    };
    // What the paper's modes promise is less than a person wants who has not said otherwise.
    let refused = obfuscate(Mode::Local).unwrap_err();
    assert!(matches!(&refused, ClientError::Policy(no) if no.rule == Rule::Notion), "{refused}");
    let drawn = obfuscate(Mode::Published).unwrap();
    let mut kept = StateFile::open(&path).unwrap();
    kept.state.policy.protects = Protects::RelevantPlaces;
    kept.commit().unwrap();
    drop(kept);
    let known = obfuscate(Mode::Local).unwrap();
    assert_eq!((known.report, known.first_use), (drawn.report, false));
    // Offload is not for those who do not know what it does.
    assert!(matches!(obfuscate(Mode::Offload), Err(ClientError::NotUnderstood)));
}

#[test]
fn the_cap_and_the_clock_stop_everything_but_what_is_known() {
    let service = service();
    let tile = service.apart(1.0);
    let memory = InMemory::default();
    let mut kept = memory.reopen();
    kept.state.policy.per_period = Limit::new(4.0, 3600).unwrap();
    let now = std::time::Duration::from_secs(1_800_000_000);
    let mut first = client(&service.address, kept, Rehearsal::seeded(1)).clock(move || now);
    for place in &tile[..2] {
        first.obfuscate(service.near(*place), Mode::Published).unwrap();
    }
    drop(first);
    // Two reports at 2/km were allowed within the hour; a third is not, in any mode, and nobody hears of it.
    for mode in MODES {
        let proxy = Proxy::honest(&service.address);
        let mut over =
            client(&proxy.address, memory.reopen(), Rehearsal::seeded(1)).clock(move || now);
        let refused = over.obfuscate(service.near(tile[2]), mode).unwrap_err();
        assert!(matches!(refused, ClientError::Ledger(_)), "{mode}: {refused}");
        let public = ["/v1/map", "/v1/manifest", "/v1/places"];
        let lines = proxy.lines();
        assert!(lines.iter().all(|line| public.iter().any(|p| line.contains(p))), "{lines:?}");
        // What is known goes on being reported.
        assert!(over.obfuscate(service.near(tile[0]), mode).unwrap().remembered.is_some());
    }
    let earlier = now - std::time::Duration::from_secs(7200);
    let mut back =
        client(&service.address, memory.reopen(), Rehearsal::seeded(1)).clock(move || earlier);
    let refused = back.obfuscate(service.near(tile[2]), Mode::Published).unwrap_err();
    assert!(refused.to_string().contains("clock"), "{refused}");
    let later = now + std::time::Duration::from_secs(3600);
    let mut fresh =
        client(&service.address, memory.reopen(), Rehearsal::seeded(1)).clock(move || later);
    fresh.obfuscate(service.near(tile[2]), Mode::Published).unwrap();
}

#[test]
fn a_report_that_was_not_sent_is_sent_again() {
    let service = service();
    let place = service.tile()[4];
    let memory = InMemory::default();
    // The service is down for reports only.
    let down = Proxy::lying(&service.address, |path, reply| {
        if path == "/v1/reports" {
            reply.status = "HTTP/1.1 500 Internal Server Error".into();
        }
    });
    let mut first = client(&down.address, memory.reopen(), Rehearsal::seeded(5));
    let failed = first.obfuscate(service.near(place), Mode::Local).unwrap_err();
    assert!(matches!(failed, ClientError::Transport(TransportError::Status { status: 500 })));
    let kept = memory.reopen();
    assert_eq!(kept.state.ledger.spends.len(), 1, "the spend is on disk before the report leaves");
    let drawn = kept.state.memory.reports[0].report;
    let mut second = client(&service.address, kept, Rehearsal::seeded(6));
    let sent = second.obfuscate(service.near(place), Mode::Local).unwrap();
    assert_eq!((sent.at, sent.spent_per_km), (drawn, 0.0));
}

#[test]
fn a_state_that_cannot_be_written_stops_the_report() {
    use lrgeo_client::state::{Keeper, Kept, State, StateError};
    struct FullDisk;
    impl Keeper for FullDisk {
        fn save(&mut self, _: &[u8]) -> Result<(), StateError> {
            let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
            Err(StateError::Io { name: "client.json".into(), source })
        }
    }
    let service = service();
    for mode in [Mode::Published, Mode::Local] {
        let proxy = Proxy::honest(&service.address);
        let http = Http::new(&format!("http://{}", proxy.address)).unwrap();
        let mut state = State::default();
        state.policy.protects = Protects::RelevantPlaces;
        let kept = Kept::new(state, FullDisk);
        let mut client = Client::rehearse(http, kept, Rehearsal::seeded(1));
        let refused = client.obfuscate(service.near(service.tile()[0]), mode).unwrap_err();
        assert!(matches!(refused, ClientError::State(_)), "{refused}");
        assert!(!proxy.saw_report());
    }
}

#[test]
fn off_the_map_nothing_is_asked_for() {
    let service = service();
    let proxy = Proxy::honest(&service.address);
    let far = service.near(0).offset_km(-300.0, 0.0);
    for mode in MODES {
        let refused = rehearsing(&proxy.address, []).obfuscate(far, mode).unwrap_err();
        assert!(matches!(refused, ClientError::OffTheMap { .. }));
        let text = refused.to_string();
        assert!(!text.contains(&format!("{:.2}", far.lat())), "{text}");
    }
    assert!(!proxy.saw_report());
}

#[test]
fn another_version_of_the_map_gets_the_old_report() {
    let old = service();
    // The same operator, a coarser map.
    let new = serve("coarser", map(650.0, 60), config());
    assert_ne!(old.catalogue.map(), new.catalogue.map());
    let spacing_km = new.catalogue.city.spacing_km();
    let (coords, later) = (old.catalogue.city.coords(), new.catalogue.city.coords());
    let distances = |place: &u32| {
        later.iter().map(|at| at.distance_km(coords[*place as usize])).fold(f64::INFINITY, f64::min)
    };
    let shared = old.tile().into_iter().find(|place| distances(place) < 0.4 * spacing_km).unwrap();
    let memory = InMemory::default();
    let mut before = client(&old.address, memory.reopen(), Rehearsal::seeded(4));
    let first = before.obfuscate(coords[shared as usize], Mode::Published).unwrap();
    drop(before);
    let [lat, lon] = first.at;
    let reported = lrgeo_geo::Coord::new(lat, lon).unwrap();
    let nearest = (0..later.len())
        .min_by(|&a, &b| later[a].distance_km(reported).total_cmp(&later[b].distance_km(reported)));
    for mode in MODES {
        let mut after = client(&new.address, memory.reopen(), Rehearsal::seeded(5));
        let moved = after.obfuscate(coords[shared as usize], mode).unwrap();
        assert_eq!((moved.report.index(), moved.spent_per_km), (nearest.unwrap(), 0.0), "{mode}");
        assert!(moved.remembered.is_some());
    }
}

#[test]
fn ten_users_share_a_round() {
    let service = service();
    let tile = service.tile();
    let users: Vec<_> = (0..10)
        .map(|i| {
            let at = service.near(tile[i * tile.len() / 10]);
            let address = service.address.clone();
            std::thread::spawn(move || {
                let kept = InMemory::default().reopen();
                let mut client = client(&address, kept, Rehearsal::seeded(i as u64));
                client.obfuscate(at, Mode::Offload).unwrap().learnt
            })
        })
        .collect();
    let rounds: Vec<Learnt> = users.into_iter().map(|user| user.join().unwrap()).collect();
    let shared =
        |learnt: &Learnt| matches!(learnt, Learnt::Coefficients { users, .. } if *users > 1);
    assert!(rounds.iter().filter(|learnt| shared(learnt)).count() >= 2, "{rounds:?}");
}

#[test]
fn nobody_there_is_said_so() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let service = service();
    let refused = rehearsing(&unused.to_string(), []).obfuscate(service.near(0), Mode::Published);
    let refused = refused.unwrap_err();
    assert!(matches!(refused, ClientError::Transport(TransportError::Unreachable(_))), "{refused}");
}
