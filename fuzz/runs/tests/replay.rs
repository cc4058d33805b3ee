//! Every target over its corpus, and over mutations of it: what libFuzzer does with instrumented code, as far as stable goes.
//!
//! `LRGEO_FUZZ_SECONDS=60 cargo test -p lrgeo-fuzz-runs --test replay -- --nocapture` mutates for a minute per target and says how often each ran.
//! What panics is written to `fuzz/corpus/TARGET/` and stays there as a regression.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lrgeo_fuzz_runs::TARGETS;
use lrgeo_geo::rng::SplitMix;

/// No input of a corpus may take longer, on a machine that has other things to do.
const LONGEST: Duration = Duration::from_secs(20);

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(target)
}

fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let entries =
        std::fs::read_dir(corpus(target)).unwrap_or_else(|_| panic!("{target} has no corpus"));
    let mut inputs: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
        })
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn every_target_survives_its_corpus() {
    for (target, run) in TARGETS {
        let inputs = inputs(target);
        assert!(!inputs.is_empty(), "{target} has an empty corpus");
        for (name, bytes) in inputs {
            let begun = Instant::now();
            run(&bytes);
            assert!(begun.elapsed() < LONGEST, "{target}/{name} took {:?}", begun.elapsed());
        }
        run(b"");
    }
    let known = std::fs::read_dir(corpus(""))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    for folder in known {
        assert!(
            TARGETS.iter().any(|(target, _)| *target == folder),
            "{folder} belongs to no target"
        );
    }
}

/// Changes some bytes, cuts, doubles or splices; numbers that readers like least are put in more often than others.
fn mutated(inputs: &[(String, Vec<u8>)], rng: &mut SplitMix) -> Vec<u8> {
    let below = |rng: &mut SplitMix, n: usize| (rng.unit() * n as f64) as usize;
    let mut bytes = inputs[below(rng, inputs.len())].1.clone();
    for _ in 0..=below(rng, 4) {
        let at = below(rng, bytes.len().max(1));
        match below(rng, 7) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << below(rng, 8),
            1 if !bytes.is_empty() => bytes[at] = below(rng, 256) as u8,
            2 => bytes.truncate(at),
            3 => {
                let other = &inputs[below(rng, inputs.len())].1;
                let from = below(rng, other.len().max(1)).min(other.len());
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            4 => {
                let odd = [
                    &b"\xff\xff\xff\xff\xff\xff\xff\xff"[..],
                    b"\0\0\0\0\0\0\0\0",
                    b"\xff\xff\xff\x7f",
                    b"1e400",
                    b"-1",
                    b"NaN",
                    b"[[[[",
                ];
                let odd = odd[below(rng, odd.len())];
                let end = (at + odd.len()).min(bytes.len());
                bytes.splice(at.min(bytes.len())..end, odd.iter().copied());
            }
            5 if bytes.len() < 1 << 16 => {
                let end = (at + 1 + below(rng, 64)).min(bytes.len());
                let piece = bytes[at.min(end)..end].to_vec();
                bytes.splice(at.min(bytes.len())..at.min(bytes.len()), piece);
            }
            _ => {
                let end = (at + 1 + below(rng, 16)).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
        }
    }
    bytes
}

#[test]
fn every_target_survives_mutations_of_its_corpus() {
    let seconds: f64 =
        std::env::var("LRGEO_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0.5);
    let only = std::env::var("LRGEO_FUZZ_TARGET").ok();
    let seed: u64 =
        std::env::var("LRGEO_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut failed = Vec::new();
    for (target, run) in
        TARGETS.into_iter().filter(|(target, _)| only.as_deref().is_none_or(|only| only == *target))
    {
        let (inputs, mut rng) = (inputs(target), SplitMix::new(seed));
        let (begun, mut runs, mut longest) = (Instant::now(), 0u64, Duration::ZERO);
        while begun.elapsed().as_secs_f64() < seconds {
            let bytes = mutated(&inputs, &mut rng);
            let one = Instant::now();
            if std::panic::catch_unwind(|| run(&bytes)).is_err() {
                let path =
                    corpus(target).join(format!("panic-{}", lrgeo_geo::Digest::of(&bytes).short()));
                std::fs::write(&path, &bytes).unwrap();
                failed.push(path.display().to_string());
                break;
            }
            longest = longest.max(one.elapsed());
            runs += 1;
        }
        println!(
            "{target:14} {runs:9} executions, the longest {:.1} ms",
            1000.0 * longest.as_secs_f64()
        );
    }
    assert!(failed.is_empty(), "panicked on {failed:?}");
}
