//! README shows what the commands print today.
//!
//! A block of text after `<!-- printed by: COMMAND -->` is held against what that command prints: every line of the block is found, in this
//! order, numbers aside, which depend on draws and on the machine; `...` stands for anything. After `printed exactly by` numbers count too;
//! after `printed but for one number a line by` all but one of each line, which is a time. Commands before the last one, joined by `&&`, make
//! the files that it needs; `DATA` is `../shared/data`, and what needs it is only tried where that is.

mod common;

use std::path::{Path, PathBuf};

use common::Scratch;

struct Sample {
    /// How many numbers of a line may be others.
    others: usize,
    /// The commands that come first.
    before: Vec<String>,
    command: String,
    lines: Vec<String>,
}

fn samples(text: &str) -> Vec<Sample> {
    let mut samples = Vec::new();
    for part in text.split("<!-- printed ").skip(1) {
        let (how, rest) = part.split_once(" -->").unwrap_or_else(|| panic!("{part}"));
        let kinds =
            [("exactly by: ", 0), ("but for one number a line by: ", 1), ("by: ", usize::MAX)];
        let kind = kinds.iter().find_map(|(words, n)| Some((how.strip_prefix(words)?, *n)));
        let (commands, others) = kind.unwrap_or_else(|| panic!("{how}"));
        let mut commands: Vec<String> = commands
            .split(" && ")
            .map(|command| command.trim().strip_prefix("lrgeo ").expect("our command").to_owned())
            .collect();
        let command = commands.pop().expect("a command");
        let block = rest
            .trim_start()
            .strip_prefix("```text\n")
            .unwrap_or_else(|| panic!("no block: {how}"));
        let block = block.split("\n```").next().unwrap_or_default();
        let lines =
            block.lines().map(str::to_owned).filter(|line| !line.trim().is_empty()).collect();
        samples.push(Sample { others, before: commands, command, lines });
    }
    samples
}

/// Numbers as `#`, with their signs, fractions and exponents; spaces as one.
fn masked(line: &str) -> String {
    let mut out = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_ascii_digit() {
            out.push(letter);
            continue;
        }
        while let Some(&next) = letters.peek() {
            let mut after = letters.clone();
            after.next();
            let joins = ".,".contains(next) && after.peek().is_some_and(char::is_ascii_digit)
                || next == 'e' && after.peek().is_some_and(|c| c.is_ascii_digit() || *c == '-');
            if !next.is_ascii_digit() && !joins {
                break;
            }
            letters.next();
            if next == 'e' && letters.peek() == Some(&'-') {
                letters.next();
            }
        }
        if out.ends_with('-') && !out.ends_with(|c: char| c.is_alphanumeric()) {
            out.pop();
        }
        out.push('#');
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a printed line is the one of a sample: the same but for so many numbers, `...` being anything.
fn is_printed(sample: &Sample, wanted: &str, printed: &str) -> bool {
    let shape = masked(printed);
    let mut rest = shape.as_str();
    let parts = wanted.split("...").map(masked).filter(|part| !part.is_empty());
    let found = parts.into_iter().all(|part| match rest.find(part.as_str()) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    });
    let others = wanted.split_whitespace().zip(printed.split_whitespace()).filter(|(a, b)| a != b);
    found
        && (sample.others == usize::MAX
            || masked(wanted) == shape && others.count() <= sample.others)
}

/// The first line of a sample that was not printed after those before it.
fn missing(sample: &Sample, printed: &str) -> Option<String> {
    let mut printed = printed.lines();
    let lacks = |line: &&String| !printed.any(|found| is_printed(sample, line, found));
    sample.lines.iter().find(lacks).cloned()
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
}

#[test]
fn what_the_readme_shows_is_what_the_commands_print() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"))
            .unwrap();
    let samples = samples(&text);
    assert_eq!(
        samples.len(),
        text.matches("```text").count(),
        "every sample of output names its command"
    );
    assert!(samples.len() >= 3, "{} samples", samples.len());
    for (number, sample) in samples.iter().enumerate() {
        let needs_data = sample.before.iter().any(|command| command.contains("DATA"));
        if needs_data && !data().exists() {
            eprintln!("no ../shared/data: `lrgeo {}` is not tried", sample.command);
            continue;
        }
        let scratch = Scratch::new(&format!("readme-{number}"));
        let here = |command: &str| command.replace("DATA", &data().display().to_string());
        for command in &sample.before {
            scratch.succeed(&format!("{} -q", here(command)));
        }
        let printed = scratch.succeed(&here(&sample.command));
        let missing = missing(sample, &printed);
        assert!(
            missing.is_none(),
            "lrgeo {} does not print `{}`:\n{printed}",
            sample.command,
            missing.unwrap()
        );
    }
}

#[test]
fn other_outputs_are_noticed() {
    let text = "<!-- printed by: lrgeo a && lrgeo b c -->\n```text\ncost  1.5 km ... in 2 s\nnext -1e-8\n```\n";
    let samples = samples(text);
    assert_eq!(
        (samples[0].before.as_slice(), samples[0].command.as_str()),
        (["a".to_owned()].as_slice(), "b c")
    );
    let lacks = |printed: &str| missing(&samples[0], printed);
    assert_eq!(lacks("first\ncost 23.75 km per report in 14.0 s\nnext  2,345\n"), None);
    assert!(lacks("cost 23.75 km per report in 14.0 s\n").is_some(), "a line too few");
    assert!(lacks("next 1\ncost 2 km in 3 s\n").is_some(), "another order");
    assert!(lacks("costs 2 km in 3 s\nnext 1\n").is_some(), "another word");
    let with = |others: usize, printed: &str| {
        let lines = vec!["cost  1.5 km 3 s".to_owned()];
        missing(&Sample { others, lines, before: Vec::new(), command: String::new() }, printed)
            .is_none()
    };
    assert!(with(0, "cost 1.5 km 3 s") && !with(0, "cost 1.5 km 4 s"));
    assert!(with(1, "cost 1.5 km 4 s") && !with(1, "cost 1.6 km 4 s"));
}
