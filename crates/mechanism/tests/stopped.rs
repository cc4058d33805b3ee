//! What is returned when an optimiser is stopped before it is done.

#[path = "common/city.rs"]
mod city;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::published::Published;
use lrgeo_mechanism::stand_in::STOPPED_EARLY;
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{
    Built, City, Made, Mechanism, MechanismError, ObfuscationMatrix, Plan, Proof, Rows, build,
    by_name,
};
use lrgeo_optim::{Engine, Error, Status};
use lrgeo_tiles::{Cover, Epsilon, Guarantee, Notion};

fn per_km(value: f64) -> Epsilon {
    Epsilon::per_km(value).unwrap()
}

fn make(name: &str, city: &City, plan: &Plan) -> Built {
    let made = build(by_name(name).unwrap(), city, plan, &());
    made.unwrap_or_else(|e| panic!("{name}: {e}")).into_built()
}

fn stopped_note(built: &Built) -> Option<&str> {
    let note = built.notes.iter().find(|(name, _)| name == STOPPED_EARLY);
    note.map(|(_, text)| text.as_str())
}

/// Somebody has pressed Ctrl-C before it began.
fn cancelled(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.solver.cancel = Some(Arc::new(AtomicBool::new(true)));
    plan
}

#[test]
fn the_cheapest_of_optimiser_exponential_and_laplace_is_taken_whatever_the_kind_and_notion() {
    let city = city::block(3, 400.0, 140);
    let mut plan = Plan::new(&city, per_km(3.0));
    for notion in [plan.notion, Notion::AllPairs] {
        plan.notion = notion;
        for kind in ["lp", "const-opt", "published"] {
            let mut own = plan.clone();
            if kind == "published" {
                own.notion = Notion::AllPairs;
            }
            let (exponential, laplace) =
                (make("exp", &city, &own), make("laplace-places", &city, &own));
            let whole = make(kind, &city, &plan);
            assert_eq!(stopped_note(&whole), None, "{kind}");
            let built = make(kind, &city, &cancelled(&plan));
            let note = stopped_note(&built).unwrap_or_else(|| panic!("{kind} was not stopped"));
            assert!(note.contains("cancelled after"), "{note}");
            let says_what_to_do = note.ends_with("would tell");
            assert!(says_what_to_do || note.ends_with("was taken"), "{note}");
            for word in ["optimiser", "exponential mechanism costs", "Laplace noise costs"] {
                assert!(note.contains(word), "{word}: {note}");
            }
            // The same promise, kept, at a price that is known to be the least of the three.
            assert_eq!(built.guarantee, whole.guarantee);
            assert!(verify(&built, &()).holds(), "{kind}");
            let least = exponential.expected_cost.min(laplace.expected_cost);
            assert!(built.expected_cost <= least * (1.0 + 1e-6), "{kind}: {note}");
            let proof = built.proof.unwrap();
            assert_eq!(proof.status, Status::Limit);
            assert!((proof.cost - built.expected_cost).abs() < 1e-9 * proof.cost);
            assert!(proof.lower_bound <= proof.cost);
            // The bound of the notion is no better than the programme's own.
            assert!(says_what_to_do || proof.lower_bound >= 0.95 * proof.cost, "{kind}: {note}");
            // Whatever bound is claimed holds for the optimum too, where that is one of the same programme.
            let optimum = whole.expected_cost;
            assert!(proof.lower_bound <= optimum * (1.0 + 1e-9), "{kind}: {note}");
        }
    }
}

#[test]
fn an_optimum_in_time_is_what_it_would_be_without_a_limit() {
    let city = city::block(3, 400.0, 140);
    let plan = Plan::new(&city, per_km(3.0));
    for kind in ["lp", "published"] {
        let free = make(kind, &city, &plan);
        let mut limited = plan.clone();
        limited.solver.time_limit = Some(Duration::from_secs(3600));
        let limited = make(kind, &city, &limited);
        assert_eq!(limited.rows, free.rows, "{kind}");
        assert_eq!((limited.expected_cost, &limited.notes), (free.expected_cost, &free.notes));
    }
}

