//! Further lies about manifest, places and tiles.

use std::sync::Arc;

use lrgeo_client::Mode;
use lrgeo_client::policy::Rule;
use lrgeo_geo::Coord;
use serde_json::json;

use crate::common::operator::Operator;
use crate::scene::{Expect, expect, identity, middle, stretched, uniform};

type Change = fn(&mut Operator);

/// Signed, well-formed, weaker than it says: manifest, places and tiles.
#[test]
fn further_lies_about_what_is_published() {
    const PRIVATE: &str = "exceed the guarantee";
    let lies: Vec<(&str, Expect, Change)> = vec![
        ("a smaller epsilon than the rows have", Expect::Lie(PRIVATE), |o| {
            o.manifest["promise"]["epsilon_per_km"] = json!(1.5);
        }),
        ("next to no epsilon", Expect::Lie(PRIVATE), |o| {
            o.manifest["promise"]["epsilon_per_km"] = json!(1e-9);
        }),
        ("gamma of a kilometre", Expect::Policy(Rule::Notion), |o| {
            o.manifest["promise"]["gamma_km"] = json!(1.0);
        }),
        ("gamma of 1e308", Expect::Policy(Rule::Notion), |o| {
            o.manifest["promise"]["gamma_km"] = json!(1e308);
        }),
        ("violations that were found", Expect::Lie("violations"), |o| {
            o.manifest["check"]["violations"] = json!(3);
        }),
        ("the rows of two places exchanged", Expect::Lie(PRIVATE), |o| {
            stretched(o, 1.0);
            let last = o.tiles.len() - 1;
            let row = o.tiles[last].1[0].clone();
            o.tiles[last].1[0] = std::mem::replace(&mut o.tiles[0].1[0], row);
        }),
        ("a map half as wide", Expect::Refused, |o| {
            let [lat, lon, _] = o.places[middle() as usize];
            for place in &mut o.places {
                place[0] = lat + 0.5 * (place[0] - lat);
                place[1] = lon + 0.5 * (place[1] - lon);
            }
        }),
        ("one spot under two names", Expect::Lie("one spot twice"), |o| {
            o.places[3][0] = o.places[4][0];
            o.places[3][1] = o.places[4][1];
        }),
        ("places half a metre apart", Expect::Lie("one spot twice"), |o| {
            o.places[3][0] = o.places[4][0] + 4e-6;
            o.places[3][1] = o.places[4][1];
        }),
        ("a house with seventy doors", Expect::Policy(Rule::LikelyPlaces), |o| {
            house(o, 0.01);
            uniform(o);
        }),
        ("everybody at one place", Expect::Policy(Rule::LikelyPlaces), |o| {
            o.places.iter_mut().for_each(|place| place[2] = 1e-9);
            o.places[5][2] = 1.0;
        }),
        ("everybody at ten places", Expect::Policy(Rule::LikelyPlaces), |o| {
            o.places.iter_mut().skip(10).for_each(|place| place[2] = 0.0);
        }),
        ("a prior that is none", Expect::Lie("no weight"), |o| o.places[2][2] = f64::NAN),
        ("a negative prior", Expect::Lie("no weight"), |o| o.places[2][2] = -0.1),
        ("no prior at all", Expect::Lie("no weight"), |o| {
            o.places.iter_mut().for_each(|place| place[2] = 0.0);
        }),
        ("coordinates that are none", Expect::Lie("coordinates"), |o| o.places[2][0] = 91.0),
        ("a place fewer", Expect::Lie("places"), |o| {
            o.places.pop();
        }),
        ("one row that says where it is", Expect::Lie(PRIVATE), |o| {
            let (places, rows) = &mut o.tiles[0];
            rows[0] = identity(places[0], rows[0].len());
        }),
        ("rows alike within tiles, not between them", Expect::Lie(PRIVATE), |o| {
            for number in 0..o.tiles.len() {
                let (places, rows) = &mut o.tiles[number];
                let mut row = vec![0.0; rows[0].len()];
                places.iter().for_each(|&k| row[k as usize] = 1.0 / places.len() as f64);
                rows.iter_mut().for_each(|r| r.clone_from(&row));
            }
        }),
        ("a column that one tile has alone", Expect::Lie(PRIVATE), |o| {
            uniform(o);
            let columns = o.places.len() as f64;
            for (_, rows) in &mut o.tiles[1..] {
                for row in rows {
                    row[9] = 0.0;
                    row[10] = 2.0 / columns;
                }
            }
        }),
        ("a row that sums to less", Expect::Lie("sum to one"), |o| {
            o.tiles[0].1[0].iter_mut().for_each(|z| *z *= 0.999);
        }),
        ("sums that differ by what is let through", Expect::Lie(PRIVATE), uneven_sums),
        ("probabilities that cannot be drawn", Expect::Lie("rows"), |o| {
            uniform(o);
            for (_, rows) in &mut o.tiles {
                for row in rows {
                    row[1] += row[0] - 1e-300;
                    row[0] = 1e-300;
                }
            }
        }),
        ("a negative probability", Expect::Lie("no probability"), |o| o.tiles[0].1[0][0] = -0.1),
        ("a probability that is none", Expect::Lie("no probability"), |o| {
            o.tiles[0].1[0][0] = f64::NAN;
        }),
        ("rows in another order", Expect::Lie(PRIVATE), |o| o.tiles[0].1.reverse()),
        ("places of another tile", Expect::Lie("that the grid puts"), |o| {
            let last = o.tiles.len() - 1;
            o.tiles.swap(0, last);
            let places = o.manifest["tiles"][0]["places"].clone();
            o.manifest["tiles"][0]["places"] = o.manifest["tiles"][last]["places"].clone();
            o.manifest["tiles"][last]["places"] = places;
        }),
        ("a place in two tiles", Expect::Refused, |o| {
            let place = o.tiles[1].0[0];
            o.tiles[0].0[0] = place;
            o.tiles[0].0.sort_unstable();
        }),
        ("a place listed twice in a tile", Expect::Lie("out of order"), |o| {
            o.tiles[0].0[1] = o.tiles[0].0[0];
        }),
        ("a grid that sends everybody elsewhere", Expect::Lie("grid"), |o| {
            let tiles = o.manifest["grid"]["tiles"].as_array_mut().unwrap();
            tiles.rotate_left(1);
        }),
        ("a grid beside the map", Expect::Lie("grid"), |o| {
            o.manifest["grid"]["south_west"] = json!([0.0, 0.0]);
        }),
        ("something in the padding", Expect::Lie("padding"), |o| {
            o.spoil = Some(Arc::new(|name, bytes| {
                if name == "tile 0" {
                    bytes.extend([0, 0, 1]);
                }
            }));
        }),
        ("a tile of another mechanism", Expect::Lie("mechanism"), |o| {
            o.spoil = Some(Arc::new(|name, bytes| {
                if name == "tile 0" {
                    bytes[44] ^= 1;
                }
            }));
        }),
        ("a manifest of the format before", Expect::Lie("published again"), |o| {
            o.manifest["version"] = json!(2);
        }),
        ("a tile of another map", Expect::Lie("map version"), |o| {
            o.spoil = Some(Arc::new(|name, bytes| {
                if name == "tile 0" {
                    bytes[12] ^= 1;
                }
            }));
        }),
    ];
    for (name, expected, change) in lies {
        expect(name, Mode::Published, expected, change);
    }
}

