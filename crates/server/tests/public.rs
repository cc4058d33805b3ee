//! What everybody gets: description, tiles, slices, targets; and the OpenAPI document against the
//! handlers.

mod common;

use common::{Running, Scratch, bearer, config, map};
use lrgeo_geo::Digest;
use lrgeo_geo::PlaceId;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::TableCircle;
use lrgeo_protocol::public::{MapDescription, Received, TableTile, Targets};
use lrgeo_protocol::quiet::{Report, ReportedPlace};
use lrgeo_protocol::{Reason, path};
use lrgeo_tiles::{Envelope, PublicKey, SignedManifest};
use serde_json::Value;

fn description(server: &Running) -> MapDescription {
    server.message(path::MAP)
}

/// The manifest that is served.
fn manifest(server: &Running) -> SignedManifest {
    let text = server.get(path::MANIFEST, &[]);
    let key: PublicKey = text.header("x-lrgeo-key").parse().unwrap();
    let signature = server.get(path::SIGNATURE, &[]).body;
    Envelope { bytes: text.body, signature }.open(&key).unwrap()
}

#[test]
fn the_description_is_the_one_that_the_manifest_speaks_of() {
    let scratch = Scratch::new();
    let server = Running::start(map(30), &scratch.0, &config(2));
    let json = description(&server);
    let cbor = server.get(path::MAP, &[("accept", "application/cbor")]);
    assert_eq!(cbor.header("content-type"), "application/cbor");
    assert_eq!(Encoding::Cbor.decode::<MapDescription>(&cbor.body).unwrap(), json);
    let signed = manifest(&server);
    assert_eq!(signed.manifest().description, Some(Digest::of(&cbor.body)));
    assert_eq!(signed.manifest().map, json.map);
    assert_eq!(server.get(path::MAP, &[("accept", "text/html")]).reason(), Reason::NotAcceptable);

    // The same server on the same data says the same, signature included.
    server.stop();
    let again = Running::start(map(30), &scratch.0, &config(2));
    assert_eq!((description(&again), manifest(&again)), (json, signed.clone()));
    again.stop();

    // Other settings: a new manifest after the old one, which is still there for those who know no later one.
    let other = Running::start(map(30), &scratch.0, &config(3));
    let next = manifest(&other);
    let after = signed.tip().next(next.envelope().clone()).unwrap();
    assert_eq!(after.link().sequence, signed.link().sequence + 1);
    let path = path::file(path::MANIFESTS, signed.digest());
    assert_eq!(other.get(&path, &[]).body, signed.envelope().bytes);
    assert_eq!(other.get(&format!("{path}/signature"), &[]).body, signed.envelope().signature);
    let unknown = path::file(path::MANIFESTS, Digest([7; 32]));
    assert_eq!(other.get(&unknown, &[]).reason(), Reason::NotFound);
}

#[test]
fn keys_hand_over() {
    use lrgeo_mechanism::publish::save_new_key;
    use lrgeo_server::{Catalogue, Home};
    use lrgeo_tiles::SecretKey;
    let scratch = Scratch::new();
    let paths = ["old.key", "new.key"].map(|name| scratch.0.join(name));
    let keys = [[1; 32], [2; 32]].map(|seed| SecretKey::from_seed(seed).unwrap());
    keys.iter().zip(&paths).for_each(|(key, path)| save_new_key(key, path).unwrap());
    let open = |key: usize, retiring: Option<usize>| {
        let home = Home {
            data: &scratch.0.join("data"),
            tiles: None,
            key: Some(&paths[key]),
            retiring_key: retiring.map(|key| paths[key].as_path()),
            solving: None,
        };
        Catalogue::open(map(30), &home, &config(2), 1_800_000_000, &())
    };
    let signed = |catalogue: &Catalogue, key: usize| {
        let [bytes, signature] = catalogue.manifest.clone().map(|file| file.bytes.to_vec());
        Envelope { bytes, signature }.open(&keys[key].public()).unwrap()
    };
    let old = signed(&open(0, None).unwrap(), 0);
    // Another key out of nowhere is not what clients would follow.
    let refused = open(1, None).err().unwrap().to_string();
    assert!(refused.contains("`retiring_key`"), "{refused}");
    let catalogue = open(1, Some(0)).unwrap();
    let new = signed(&catalogue, 1);
    assert_eq!(new.link().sequence, old.link().sequence + 2);
    // In between, the old key names the new one.
    let hash = new.link().previous.unwrap();
    let [bytes, signature] = catalogue.earlier[&hash].clone().map(|file| file.bytes.to_vec());
    let between = old.tip().next(Envelope { bytes, signature }).unwrap();
    assert_eq!(between.link().next_key, keys[1].public());
    between.tip().next(new.envelope().clone()).unwrap();
    // From then on the new key alone.
    assert_eq!(signed(&open(1, None).unwrap(), 1), new);
    assert!(open(0, None).is_err());
}

