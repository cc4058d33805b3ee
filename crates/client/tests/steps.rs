//! A report without a network, a disk or a clock: step by step, by whoever brings these.

mod common;

use std::sync::OnceLock;
use std::time::Duration;

use common::operator::{Operator, Shown};
use common::{InMemory, Service, config, map, serve};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::policy::Protects;
use lrgeo_client::state::{State, StateError};
use lrgeo_client::transport::{Quiet, TransportError};
use lrgeo_client::{Client, ClientError, Mode, Outcome, Phone, Step};
use lrgeo_geo::Coord;
use lrgeo_protocol::quiet::Request;

const QUIET: [Mode; 3] = [Mode::Coordinates, Mode::Published, Mode::Local];

fn state() -> State {
    let mut state = State::default();
    state.policy.protects = Protects::RelevantPlaces;
    state.policy.least_likely_places = 20.0;
    state
}

fn now() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap()
}

/// One honest operator for all tests, and somebody in the middle of the map.
fn operator() -> (Operator, Coord) {
    static SERVICE: OnceLock<Service> = OnceLock::new();
    let service = SERVICE.get_or_init(|| {
        let mut config = config();
        config.privacy.tile_places = 8;
        serve("steps", map(500.0, 70), config)
    });
    (Operator::of(service), service.near(35))
}

/// What came of the steps, and what they were.
fn drive(
    phone: &mut Phone<Rehearsal>,
    shown: &Shown,
    at: Coord,
    mode: Mode,
) -> (Result<Outcome, ClientError>, Vec<String>) {
    let (mut steps, mut done) = (phone.obfuscate(at, mode), Vec::new());
    loop {
        let step = steps.next();
        if !matches!(step, Step::Done(_)) {
            // Who asks twice is told the same.
            assert_eq!(format!("{step:?}"), format!("{:?}", steps.next()));
        }
        match step {
            Step::Ask { request, most_bytes } => {
                done.push(request.path());
                steps.answer(shown.ask(&request, most_bytes));
            }
            Step::Keep(text) => {
                State::from_bytes(&text, "kept").unwrap();
                done.push("keep".into());
                steps.kept(Ok(()));
            }
            Step::Done(outcome) => return (*outcome, done),
        }
    }
}

#[test]
fn steps_lead_to_the_same_report_by_the_same_requests_as_a_client_that_waits() {
    let (operator, at) = operator();
    for mode in QUIET {
        let (waited, stepped) = (operator.sign(), operator.sign());
        let memory = InMemory::default();
        let mut kept = memory.reopen();
        kept.state = state();
        let draws = || Rehearsal::seeded(11);
        let mut client = Client::rehearse(waited.clone(), kept, draws());
        let expected = client.obfuscate(at, mode).unwrap();
        let mut phone = Phone::rehearse("http://operator", state(), now, draws());
        let (outcome, done) = drive(&mut phone, &stepped, at, mode);
        let outcome = outcome.unwrap();
        assert_eq!((outcome.report, outcome.accuracy), (expected.report, expected.accuracy));
        assert_eq!(*waited.asked.lock().unwrap(), *stepped.asked.lock().unwrap());
        let report = done.iter().position(|step| step == "/v1/reports").unwrap();
        assert_eq!(done[report - 1], "keep", "{done:?}");
        assert_eq!(done.iter().filter(|step| *step == "/v1/reports").count(), 1);
        assert_eq!(phone.state().memory, client.state().memory);
    }
}

#[test]
fn what_could_not_be_kept_is_not_sent() {
    let (operator, at) = operator();
    let shown = operator.sign();
    let mut phone = Phone::rehearse("http://operator", state(), now, Rehearsal::seeded(1));
    let mut steps = phone.obfuscate(at, Mode::Coordinates);
    let error = loop {
        match steps.next() {
            Step::Ask { request, most_bytes } => {
                assert!(!matches!(request, Request::Report(_)), "reported what nobody remembers");
                steps.answer(shown.ask(&request, most_bytes));
            }
            Step::Keep(_) => {
                let source = std::io::Error::other("full");
                steps.kept(Err(StateError::Io { name: "storage".into(), source }));
            }
            Step::Done(outcome) => break outcome.unwrap_err(),
        }
    };
    assert!(matches!(error, ClientError::State(_)), "{error}");
    assert!(matches!(steps.next(), Step::Done(over) if matches!(*over, Err(ClientError::Over))));
}

#[test]
fn whoever_brings_more_bytes_than_asked_for_is_refused() {
    let (operator, at) = operator();
    let shown = operator.sign();
    let mut phone = Phone::rehearse("http://operator", state(), now, Rehearsal::seeded(1));
    let mut steps = phone.obfuscate(at, Mode::Published);
    let error = loop {
        match steps.next() {
            Step::Ask { request, most_bytes } => {
                let mut answer = shown.ask(&request, most_bytes).unwrap();
                if matches!(request, Request::Places(_)) {
                    answer.body.resize(most_bytes as usize + 1, 0);
                }
                steps.answer(Ok(answer));
            }
            Step::Keep(_) => steps.kept(Ok(())),
            Step::Done(outcome) => break outcome.unwrap_err(),
        }
    };
    let too_long = matches!(error, ClientError::Transport(TransportError::TooLong { .. }));
    assert!(too_long, "{error}");
}

#[test]
fn a_mode_that_steps_cannot_speak_is_refused_before_anything_is_asked() {
    let mut phone = Phone::rehearse("http://operator", state(), now, Rehearsal::seeded(1));
    let at = Coord::new(41.9, 12.5).unwrap();
    let step = phone.obfuscate(at, Mode::Offload).next();
    let Step::Done(outcome) = step else { panic!("{step:?}") };
    assert!(matches!(*outcome, Err(ClientError::NotHere { mode: Mode::Offload })));
}
