//! Noise around where somebody really stands: "factor 2 within 300 m", for every two coordinates of a city.
//!
//! `cargo run --example noise_for_people -p lrgeo-mechanism`

use lrgeo_geo::units::Length;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::City;
use lrgeo_mechanism::coordinates::noise_for;
use lrgeo_tiles::Privacy;
use lrgeo_tiles::sample::{SystemRandomness, Urn};
use lrgeo_tiles::verify::coordinates::account;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked: Privacy = "factor 2 within 300 m".parse()?;
    let map = lrgeo_show::demo::demo_map(1, Length::from_m(500.0)?)?;
    let version = map.version();
    let city = City::new(map, version, UtilityKind::TravelDistance, &())?;
    let noise = noise_for(&city, asked.epsilon, &())?;

    // What it promises is worked out from the numbers of the mechanism, whoever made it.
    let proven = account(&noise).epsilon();
    assert!(proven <= asked.epsilon.value());
    println!(
        "asked for {:.4}/km, proven {proven:.4}/km between any two coordinates",
        asked.epsilon.value()
    );

    // Two people, 200 m apart: how much does any report tell them apart?
    let here = city.coords()[140];
    let there = here.offset_km(0.16, 0.12);
    let (Some(one), Some(other)) = (noise.row_at(here), noise.row_at(there)) else {
        return Err("both are in the city".into());
    };
    let ratios = one.iter().zip(&other).filter(|(z, _)| **z > 0.0).map(|(a, b)| (a / b).max(b / a));
    let (largest, km) = (ratios.fold(1.0, f64::max), here.distance_km(there));
    println!(
        "{:.0} m apart: no report is more than {largest:.3} times as likely from one as from the other",
        1000.0 * km
    );
    assert!(largest <= (asked.epsilon.value() * km).exp());

    let report = Urn::new(&one)?.draw(&mut SystemRandomness)?;
    let away = here.distance_km(city.coords()[report]);
    println!("a report: place {report}, {away:.2} km from where its author stands");
    Ok(())
}
