//! What a person sees while a command runs: progress, remarks, aligned lines.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lrgeo_map::progress::Progress;

use crate::heartbeat;

/// The terminal, as much of it as the user wants to hear from.
pub struct Ui {
    quiet: bool,
    bar: Mutex<Option<(ProgressBar, Instant)>>,
}

impl Ui {
    pub fn new(quiet: bool) -> Self {
        if !quiet {
            heartbeat::start();
        }
        Self { quiet, bar: Mutex::new(None) }
    }

    /// Whether only results and errors are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A remark on standard error: not part of the result, left out with `--quiet`.
    pub fn remark(&self, text: impl AsRef<str>) {
        if !self.quiet {
            eprintln!("{}", text.as_ref());
            heartbeat::spoke();
        }
    }

    /// A result as JSON on standard output.
    pub fn json(&self, value: &serde_json::Value) {
        println!("{value:#}");
    }

    /// Results as aligned `label  value` lines on standard output.
    pub fn lines(&self, lines: &[(&str, String)]) {
        print!("{}", aligned(lines));
    }
}

/// Labels in one column, values in the next; further lines of a value stay in its column.
pub fn aligned(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let indent = format!("\n{:width$}  ", "");
    let line = |(label, value): &(&str, String)| {
        format!("{label:width$}  {}\n", value.replace('\n', &indent))
    };
    lines.iter().map(line).collect()
}

/// Rows as lines of aligned cells: the first `left` of them flush left, the others flush right. The
/// cells of a row that is shorter than the first may run over what follows: the reason of a failure.
pub fn columns(rows: &[Vec<String>], left: usize) -> Vec<String> {
    let whole = rows.first().map_or(0, Vec::len);
    let mut widths = vec![0; whole];
    for row in rows {
        let aligned = if row.len() < whole { left.min(row.len()) } else { whole };
        for (width, cell) in widths.iter_mut().zip(&row[..aligned]) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| match at {
            at if at < left => format!("{cell:width$}"),
            _ if row.len() < whole => cell.clone(),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// 12345 as `12,345`.
pub fn count(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().map_or_else(|_| "?".into(), |n: u64| n.to_string());
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

/// `1 report`, `12,345 reports`.
pub fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let number = count(n);
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A bar on standard error for each long step; it goes away when the step is done. Off a terminal, lines ([`heartbeat`]).
impl Progress for Ui {
    fn begin(&self, step: &'static str, total: u64) {
        if self.quiet {
            return;
        }
        heartbeat::begin(step, total);
        let bar =
            ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
        let template = "{msg:32} [{bar:30}] {percent:>3} %  {elapsed} (about {eta} left)";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(step);
        if let Ok(mut slot) = self.bar.lock() {
            *slot = Some((bar, Instant::now()));
        }
    }

    fn advance(&self, units: u64) {
        if let Ok(slot) = self.bar.lock()
            && let Some((bar, _)) = &*slot
        {
            bar.inc(units);
            heartbeat::advance(units);
        }
    }

    fn end(&self) {
        if let Ok(mut slot) = self.bar.lock()
            && let Some((bar, begun)) = slot.take()
        {
            bar.finish_and_clear();
            heartbeat::end();
            if begun.elapsed() > Duration::from_secs(2) {
                self.remark(format!(
                    "{} took {:.1} s",
                    bar.message(),
                    begun.elapsed().as_secs_f64()
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(count(7u64), "7");
        assert_eq!(count(1234567u64), "1,234,567");
        assert_eq!(
            [0u64, 1, 1000].map(|n| counted(n, "request")),
            ["0 requests", "1 request", "1,000 requests"]
        );
    }

    #[test]
    fn cells_are_aligned_and_short_rows_run_over() {
        let row = |cells: &[&str]| cells.iter().map(|c| c.to_string()).collect::<Vec<_>>();
        let rows = [row(&["name", "a", "long"]), row(&["x", "10", "2"]), row(&["y", "it failed"])];
        assert_eq!(columns(&rows, 1), ["name   a  long", "x     10     2", "y     it failed"]);
    }

    #[test]
    fn values_stand_in_one_column() {
        let lines = [("a", "1".to_string()), ("long", "2".to_string())];
        assert_eq!(aligned(&lines), "a     1\nlong  2\n");
    }
}
