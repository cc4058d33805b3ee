//! One of every message, with every field filled, and every request.

use lrgeo_geo::PlaceId;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{
    Bounds, Certificate, Circle, CirclePart, Join, Joined, Phase, Shared, TableCircle, TicketState,
    UserMatrix,
};
use lrgeo_protocol::public::{
    Local, MapDescription, Parameters, PublicFile, Range, Received, Rounds, TablePart, TableTile,
    Target, Targets, WayDescription,
};
use lrgeo_protocol::quiet::{Report, ReportedPlace, Request};
use lrgeo_protocol::{Digest, Reason, Refusal, VERSION};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Somebody who looks at every message.
pub trait Visit {
    fn message<T>(&mut self, name: &str, message: T)
    where
        T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug;
}

/// A hash that is easy to recognise.
fn digest(byte: u8) -> Digest {
    Digest(std::array::from_fn(|at| byte ^ at as u8))
}

pub fn report_of_a_ride() -> Report {
    Report { reference: Some("ride-17".parse().expect("a reference")), ..report() }
}

pub fn report() -> Report {
    Report::new(digest(0xa0), ReportedPlace(PlaceId::new(1_331)))
}

fn description(local: Option<Local>) -> MapDescription {
    let parameters = Parameters {
        epsilon_per_km: 1.5,
        gamma_km: local.is_none().then_some(1.25),
        relevant_km: 2.5,
        relevant_max: Some(20),
        exponential_km: 1.5,
        obfuscation_km: 4.5,
        range: if local.is_none() { Range::Own } else { Range::Each },
        alike: Some(4),
    };
    let way = |name: &str, share| WayDescription {
        name: name.into(),
        share,
        cell_km: 0.1,
        cells: vec![7, 3, 70_000],
        offsets: vec![0.25, 1.0 / 3.0, 0.0625],
    };
    MapDescription {
        protocol: VERSION,
        map: digest(0xa0),
        parameters,
        ways: vec![way("drive", 0.7), way("walk", 0.3)],
        ceiling: 12.5,
        local,
        rounds: Rounds { users: 10, window_seconds: 2.5, keep_seconds: 600.5, most_relevant: 80 },
    }
}

fn local() -> Local {
    Local {
        y: vec![0.5, 1e-80, 0.1],
        cost: 0.75,
        lower_bound: 0.7,
        table_tiles: vec![
            PublicFile { hash: digest(0xb0), bytes: 1_000 },
            PublicFile { hash: digest(0xc0), bytes: 5_000_000_000 },
        ],
    }
}

fn refusal(reason: Reason, field: Option<&str>) -> Refusal {
    Refusal {
        reason,
        message: "what is wrong and what to do".into(),
        field: field.map(str::to_owned),
    }
}

const REASONS: [Reason; 21] = [
    Reason::NotFound,
    Reason::MethodNotAllowed,
    Reason::Malformed,
    Reason::InvalidField,
    Reason::UnsupportedEncoding,
    Reason::NotAcceptable,
    Reason::OtherMap,
    Reason::OtherProtocol,
    Reason::TooLarge,
    Reason::UnknownTicket,
    Reason::NotYourTicket,
    Reason::Expired,
    Reason::NotReady,
    Reason::Infeasible,
    Reason::NotOffered,
    Reason::Unauthorised,
    Reason::NotAllowed,
    Reason::TooOften,
    Reason::Busy,
    Reason::TimedOut,
    Reason::Internal,
];

pub fn every_message(visit: &mut impl Visit) {
    visit.message("map description", description(Some(local())));
    visit.message("map description without local", description(None));
    let part = TablePart {
        rows: vec![3, 7],
        columns: vec![3, 7, 9],
        beta: vec![0.1, 0.5, 1.5, 2.5, 0.25, 3.5],
    };
    visit.message("table tile", TableTile { map: digest(0xa0), tile: 24, ways: vec![part] });
    let target = |target, at, estimated_km| Target { target, at, estimated_km };
    visit.message(
        "targets",
        Targets {
            targets: vec![target(3, [64.14, -21.92], 1.5), target(300, [64.15, -21.9], 2.75)],
        },
    );
    visit.message("received", Received { reports: 5_000_000_000 });
    visit.message("report", report());
    visit.message("circle", Circle { map: digest(0xa0), centre: PlaceId::new(7), radius_km: 2.5 });
    let part = CirclePart { cells: vec![3, 7], beta: vec![0.5, 1.5, 1.25, 0.125] };
    visit.message("table circle", TableCircle { map: digest(0xa0), ways: vec![part] });
    visit.message(
        "join",
        Join {
            map: digest(0xa0),
            rows: 2,
            columns: [3, 7, 65_536].map(PlaceId::new).to_vec(),
            between: vec![0.5, 0.47, 0.47, 0.5],
            towards: vec![0.5, 0.47, 1.5, 0.47, 0.5, 1.25],
            cost: vec![0.5, 1e-9, 2.5, 1.5, 0.5, 0.1],
        },
    );
    visit.message("joined", Joined { ticket: "t-1".into(), token: "0123456789abcdef".into() });
    let state = |phase, bounds, refusal| TicketState { phase, users: 3, bounds, refusal };
    let bounds = |upper| Some(Bounds { iteration: 12, upper, lower: 0.375 });
    visit.message("ticket waiting", state(Phase::Waiting, None, None));
    visit.message("ticket solving", state(Phase::Solving, bounds(None), None));
    visit.message("ticket done", state(Phase::Done, bounds(Some(0.5)), None));
    visit.message(
        "ticket failed",
        state(Phase::Failed, None, Some(refusal(Reason::Infeasible, Some("cost")))),
    );
    for (name, shared) in
        [("round", Shared::Round), ("public y", Shared::PublicY), ("alone", Shared::Alone)]
    {
        let certificate = Certificate {
            shared,
            engine: "column generation".into(),
            status: "gap".into(),
            users: 3,
            cost: 0.5,
            lower_bound: 0.4375,
            gap: 0.125,
            iterations: 12,
            worst_log_excess: -1e-9,
            worst_row_sum_error: 2.5e-16,
        };
        let matrix = UserMatrix {
            map: digest(0xa0),
            columns: [3, 7].map(PlaceId::new).to_vec(),
            values: vec![0.75, 0.25, 0.3125, 0.6875],
            y: vec![0.5, 0.1],
            certificate,
        };
        visit.message(&format!("matrix, {name}"), matrix);
    }
    for reason in REASONS {
        let written = Encoding::Json.encode(&reason);
        assert_eq!(written, format!("\"{}\"", reason.name()).as_bytes());
        visit.message(&format!("refusal {reason:?}"), refusal(reason, None));
    }
    visit.message("refusal of a field", refusal(Reason::InvalidField, Some("radius_km")));
}

pub fn requests() -> Vec<(&'static str, Request)> {
    let hash = digest(0xd0);
    vec![
        ("map", Request::Map),
        ("manifest", Request::Manifest),
        ("signature", Request::Signature),
        ("earlier", Request::Earlier(hash)),
        ("earlier signature", Request::EarlierSignature(hash)),
        ("places", Request::Places(hash)),
        ("noise", Request::Noise(hash)),
        ("tile", Request::Tile(hash)),
        ("table tile", Request::TableTile(hash)),
        ("report", Request::Report(report())),
        ("report of a ride", Request::Report(report_of_a_ride())),
        ("targets", Request::Targets(report())),
    ]
}
