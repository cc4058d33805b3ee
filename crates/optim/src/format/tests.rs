use super::*;
use crate::problem::Problem;
use crate::sparse_rows::SparseRows;
use std::sync::Arc;

const DOCUMENT: &str = include_str!("../../../../docs/problem-format.md");

/// The n-th JSON example of the document.
fn example(n: usize) -> &'static str {
    let block = DOCUMENT.split("```json\n").nth(n + 1).expect("example");
    block.split("```").next().expect("end of the example")
}

fn problem() -> Problem {
    read_problem(example(0).as_bytes(), &Limits::default()).unwrap()
}

fn same(a: &Problem, b: &Problem) {
    assert_eq!(problem_to_json(a).unwrap(), problem_to_json(b).unwrap());
}

#[test]
fn the_documented_examples_are_what_they_say() {
    let problem = problem();
    assert_eq!((problem.rows(), problem.columns()), (3, 3));
    assert_eq!(problem.groups(), [0, 0, 1]);
    assert_eq!(problem.tie(0, 2), Some(0.3));
    assert_eq!(problem.tie(1, 2), None);
    assert_eq!(problem.bounds()[0].high, 0.7);
    let solution = read_solution(example(1).as_bytes(), &Limits::default()).unwrap();
    assert_eq!(solution.status(), Status::Optimal);
    let found = solution.found().unwrap();
    assert_eq!(found.z.at(1, 0), 0.3);
    assert_eq!(found.certificate.mu, [0.1, 0.26, 0.0]);
}