/// A hard limit on a map that takes much longer: no number of seconds is promised on a busy machine, but minutes are too many.
#[test]
fn a_limit_is_for_everything_that_a_build_does() {
    let city = city::block(3, 200.0, 700);
    let mut plan = Plan::new(&city, per_km(2.0));
    plan.gap = Some(1e-9);
    plan.solver.time_limit = Some(Duration::from_secs(1));
    for engine in [Engine::Colgen, Engine::Large] {
        plan.solver.engine = engine;
        let begun = Instant::now();
        let built = build(&Published, &city, &plan, &()).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        let note = stopped_note(&built).expect("was not stopped");
        assert!(note.starts_with("stopped after"), "{note}");
        let laplace = make("laplace-places", &city, &plan);
        assert!(built.expected_cost <= laplace.expected_cost * (1.0 + 1e-6), "{note}");
    }
}

/// A kind whose optimiser is always stopped: with nothing, or with what is given.
struct Stopped {
    entries: Option<Vec<f64>>,
}

impl Mechanism for Stopped {
    fn name(&self) -> &'static str {
        "stopped"
    }

    fn about(&self) -> &'static str {
        "stopped early"
    }

    fn guarantee(&self, plan: &Plan) -> Guarantee {
        Guarantee { notion: plan.notion, epsilon: plan.epsilon, cover: Cover::WholeMap }
    }

    fn can_be_stopped(&self) -> bool {
        true
    }

    fn make(&self, city: &City, _: &Plan, _: &dyn Progress) -> Result<Made, MechanismError> {
        let Some(entries) = self.entries.clone() else { return Err(Error::StoppedEarly.into()) };
        let rows = Rows::Dense(ObfuscationMatrix::new(city.places(), entries)?);
        let (status, cost, lower_bound) = (Status::Limit, 1.0, 0.1);
        let proof = Proof { status, cost, lower_bound, gap: 0.9, iterations: 3, seconds: 4.0 };
        Ok(Made {
            rows,
            proof: Some(proof),
            witness: Vec::new(),
            floor: Some(0.1),
            notes: vec![("made by", "the optimiser".into())],
            real_epsilon: None,
        })
    }
}

#[test]
fn without_a_matrix_of_the_optimiser_or_with_one_that_is_not_private_another_is_taken() {
    let city = city::block(3, 500.0, 50);
    let mut plan = Plan::new(&city, per_km(2.0));
    plan.notion = Notion::AllPairs;
    let k = city.places();
    let laplace = make("laplace-places", &city, &plan);

    let built = build(&Stopped { entries: None }, &city, &plan, &()).unwrap();
    let note = stopped_note(&built).unwrap();
    assert!(
        note.contains("had no matrix yet") && note.contains("Laplace noise was taken"),
        "{note}"
    );
    assert!((built.expected_cost / laplace.expected_cost - 1.0).abs() < 1e-6);
    let proof = built.proof.unwrap();
    assert_eq!((proof.status, proof.lower_bound, proof.gap), (Status::Limit, 0.0, 1.0));

    // Everyone reports anything: private, and dear. Its bound stays.
    let even = vec![1.0 / k as f64; k * k];
    let built = build(&Stopped { entries: Some(even) }, &city, &plan, &()).unwrap();
    assert!(stopped_note(&built).unwrap().contains("Laplace noise was taken"));
    let proof = built.proof.unwrap();
    assert_eq!((proof.lower_bound, proof.iterations, proof.seconds), (0.1, 3, 4.0));
    assert!((proof.gap - (proof.cost - 0.1) / proof.cost).abs() < 1e-12);

    // Everyone reports the truth: cheap, and not private at all.
    let mut truth = vec![0.0; k * k];
    (0..k).for_each(|i| truth[i * k + i] = 1.0);
    let built = build(&Stopped { entries: Some(truth) }, &city, &plan, &()).unwrap();
    let note = stopped_note(&built).unwrap();
    assert!(
        note.contains("matrix costs 0.0000 km") && note.contains("Laplace noise was taken"),
        "{note}"
    );
    assert!(verify(&built, &()).holds());
    assert!(built.notes.iter().all(|(name, _)| name != "made by"), "{:?}", built.notes);
}