#[test]
fn tiles_are_immutable_and_verified_by_their_names() {
    let scratch = Scratch::new();
    let server = Running::start(map(30), &scratch.0, &config(2));
    let about = description(&server);
    let manifest = manifest(&server).manifest().clone();
    let places = server.get(&path::file(path::PLACES, manifest.places.hash), &[]);
    let places = manifest.open_places(&places.body).unwrap();
    assert_eq!(places.coords().len(), 30);
    let members = manifest.members(&places).unwrap();

    for (number, entry) in manifest.tiles.iter().enumerate() {
        let path = path::file(path::TILES, entry.hash);
        let tile = server.get(&path, &[]);
        manifest.open_tile(number, &members[number], &tile.body).unwrap();
        assert!(tile.header("cache-control").contains("immutable"));
        let tag = tile.header("etag").to_owned();
        let again = server.get(&path, &[("if-none-match", &tag)]);
        assert_eq!((again.status, again.body.len()), (304, 0));

        let named = about.local.as_ref().unwrap().table_tiles[number];
        let path = path::file(path::TABLE_TILES, named.hash);
        let slice = server.get(&path, &[("accept", "application/cbor")]);
        assert_eq!(Digest::of(&slice.body), named.hash);
        assert_eq!(slice.body.len() as u64, named.bytes);
        let json: TableTile = server.message(&path);
        assert_eq!(json, slice.json());
        let part = &json.ways[0];
        assert_eq!(part.beta.len(), part.rows.len() * part.columns.len());
    }
    let unknown = server.get(&path::file(path::TILES, Digest([7; 32])), &[]);
    assert_eq!((unknown.status, unknown.reason()), (404, Reason::NotFound));
    assert_eq!(server.get("/v1/tiles/..%2f..%2foperator.key", &[]).reason(), Reason::NotFound);
}

#[test]
fn reports_are_counted_and_answered() {
    let scratch = Scratch::new();
    let server = Running::start(map(30), &scratch.0, &config(2));
    let about = description(&server);
    let report = |place| Report::new(about.map, ReportedPlace(place));
    for n in 1..=3 {
        let received: Received = server.post_json(path::REPORTS, &report(PlaceId::new(4))).json();
        assert_eq!(received.reports, n);
    }
    server.stop();
    let server = Running::start(map(30), &scratch.0, &config(2));
    let received: Received = server.post_json(path::REPORTS, &report(PlaceId::new(5))).json();
    assert_eq!(received.reports, 4, "counts survive the process");

    let path = format!("{}?map={}&place=4&limit=5", path::TARGETS, about.map);
    let targets: Targets = server.message(&path);
    let targets = targets.targets;
    assert_eq!(targets.len(), 5);
    assert!(targets.windows(2).all(|two| two[0].estimated_km <= two[1].estimated_km));
}

#[test]
fn a_circle_holds_the_cells_of_its_places() {
    let scratch = Scratch::new();
    let server = Running::start(map(30), &scratch.0, &config(2));
    let about = description(&server);
    let path = format!("{}?map={}&centre=7&radius_km=1.3", path::TABLE_CIRCLE, about.map);
    let circle: TableCircle = server.message(&path);
    let city = map(30);
    let coord = |v: usize| city.places[v].coord;
    let inside = |v: &usize| coord(*v).distance_km(coord(7)) <= 1.3;
    let mut cells: Vec<u32> = (0..30).filter(inside).map(|v| about.ways[0].cells[v]).collect();
    cells.sort_unstable();
    cells.dedup();
    let [way] = circle.ways.as_slice() else { panic!("one way") };
    assert_eq!(way.cells, cells);
    assert_eq!(way.beta.len(), cells.len() * cells.len());
}

