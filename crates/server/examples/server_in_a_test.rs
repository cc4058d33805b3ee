//! A whole server inside a test: on a free port, in a folder of its own, stopped at the end.
//!
//! `cargo run --example server_in_a_test -p lrgeo-server`

use lrgeo_geo::PlaceId;
use lrgeo_geo::units::Length;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::path;
use lrgeo_protocol::public::{MapDescription, Received, Targets};
use lrgeo_protocol::quiet::{Report, ReportedPlace, Request};
use lrgeo_server::{Config, Home, Server};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("lrgeo-server-example-{}", std::process::id()));
    std::fs::create_dir_all(&data)?;
    let map = lrgeo_show::demo::demo_map(1, Length::from_m(500.0)?)?;
    let map = map.with_places(&map.central_block(60));
    let mut config = Config::default();
    config.privacy.most_tail = 1.0; // sixty places are few: reports out of range are not rare

    let home = Home { data: &data, tiles: None, key: None, retiring_key: None, solving: None };
    let server = Server::open(map, &home, &config, "127.0.0.1:0", &()).await?;
    let (address, stopper) = (server.url(), server.stopper());
    let running = tokio::spawn(server.run());
    println!(
        "listening on a free port, with a mechanism that was made, verified and signed just now"
    );

    // Requests wait, so they have a thread of their own.
    let asked = tokio::task::spawn_blocking(move || talk(&address)).await?;
    stopper.stop();
    running.await?;
    std::fs::remove_dir_all(&data)?;
    asked.map_err(|error| error.to_string().into())
}

/// What a client would say.
fn talk(address: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let cbor = Encoding::Cbor;
    let get = |path: &str| -> Result<Vec<u8>, ureq::Error> {
        let request = ureq::get(format!("{address}{path}")).header("Accept", cbor.media_type());
        request.call()?.body_mut().read_to_vec()
    };
    let description: MapDescription = cbor.decode(&get(path::MAP)?)?;
    println!(
        "map: {} ways to go, epsilon {}/km",
        description.ways.len(),
        description.parameters.epsilon_per_km
    );

    let report = Report::new(description.map, ReportedPlace(PlaceId::new(17)));
    let sent = ureq::post(format!("{address}{}", path::REPORTS))
        .header("Content-Type", cbor.media_type())
        .header("Accept", cbor.media_type())
        .send(&cbor.encode(&report)[..]);
    let received: Received = cbor.decode(&sent?.body_mut().read_to_vec()?)?;
    println!("report {} was taken", received.reports);

    let targets: Targets = cbor.decode(&get(&Request::Targets(report).path())?)?;
    let nearest = targets.targets.first().ok_or("a city has targets")?;
    println!("the nearest target is {:.2} km from place 17", nearest.estimated_km);
    Ok(())
}
