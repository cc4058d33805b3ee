//! Golden files: bytes that are committed, so that a change of an encoder is noticed. Both ends of this project write and read with the same code; without
//! them a change of both would pass every other test, and every phone in the field would be refused.
//!
//! `LRGEO_GOLDEN=write cargo test -p lrgeo-tiles -p lrgeo-protocol -p lrgeo-client --test golden` writes them anew, on purpose: with a new version of the format.

use std::path::PathBuf;

/// The committed bytes of `name`, which must be what this code makes. Names that end in `.hex` are kept as lines of 32 bytes.
pub fn golden(folder: &str, name: &str, made: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(folder).join(name);
    let is_hex = name.ends_with(".hex");
    if std::env::var_os("LRGEO_GOLDEN").is_some_and(|word| word == "write") {
        let text = if is_hex { to_lines(made) } else { made.to_vec() };
        std::fs::write(&path, text).expect("the golden file can be written");
    }
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let kept = if is_hex { from_lines(&text) } else { text };
    let differs = kept.iter().zip(made).position(|(a, b)| a != b);
    let differs = differs.or((kept.len() != made.len()).then_some(kept.len().min(made.len())));
    assert_eq!(differs, None, "{name}: what is written now differs from this byte on");
    kept
}

fn to_lines(bytes: &[u8]) -> Vec<u8> {
    let line = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>() + "\n";
    bytes.chunks(32).map(line).collect::<String>().into_bytes()
}

fn from_lines(text: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = text.iter().copied().filter(|c| !c.is_ascii_whitespace()).collect();
    let digit = |c: u8| char::from(c).to_digit(16).expect("a hexadecimal digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
