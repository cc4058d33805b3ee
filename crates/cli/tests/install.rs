//! What is installed beside the program: completions, manual pages, archive, list of parts, unit.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Scratch;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn completions_know_every_command_in_every_shell() {
    let scratch = Scratch::new("completions");
    let help = scratch.succeed("--help");
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names: Vec<&str> =
        listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 15 && names.contains(&"completions"), "{names:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = scratch.succeed(&format!("completions {shell}"));
        for name in &names {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
        assert!(script.contains("per-report"), "{shell} knows no options of commands below");
        scratch.file(&format!("lrgeo.{shell}"), &script);
        if has(shell) {
            let read =
                Command::new(shell).arg("-n").arg(scratch.path(&format!("lrgeo.{shell}"))).output();
            assert!(read.unwrap().status.success(), "{shell} cannot read its completions");
        }
    }
    assert!(scratch.fail("completions csh").contains("possible values"));
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new("man");
    scratch.succeed("man pages/man1 -q");
    let pages = std::fs::read_dir(scratch.path("pages/man1")).unwrap();
    let pages: Vec<String> = pages.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    for page in ["lrgeo.1", "lrgeo-serve.1", "lrgeo-map-build.1", "lrgeo-client-obfuscate.1"] {
        assert!(pages.iter().any(|name| name == page), "no {page} in {pages:?}");
        let text = scratch.read(&format!("pages/man1/{page}"));
        assert!(text.contains(".TH") && text.contains(".SH NAME"), "{page}");
    }
    assert!(pages.len() > 35, "{} pages", pages.len());
    assert!(
        scratch.read("pages/man1/lrgeo-map-build.1").contains("factor 2 within 300 m"),
        "examples"
    );
}

/// Two archives of one program, made at different times in different places, are the same bytes.
#[test]
fn an_archive_is_made_of_the_same_bytes_twice() {
    if !(has("tar") && has("gzip") && has("python3")) {
        eprintln!("no tar, gzip or python3: not tried");
        return;
    }
    let scratch = Scratch::new("archive");
    let archive = |out: &str, umask: &str| {
        let script =
            format!("umask {umask} && exec deploy/archive {}", scratch.path(out).display());
        let mut command = Command::new("bash");
        command.args(["-c", &script]).current_dir(root());
        command
            .env("LRGEO_BINARY", env!("CARGO_BIN_EXE_lrgeo"))
            .env("SOURCE_DATE_EPOCH", "1800000000");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut made =
            std::fs::read_dir(scratch.path(out)).unwrap().map(|entry| entry.unwrap().path());
        made.find(|path| path.extension().is_some_and(|end| end == "gz")).unwrap()
    };
    let (first, second) = (archive("one", "022"), archive("two", "077"));
    assert_eq!(first.file_name(), second.file_name());
    assert!(std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap(), "the two differ");
    let listed = Command::new("tar").arg("-tvzf").arg(&first).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    for part in [
        "bin/lrgeo",
        "man1/lrgeo-serve.1",
        "completions/lrgeo.zsh",
        "lrgeo.service",
        "sbom.cdx.json",
        "LICENSE",
    ] {
        assert!(
            listed.lines().any(|line| line.ends_with(part) && line.contains(" 0/0 ")),
            "{part}: {listed}"
        );
    }
}

#[test]
fn the_list_of_parts_has_all_of_them_with_licence_and_checksum() {
    if !has("python3") {
        eprintln!("no python3: not tried");
        return;
    }
    let output = Command::new(root().join("deploy/sbom")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bom: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&bom["bomFormat"], &bom["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    assert_eq!(bom["metadata"]["component"]["name"], "lrgeo");
    let parts = bom["components"].as_array().unwrap();
    let name = |part: &Value| part["name"].as_str().unwrap().to_owned();
    for wanted in ["lrgeo-server", "serde", "clap_mangen", "blake3"] {
        assert!(parts.iter().any(|part| name(part) == wanted), "no {wanted}");
    }
    for part in parts {
        assert!(part["licenses"][0]["expression"].is_string(), "{}", name(part));
        let ours = name(part).starts_with("lrgeo-");
        assert_eq!(part["hashes"][0]["content"].is_string(), !ours, "{}", name(part));
    }
    // Whoever is depended on is listed.
    let refs: Vec<&Value> = parts.iter().map(|part| &part["bom-ref"]).collect();
    for entry in bom["dependencies"].as_array().unwrap() {
        for needed in entry["dependsOn"].as_array().unwrap() {
            assert!(refs.contains(&needed), "{needed}");
        }
    }
}

#[test]
fn the_unit_is_one_that_systemd_reads_and_its_command_is_one_of_ours() {
    let unit = std::fs::read_to_string(root().join("deploy/lrgeo.service")).unwrap();
    let start =
        unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/lrgeo ")).unwrap();
    let scratch = Scratch::new("unit");
    // It gets as far as the map, which is not there: every option is known.
    let said = scratch.fail(start);
    assert!(said.contains("/etc/lrgeo/"), "{said}");
    for line in ["DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict", "LimitCORE=0"] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
    if !has("systemd-analyze") {
        eprintln!("no systemd: the unit is not verified");
        return;
    }
    // The program need not be installed here to have its unit read.
    let unit = unit
        .replace("/usr/bin/lrgeo", env!("CARGO_BIN_EXE_lrgeo"))
        .replace("man:lrgeo-serve(1)", "file:///");
    scratch.file("lrgeo.service", &unit);
    let verified =
        Command::new("systemd-analyze").arg("verify").arg(scratch.path("lrgeo.service")).output();
    let verified = verified.unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && !said.contains("lrgeo.service:"), "{said}");
}

/// What the Debian package and the container name is there.
#[test]
fn packages_name_files_that_exist() {
    let manifest = std::fs::read_to_string(root().join("crates/cli/Cargo.toml")).unwrap();
    let assets = manifest.split("[package.metadata.deb]").nth(1).unwrap();
    let assets = assets.split("assets = [").nth(1).unwrap().split("\n]").next().unwrap();
    let mut named = 0;
    for asset in assets.lines().filter_map(|line| line.trim().strip_prefix("[\"")) {
        let source = asset.split('"').next().unwrap();
        let made = source.contains("target/");
        assert!(made || root().join("crates/cli").join(source).exists(), "{source}");
        named += 1;
    }
    assert!(named >= 5, "{named} assets");
    let container = std::fs::read_to_string(root().join("deploy/Containerfile")).unwrap();
    assert!(container.contains("FROM scratch") && container.contains("USER 65532:65532"));
}
