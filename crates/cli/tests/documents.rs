//! What documents say about the code and about measurements is so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Every file and every test that the paper map names exists, and every row of its tables names one of each.
#[test]
fn the_paper_map_names_files_and_tests_that_exist() {
    let text = document("docs/paper-map.md");
    let mut rows = 0;
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        if cells[0] == "| item" || line.starts_with("|---") {
            continue;
        }
        let [_, files, tests, _] = cells[..] else { panic!("not four cells: {line}") };
        let quoted = |cell: &str| -> Vec<String> {
            cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let (files, tests) = (quoted(files), quoted(tests));
        assert!(!files.is_empty() && !tests.is_empty(), "names no file or no test: {line}");
        for file in &files {
            assert!(root().join("crates").join(file).is_file(), "{file} of: {line}");
        }
        for test in &tests {
            let (file, function) = test.split_once("::").unwrap_or_else(|| panic!("{test}"));
            let code = document(&format!("crates/{file}"));
            let heads = [format!("#[test]\nfn {function}()"), format!("fn {function}()")];
            assert!(heads.iter().all(|head| code.contains(head)), "no test {function} in {file}");
        }
        rows += 1;
    }
    assert!(rows > 40, "{rows} rows");
}

/// Means of the figures of a run that is kept in `bench/results`, by figure, series and x.
fn figures(run: &str) -> BTreeMap<(String, String), Vec<(f64, f64)>> {
    let text = document(&format!("bench/results/reproduction-{run}.csv"));
    let mut all: BTreeMap<(String, String), Vec<(f64, f64)>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells = split(line);
        let key = (cells[0].clone(), cells[1].clone());
        all.entry(key).or_default().push((cells[2].parse().unwrap(), cells[3].parse().unwrap()));
    }
    all
}

/// The cells of a line of CSV.
fn split(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

/// Claims stand in comments after the sentence that they back:
/// `<!-- rome table-2-paper: LP < LR-Geo -->` at every x that both have, `.. at 100, 200` at these only, and
/// `<!-- rome table-2-paper: LP = 0.016 at 400 -->` as printed, to the last digit; `<=` for the largest.
struct Claim<'a> {
    run: &'a str,
    figure: &'a str,
    left: &'a str,
    sign: &'a str,
    right: &'a str,
    at: Vec<f64>,
}

fn claims(text: &str) -> Vec<Claim<'_>> {
    text.split("<!-- ").skip(1).map(|rest| parse(rest.split(" -->").next().unwrap())).collect()
}

fn parse(claim: &str) -> Claim<'_> {
    let (place, what) = claim.split_once(": ").unwrap_or_else(|| panic!("{claim}"));
    let (run, figure) = place.split_once(' ').unwrap_or_else(|| panic!("{claim}"));
    let sign = [" <= ", " < ", " = "].into_iter().find(|sign| what.contains(sign));
    let sign = sign.unwrap_or_else(|| panic!("{claim}"));
    let (left, rest) = what.split_once(sign).unwrap();
    let (right, at) = rest.rsplit_once(" at ").unwrap_or((rest, ""));
    let at = at.split(", ").filter(|x| !x.is_empty()).map(|x| x.parse().unwrap()).collect();
    Claim { run, figure, left, sign: sign.trim(), right, at }
}

fn holds(claim: &Claim<'_>) -> Result<(), String> {
    let figures = figures(claim.run);
    let series = |name: &str| figures.get(&(claim.figure.to_owned(), name.to_owned()));
    let left = series(claim.left).ok_or(format!("no series {} in {}", claim.left, claim.figure))?;
    let asked = |x: f64| claim.at.is_empty() || claim.at.contains(&x);
    let mut compared = 0;
    for &(x, value) in left.iter().filter(|(x, _)| asked(*x)) {
        let right = match series(claim.right) {
            Some(right) => right.iter().find(|(at, _)| *at == x).map(|(_, value)| *value),
            None => Some(claim.right.parse().map_err(|_| format!("no series {}", claim.right))?),
        };
        let Some(right) = right else { continue };
        let fits = match claim.sign {
            "<" => value < right,
            "<=" => value <= right,
            // As many decimals as the document prints.
            _ => {
                let decimals = claim.right.split_once('.').map_or(0, |(_, digits)| digits.len());
                (value - right).abs() <= 0.5001 * 10f64.powi(-(decimals as i32))
            }
        };
        if !fits {
            return Err(format!("{} {} {} at {x}: {value}", claim.left, claim.sign, claim.right));
        }
        compared += 1;
    }
    let wanted = claim.at.len().max(1);
    if compared < wanted { Err(format!("{compared} of {wanted} settings")) } else { Ok(()) }
}

#[test]
fn sentences_about_the_reproduction_are_backed_by_its_numbers() {
    let text = document("docs/reproduction.md");
    let (mut count, mut wrong) = (0, Vec::new());
    for claim in claims(&text) {
        count += 1;
        if let Err(why) = holds(&claim) {
            wrong.push(format!("{}: {why}", claim.figure));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 25, "{count} claims");
    // Every item under the headings that state results carries its claims.
    for section in ["## What agrees", "## What differs"] {
        let body = text.split(section).nth(1).unwrap();
        let body = body.split("\n## ").next().unwrap();
        let items = body.split("\n- ").skip(1);
        for item in items {
            let (_, claims) =
                item.split_once("<!-- ").unwrap_or_else(|| panic!("no claim: {item}"));
            assert!(!claims.is_empty());
        }
    }
}

/// The test above can fail.
#[test]
fn a_sentence_that_contradicts_the_numbers_is_caught() {
    let text = document("docs/reproduction.md");
    let claims = claims(&text);
    let less = claims.iter().find(|claim| claim.sign == "<").unwrap();
    assert!(holds(less).is_ok());
    let turned = Claim { left: less.right, right: less.left, at: less.at.clone(), ..*less };
    assert!(holds(&turned).is_err());
}
