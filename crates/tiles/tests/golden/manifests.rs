//! The manifest, its signature, and the one that follows it.

use lrgeo_geo::Digest;
use lrgeo_tiles::{Envelope, PublicKey, SignedManifest, TileError, Tip};
use serde_json::{Value, json};

use super::files::golden;
use super::twin::one_bit_off;
use super::{FOLDER, city, kind};

/// Both manifests as they are committed, with their signatures.
fn kept() -> [Envelope; 2] {
    let [one, two] = city::chain();
    let pair = |name: &str, signed: &SignedManifest| {
        let Envelope { bytes, signature } = signed.envelope();
        let bytes = golden(FOLDER, &format!("{name}.json"), bytes);
        Envelope { bytes, signature: golden(FOLDER, &format!("{name}.sig.hex"), signature) }
    };
    [pair("manifest", &one), pair("manifest-next", &two)]
}

fn open(key: &PublicKey, envelope: &Envelope) -> Result<SignedManifest, TileError> {
    envelope.clone().open(key)
}

#[test]
fn the_chain_of_two() {
    let keys = city::keys().map(|key| key.public());
    let [first, second] = kept();
    let one = open(&keys[0], &first).unwrap();
    assert_eq!(one, city::chain()[0]);
    assert_eq!(one.tip().next(second.clone()).unwrap(), city::chain()[1]);
    assert_eq!(second.claimed_link().unwrap(), city::chain()[1].link());
    assert_eq!(
        keys[0].to_string(),
        "ed25519:8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c",
        "the public key of 32 ones, as every Ed25519 has it"
    );

    // The old key may not sign once it has named another, nor may a manifest follow itself.
    let after = |envelope: Envelope| one.tip().next(envelope);
    let old_key = Envelope::seal(second.bytes.clone(), &city::keys()[0]);
    assert_eq!(kind(&after(old_key).unwrap_err()), "signature");
    assert_eq!(kind(&after(first.clone()).unwrap_err()), "signature");
    let [_, key] = city::keys();
    let twins = [
        ("/link/sequence", json!(3), "manifest: link"),
        ("/link/previous", json!(Digest::of(b"another")), "manifest: link"),
        ("/link/previous", json!(null), "manifest: link"),
        ("/link/issued", json!("2027-01-14T00:00:00Z"), "older"),
    ];
    for (field, value, expected) in twins {
        let twin = Envelope::seal(changed(&second.bytes, field, value), &key);
        assert_eq!(kind(&after(twin).unwrap_err()), expected, "{field}");
    }
    let elsewhere = Tip { digest: Digest::of(b"another"), ..one.tip() };
    assert_eq!(kind(&elsewhere.next(second).unwrap_err()), "manifest: link");
}

#[test]
fn a_signature_is_one_keys_of_one_text() {
    let [first, second] = kept();
    let Envelope { bytes, signature } = &first;
    let key = city::keys()[0].public();
    let refused = |bytes: &[u8], signature: &[u8], why: &str| {
        let error =
            open(&key, &Envelope { bytes: bytes.to_vec(), signature: signature.to_vec() }).err();
        assert!(matches!(error, Some(TileError::Signature)), "{why}: {error:?}");
    };
    one_bit_off(signature).for_each(|twin| refused(bytes, &twin, "a bit of the signature"));
    one_bit_off(bytes).step_by(5).for_each(|twin| refused(&twin, signature, "a bit of the text"));
    for length in [0, 32, 63] {
        refused(bytes, &signature[..length], "cut off");
    }
    refused(bytes, &[&signature[..], &[0]].concat(), "with a byte more");
    refused(bytes, &[0; 64], "zeros");
    refused(bytes, &second.signature, "that of another manifest");
    refused(bytes, &city::keys()[1].sign(bytes), "that of another key");
    refused(bytes, &with_order_added(signature), "s + l: the same number, written otherwise");
}

