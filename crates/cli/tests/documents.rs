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

/// Every claim of the threat model that something is defended names a test that exists.
#[test]
fn the_threat_model_names_tests_that_exist() {
    let text = document("docs/threat-model.md");
    let defended = text.split("## What is defended").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut claims = 0;
    for line in
        defended.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| claim"))
    {
        let test = line.rsplit('`').nth(1).unwrap_or_else(|| panic!("no test: {line}"));
        let (file, function) = test.split_once("::").unwrap_or_else(|| panic!("{test}"));
        let code = document(&format!("crates/{file}"));
        assert!(
            code.contains(&format!("#[test]\nfn {function}()")),
            "no test {function} in {file}"
        );
        claims += 1;
    }
    assert!(claims > 12, "{claims} claims");
    assert!(document("SECURITY.md").contains("docs/threat-model.md"));
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

/// The text of every source file of ours, by path.
fn sources() -> Vec<(PathBuf, String)> {
    let (mut folders, mut found) =
        (["crates", "bench", "bindings"].map(|f| root().join(f)).to_vec(), Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_source = ["rs", "py", "js", "ts", "sh", "toml"]
                .iter()
                .any(|end| path.extension().is_some_and(|found| found == *end));
            if path.is_dir() && !["target", "node_modules", "dist", "wasm"].contains(&name) {
                folders.push(path);
            } else if is_source && path.is_file() {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// What follows each `docs/` in a text, as far as it may be a path.
fn cited(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("docs/").map(|(at, _)| {
        let rest = &text[at..];
        let is_path = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
        (rest[..end].trim_end_matches('.'), &rest[end..])
    })
}

/// No comment sends its reader to a page, or to a section of one, that is not there.
#[test]
fn every_page_that_a_source_file_cites_is_in_the_repository() {
    let specification = document("docs/specification.md");
    let (mut pages, mut sections) = (0, 0);
    for (file, text) in sources() {
        let is_this = file.ends_with("cli/tests/documents.rs");
        for (page, rest) in cited(&text).filter(|(page, _)| !is_this && *page != "docs/") {
            assert!(root().join(page).is_file(), "{} cites {page}", file.display());
            pages += 1;
            // A comment may go on in the next line.
            let words: Vec<&str> =
                rest.split_whitespace().filter(|w| !w.starts_with("//")).collect();
            let number = match words[..] {
                ["`", "section" | "sections", number, ..] => number,
                _ => continue,
            };
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            let heading = format!("\n## {digits}. ");
            assert!(specification.contains(&heading), "{} cites section {number}", file.display());
            sections += 1;
        }
        for word in ["spec section", "design/", "shared/design"] {
            assert!(is_this || !text.contains(word), "{} cites `{word}`", file.display());
        }
    }
    assert!(pages > 80 && sections > 50, "{pages} pages, {sections} sections");
}

/// Where documents lead is somewhere.
#[test]
fn links_between_documents_lead_to_files() {
    let mut links = 0;
    let mut documents: Vec<PathBuf> = ["", "docs", "bench", "bindings/js", "bindings/python"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    documents.retain(|path| path.extension().is_some_and(|end| end == "md"));
    for path in documents {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let to = path.parent().unwrap().join(target);
            assert!(to.exists(), "{} leads to {link}", path.display());
            links += 1;
        }
    }
    assert!(links > 50, "{links} links");
}
