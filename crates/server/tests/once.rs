//! From a map to what is served, nothing is computed or verified twice: whoever gets something gets the proof with it.

mod common;

use std::collections::BTreeMap;
use std::sync::Mutex;

use common::{Scratch, config, map};
use lrgeo_map::progress::Progress;
use lrgeo_map::travel::TREES;
use lrgeo_server::{Catalogue, Home};

/// How often each step was begun, and of how many units it was in all.
#[derive(Default)]
struct Counted(Mutex<BTreeMap<&'static str, [u64; 2]>>);

impl Progress for Counted {
    fn begin(&self, step: &'static str, total: u64) {
        let mut steps = self.0.lock().unwrap();
        let [times, units] = steps.entry(step).or_default();
        (*times, *units) = (*times + 1, *units + total);
    }
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}

impl Counted {
    /// The steps of a start on a data directory, and how many tiles were there in the end.
    fn start(data: &std::path::Path) -> (Self, u64) {
        let counted = Self::default();
        let home = Home { data, tiles: None, key: None, retiring_key: None, solving: None };
        let catalogue =
            Catalogue::open(map(30), &home, &config(2), 1_800_000_000, &counted).unwrap();
        (counted, catalogue.tiles.tiles.len() as u64)
    }

    fn of(&self, step: &str) -> [u64; 2] {
        self.0.lock().unwrap().get(step).copied().unwrap_or_default()
    }
}

const PAIRS: &str = "verifying pairs of places";
const READ_BACK: &str = "reading tiles as a phone does";
const READ: &str = "verifying tiles";
const CELLS: &str = "cells of places";

#[test]
fn a_first_start_computes_and_verifies_everything_once() {
    let scratch = Scratch::new();
    let targets = map(30).targets.len() as u64;
    let (first, tiles) = Counted::start(&scratch.0);
    // One tree per target, read by the losses between places, the cost table and the estimates of the service.
    assert_eq!(first.of(TREES), [1, targets]);
    assert_eq!(first.of(CELLS), [1, 30]);
    // The mechanism, and the matrix that the public y is from.
    assert_eq!(first.of(PAIRS), [2, 60]);
    // What is published was read before it was written, and is not read again.
    assert_eq!((first.of(READ_BACK), first.of(READ)), ([1, tiles], [0, 0]));

    // Later, what is on disk is believed once it was verified, and nothing is made.
    let (second, tiles) = Counted::start(&scratch.0);
    assert_eq!((second.of(TREES), second.of(CELLS)), ([1, targets], [1, 30]));
    assert_eq!((second.of(PAIRS), second.of(READ_BACK)), ([0, 0], [0, 0]));
    assert_eq!(second.of(READ), [1, tiles]);
}