#[test]
fn problems_survive_both_formats_bit_by_bit() {
    let text = example(0).replace("0.4", "0.12345678901234567").replace("0.8", "5e-324");
    let text = text.replace("\"bounds\"", "\"y\": [0.1, 0.2, 0.30000000000000004], \"bounds\"");
    let problem = read_problem(text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(problem.cost().at(0, 1), 0.12345678901234567);
    assert_eq!(problem.arcs()[0].d, 5e-324);
    let json = problem_to_json(&problem).unwrap();
    same(&problem, &read_problem(json.as_bytes(), &Limits::default()).unwrap());
    let npz = problem_to_npz(&problem).unwrap();
    same(&problem, &read_problem(&npz, &Limits::default()).unwrap());
}

#[test]
fn solutions_survive_both_formats() {
    let mut solution = read_solution(example(1).as_bytes(), &Limits::default()).unwrap();
    let SolutionFile::Found(found) = &mut solution else { panic!("a solution") };
    found.certificate.worst_log_excess = f64::NEG_INFINITY;
    let json = solution_to_json(&solution).unwrap();
    for bytes in [json.clone().into_bytes(), solution_to_npz(&solution).unwrap()] {
        let again = read_solution(&bytes, &Limits::default()).unwrap();
        assert_eq!(again.found().unwrap().certificate.worst_log_excess, f64::MIN);
        assert_eq!(solution_to_json(&again).unwrap(), json);
    }
    let infeasible = SolutionFile::Infeasible;
    for bytes in
        [solution_to_json(&infeasible).unwrap().into_bytes(), solution_to_npz(&infeasible).unwrap()]
    {
        let again = read_solution(&bytes, &Limits::default()).unwrap();
        assert_eq!(again.status(), Status::Infeasible);
        assert!(again.found().is_none());
    }
}

/// Made by numpy: `savez_compressed` with Fortran-ordered costs, 32-bit integers, `tie` in `f4`.
/// Two rows of three columns: one explicit entry and two, a tail, and a column that is never reported.
fn sparse(start: [usize; 3], column: [usize; 3]) -> Result<SparseRows, Error> {
    let (value, tail) = (vec![0.75, 0.5, 0.5], vec![0.25, 0.0]);
    SparseRows::from_parts(start.to_vec(), column.to_vec(), value, tail, vec![true, false, true])
}

#[test]
fn explicit_entries_and_tails_survive_npz_without_a_dense_matrix() {
    let z = sparse([0, 1, 3], [0, 0, 2]).unwrap();
    let whole = read_solution(example(1).as_bytes(), &Limits::default()).unwrap();
    let SolutionFile::Found(solution) = whole else { panic!("the example has a solution") };
    let file = SolutionFile::Found(Solution { z: Matrix::Rows(Arc::new(z.clone())), ..solution });
    let bytes = solution_to_npz(&file).unwrap();
    let read = read_solution(&bytes, &Limits::default()).unwrap();
    let read = &read.found().unwrap().z;
    assert_eq!(read.as_sparse(), Some(&z));
    assert_eq!((read.row(0), read.row(1)), (vec![0.75, 0.0, 0.25], vec![0.5, 0.0, 0.5]));
    // Whoever cannot read such a file is told so by the array that is missing, not by zeros.
    assert!(!bytes.windows(5).any(|name| name == b"z.npy"));
}

#[test]
fn sparse_matrices_of_a_wrong_shape_are_refused_by_field() {
    let complaint = |start, column| sparse(start, column).unwrap_err().to_string();
    assert!(complaint([0, 1, 2], [0, 0, 2]).contains("z_column"));
    assert!(complaint([0, 4, 3], [0, 0, 2]).contains("z_start[1]"));
    assert!(complaint([1, 1, 3], [0, 0, 2]).contains("z_start[0]"));
    assert!(complaint([0, 1, 3], [0, 2, 0]).contains("z_column[2]"));
    assert!(complaint([0, 1, 3], [0, 0, 3]).contains("only 3"));
}

#[test]
fn a_file_written_by_numpy_is_read() {
    let bytes = include_bytes!("../../tests/data/numpy-problem.npz");
    let problem = read_problem(bytes, &Limits::default()).unwrap();
    assert_eq!((problem.rows(), problem.columns()), (2, 3));
    assert_eq!(problem.cost().at(0, 2), 2.0);
    assert_eq!(problem.cost().at(1, 0), 3.0);
    assert_eq!(problem.tie(1, 2), Some(0.5));
    assert_eq!(problem.tie(0, 0), None);
    assert_eq!((problem.arcs()[0].i, problem.arcs()[0].j, problem.arcs()[0].d), (0, 1, 0.25));
}

/// What a broken variant of the documented problem says.
fn complaint(from: &str, to: &str) -> String {
    let text = example(0).replacen(from, to, 1);
    assert_ne!(text, example(0), "{from:?} is not in the example");
    read_problem(text.as_bytes(), &Limits::default()).unwrap_err().to_string()
}

#[test]
fn bad_input_is_named_by_field_and_index() {
    let cases = [
        ("\"version\": 1", "\"version\": 2", "version is 2, this program reads version 1"),
        ("\"version\": 1,", "", "version is missing"),
        ("1.5", "0.0", "epsilon is 0, outside (0, infinity)"),
        ("1.5", "-1.5", "epsilon is -1.5, outside (0, infinity)"),
        ("0.9, 0.5, 0.0", "0.9, NaN, 0.0", "cost[2][1]"),
        ("0.9, 0.5, 0.0", "0.9, 1e999, 0.0", "cost[2][1]"),
        ("0.9, 0.5, 0.0", "0.9, null, 0.0", "cost[2][1]"),
        ("0.9, 0.5, 0.0", "0.9, -0.5, 0.0", "cost[2, 1] is -0.5, below zero"),
        ("0.9, 0.5, 0.0", "0.9, 1e101, 0.0", "outside [0, 1e100]"),
        ("0.9, 0.5, 0.0", "0.9, 0.5", "cost[2] has 2 entries, expected 3"),
        ("[0, 0, 1]", "[0, 0]", "groups has 2 entries, expected 3"),
        ("[0, 0, 1]", "[0, 0, -1]", "groups[2]"),
        ("[[0, 1, 0.8]]", "[[0, 1, 0.8], [1, 0, 0.8]]", "arcs[1] repeats arcs[0]"),
        ("[[0, 1, 0.8]]", "[[0, 2, 0.8]]", "arcs[0] joins rows 0 and 2 of different groups"),
        ("[[0, 1, 0.8]]", "[[0, 7, 0.8]]", "arcs[0] refers to 7, but there are only 3"),
        ("[[0, 1, 0.8]]", "[[0, 1, -0.8]]", "arcs[0] is -0.8, below zero"),
        ("[[0, 1, 0.8]]", "[[0, 1]]", "arcs[0]"),
        ("[[0, 1, 0.8]]", "[[1, 1, 0.8]]", "arcs[0] joins row 1 to itself"),
        ("[0.3, null, null]", "[1.3, null, null]", "tie[2, 0] is 1.3, outside (0, 1]"),
        ("[0.3, null, null]", "[0.0, null, null]", "tie[2, 0] is 0, outside (0, 1]"),
        ("[0.3, null, null]", "[0.3, null]", "tie[2] has 2 entries, expected 3"),
        (", [0.3, null, null]", "", "tie has 2 entries, expected 3"),
        ("[1, 1, 0.0, 0.7]", "[1, 1, 0.8, 0.7]", "bounds[0] has low 0.8 above high 0.7"),
        ("[1, 1, 0.0, 0.7]", "[1, 3, 0.0, 0.7]", "bounds[0] refers to 3, but there are only 3"),
        ("[1, 1, 0.0, 0.7]", "[0, 2, 0.0, 0.7]", "bounds[0] bounds entry (0, 2), which is tied"),
        ("\"tie\"", "\"ties\"", "unknown field `ties`"),
        ("\"tie\"", "\"y\": [0.1], \"tie\"", "y has 1 entries, expected 3"),
    ];
    for (from, to, expected) in cases {
        let found = complaint(from, to);
        assert!(found.contains(expected), "{to}: {found:?} does not say {expected:?}");
    }
    for empty in [
        r#"{"version":1,"epsilon":1.0,"groups":[],"cost":[],"arcs":[]}"#,
        r#"{"version":1,"epsilon":1.0,"groups":[0],"cost":[],"arcs":[]}"#,
        r#"{"version":1,"epsilon":1.0,"groups":[0],"cost":[[]],"arcs":[]}"#,
    ] {
        let error = read_problem(empty.as_bytes(), &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), "cost is empty");
    }
}

