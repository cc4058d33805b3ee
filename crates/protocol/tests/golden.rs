//! Golden vectors of every message in both encodings and of the path of every request (`golden/messages.txt`), and their malformed twins.

#[path = "../../tiles/tests/golden/files.rs"]
mod files;
#[path = "golden/messages.rs"]
mod messages;

use ciborium::Value as Cbor;
use files::golden;
use lrgeo_protocol::encoding::{Encoding, Malformed};
use messages::{Visit, every_message, requests};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

/// Writes down what every message looks like, and reads it back.
#[derive(Default)]
struct Book(String);

impl Visit for Book {
    fn message<T>(&mut self, name: &str, message: T)
    where
        T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        let [json, cbor] = Encoding::ALL.map(|(encoding, _)| encoding.encode(&message));
        assert_eq!(Encoding::Json.decode::<T>(&json).as_ref(), Ok(&message), "{name}");
        assert_eq!(Encoding::Cbor.decode::<T>(&cbor).as_ref(), Ok(&message), "{name}");
        let json = String::from_utf8(json).expect("JSON is text");
        self.0 += &format!("{name}\n  json {json}\n  cbor {}\n", lrgeo_geo::to_hex(&cbor));
    }
}

#[test]
fn messages_and_paths_are_the_golden_ones() {
    let mut book = Book::default();
    every_message(&mut book);
    for (name, request) in requests() {
        book.0 += &format!("request {name}\n  path {}\n", request.path());
        if let Some(body) = request.body() {
            book.0 += &format!("  body {}\n", lrgeo_geo::to_hex(&Encoding::Cbor.encode(&body)));
        }
    }
    golden(FOLDER, "messages.txt", book.0.as_bytes());
}

/// Fields that may be left out or `null`.
const OPTIONAL: [&str; 8] =
    ["gamma_km", "relevant_max", "alike", "local", "bounds", "refusal", "upper", "field"];

/// Takes every message apart.
#[derive(Default)]
struct Twins {
    refused: usize,
}

impl Twins {
    fn refuse<T: std::fmt::Debug>(&mut self, why: &str, read: Result<T, Malformed>) {
        if let Ok(message) = read {
            panic!("{why}: was taken for {message:?}");
        }
        self.refused += 1;
    }
}