/// The same signature with the order l of the group added to s, which sloppy verifiers take for another valid one.
fn with_order_added(signature: &[u8]) -> Vec<u8> {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut twin = signature.to_vec();
    let mut carry = 0;
    for (byte, add) in twin[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(carry, 0);
    twin
}

/// The text with another value somewhere.
fn changed(bytes: &[u8], field: &str, value: Value) -> Vec<u8> {
    let mut text: Value = serde_json::from_slice(bytes).unwrap();
    *text.pointer_mut(field).unwrap_or_else(|| panic!("no {field}")) = value;
    serde_json::to_vec(&text).unwrap()
}

/// What a reader says about a text that the operator signed.
fn said(bytes: Vec<u8>) -> Option<String> {
    let key = &city::keys()[0];
    Envelope::seal(bytes, key).open(&key.public()).err().map(|error| kind(&error))
}

#[test]
fn signed_lies_are_named_by_field() {
    let [Envelope { bytes, .. }, _] = kept();
    assert_eq!(said(bytes.clone()), None);
    let hash = Digest::of(b"some").to_string();
    let twins = [
        ("/format", json!("lrgeo client state"), "manifest: format"),
        ("/version", json!(2), "other format: manifest"),
        ("/version", json!(4), "other format: manifest"),
        ("/version", json!(-3), "manifest: text"),
        ("/link/sequence", json!(0), "manifest: link"),
        ("/link/sequence", json!(2), "manifest: link"),
        ("/link/previous", json!(hash), "manifest: link"),
        ("/link/expires", json!("2027-01-15T08:00:00Z"), "manifest: expires"),
        ("/link/expires", json!("2030-01-15T08:00:00Z"), "manifest: expires"),
        ("/link/expires", json!("2027-02-30T08:00:00Z"), "manifest: text"),
        ("/link/issued", json!(1_800_000_000), "manifest: text"),
        ("/link/next_key", json!(hash), "manifest: text"),
        ("/link/next_key", json!(format!("ed25519:{}", "0".repeat(64))), "manifest: text"),
        ("/map", json!(hash.to_uppercase()), "manifest: text"),
        ("/map", json!(hash[1..]), "manifest: text"),
        ("/mechanism", json!(null), "manifest: text"),
        ("/promise/epsilon_per_km", json!(0.0), "manifest: promise"),
        ("/promise/epsilon_per_km", json!(-1.5), "manifest: promise"),
        ("/promise/epsilon_per_km", json!(null), "manifest: text"),
        ("/promise/gamma_km", json!(0.0), "manifest: promise"),
        ("/promise/gamma_km", json!(-1.0), "manifest: promise"),
        ("/check/violations", json!(1), "manifest: check"),
        ("/places/places", json!(PLACES_OFF), "manifest: tiles"),
        ("/places/bytes", json!(-1), "manifest: text"),
        ("/grid", json!(null), "manifest: grid"),
        ("/grid/side_km", json!(0.0), "manifest: grid"),
        ("/grid/step/1", json!(-0.0768), "manifest: grid"),
        ("/grid/rows", json!(u32::MAX), "manifest: grid"),
        ("/grid/columns", json!(3), "manifest: grid"),
        ("/grid/tiles", json!([0, 2]), "manifest: grid"),
        ("/grid/tiles", json!([0, 0]), "manifest: grid"),
        ("/tiles/0/places", json!(0), "manifest: tiles"),
        ("/tiles/0/places", json!(2_001), "manifest: tiles"),
        ("/tiles/1/places", json!(5), "manifest: tiles"),
        ("/tiles", json!([]), "manifest: tiles"),
    ];
    for (field, value, expected) in twins {
        let twin = changed(&bytes, field, value.clone());
        assert_eq!(said(twin).as_deref(), Some(expected), "{field} {value}");
    }
}

const PLACES_OFF: u32 = city::PLACES - 1;

#[test]
fn texts_that_are_no_manifest() {
    let [Envelope { bytes, .. }, _] = kept();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let broken = |text: String| {
        assert_eq!(said(text.clone().into_bytes()).as_deref(), Some("manifest: text"), "{text}");
    };
    broken(text.replace("0.625", "NaN"));
    broken(text.replace("0.625", "Infinity"));
    broken(text.replace("0.625", "1e999"));
    broken(text.clone() + "{}");
    broken(format!("\u{feff}{text}"));
    for length in (0..text.trim_end().len()).step_by(7) {
        broken(text[..length].to_owned());
    }
    let whole: Value = serde_json::from_str(&text).unwrap();
    let fields: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
    for field in fields {
        let mut twin = whole.clone();
        twin.as_object_mut().unwrap().remove(&field);
        // What may be `null` may be left out.
        let expected = match field.as_str() {
            "optimum" | "description" | "noise" => None,
            "grid" => Some("manifest: grid"),
            _ => Some("manifest: text"),
        };
        assert_eq!(said(serde_json::to_vec(&twin).unwrap()).as_deref(), expected, "no {field}");
        let mut twin = whole.clone();
        twin.as_object_mut().unwrap().insert(format!("{field}_too"), json!(1));
        assert_eq!(said(serde_json::to_vec(&twin).unwrap()).as_deref(), Some("manifest: text"));
    }
}