/// Checks a value against a schema of the document; as much of JSON Schema as the document uses.
fn check(value: &Value, schema: &Value, document: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = document.pointer(&reference[1..]).unwrap_or_else(|| panic!("{reference}"));
        return check(value, schema, document, at);
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let fits = |one: &Value| {
                let checked = || check(value, one, document, at);
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(checked)).is_ok()
            };
            assert!(choices.iter().any(fits), "{at}: none of the choices fits {value}");
            return;
        }
    }
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{at}: {value} is none of {allowed:?}");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    let is = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        other => panic!("{at}: type {other}"),
    };
    assert!(types.iter().any(is), "{at}: {value} is not {types:?}");
    if let Some(object) = value.as_object() {
        for required in schema["required"].as_array().into_iter().flatten() {
            let name = required.as_str().unwrap();
            assert!(object.contains_key(name), "{at}: {name} is missing");
        }
        for (name, member) in object {
            // A map from names has one schema for all of them.
            let named = &schema["properties"][name];
            let member_schema =
                if named.is_null() { &schema["additionalProperties"] } else { named };
            assert!(!member_schema.is_null(), "{at}: {name} is not in the schema");
            check(member, member_schema, document, &format!("{at}.{name}"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        check(item, &schema["items"], document, &format!("{at}[]"));
    }
}

#[test]
fn the_openapi_document_is_what_the_handlers_do() {
    let scratch = Scratch::new();
    let mut settings = config(1);
    settings.handover.stream = true;
    let wanted = lrgeo_server::WantedToken {
        name: "reader".into(),
        scopes: vec![lrgeo_server::Scope::Stream],
        per_second: None,
        lifetime_seconds: None,
    };
    let issue = |file: &mut lrgeo_server::TokenFile| file.issue(&wanted, 1000);
    let reader = lrgeo_server::TokenFile::change(&scratch.0, issue).unwrap().0;
    let reader = format!("Bearer {reader}");
    let server = Running::start(map(30), &scratch.0, &settings);
    let document: Value = server.message(path::OPENAPI);
    let about = description(&server);
    let users = common::Users::new(map(30), &config(1));
    let upload = users.upload(9);
    let ticket = server.join(&upload);
    server.state(&ticket, 50);
    let manifest: Value = server.message(path::MANIFEST);
    let previous = manifest["link"]["previous"].as_str().unwrap().to_owned();
    let table_tile = about.local.as_ref().unwrap().table_tiles[0].hash.to_string();

    let page: Value = server.get("/v1/page", &[]).json();

    let paths = document["paths"].as_object().unwrap();
    let mut tried = 0;
    for (template, methods) in paths {
        let hash = match template.as_str() {
            "/v1/manifests/{hash}" | "/v1/manifests/{hash}/signature" => previous.as_str(),
            "/v1/noise/{hash}" => manifest["noise"]["hash"].as_str().unwrap(),
            "/v1/places/{hash}" => manifest["places"]["hash"].as_str().unwrap(),
            "/v1/tiles/{hash}" => manifest["tiles"][0]["hash"].as_str().unwrap(),
            "/v1/page/files/{hash}" => page["streets"].as_str().unwrap(),
            _ => &table_tile,
        };
        let query = match template.as_str() {
            path::TABLE_CIRCLE => format!("?map={}&centre=3&radius_km=1", about.map),
            path::TARGETS => format!("?map={}&place=3", about.map),
            _ => String::new(),
        };
        let path = template.replace("{hash}", hash).replace("{ticket}", &ticket.ticket);
        let path = path.replace("{users}", "2") + &query;
        for (method, operation) in methods.as_object().unwrap() {
            let answer = match (method.as_str(), template.as_str()) {
                ("get", path::STREAM) => server.get(&path, &[("authorization", &reader)]),
                ("get", _) => server.get(&path, &[("authorization", &bearer(&ticket))]),
                ("post", path::ROUNDS) => server.post_json(&path, &upload),
                ("post", path::REPORTS) => {
                    let report = Report::new(about.map, ReportedPlace(PlaceId::new(3)));
                    server.post_json(&path, &report)
                }
                other => panic!("{other:?} is not tried by this test"),
            };
            let response = &operation["responses"][answer.status.to_string()];
            assert!(answer.status < 300 && !response.is_null(), "{path}: {}", answer.text());
            let content = &response["content"]["application/json"]["schema"];
            if !content.is_null() {
                check(&answer.json(), content, &document, template);
            }
            tried += 1;
            // Another method is refused, so the document is not too narrow either.
            let other = match method.as_str() {
                "post" => server.get(&path, &[]),
                _ => server.post(&path, "application/json", b"{}"),
            };
            let expected = match template.as_str() {
                // Who may is asked before what.
                path::STREAM => Reason::Unauthorised,
                _ => Reason::MethodNotAllowed,
            };
            assert_eq!(other.reason(), expected, "{path}");
        }
    }
    assert_eq!(tried, 24);
    // Whatever may be refused before a handler is asked is in the document, with the ways to be let in.
    let reports = &document["paths"][path::REPORTS]["post"];
    for status in ["401", "403", "413", "415", "429", "503"] {
        assert!(reports["responses"][status].is_object(), "{status}");
    }
    assert_eq!(reports["security"][1]["api_token"][0], "report");
    assert_eq!(document["components"]["securitySchemes"]["api_token"]["scheme"], "bearer");
    assert_eq!(server.get("/v1/elsewhere", &[]).reason(), Reason::NotFound);
    let refusal: Value = server.get("/v1/elsewhere", &[]).json();
    check(&refusal, &document["components"]["schemas"]["Refusal"], &document, "refusal");
}

#[test]
fn messages_are_the_same_in_both_encodings_over_the_wire() {
    let scratch = Scratch::new();
    let server = Running::start(map(30), &scratch.0, &config(1));
    let about = description(&server);
    let report = Report::new(about.map, ReportedPlace(PlaceId::new(1)));
    for (encoding, media) in Encoding::ALL {
        let answer = server.post(path::REPORTS, media, &encoding.encode(&report));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

#[test]
fn a_request_that_never_ends_is_ended() {
    use std::io::{Read, Write};
    let mut config = config(1);
    config.limits.request_seconds = 1.0;
    let scratch = Scratch::new();
    let server = Running::start(map(30), &scratch.0, &config);
    let address = server.url.strip_prefix("http://").unwrap();
    let mut slow = std::net::TcpStream::connect(address).unwrap();
    slow.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
    let head = "POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    slow.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 2000];
    let length = slow.read(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]);
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("timed_out"), "{answer}");
    assert_eq!(server.get(path::HEALTH, &[]).status, 200, "and others are served");
}