impl Visit for Twins {
    fn message<T>(&mut self, name: &str, message: T)
    where
        T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        for (encoding, media) in Encoding::ALL {
            let bytes = encoding.encode(&message);
            for length in 0..bytes.len() {
                self.refuse(
                    &format!("{name}, {media}, cut at {length}"),
                    encoding.decode::<T>(&bytes[..length]),
                );
            }
            let twice = [&bytes[..], &bytes[..]].concat();
            self.refuse(&format!("{name}, {media}, twice"), encoding.decode::<T>(&twice));
            let other = Encoding::ALL.map(|(e, _)| e).into_iter().find(|e| *e != encoding);
            let other = other.expect("there are two").decode::<T>(&bytes);
            self.refuse(&format!("{name}, {media} taken for the other"), other);
        }
        let whole = serde_json::to_value(&message).expect("a message");
        for at in pointers(&whole) {
            self.fields::<T>(name, &whole, &at);
        }
        let cbor = Encoding::Cbor.encode(&message);
        for (at, head) in array_heads(&cbor) {
            // Says that it has more items than there are bytes in the world; must not make room for them.
            let mut twin = cbor[..at].to_vec();
            twin.extend([0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
            twin.extend(&cbor[at + head..]);
            self.refuse(&format!("{name}, endless at {at}"), Encoding::Cbor.decode::<T>(&twin));
        }
    }
}

impl Twins {
    /// One field missing, unknown or of another type, in both encodings.
    fn fields<T: DeserializeOwned + std::fmt::Debug>(
        &mut self,
        name: &str,
        whole: &Json,
        at: &str,
    ) {
        let mut twins = Vec::new();
        let mut twin = |why: &str, change: &dyn Fn(&mut Json)| {
            let mut value = whole.clone();
            change(value.pointer_mut(at).expect("it was found there"));
            twins.push((format!("{name}{at}, {why}"), value));
        };
        let value = whole.pointer(at).expect("it was found there");
        let field = at.rsplit('/').next().unwrap_or_default();
        if let Json::Object(fields) = value {
            twin("with a field too many", &|v| v["unheard_of"] = json!(1));
            for field in fields.keys().filter(|field| !OPTIONAL.contains(&field.as_str())) {
                twin(&format!("without {field}"), &|v| {
                    v.as_object_mut().expect("an object").remove(field);
                });
            }
        }
        let other = match value {
            Json::Number(_) => json!("41.9"),
            Json::Null | Json::Bool(_) | Json::String(_) => json!({ "a": [1] }),
            Json::Array(_) | Json::Object(_) => json!(7),
        };
        twin("of another type", &|v| *v = other.clone());
        if !value.is_null() && !OPTIONAL.contains(&field) {
            twin("null", &|v| *v = Json::Null);
        }
        if value.is_u64() {
            twin("below zero", &|v| *v = json!(-1));
            twin("beyond 64 bits", &|v| *v = serde_json::from_str("1e30").expect("a number"));
        }
        if value.is_string()
            && !["name", "message", "ticket", "token", "engine", "status", "field"].contains(&field)
        {
            twin("with a letter more", &|v| *v = json!(format!("{}a", v.as_str().expect("text"))));
        }
        for (why, twin) in twins {
            // A whole number may stand for a real one; then it is no twin.
            let why_of = |error: &Malformed| assert!(!error.0.contains("41.9"), "{why}: {error}");
            for (encoding, _) in Encoding::ALL {
                let read = encoding.decode::<T>(&encoding.encode(&twin));
                read.as_ref().err().into_iter().for_each(why_of);
                match (&read, why.ends_with("below zero") || why.ends_with("beyond 64 bits")) {
                    (Ok(_), true) if is_real(field) => {}
                    _ => self.refuse(&why, read),
                }
            }
        }
    }
}

/// Fields whose golden values look like whole numbers in JSON although they are real ones have none; items of lists have no name.
fn is_real(field: &str) -> bool {
    field.parse::<usize>().is_ok()
}

/// The pointers to all values of a document.
fn pointers(value: &Json) -> Vec<String> {
    let below = |name: String, value: &Json| -> Vec<String> {
        pointers(value).into_iter().map(|rest| format!("/{name}{rest}")).collect()
    };
    let mut all = vec![String::new()];
    match value {
        Json::Object(fields) => all.extend(fields.iter().flat_map(|(n, v)| below(n.clone(), v))),
        Json::Array(items) => {
            all.extend(items.iter().enumerate().flat_map(|(n, v)| below(n.to_string(), v)));
        }
        _ => {}
    }
    all
}

/// Where lists begin in a message, and how long their heads are: behind the names of fields.
fn array_heads(cbor: &[u8]) -> Vec<(usize, usize)> {
    let is_text = |at: usize, length: usize| {
        at > length
            && cbor[at - length - 1] == 0x60 + length as u8
            && cbor[at - length..at].iter().all(|c| c.is_ascii_lowercase() || *c == b'_')
    };
    let behind_a_name = |at: usize| (1..24).any(|length| is_text(at, length));
    let head = |at: usize| match cbor[at] {
        0x80..=0x97 => Some((at, 1)),
        0x98 => Some((at, 2)),
        _ => None,
    };
    // Of a coordinate ciborium reads two numbers, whatever its head says: no room is made, and no other message comes out.
    let is_pair = |at: usize| cbor[..at].ends_with(b"\x62at");
    (0..cbor.len()).filter(|&at| behind_a_name(at) && !is_pair(at)).filter_map(head).collect()
}

#[test]
fn malformed_twins_of_every_message_are_refused() {
    let mut twins = Twins::default();
    every_message(&mut twins);
    println!("{} twins", twins.refused);
    assert!(twins.refused > 5_000, "only {} twins were tried", twins.refused);
}

#[test]
fn malformed_cbor_is_refused_by_its_shape() {
    let report = messages::report();
    let bytes = Encoding::Cbor.encode(&report);
    let read = |bytes: &[u8]| Encoding::Cbor.decode::<lrgeo_protocol::quiet::Report>(bytes);
    assert_eq!(read(&bytes), Ok(report));
    let Ok(Cbor::Map(fields)) = ciborium::from_reader(&bytes[..]) else { panic!("no map") };
    let written = |value: &Cbor| {
        let mut bytes = Vec::new();
        ciborium::into_writer(value, &mut bytes).expect("CBOR");
        read(&bytes)
    };
    let doubled = Cbor::Map([fields.clone(), fields.clone()].concat());
    assert!(written(&doubled).is_err(), "a field twice");
    let numbered: Vec<_> = fields.iter().map(|(_, value)| (Cbor::from(1), value.clone())).collect();
    assert!(written(&Cbor::Map(numbered)).is_err(), "fields without names");
    let place = |value: Cbor| {
        let mut fields = fields.clone();
        fields[1].1 = value;
        written(&Cbor::Map(fields))
    };
    for value in
        [Cbor::Float(f64::NAN), Cbor::Float(7.5), Cbor::from(-1), Cbor::from(u64::MAX), Cbor::Null]
    {
        assert!(place(value.clone()).is_err(), "{value:?} for a place");
    }
    // A list in a list in a list ...: refused, not followed to the end of the stack.
    assert!(read(&vec![0x81; 1 << 20]).is_err());
    assert!(Encoding::Json.decode::<Json>("[".repeat(1 << 20).as_bytes()).is_err());
}
