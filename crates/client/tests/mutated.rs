//! Ten thousand signed bundles, each changed somewhere and signed again: a phone accepts one only if a slow, independent
//! reader of the same bytes agrees that it keeps the owner's policy.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::operator::{Operator, Shown};
use common::{InMemory, config, map, serve};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::policy::{Policy, Protects};
use lrgeo_client::{Client, ClientError, Mode};
use lrgeo_geo::Coord;
use lrgeo_geo::rng::SplitMix;
use lrgeo_protocol::path;
use serde_json::{Value, json};

const BUNDLES: u64 = 10_000;
/// Every so many is tried in mode `local`, where a phone solves before it knows.
const LOCAL: u64 = 12;

fn policy() -> Policy {
    Policy { protects: Protects::RelevantPlaces, least_likely_places: 20.0, ..Policy::default() }
}

fn pick(rng: &mut SplitMix, below: usize) -> usize {
    (rng.bits() % below.max(1) as u64) as usize
}

/// Numbers that have broken programs before.
fn extreme(rng: &mut SplitMix) -> f64 {
    const NUMBERS: [f64; 14] = [
        0.0,
        -0.0,
        -1.0,
        1e-300,
        5e-324,
        1e-80,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.5,
        1.0,
        1.0 + f64::EPSILON,
    ];
    NUMBERS[pick(rng, NUMBERS.len())]
}

/// Changes one leaf of a document.
fn change_json(rng: &mut SplitMix, value: &mut Value) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(pick(rng, fields.len())).unwrap().clone();
            match pick(rng, 30) {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert("extra".into(), json!(1))),
                _ => change_json(rng, fields.get_mut(&name).unwrap()),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = pick(rng, items.len());
            match pick(rng, 20) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                2 => items.swap(0, at),
                _ => change_json(rng, &mut items[at]),
            }
        }
        Value::Number(number) => {
            let old = number.as_f64().unwrap_or(1.0);
            *value = match pick(rng, 6) {
                0 => json!(old * (1.0 + 0.2 * (rng.unit() - 0.5))),
                1 => json!(old as i64 + 1),
                2 => json!(-old),
                3 => json!(extreme(rng)),
                4 => json!(old * 1000.0),
                _ => Value::Null,
            };
        }
        Value::String(text) if !text.is_empty() => {
            let at = pick(rng, text.len());
            let digit = char::from_digit(pick(rng, 16) as u32, 16).unwrap();
            text.replace_range(at..at + 1, &digit.to_string());
        }
        other => *other = json!(rng.unit()),
    }
}

/// Changes bytes somewhere.
fn change_bytes(seed: u64, bytes: &mut Vec<u8>) {
    let rng = &mut SplitMix::new(seed);
    let at = pick(rng, bytes.len());
    match pick(rng, 6) {
        0 => bytes[at] ^= 1 << pick(rng, 8),
        1 => bytes[at] = rng.bits() as u8,
        2 => bytes.truncate(at),
        3 => bytes.extend(vec![0; 1 + at % 64]),
        4 if bytes.len() > 16 => {
            // The numbers of these files begin at many offsets; hit them from the end, where values are aligned.
            let from = bytes.len() - 8 * (1 + pick(rng, bytes.len() / 8 - 1));
            bytes[from..from + 8].copy_from_slice(&extreme(rng).to_le_bytes());
        }
        _ if bytes.len() > 32 => {
            let other = pick(rng, bytes.len() - 8);
            let eight = bytes[other..other + 8].to_vec();
            let at = at.min(bytes.len() - 8);
            bytes[at..at + 8].copy_from_slice(&eight);
        }
        _ => bytes.push(1),
    }
}

