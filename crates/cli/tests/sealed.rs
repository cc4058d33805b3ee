//! What a stolen state file tells: nothing about where its owner was.

mod common;

use std::process::Output;

use common::served::Served;

const AT: &str = "46.0031,-30.0017";

/// Everything below a folder.
fn bytes_below(folder: &std::path::Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all.extend(if path.is_dir() { bytes_below(&path) } else { std::fs::read(&path).unwrap() });
    }
    all
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_stolen_state_file_tells_no_true_place() {
    let served = Served::new("stolen");
    let ask = format!("obfuscate --server {} --at {AT} --json -q", served.address);
    let drawn = served.json(&ask);
    // Neither the coordinate, nor the names of fields that would hold it, nor what was reported.
    let stolen = bytes_below(&served.folder.join("home"));
    for text in ["46.003", "30.001", "anchor", "reports", "ed25519", "127.0.0.1"] {
        assert!(!contains(&stolen, text), "{text}");
    }
    assert!(contains(&stolen, "lrgeo client state") && contains(&stolen, "\"sealed\""));

    // With its key it is what it was.
    assert_eq!(served.json(&ask)["geometry"], drawn["geometry"]);
    // Without it, or with another one, it opens for nobody, and no new key is made in silence.
    let key = served.folder.join("settings/lrgeo/client.key");
    let kept = std::fs::read_to_string(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let without = served.run("status");
    assert!(!without.status.success() && !key.exists(), "{}", said(&without));
    std::fs::write(served.folder.join("other.key"), format!("{}\n", "5".repeat(64))).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let exposed =
            served.command("status").env("LRGEO_STATE_KEY", "other.key").output().unwrap();
        assert!(said(&exposed).contains("chmod 600"), "{}", said(&exposed));
        let owner_only = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(served.folder.join("other.key"), owner_only).unwrap();
    }
    let other = served.command("status").env("LRGEO_STATE_KEY", "other.key").output().unwrap();
    assert!(said(&other).contains("does not open with this key"), "{}", said(&other));

    // As a service manager hands it over.
    let handed = served.folder.join("handed");
    std::fs::create_dir(&handed).unwrap();
    std::fs::rename(served.folder.join("other.key"), handed.join("lrgeo-state-key")).unwrap();
    std::fs::write(handed.join("lrgeo-state-key"), kept).unwrap();
    let status = served.command("status").env("CREDENTIALS_DIRECTORY", &handed).output().unwrap();
    assert!(status.status.success(), "{}", said(&status));
}

#[test]
fn a_plain_state_of_before_is_sealed_when_it_is_opened() {
    let served = Served::new("plain");
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../client/tests/golden/state.json");
    let plain = std::fs::read_to_string(golden).unwrap();
    assert!(plain.contains("45.0001"), "a true coordinate");
    let path = served.folder.join("mine.json");
    std::fs::write(&path, plain).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let status = served.json("status --state mine.json --json");
    assert_eq!(status["reports"].as_array().unwrap().len(), 2, "nothing is forgotten");
    let sealed = std::fs::read(&path).unwrap();
    assert!(!contains(&sealed, "45.0001") && contains(&sealed, "\"version\": 4"));
    assert_eq!(served.json("status --state mine.json --json"), status);
}
