//! A disk that is full, and later is not: on a small one of the test's own, in memory.

mod common;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Answer, Running, Scratch, config, map};

/// A file system of a few megabytes; gone when dropped.
struct SmallDisk(Scratch);

impl SmallDisk {
    /// `None` where this account may not mount.
    fn new(megabytes: usize) -> Option<Self> {
        let scratch = Scratch::new();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "lrgeo-test"])
            .arg(&scratch.0)
            .output();
        mounted.is_ok_and(|done| done.status.success()).then_some(Self(scratch))
    }

    fn path(&self) -> &Path {
        &self.0.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

fn report(server: &Running) -> Answer {
    let body = serde_json::json!({ "map": server.catalogue.map(), "place": 3 });
    server.post_json("/v1/reports", &body)
}

fn count(answer: &Answer) -> u64 {
    answer.json::<serde_json::Value>()["reports"].as_u64().unwrap()
}

#[test]
fn a_full_disk_is_said_and_survived() {
    let Some(disk) = SmallDisk::new(24) else {
        eprintln!("skipped: this account cannot mount a small disk");
        return;
    };
    let mut config = config(2);
    config.privacy.local = false;
    let server = Running::start(map(12), &disk.path().join("data"), &config);
    assert_eq!(count(&report(&server)), 1);
    assert_eq!(server.get("/readyz", &[]).status, 200);

    let filler = disk.path().join("filler");
    let fill = || {
        let mut file = std::fs::File::create(&filler).unwrap();
        while std::io::Write::write_all(&mut file, &[7; 4096]).is_ok() {}
    };
    for times in 1..=3 {
        fill();
        // Free pages of the file may take some reports yet; the first that needs the disk fails.
        let begun = Instant::now();
        let mut counted = 0;
        loop {
            let answer = report(&server);
            if answer.status != 200 {
                assert_eq!(answer.status, 500, "{}", answer.text());
                break;
            }
            counted = count(&answer);
            assert!(begun.elapsed() < Duration::from_secs(60), "the disk is never full");
        }
        assert_eq!(server.get("/readyz", &[]).status, 503, "time {times}");
        assert_eq!(server.get("/healthz", &[]).status, 200);
        assert_eq!(server.get("/v1/manifest", &[]).status, 200);

        std::fs::remove_file(&filler).unwrap();
        let freed = Instant::now();
        while server.get("/readyz", &[]).status != 200 {
            assert!(freed.elapsed() < Duration::from_secs(10), "not ready again");
            std::thread::sleep(Duration::from_millis(100));
        }
        let now = count(&report(&server));
        assert!(now > counted, "{now} reports after {counted}: one that was answered is lost");
    }
    // What was kept is whole: it opens again.
    let last = count(&report(&server));
    server.stop();
    let server = Running::start(map(12), &disk.path().join("data"), &config);
    assert_eq!(count(&report(&server)), last + 1);
    server.stop();
}