/// Changes what the operator means to say.
fn change_values(rng: &mut SplitMix, o: &mut Operator) {
    let tile = pick(rng, o.tiles.len());
    let row = pick(rng, o.tiles[tile].1.len());
    let columns = o.places.len();
    let place = pick(rng, columns);
    match pick(rng, 16) {
        0 => o.places[place][0] += 1e-3 * (rng.unit() - 0.5),
        1 => o.places[place][1] += 1e-2 * (rng.unit() - 0.5),
        2 => o.places[place][2] *= 10f64.powf(8.0 * (rng.unit() - 0.5)),
        3 => o.places.iter_mut().for_each(|p| p[2] = if rng.unit() < 0.8 { 0.0 } else { p[2] }),
        4 => {
            let share = rng.unit();
            let values = &mut o.tiles[tile].1[row];
            let (from, to) = (pick(rng, columns), pick(rng, columns));
            let moved = share * values[from];
            values[from] -= moved;
            values[to] += moved;
        }
        5 => {
            let factor = 1.0 + 4e-9 * (rng.unit() - 0.5);
            o.tiles[tile].1[row].iter_mut().for_each(|z| *z *= factor);
        }
        6 => {
            let column = pick(rng, columns);
            let from = o.tiles[tile].1[row][column];
            o.tiles[tile].1[row][column] = extreme(rng);
            o.tiles[tile].1[row][(column + 1) % columns] += from;
        }
        7 => {
            let other = pick(rng, o.tiles[tile].1.len());
            o.tiles[tile].1.swap(row, other);
        }
        8 => {
            let other = pick(rng, o.tiles.len());
            o.tiles.swap(tile, other);
        }
        9 => o.manifest["promise"]["epsilon_per_km"] = json!(4.0 * rng.unit()),
        10 => o.manifest["promise"]["gamma_km"] = json!(10f64.powf(6.0 * rng.unit() - 3.0)),
        11 => {
            // All rows less private than they were, or more.
            let power = 0.8 + 0.4 * rng.unit();
            for values in o.tiles.iter_mut().flat_map(|(_, rows)| rows) {
                let sum: f64 = values.iter().map(|z| z.powf(power)).sum();
                values.iter_mut().for_each(|z| *z = z.powf(power) / sum);
            }
        }
        12 => {
            let p = &mut o.description.parameters;
            match pick(rng, 6) {
                0 => p.epsilon_per_km *= 2.0 * rng.unit(),
                1 => p.gamma_km = Some(2.0 * rng.unit()),
                2 => p.relevant_max = Some(pick(rng, 40) as u32),
                3 => p.relevant_km *= 2.0 * rng.unit(),
                4 => p.exponential_km *= 2.0 * rng.unit(),
                _ => p.obfuscation_km *= 2.0 * rng.unit(),
            }
        }
        13 => {
            let y = &mut o.description.local.as_mut().unwrap().y;
            let at = pick(rng, y.len());
            y[at] = if rng.unit() < 0.3 { extreme(rng) } else { y[at] * 2.0 * rng.unit() };
        }
        14 => {
            let slice = pick(rng, o.slices.len());
            let at = pick(rng, o.slices[slice].ways[0].beta.len());
            o.slices[slice].ways[0].beta[at] = extreme(rng);
        }
        _ => {
            let days = pick(rng, 4_000) as u64;
            let issued = lrgeo_tiles::Issued::from_unix(1_750_000_000 + days * 86_400);
            o.manifest["link"]["issued"] = json!(issued);
            o.manifest["link"]["expires"] = json!(issued.plus_days(pick(rng, 800) as u64));
        }
    }
}

fn mutate(seed: u64, honest: &Operator) -> Operator {
    let mut rng = SplitMix::new(seed);
    let mut operator = honest.clone();
    for _ in 0..1 + pick(&mut rng, 2) {
        match pick(&mut rng, 10) {
            0..=5 => change_values(&mut rng, &mut operator),
            6 | 7 => change_json(&mut rng, &mut operator.manifest),
            _ => {
                let tile = format!("tile {}", pick(&mut rng, operator.tiles.len()));
                let slice = format!("slice {}", pick(&mut rng, operator.slices.len()));
                let names =
                    ["places".to_owned(), tile, "description".into(), slice, "manifest".into()];
                let (name, seed) = (names[pick(&mut rng, names.len())].clone(), rng.bits());
                operator.spoil = Some(Arc::new(move |file, bytes| {
                    if file == name && !bytes.is_empty() {
                        change_bytes(seed, bytes);
                    }
                }));
            }
        }
    }
    operator
}

