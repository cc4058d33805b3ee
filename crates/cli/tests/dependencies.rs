//! What this project is built of: licences, sources, crates that must not be there, versions that are there twice, and the Rust that all of it needs.
//!
//! `cargo-deny` does the same and more, but fetches a database of advisories and compiles for minutes; this asks cargo, offline, in a second.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Licences that Apache-2.0 code may be distributed with, without more than naming them.
const LICENCES: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // Data: Mozilla's list of certificate authorities (webpki-roots).
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Not even as a dependency of a dependency, for any platform or feature: system libraries and what builds or finds them. `ring`, for TLS, is
/// the one crate that needs a C compiler, and brings `cc` along.
const BANNED: [&str; 9] = [
    "openssl",
    "openssl-sys",
    "native-tls",
    "cmake",
    "bindgen",
    "clang-sys",
    "pkg-config",
    "vcpkg",
    "aws-lc-sys",
];

/// Crates of which more than one version is locked, because others ask for different ones. One that is not here is new: see whether an update makes it
/// one again, else add it with who asks for it. Crates for Windows alone are not counted.
const TWICE: [&str; 13] = [
    // faer and its own parts, nano-gemm and spindle.
    "equator",
    "equator-macro",
    // ring, for TLS; ahash, of parquet; and everybody else.
    "getrandom",
    // petgraph (a benchmark) and indexmap.
    "hashbrown",
    // which, of the code generator of osmpbf, and tempfile.
    "linux-raw-sys",
    // parquet; and x509-parser, which rcgen (tests) could use.
    "num-bigint",
    // The same as getrandom's, on machines without a system.
    "r-efi",
    "rustix",
    // clap, and darling, which clarabel derives with.
    "strsim",
    // Macros: old ones (darling), many (enum_dispatch, zerocopy) and new ones (serde).
    "syn",
    // clarabel and protobuf, and everybody else.
    "thiserror",
    "thiserror-impl",
    // clarabel; indicatif and microlp.
    "web-time",
];

/// What of this project cargo would build here, with default features.
fn built() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("packages") };
    assert!(packages.len() > 100, "{} packages", packages.len());
    packages
}

/// Name, version and source of everything that is locked, whatever the platform and the features.
fn locked() -> Vec<(String, String, Option<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let text = std::fs::read_to_string(path).expect("a lock file");
    let field = |package: &str, name: &str| {
        let start = format!("{name} = \"");
        let line = package.lines().find_map(|line| line.strip_prefix(start.as_str()));
        line.map(|rest| rest.trim_end_matches('"').to_owned())
    };
    let packages = text.split("[[package]]").skip(1);
    packages
        .map(|p| (field(p, "name").unwrap(), field(p, "version").unwrap(), field(p, "source")))
        .collect()
}

/// Whether a licence expression can be met with [`LICENCES`]: one of what `OR` offers, all of what `AND` asks for. As cargo writes them, `AND` binds closer, and
/// parentheses stand around what `OR` offers.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let expression = expression.trim();
    if let Some((inside, rest)) = expression.strip_prefix('(').and_then(|e| e.split_once(')')) {
        let rest = rest.trim();
        return is_allowed(inside) && rest.strip_prefix("AND ").is_none_or(is_allowed);
    }
    expression
        .split(" OR ")
        .any(|choice| choice.split(" AND ").all(|licence| LICENCES.contains(&licence.trim())))
}

#[test]
fn every_licence_is_one_that_we_may_pass_on() {
    for package in built() {
        let name = &package["name"];
        let licence = package["license"].as_str().unwrap_or_else(|| panic!("{name}: no licence"));
        assert!(is_allowed(licence), "{name}: {licence}");
    }
    assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0") && is_allowed("LGPL-2.1/MIT"));
    for refused in ["GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0) AND MIT", "SSPL-1.0 OR GPL-3.0", ""] {
        assert!(!is_allowed(refused), "{refused}");
    }
}

#[test]
fn nothing_comes_from_elsewhere_and_nothing_is_banned() {
    let locked = locked();
    assert!(locked.len() > 100, "{} packages", locked.len());
    for (name, _, source) in &locked {
        assert!(!BANNED.contains(&name.as_str()), "{name} is banned");
        let is_ours = name.starts_with("lrgeo");
        let from_registry = source.as_ref().is_some_and(|from| from.starts_with("registry+"));
        assert!(is_ours != from_registry, "{name} comes from {source:?}");
    }
}

#[test]
fn no_crate_is_there_in_more_versions_than_are_known() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, version, _) in locked().into_iter().filter(|(name, ..)| !name.starts_with("windows"))
    {
        versions.entry(name).or_default().insert(version);
    }
    let twice: Vec<&str> =
        versions.iter().filter(|(_, v)| v.len() > 1).map(|(name, _)| name.as_str()).collect();
    assert_eq!(twice, TWICE, "crates that are locked in several versions");
}

/// The Rust that Cargo.toml states is no older than what any dependency asks for; `./test` checks our own code with that very version.
#[test]
fn no_dependency_needs_a_newer_rust_than_we_state() {
    let version = |text: &str| {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().expect("a number"));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    };
    let packages = built();
    let ours = packages.iter().filter(|package| package["source"].is_null());
    let stated: BTreeSet<&str> = ours
        .map(|package| package["rust_version"].as_str().expect("every crate of ours states it"))
        .collect();
    let [stated] = Vec::from_iter(stated)[..] else { panic!("more than one version is stated") };
    let mut newest = (0, 0, 0);
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        if let Some(needs) = package["rust_version"].as_str() {
            assert!(version(needs) <= version(stated), "{} needs Rust {needs}", package["name"]);
            newest = newest.max(version(needs));
        }
    }
    assert_eq!(
        newest,
        version(stated),
        "no dependency needs Rust {stated} any more: state less, if our code allows it"
    );
}
