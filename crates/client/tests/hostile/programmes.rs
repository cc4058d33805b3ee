//! Lies about what the modes `local` and `offload` solve.

use std::sync::Arc;

use lrgeo_client::policy::{Policy, Rule};
use lrgeo_client::{ClientError, Mode};
use lrgeo_protocol::public::{Range, TablePart};
use serde_json::{Value, json};

use crate::common::InMemory;
use crate::common::operator::Operator;
use crate::scene::{Expect, expect, here, honest, owner};

type Change = fn(&mut Operator);

/// 4. Programmes without privacy in them.
#[test]
fn programmes_without_privacy_are_not_solved() {
    let relevant = || Expect::Policy(Rule::RelevantPlaces);
    expect("relevant_max = 1", Mode::Local, relevant(), |o| {
        o.description.parameters.relevant_max = Some(1);
    });
    expect("relevant_max = 5", Mode::Local, relevant(), |o| {
        o.description.parameters.relevant_max = Some(5);
    });
    expect("gamma of a metre", Mode::Local, Expect::Refused, |o| {
        o.description.parameters.gamma_km = Some(0.001);
        o.description.parameters.relevant_km = 0.001;
    });
    expect("an LR set of one cell", Mode::Local, Expect::Refused, |o| {
        o.description.parameters.relevant_km = 0.1;
        o.description.parameters.gamma_km = Some(0.1);
    });
    expect("y = 0", Mode::Local, Expect::Refused, |o| {
        o.description.local.as_mut().unwrap().y.iter_mut().for_each(|y| *y = 0.0);
    });
    expect("the same, in offload", Mode::Offload, relevant(), |o| {
        o.description.parameters.relevant_max = Some(1);
    });
    expect("few rows per round", Mode::Offload, relevant(), |o| {
        o.description.rounds.most_relevant = 2;
    });
}

/// The same for description, y and slices.
#[test]
fn further_lies_about_programmes() {
    let lies: Vec<(&str, Mode, Expect, Change)> = vec![
        ("another description", Mode::Local, Expect::Lie("not the one"), |o| {
            // Shown after the manifest was signed.
            o.manifest["description"] = json!("00".repeat(32));
            o.spoil = Some(Arc::new(|name, bytes| {
                if name == "manifest" {
                    let text = String::from_utf8(bytes.clone()).unwrap();
                    let mut manifest: Value = serde_json::from_str(&text).unwrap();
                    manifest["description"] = json!("00".repeat(32));
                    *bytes = serde_json::to_vec(&manifest).unwrap();
                }
            }));
        }),
        ("a y that leaves no room", Mode::Local, Expect::Refused, |o| {
            o.description.local.as_mut().unwrap().y.iter_mut().for_each(|y| *y = *y * 1e3 + 1.0);
        }),
        ("a negative y", Mode::Local, Expect::Lie("y must be"), |o| {
            o.description.local.as_mut().unwrap().y[0] = -1.0;
        }),
        ("a y that is none", Mode::Local, Expect::Lie("y must be"), |o| {
            o.description.local.as_mut().unwrap().y[0] = f64::NAN;
        }),
        ("a y for fewer places", Mode::Local, Expect::Lie("y must be"), |o| {
            o.description.local.as_mut().unwrap().y.truncate(5);
        }),
        ("no y", Mode::Local, Expect::Refused, |o| o.description.local = None),
        ("range rule own", Mode::Local, Expect::Refused, |o| {
            o.description.parameters.range = Range::Own;
        }),
        ("another map", Mode::Local, Expect::Lie("another version of the map"), |o| {
            o.description.map = lrgeo_protocol::Digest([1; 32]);
        }),
        ("another protocol", Mode::Local, Expect::Lie("another version"), |o| {
            o.description.protocol = 99;
        }),
        ("infinite radii", Mode::Local, Expect::Lie("a phone cannot look"), |o| {
            o.description.parameters.obfuscation_km = f64::INFINITY;
        }),
        ("r_exp beyond r_obf", Mode::Local, Expect::Lie("radii.exponential"), |o| {
            o.description.parameters.exponential_km = 1e3;
        }),
        ("an epsilon of nothing", Mode::Local, Expect::Refused, |o| {
            o.description.parameters.epsilon_per_km = 0.0;
        }),
        ("an epsilon that is none", Mode::Local, Expect::Refused, |o| {
            o.description.parameters.epsilon_per_km = f64::NAN;
        }),
        ("cells for fewer places", Mode::Local, Expect::Lie("a cell and an offset"), |o| {
            o.description.ways[0].cells.truncate(2);
        }),
        ("costs without end", Mode::Local, Expect::Lie("ceiling"), |o| {
            o.description.ceiling = f64::INFINITY;
        }),
        ("no way at all", Mode::Local, Expect::Lie("are none"), |o| o.description.ways.clear()),
        ("ways that nobody goes", Mode::Local, Expect::Lie("by nobody"), |o| {
            o.description.ways[0].share = 0.0;
        }),
        ("slices of more ways than there are", Mode::Local, Expect::Lie("are not those"), |o| {
            for slice in &mut o.slices {
                slice.ways.push(slice.ways[0].clone());
            }
        }),
        ("a slice fewer", Mode::Local, Expect::Lie("one slice"), |o| drop(o.slices.pop())),
        ("slices of each other's tiles", Mode::Local, Expect::Lie("another version"), |o| {
            o.slices.rotate_left(1);
        }),
        ("a slice that lacks cells", Mode::Local, Expect::Lie("lack one"), |o| {
            for slice in ways(o) {
                slice.columns.truncate(1);
                let width = slice.rows.len();
                slice.beta.truncate(width);
            }
        }),
        ("a slice with costs that are none", Mode::Local, Expect::Lie("no cost"), |o| {
            ways(o).for_each(|slice| slice.beta[0] = f64::NAN);
        }),
        ("an epsilon above the owner's", Mode::Offload, Expect::Policy(Rule::Epsilon), |o| {
            o.description.parameters.epsilon_per_km = 3.0;
        }),
        ("no description", Mode::Offload, Expect::Refused, |o| {
            o.manifest["description"] = Value::Null;
        }),
    ];
    for (name, mode, expected, change) in lies {
        expect(name, mode, expected, change);
    }
}

/// The parts of all slices, of every way.
fn ways(operator: &mut Operator) -> impl Iterator<Item = &mut TablePart> {
    operator.slices.iter_mut().flat_map(|slice| &mut slice.ways)
}

/// Costs that lie change what a report costs, never how private it is: the matrix is checked as it is.
#[test]
fn costs_that_lie_cost_no_privacy() {
    let changes: [Change; 3] = [
        |o| ways(o).for_each(|slice| slice.beta.iter_mut().for_each(|b| *b = 0.0)),
        |o| {
            for slice in ways(o) {
                let width = slice.columns.len();
                slice.beta.iter_mut().enumerate().for_each(|(at, b)| {
                    *b = if at % width == (at / width) % width { 0.0 } else { 5.0 };
                });
            }
        },
        |o| o.description.ways[0].offsets.iter_mut().for_each(|offset| *offset = 4.0),
    ];
    for change in changes {
        let mut operator = honest();
        change(&mut operator);
        let result =
            owner(&InMemory::default(), &operator.sign(), 5).obfuscate(here(), Mode::Local);
        match result {
            Ok(outcome) => assert!(outcome.epsilon_per_km <= Policy::default().most_epsilon_per_km),
            Err(error) => {
                let known = matches!(error, ClientError::Policy(_) | ClientError::Mechanism(_));
                assert!(known, "{error}");
            }
        }
    }
}
