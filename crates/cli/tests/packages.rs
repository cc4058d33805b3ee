//! What others get who depend on one of our crates: all that a registry shows, and no stray file.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn cargo(arguments: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(root).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The crates that are published.
fn published() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let mut metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("packages") };
    // `publish = false` is an empty list of registries.
    packages.into_iter().filter(|package| package["publish"].is_null()).collect()
}

#[test]
fn every_crate_says_what_it_is() {
    let packages = published();
    assert_eq!(packages.len(), 11, "benchmarks are not published, all others are");
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let count = |field: &str| package[field].as_array().map_or(0, Vec::len);
        assert!((20..140).contains(&text("description").len()), "{name}: description");
        assert!((1..=5).contains(&count("keywords")), "{name}: a registry takes five keywords");
        assert!((1..=5).contains(&count("categories")), "{name}: categories");
        assert_eq!(text("license"), "Apache-2.0", "{name}");
        assert_eq!(text("readme"), "README.md", "{name}");
        assert!(!text("rust_version").is_empty(), "{name}: rust-version");
        for dependency in package["dependencies"].as_array().unwrap() {
            let (other, kind) = (dependency["name"].as_str().unwrap(), &dependency["kind"]);
            let has_version = dependency["req"] != "*";
            assert!(kind == "dev" || has_version, "{name}: no version of {other}");
        }
    }
}

#[test]
fn packages_have_what_belongs_to_them_and_nothing_else() {
    // Files that are large for a reason would be named here.
    const MOST_BYTES: u64 = 100_000;
    // MapLibre, and what solves mode `local`, in one piece each.
    const MOST_BYTES_OF_PAGE: u64 = 1_500_000;
    for package in published() {
        let name = package["name"].as_str().unwrap();
        let folder =
            Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned();
        let listed = cargo(&["package", "--list", "--allow-dirty", "--offline", "-p", name]);
        let files: BTreeSet<&str> = listed.lines().collect();
        let entry = if name == "lrgeo" { "src/main.rs" } else { "src/lib.rs" };
        for wanted in ["Cargo.toml", "README.md", "LICENSE", entry] {
            assert!(files.contains(wanted), "{name} lacks {wanted}");
        }
        for file in files {
            let made = ["Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json"].contains(&file);
            let known = ["Cargo.toml", "README.md", "LICENSE"].contains(&file)
                || file.starts_with("src/")
                || file.starts_with("examples/");
            // The page that the server compiles in, as `web/` built it.
            if name == "lrgeo-server" && file.starts_with("page/") {
                let bytes = std::fs::metadata(folder.join(file)).map_or(0, |file| file.len());
                assert!(bytes < MOST_BYTES_OF_PAGE, "{file} has {bytes} bytes");
                continue;
            }
            assert!(made || known, "{name} would ship {file}");
            let is_source =
                [".rs", ".css", ".svg", ".toml", ".md"].iter().any(|end| file.ends_with(end));
            assert!(made || file == "LICENSE" || is_source, "{name} would ship {file}");
            let bytes = std::fs::metadata(folder.join(file)).map_or(0, |file| file.len());
            assert!(bytes < MOST_BYTES, "{name}: {file} has {bytes} bytes");
        }
    }
}
