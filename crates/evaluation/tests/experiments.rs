//! Experiments: resumed where they stopped, other numbers for another seed.

use lrgeo_evaluation::experiments::{EXPERIMENTS, Ground, Notebook, Setup, Values};
use lrgeo_mechanism::MechanismError;

fn notebook(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("lrgeo-{name}-{}.jsonl", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn one(value: f64) -> Result<Values, MechanismError> {
    Ok([("x".to_owned(), value)].into_iter().collect())
}

#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    let path = notebook("resumed");
    let mut first = Notebook::open(&path, "a").unwrap();
    assert_eq!(first.measure("one", || one(1.0)).unwrap().values["x"], 1.0);
    let failed = first.measure("two", || Err(MechanismError::TooExtreme)).unwrap();
    assert!(failed.failed.is_some());
    drop(first);
    // The last line was cut off.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"key\":\"thr")).unwrap();

    let mut second = Notebook::open(&path, "a").unwrap();
    assert_eq!(second.resumed(), 2);
    let kept = second.measure("one", || panic!("measured again")).unwrap();
    assert_eq!(kept.values["x"], 1.0);
    assert_eq!(second.measure("three", || one(3.0)).unwrap().values["x"], 3.0);
    drop(second);
    let other = Notebook::open(&path, "b").unwrap();
    assert_eq!(other.resumed(), 0, "other settings are other measurements");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn another_seed_gives_other_numbers_and_the_same_seed_the_same() {
    let ground = Ground::demo();
    let matched = EXPERIMENTS.iter().find(|experiment| experiment.id == "matched").unwrap();
    let figures = |seed: u64, name: &str| {
        let path = notebook(name);
        let mut notebook = Notebook::open(&path, name).unwrap();
        let setup = Setup { ground: &ground, quick: true, seed };
        let figures = (matched.run)(&setup, &mut notebook, &()).unwrap();
        std::fs::remove_file(path).unwrap();
        figures
    };
    let (a, b, c) = (figures(1, "a"), figures(1, "b"), figures(2, "c"));
    assert_eq!(a, b);
    assert_ne!(a, c);
    assert!(a[0].series[0].points.iter().all(|point| point.mean().unwrap() > 0.0));
}
