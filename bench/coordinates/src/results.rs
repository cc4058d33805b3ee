//! Rows that were measured, written down at once: whoever starts again goes on where it stopped.

use std::path::PathBuf;

use serde_json::Value;

/// The rows of one table, in the order in which they are asked for.
pub struct Results {
    name: &'static str,
    head: String,
    known: Vec<Value>,
    rows: Vec<Value>,
}

/// What a row is about: city, privacy and mechanism.
pub type Key<'a> = [(&'static str, &'a str); 3];

impl Results {
    /// Opens `bench/results/NAME.json`; `head` stands above the table.
    pub fn open(name: &'static str, head: String) -> Self {
        let known = std::fs::read(path(name, "json")).ok();
        let known = known.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { name, head, known, rows: Vec::new() }
    }

    /// The row about something: what is known if that will do, else what is measured now; `None` where that fails.
    pub fn row(
        &mut self,
        key: Key<'_>,
        will_do: impl Fn(&Value) -> bool,
        measure: impl FnOnce() -> Option<Value>,
    ) -> Option<Value> {
        let is_it = |row: &Value| key.iter().all(|(field, value)| row[*field] == *value);
        let at = self.known.iter().position(is_it);
        let found = at.map(|at| self.known.remove(at));
        let row = match found {
            Some(row) if will_do(&row) => Some(row),
            old => measure().or(old),
        };
        self.rows.extend(row.clone());
        row
    }

    /// Rows of other cities that nobody asked for this time stay behind the others.
    fn all(&self) -> impl Iterator<Item = &Value> {
        self.rows.iter().chain(&self.known)
    }

    /// Writes all rows, and the table with a line for each.
    pub fn write(&self, line: impl Fn(&Value) -> String) {
        let mut ordered: Vec<&Value> = self.all().collect();
        let place = |row: &Value| crate::cities::ALL.iter().position(|name| row["city"] == *name);
        ordered.sort_by_key(|row| place(row));
        let text: String = ordered.iter().map(|row| line(row)).collect();
        let json = serde_json::to_string_pretty(&ordered).expect("JSON");
        std::fs::write(path(self.name, "md"), format!("{}{text}", self.head)).expect("results");
        std::fs::write(path(self.name, "json"), json + "\n").expect("results");
    }
}

fn path(name: &str, extension: &str) -> PathBuf {
    PathBuf::from(format!("bench/results/{name}.{extension}"))
}
