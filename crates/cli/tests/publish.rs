//! `lrgeo key` and `lrgeo publish` as an operator runs them.

mod common;

use common::Scratch;
use lrgeo_mechanism::publish::Directory;
use lrgeo_tiles::PublicKey;
use serde_json::Value;

#[test]
fn a_key_is_made_once_and_shown() {
    let scratch = Scratch::new("key");
    let public = scratch.succeed("key new");
    assert!(public.trim().parse::<PublicKey>().is_ok(), "{public}");
    assert_eq!(scratch.succeed("key show lrgeo.key"), public);
    let shown: Value = serde_json::from_str(&scratch.succeed("key show lrgeo.key --json")).unwrap();
    assert_eq!(shown["public_key"], public.trim());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = scratch.0.join("lrgeo.key");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let secret = std::fs::read_to_string(scratch.0.join("lrgeo.key")).unwrap();
    assert!(scratch.fail("key new").contains("not overwritten"));
    assert_eq!(std::fs::read_to_string(scratch.0.join("lrgeo.key")).unwrap(), secret);
    assert!(scratch.fail("key show absent.key").contains("absent.key"));
}

#[test]
fn a_mechanism_is_published_once() {
    let scratch = Scratch::new("publish");
    scratch.succeed("map build --demo --cell 1km -o city.lrmap");
    scratch.succeed(
        "mechanism build city.lrmap --kind exp --all-pairs --epsilon 1.5/km -o city.lrmech",
    );
    let public: PublicKey = scratch.succeed("key new -o operator.key").trim().parse().unwrap();
    let command =
        "publish city.lrmech -o tiles --key operator.key --tile-places 8 --issued 2026-11-16";
    let text = scratch.succeed(command);
    assert!(text.contains("likely") && text.contains(&public.to_string()), "{text}");
    assert!(text.contains("tells nothing more than its report"), "{text}");

    let directory = Directory::open(&scratch.0.join("tiles"), &public).unwrap();
    let manifest = directory.manifest();
    assert_eq!(manifest.link.issued.to_string(), "2026-11-16T00:00:00Z");
    assert!(manifest.tiles.len() > 3);
    let members = manifest.members(&directory.places().unwrap()).unwrap();
    for (number, members) in members.iter().enumerate() {
        directory.tile(number, members).unwrap();
    }
    // The next one follows it.
    scratch.succeed(
        "publish city.lrmech -o next --key operator.key --tile-places 16 --after tiles --valid-days 30",
    );
    let next = Directory::open(&scratch.0.join("next"), &public).unwrap().signed;
    directory.signed.tip().next(next.envelope().clone()).unwrap();
    assert_eq!(next.link().sequence, 2);
    std::fs::remove_dir_all(scratch.0.join("next")).unwrap();

    let json = scratch.succeed(&format!("{command} --map city.lrmap --quiet --json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["written"], false);
    assert_eq!(json["tiles"].as_array().unwrap().len(), manifest.tiles.len());
    assert_eq!(json["tiles"][0]["places"], manifest.tiles[0].places);
    // The more tiles a phone fetches, the less they say; all of them say nothing.
    let leak = &json["leak"];
    assert_eq!(leak["tiles"][0]["places"], manifest.tiles[0].places);
    assert!(leak["tiles"][0]["likely"].as_f64().unwrap() >= 8.0);
    let fetching = leak["guesses"]["fetching"].as_array().unwrap();
    let right: Vec<f64> = fetching.iter().map(|with| with["right"].as_f64().unwrap()).collect();
    assert!(right.len() > 2 && right.windows(2).all(|w| w[0] > w[1]), "{right:?}");
    assert_eq!(fetching.last().unwrap()["fetched"], manifest.tiles.len());
    assert_eq!(fetching.last().unwrap()["right"], leak["guesses"]["with_report"]);
    assert!(leak["borders"]["separated"].as_u64().unwrap() > 0);

    let before = scratch.names();
    let other = scratch.fail("publish city.lrmech -o tiles --key operator.key --tile-places 16");
    assert!(other.contains("never change"), "{other}");
    scratch.fail("publish city.lrmech -o absent/tiles --key operator.key");
    scratch.fail("publish city.lrmap -o new --key operator.key");
    scratch.fail("publish city.lrmech -o new --key absent.key");
    scratch.fail("publish city.lrmech -o new --key operator.key --tile-places 0");
    scratch.fail("publish city.lrmech -o new --key operator.key --issued yesterday");
    scratch.succeed("map build --demo --seed 2 --cell 1km -o other.lrmap");
    let stale = scratch.fail("publish city.lrmech -o new --key operator.key --map other.lrmap");
    assert!(stale.contains("version"), "{stale}");
    std::fs::remove_file(scratch.0.join("other.lrmap")).unwrap();
    assert_eq!(scratch.names(), before, "nothing is left behind");
}

#[test]
fn noise_for_coordinates_is_one_signed_file() {
    let scratch = Scratch::new("noise");
    scratch.succeed("map build --demo --cell 1km -o city.lrmap");
    scratch.succeed("mechanism build city.lrmap --kind laplace --epsilon 1/km -o city.lrmech");
    let public: PublicKey = scratch.succeed("key new -o operator.key").trim().parse().unwrap();
    let text = scratch.succeed("publish city.lrmech -o public --key operator.key");
    assert!(text.contains("everybody fetches the same file"), "{text}");
    let directory = Directory::open(&scratch.0.join("public"), &public).unwrap();
    let manifest = directory.manifest();
    assert!(manifest.tiles.is_empty() && manifest.grid.is_none());
    let places = directory.places().unwrap();
    let bytes = directory.noise(&places).unwrap().unwrap();
    assert_eq!(bytes.len() as u64, manifest.noise.as_ref().unwrap().bytes);
    let (_, proven) = manifest.open_noise(&bytes, &places).unwrap();
    assert!(proven <= 1.0 && proven > 0.999, "{proven}");
    // One byte that differs, and nothing of it is believed.
    let path = scratch.0.join("public").join(manifest.noise_path().unwrap());
    let mut spoilt = bytes.clone();
    spoilt[60] ^= 1;
    std::fs::write(&path, spoilt).unwrap();
    assert!(directory.noise(&places).is_err());
}

#[test]
fn a_mechanism_of_a_round_is_refused() {
    let scratch = Scratch::new("round");
    scratch.succeed("map build --demo --cell 1km -o city.lrmap");
    scratch.succeed(
        "mechanism build city.lrmap --kind lr-geo --epsilon 1.5/km --users random:2 -o round.lrmech",
    );
    scratch.succeed("key new -o operator.key");
    let error = scratch.fail("publish round.lrmech -o tiles --key operator.key");
    assert!(error.contains("lr-geo") && error.contains("one round"), "{error}");
    assert_eq!(scratch.names(), ["city.lrmap", "operator.key", "round.lrmech"]);
}