/// All places within some metres of the middle.
fn house(operator: &mut Operator, factor: f64) {
    let [lat, lon, _] = operator.places[middle() as usize];
    for place in &mut operator.places {
        place[0] = lat + factor * (place[0] - lat);
        place[1] = lon + factor * (place[1] - lon);
    }
    let grid = &mut operator.manifest["grid"];
    for (axis, centre) in [lat, lon].into_iter().enumerate() {
        let corner = grid["south_west"][axis].as_f64().unwrap();
        grid["south_west"][axis] = json!(centre + factor * (corner - centre));
        grid["step"][axis] = json!(factor * grid["step"][axis].as_f64().unwrap());
    }
}

/// Two kinds of rows that are private as they stand, by a hair, and are not when each is scaled to a sum of one.
fn uneven_sums(operator: &mut Operator) {
    house(operator, 0.2);
    let columns = operator.places.len();
    let at: Vec<Coord> = operator.places.iter().map(|p| Coord::new(p[0], p[1]).unwrap()).collect();
    let nearest = |i: usize| {
        let others = (0..columns).filter(|&j| j != i).map(|j| at[i].distance_km(at[j]));
        others.fold(f64::INFINITY, f64::min)
    };
    let d = (0..columns).map(nearest).fold(f64::INFINITY, f64::min);
    operator.manifest["promise"]["epsilon_per_km"] = json!(1e-9 / d);
    // All rows are the same but for their sums: one part in 1e9 apart, which epsilon allows and scaling undoes; so the
    // first entry makes up for it.
    for (places, rows) in &mut operator.tiles {
        for (place, row) in places.iter().zip(rows) {
            let odd = f64::from(place % 2);
            let (share, sum) = (1.0 / columns as f64, 1.0 + 8e-10 * (odd - 0.5) * 2.0);
            *row = vec![share; columns];
            row[0] += sum - 1.0;
            if odd == 0.0 {
                row[1] += 1e-9 * share * 3.0;
                row[0] -= 1e-9 * share * 3.0;
            }
        }
    }
}
