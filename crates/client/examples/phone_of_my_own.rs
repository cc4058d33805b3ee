//! A phone in a program of one's own: the network, the storage and the clock are yours, and `lrgeo-client` says what to do with them.
//!
//! Here the "network" is a folder that an operator has published, as on a web server for static files; it is the same loop with `fetch` in a browser or with sockets.
//!
//! `cargo run --example phone_of_my_own -p lrgeo-client --no-default-features`

use std::path::Path;
use std::time::{Duration, SystemTime};

use lrgeo_client::state::State;
use lrgeo_client::transport::{Answer, TransportError};
use lrgeo_client::{ClientError, Mode, Outcome, Phone, Step};
use lrgeo_geo::Coord;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::Received;
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::PublicKey;

/// My clock.
fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// My network: files of a folder. A report goes nowhere but to the screen.
fn ask(folder: &Path, request: &Request, most_bytes: u64) -> Result<Answer, TransportError> {
    let file = match request {
        Request::Manifest => "manifest.json".to_owned(),
        Request::Signature => "manifest.sig".to_owned(),
        Request::Places(hash) => format!("places/{hash}.lrplaces"),
        Request::Noise(hash) => format!("noise/{hash}.lrnoise"),
        Request::Report(report) => {
            println!("  sent: place {}, and nothing else", report.place.0);
            let body = Encoding::Cbor.encode(&Received { reports: 1 });
            return Ok(Answer { body, key: None });
        }
        _ => return Err(TransportError::Status { status: 404 }),
    };
    println!("  asked for {}", file.split('/').next().unwrap_or_default());
    let body = std::fs::read(folder.join(file));
    let body = body.map_err(|error| TransportError::Unreachable(error.to_string()))?;
    match body.len() as u64 <= most_bytes {
        true => Ok(Answer { body, key: None }),
        false => Err(TransportError::TooLong { most_bytes }),
    }
}

/// One report: whatever the phone says, do it, and tell it what came of it.
fn report(
    phone: &mut Phone,
    storage: &mut Vec<u8>,
    folder: &Path,
    at: Coord,
) -> Result<Outcome, ClientError> {
    let mut steps = phone.obfuscate(at, Mode::Coordinates);
    loop {
        match steps.next() {
            Step::Ask { request, most_bytes } => steps.answer(ask(folder, &request, most_bytes)),
            Step::Keep(text) => {
                *storage = text;
                steps.kept(Ok(()));
            }
            Step::Done(outcome) => return *outcome,
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("lrgeo-phone-{}", std::process::id()));
    let (key, here) = operator(&folder)?;

    let (server, mut storage) = ("https://places.example", Vec::new());
    let mut phone = Phone::new(server, State::default(), now).key(Some(key));
    println!("first report:");
    let first = report(&mut phone, &mut storage, &folder, here)?;
    println!(
        "  {:.2}/km, {} m off at most (with 95 %)",
        first.epsilon_per_km,
        first.accuracy.map_or(0, |a| a.metres)
    );

    // The program ends and starts again; what it stored is all that it knows.
    let state = State::from_bytes(&storage, "my storage")?;
    let mut phone = Phone::new(server, state, now).key(Some(key));
    println!("fifty metres on, after a restart:");
    let again = report(&mut phone, &mut storage, &folder, here.offset_km(0.03, 0.04))?;
    assert_eq!(again.report, first.report);
    println!("  the same report again; spent {}/km on it", again.spent_per_km);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// What somebody else does, somewhere else: makes noise for a city, signs and publishes it. Returns the key, and where I am.
fn operator(folder: &Path) -> Result<(PublicKey, Coord), Box<dyn std::error::Error>> {
    use lrgeo_map::utility::UtilityKind;
    use lrgeo_mechanism::publish::publish;
    use lrgeo_mechanism::{City, Plan, build, by_name};
    use lrgeo_tiles::{Epsilon, Issued, Link, SecretKey};

    let map = lrgeo_show::demo::demo_map(1, lrgeo_geo::units::Length::from_m(500.0)?)?;
    let version = map.version();
    let city = City::new(map, version, UtilityKind::TravelDistance, &())?;
    let built = build(by_name("laplace")?, &city, &Plan::new(&city, Epsilon::per_km(2.0)?), &())?;
    let key = SecretKey::generate()?;
    let link = Link::first(Issued::from_unix(now().as_secs()), 365, key.public());
    publish(&built, version, None, link, &key, &())?.write(folder)?;
    Ok((key.public(), city.coords()[140].offset_km(0.1, 0.1)))
}