#[test]
fn deep_nesting_is_refused_where_it_begins() {
    let (open, close) = ("[".repeat(200_000), "]".repeat(200_000));
    for field in ["cost", "surprise"] {
        let text = format!(r#"{{"version":1,"{field}":{open}{close}}}"#);
        let error = read_problem(text.as_bytes(), &Limits::default()).unwrap_err();
        assert!(
            matches!(&error, FormatError::Syntax { path, .. } if path.starts_with(field)),
            "{error}"
        );
    }
}

#[test]
fn every_truncation_is_an_error() {
    let json = problem_to_json(&problem()).unwrap().into_bytes();
    let npz = problem_to_npz(&problem()).unwrap();
    let solution = read_solution(example(1).as_bytes(), &Limits::default()).unwrap();
    let solved = solution_to_npz(&solution).unwrap();
    for end in 0..json.len() {
        let error = read_problem(&json[..end], &Limits::default()).unwrap_err();
        // A number cut after its point is bad syntax; any other cut is known for what it is.
        let inside_number = end > 0 && json[end - 1] == b'.';
        assert!(matches!(error, FormatError::Truncated { .. }) || inside_number, "{end}: {error}");
    }
    for end in 0..npz.len() {
        assert!(read_problem(&npz[..end], &Limits::default()).is_err(), "{end}");
    }
    for end in 0..solved.len() {
        assert!(read_solution(&solved[..end], &Limits::default()).is_err(), "{end}");
    }
}

#[test]
fn a_flipped_byte_never_panics() {
    let npz = problem_to_npz(&problem()).unwrap();
    for at in 0..npz.len() {
        let mut bytes = npz.clone();
        bytes[at] ^= 0x41;
        let _ = read_problem(&bytes, &Limits::default());
    }
}

#[test]
fn limits_are_checked() {
    let small = |limits: Limits| {
        let npz = problem_to_npz(&problem()).unwrap();
        for bytes in [example(0).as_bytes(), &npz] {
            let error = read_problem(bytes, &limits).unwrap_err();
            assert!(matches!(error, FormatError::Invalid(Error::TooLarge { .. })), "{error}");
        }
    };
    small(Limits { bytes: 100, ..Limits::default() });
    small(Limits { entries: 8, ..Limits::default() });
    small(Limits { arcs: 0, ..Limits::default() });
}

#[test]
fn npz_errors_name_the_array() {
    let npz = |arrays: &[(&'static str, npy::Array)]| {
        let error = npz::read_problem(&npz::archive(arrays.to_vec()).unwrap(), &Limits::default());
        error.unwrap_err().to_string()
    };
    let version = ("version", npy::Array::integers(&[], vec![1]));
    assert_eq!(npz(&[]), "version is missing");
    let other = ("version", npy::Array::integers(&[], vec![3]));
    assert_eq!(npz(&[other]), "version is 3, this program reads version 1");
    assert_eq!(npz(std::slice::from_ref(&version)), "cost is missing");
    let flat = ("cost", npy::Array::floats(&[2], vec![1.0, 2.0]));
    assert_eq!(npz(&[version.clone(), flat]), "cost is of shape [2], expected a matrix");
    let cost = ("cost", npy::Array::floats(&[1, 2], vec![1.0, f64::NAN]));
    let epsilon = ("epsilon", npy::Array::floats(&[], vec![1.0]));
    let index = ("arcs_index", npy::Array::integers(&[0, 2], vec![]));
    let distance = ("arcs_distance", npy::Array::floats(&[0], vec![]));
    let no_arcs = [index, distance];
    let with_arcs = |arrays: &[(&'static str, npy::Array)]| npz(&[arrays, &no_arcs].concat());
    let nan = with_arcs(&[version.clone(), cost, epsilon.clone()]);
    assert_eq!(nan, "cost[0, 1] is NaN, not a finite number");
    let cost = ("cost", npy::Array::floats(&[1, 2], vec![1.0, 1.0]));
    let tie = ("tie", npy::Array::floats(&[1, 2], vec![0.0, f64::NAN]));
    let nan = with_arcs(&[version.clone(), cost.clone(), epsilon.clone(), tie]);
    assert_eq!(nan, "tie[0, 1] is NaN, outside (0, 1]");
    let parts = [version, cost, epsilon];
    assert_eq!(npz(&parts), "arcs_index is missing");
    let arcs = ("arcs_index", npy::Array::integers(&[1, 2], vec![0, -1]));
    assert_eq!(npz(&[&parts[..], &[arcs]].concat()), "arcs_index[1] is -1, below zero");
    let misspelt = ("ties", npy::Array::floats(&[1, 2], vec![0.0, 0.5]));
    let unknown = with_arcs(&[&parts[..], &[misspelt]].concat());
    assert!(unknown.starts_with("ties.npy: unknown array, expected one of version"), "{unknown}");
    let empty = ("cost", npy::Array::floats(&[0, 2], vec![]));
    assert_eq!(with_arcs(&[parts[0].clone(), empty, parts[2].clone()]), "cost is empty");
}
