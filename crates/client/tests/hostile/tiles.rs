//! Tiles that would give away who fetches them.

use std::sync::Arc;

use lrgeo_client::{Learnt, Mode};
use serde_json::{Value, json};

use crate::common::InMemory;
use crate::scene::{here, honest, owner, refused_as};

/// 3. One tile per place: the request would name the place.
#[test]
fn tiles_of_one_place_hide_as_well_as_others() {
    let mut operator = honest();
    let singles: Vec<(Vec<u32>, Vec<Vec<f64>>)> = operator
        .tiles
        .drain(..)
        .flat_map(|(places, rows)| places.into_iter().zip(rows))
        .map(|(place, row)| (vec![place], vec![row]))
        .collect();
    let entry = |_: &(Vec<u32>, Vec<Vec<f64>>)| json!({ "hash": "", "bytes": 0, "places": 1 });
    operator.manifest["tiles"] = singles.iter().map(entry).collect();
    // Squares so fine that every place has its own; the others belong to any tile.
    let bounds = |axis: usize| {
        let values = operator.places.iter().map(|p| p[axis]);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let ((south, north), (west, east)) = (bounds(0), bounds(1));
    let (rows, columns) = (120u32, 120u32);
    let step = [(north - south) / 118.0, (east - west) / 118.0];
    let corner = [south - step[0], west - step[1]];
    let mut named = vec![0u32; (rows * columns) as usize];
    for (number, (places, _)) in singles.iter().enumerate() {
        let [lat, lon, _] = operator.places[places[0] as usize];
        let cell = |value: f64, axis: usize| ((value - corner[axis]) / step[axis]).floor() as u32;
        named[(cell(lat, 0) * columns + cell(lon, 1)) as usize] = number as u32;
    }
    operator.manifest["grid"] = json!({
        "side_km": 0.1, "south_west": corner, "step": step, "rows": rows, "columns": columns, "tiles": named,
    });
    operator.tiles = singles;
    // `local` has one slice per tile; it is not what this is about.
    operator.manifest["description"] = Value::Null;
    let shown = operator.sign();
    let outcome =
        owner(&InMemory::default(), &shown, 5).obfuscate(here(), Mode::Published).unwrap();
    assert!(matches!(outcome.learnt, Learnt::Tiles { fetched: 70, of: 70, .. }));

    // Where all of them are too much, as many as leave enough likely places: never the one alone.
    let memory = InMemory::default();
    let mut phone = owner(&memory, &shown, 6);
    phone.policy_mut().fetch_all_bytes = 0;
    let outcome = phone.obfuscate(here(), Mode::Published).unwrap();
    let Learnt::Tiles { fetched, likely_places, .. } = outcome.learnt else { panic!("no tiles") };
    assert!((30..70).contains(&fetched) && likely_places >= 20.0, "{fetched}: {likely_places}");
    assert_eq!(memory.reopen().state.memory.hidden.len(), 1);

    // A field that claims a number is no field any more.
    operator.manifest["tiles"][0]["effective_places"] = json!(50.0);
    refused_as(&operator.sign(), &InMemory::default(), Mode::Published, "effective_places");
}

#[test]
fn one_spot_is_not_hidden_among_ever_new_tiles() {
    // The same map cut another way each time, and tiles that fail: what the sets share would be the user.
    let memory = InMemory::default();
    let (mut sets, mut shown, mut operator) = (Vec::new(), honest().sign(), honest());
    assert!(operator.tiles.len() > 2, "the map has several tiles");
    for version in 0..6u32 {
        operator = operator.following(&shown);
        // Prior and with it the list of places change a little; so does the hash of the tiling.
        operator.places[version as usize][2] *= 1.5;
        operator.spoil = Some(Arc::new(|name, bytes| {
            if name.starts_with("tile") {
                bytes.truncate(100);
            }
        }));
        shown = operator.sign();
        let mut phone = owner(&memory, &shown, u64::from(version)).consent(true);
        phone.policy_mut().fetch_all_bytes = 0;
        phone.policy_mut().least_likely_places = 5.0;
        let error = phone.obfuscate(here(), Mode::Published).unwrap_err();
        sets.push(error.to_string());
    }
    assert_eq!(memory.reopen().state.memory.hidden.len(), 3, "{sets:#?}");
    assert!(sets[5].contains("cut into tiles anew"), "{}", sets[5]);
}