/// Reads the bytes that were shown by the tables of docs/tiles.md, without any code of the project.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken.to_vec())
    }

    fn word(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?) as usize)
    }

    fn number(&mut self) -> Option<f64> {
        Some(f64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
}

struct Read {
    epsilon: f64,
    all_pairs: bool,
    expires: String,
    /// Latitude, longitude, prior.
    places: Vec<[f64; 3]>,
    rows: Vec<Option<Vec<f64>>>,
}

fn read(shown: &Shown) -> Option<Read> {
    let manifest: Value = serde_json::from_slice(&shown.files[path::MANIFEST]).ok()?;
    let file =
        |folder: &str, hash: &Value| shown.files.get(&format!("{folder}/{}", hash.as_str()?));
    let mut list = Reader(file(path::PLACES, &manifest["places"]["hash"])?);
    list.take(8 + 4 + 32)?;
    let count = list.word()?;
    let place = |list: &mut Reader<'_>| Some([list.number()?, list.number()?, list.number()?]);
    let places: Vec<[f64; 3]> = (0..count).map(|_| place(&mut list)).collect::<Option<_>>()?;
    let mut rows = vec![None; count];
    for tile in manifest["tiles"].as_array()? {
        let mut tile = Reader(file(path::TILES, &tile["hash"])?);
        tile.take(8 + 4 + 64)?;
        let (columns, height) = (tile.word()?, tile.word()?);
        let numbers: Vec<usize> = (0..height).map(|_| tile.word()).collect::<Option<_>>()?;
        let marks = tile.take(columns.div_ceil(8))?;
        let present: Vec<usize> =
            (0..columns).filter(|k| marks[k / 8] >> (k % 8) & 1 == 1).collect();
        let tails: Vec<f64> = (0..height).map(|_| tile.number()).collect::<Option<_>>()?;
        let listed: Vec<Vec<usize>> = match tile.word()? {
            0 => vec![present.clone(); height],
            _ => {
                let lengths: Vec<usize> =
                    (0..height).map(|_| tile.word()).collect::<Option<_>>()?;
                let line = |n: usize, tile: &mut Reader<'_>| (0..n).map(|_| tile.word()).collect();
                lengths.into_iter().map(|n| line(n, &mut tile)).collect::<Option<_>>()?
            }
        };
        for ((number, tail), columns_of) in numbers.iter().zip(tails).zip(listed) {
            let mut row = vec![0.0; columns];
            present.iter().for_each(|&k| row[k] = tail);
            for k in columns_of {
                row[k] = tile.number()?;
            }
            rows[*number] = Some(row);
        }
    }
    Some(Read {
        epsilon: manifest["promise"]["epsilon_per_km"].as_f64()?,
        all_pairs: manifest["promise"]["gamma_km"].is_null(),
        expires: manifest["link"]["expires"].as_str()?.to_owned(),
        places,
        rows,
    })
}

/// Why a bundle does not keep the policy; `None` if it does.
fn objection(shown: &Shown, policy: &Policy) -> Option<String> {
    let Some(read) = read(shown) else { return Some("cannot be read".into()) };
    if !(read.epsilon > 0.0 && read.epsilon <= policy.most_epsilon_per_km && read.all_pairs) {
        return Some(format!("epsilon {}, all pairs {}", read.epsilon, read.all_pairs));
    }
    if read.expires.as_str() < "2026-11-16" {
        return Some("expired".into());
    }
    let at: Vec<Coord> =
        read.places.iter().map(|p| Coord::new(p[0], p[1])).collect::<Result<_, _>>().ok()?;
    let Some(rows) = read.rows.into_iter().collect::<Option<Vec<Vec<f64>>>>() else {
        return Some("a place has no row".into());
    };
    for (i, row) in rows.iter().enumerate() {
        let sum: f64 = row.iter().sum();
        if row.iter().any(|z| !(z.is_finite() && *z >= 0.0)) || (sum - 1.0).abs() > 2e-9 {
            return Some(format!("row {i} is no distribution"));
        }
        for (j, other) in rows.iter().enumerate().filter(|(j, _)| *j != i) {
            let total: f64 = other.iter().sum();
            let allowed = read.epsilon * at[i].distance_km(at[j]);
            for (z, w) in row.iter().zip(other).filter(|(z, _)| **z > 0.0) {
                // As drawn: each row scaled to a sum of one.
                let excess = ((z / sum) / (w / total)).ln() - allowed;
                if excess.is_nan() || excess > 1e-12 {
                    return Some(format!("rows {i} and {j} exceed by {excess:e}"));
                }
            }
        }
    }
    let mut taken = vec![false; at.len()];
    let mut weights = Vec::new();
    for i in 0..at.len() {
        let near: Vec<usize> =
            (0..at.len()).filter(|&j| !taken[j] && at[i].distance_km(at[j]) <= 0.1).collect();
        if taken[i] {
            continue;
        }
        weights.push(near.iter().map(|&j| read.places[j][2]).sum::<f64>());
        near.into_iter().for_each(|j| taken[j] = true);
    }
    let total: f64 = weights.iter().sum();
    let entropy: f64 =
        weights.iter().filter(|w| **w > 0.0).map(|w| -(w / total) * (w / total).ln()).sum();
    match entropy.exp() >= policy.least_likely_places - 1e-6 {
        true => None,
        false => Some(format!("{} likely places", entropy.exp())),
    }
}

#[test]
fn ten_thousand_mutated_bundles_are_accepted_only_if_an_independent_reader_agrees() {
    let mut config = config();
    config.privacy.tile_places = 8;
    let service = serve("mutated", map(500.0, 70), config);
    let honest = Operator::of(&service);
    assert_eq!(
        objection(&honest.sign(), &policy()),
        None,
        "the slow reader accepts the honest one"
    );
    let here = service.near(service.tile()[5]);
    let (accepted, local, refused) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let check = |seed: u64| {
        let mode = if seed.is_multiple_of(LOCAL) { Mode::Local } else { Mode::Published };
        let shown = mutate(seed, &honest).sign();
        let memory = InMemory::default();
        let mut kept = memory.reopen();
        kept.state.policy = policy();
        let mut phone = Client::rehearse(shown.clone(), kept, Rehearsal::seeded(seed));
        match phone.obfuscate(here, mode) {
            Ok(outcome) if mode == Mode::Published => {
                accepted.fetch_add(1, Ordering::Relaxed);
                let objection = objection(&shown, &policy());
                assert_eq!(objection, None, "bundle {seed} was accepted");
                assert!(outcome.epsilon_per_km <= policy().most_epsilon_per_km);
            }
            Ok(outcome) => {
                local.fetch_add(1, Ordering::Relaxed);
                assert!(outcome.epsilon_per_km <= policy().most_epsilon_per_km, "bundle {seed}");
                let compared = outcome.compared.unwrap().places;
                assert!(compared >= policy().least_relevant_places as usize, "bundle {seed}");
            }
            Err(error) => {
                refused.fetch_add(1, Ordering::Relaxed);
                let state = matches!(error, ClientError::State(_) | ClientError::Ledger(_));
                assert!(!state && shown.reports() == 0, "bundle {seed}: {error}");
                assert_eq!(phone.state().ledger.spends.len(), 0, "bundle {seed}");
            }
        }
    };
    std::thread::scope(|scope| {
        for part in 0..2 {
            let check = &check;
            scope.spawn(move || (1..=BUNDLES).filter(|seed| seed % 2 == part).for_each(check));
        }
    });
    let [accepted, local, refused] =
        [accepted, local, refused].map(|count| count.load(Ordering::Relaxed));
    println!("{accepted} accepted, {local} in `local`, {refused} refused");
    assert_eq!(accepted + local + refused, BUNDLES as usize);
    // Neither everything nor nothing: changes of costs, dates and priors weaken nothing.
    assert!(accepted > 500 && local > 100 && refused > 4_000, "{accepted}, {local}, {refused}");
}
