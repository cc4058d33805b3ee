//! Experiments: resumed where they stopped, other numbers for another seed.

use lrgeo_evaluation::experiments::{EXPERIMENTS, Ground, Notebook, Setup, Size, Values, verdict};
use lrgeo_evaluation::report::Figure;
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

fn run(id: &str, seed: u64) -> Vec<Figure> {
    let ground = Ground::demo();
    let path = notebook(&format!("{id}-{seed}"));
    let mut notebook = Notebook::open(&path, id).unwrap();
    let setup = Setup { ground: &ground, size: Size::Tiny, seed };
    let experiment = EXPERIMENTS.iter().find(|experiment| experiment.id == id).unwrap();
    let figures = (experiment.run)(&setup, &mut notebook, &()).unwrap();
    std::fs::remove_file(path).unwrap();
    figures
}

#[test]
fn another_seed_gives_other_numbers_and_the_same_seed_the_same() {
    let (a, b, c) = (run("matched", 1), run("matched", 1), run("matched", 2));
    assert_eq!(a, b);
    assert_ne!(a, c);
    assert!(a[0].series[0].points.iter().all(|point| point.mean().unwrap() > 0.0));
}

/// Every experiment on a few places: each gives figures, each figure has numbers, none of them absurd, and nothing fails.
#[test]
fn every_experiment_runs_on_a_tiny_city() {
    let mut all = Vec::new();
    for experiment in EXPERIMENTS {
        let figures = run(experiment.id, 3);
        // The demo city is not Rome.
        assert_eq!(figures.is_empty(), experiment.id == "geography", "{}", experiment.id);
        for figure in figures {
            // To the letter Benders may give up, and says so.
            let may_give_up = |name: &str| name == "Benders to the letter";
            let rest = figure.series.iter().filter(|series| !may_give_up(&series.name));
            for point in rest.flat_map(|series| &series.points) {
                assert_eq!(point.note, None, "{}", figure.id);
            }
            let points = || figure.series.iter().flat_map(|series| &series.points);
            assert!(points().any(|point| !point.values.is_empty()), "{} is empty", figure.id);
            for point in points() {
                assert!(point.values.iter().all(|value| value.is_finite()), "{}", figure.id);
                if figure.y.share {
                    let mut shares = point.values.iter();
                    assert!(shares.all(|v| (0.0..=1.0).contains(v)), "{}", figure.id);
                }
            }
            all.push(figure);
        }
    }
    // What is bound to be so, whatever the city.
    let mean = |id: &str, series: &str, at: usize| {
        let figure = all.iter().find(|figure| figure.id == id).expect(id);
        let series = figure.series.iter().find(|s| s.name == series).expect(series);
        series.points[at].mean().unwrap()
    };
    for at in 0..2 {
        assert!(mean("table-2-practical", "LP", at) < mean("table-2-practical", "ConstOPT", at));
        assert!(mean("table-2-practical", "LP", at) < mean("table-2-practical", "Laplace", at));
        let (lower, upper) = ("lower bound", "upper bound");
        assert!(mean("table-2-bounds-paper", lower, at) <= mean("table-2-bounds-paper", upper, at));
    }
    let sentences = verdict(&all);
    assert!(sentences.len() > 15, "{sentences:#?}");
    assert!(sentences.iter().any(|s| s.starts_with("Holds: LP costs less")), "{sentences:#?}");
}

/// Figures that contradict a claim are said to.
#[test]
fn the_verdict_follows_the_numbers() {
    let mut figures = run("matched", 3);
    let sentence = "larger cells match more coefficients";
    let said = |figures: &[Figure]| {
        let all = verdict(figures);
        all.into_iter().find(|s| s.contains(sentence)).unwrap()
    };
    for point in &mut figures[0].series[0].points {
        point.values = vec![point.x];
    }
    assert!(said(&figures).starts_with("Holds:"), "{}", said(&figures));
    for point in &mut figures[0].series[0].points {
        point.values = vec![-point.x];
    }
    assert!(said(&figures).starts_with("Does not hold:"), "{}", said(&figures));
}
