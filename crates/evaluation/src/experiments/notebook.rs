//! Where measurements are written down at once, so that an interrupted run goes on where it stopped.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use lrgeo_map::MapError;
use lrgeo_mechanism::MechanismError;
use serde::{Deserialize, Serialize};

/// Named numbers.
pub type Values = BTreeMap<String, f64>;

/// One measurement: what it gave, or why it gave nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    key: String,
    /// The numbers.
    pub values: Values,
    /// Why there are none.
    pub failed: Option<String>,
}

/// The first line of the file: measurements of other settings are not these.
#[derive(PartialEq, Serialize, Deserialize)]
struct Head {
    lrgeo: String,
    settings: String,
}

/// The file: one line of JSON per measurement.
pub struct Notebook {
    path: PathBuf,
    file: File,
    known: HashMap<String, Entry>,
    resumed: usize,
}

impl Notebook {
    /// Opens what a run with the same settings left behind, or begins anew.
    pub fn open(path: &Path, settings: &str) -> Result<Self, MapError> {
        let head = Head { lrgeo: env!("CARGO_PKG_VERSION").into(), settings: settings.into() };
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.lines();
        let same = lines.next().is_some_and(|line| {
            serde_json::from_str::<Head>(line).is_ok_and(|found| found == head)
        });
        // A line that was cut off by the interruption is measured again.
        let entries = lines.filter_map(|line| serde_json::from_str::<Entry>(line).ok());
        let known: HashMap<String, Entry> = match same {
            true => entries.map(|entry| (entry.key.clone(), entry)).collect(),
            false => HashMap::new(),
        };
        let failed = |error: std::io::Error| MapError::file(path, error.to_string());
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .open(path)
            .map_err(failed)?;
        let mut write = |line: String| writeln!(file, "{line}").map_err(failed);
        write(serde_json::to_string(&head).unwrap_or_default())?;
        for entry in known.values() {
            write(serde_json::to_string(entry).unwrap_or_default())?;
        }
        let resumed = known.len();
        Ok(Self { path: path.into(), file, known, resumed })
    }

    /// How many measurements were found.
    pub fn resumed(&self) -> usize {
        self.resumed
    }

    /// A measurement: from the file, or made now and written down. A mechanism that fails is a result
    /// too; a file that cannot be written is an error.
    pub fn measure(
        &mut self,
        key: &str,
        work: impl FnOnce() -> Result<Values, MechanismError>,
    ) -> Result<Entry, MechanismError> {
        if let Some(entry) = self.known.get(key) {
            return Ok(entry.clone());
        }
        let (values, failed) = match work() {
            Ok(values) => (values, None),
            Err(error) => (Values::new(), Some(error.to_string())),
        };
        let entry = Entry { key: key.to_owned(), values, failed };
        let line = serde_json::to_string(&entry).unwrap_or_default();
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.flush());
        written.map_err(|error| MapError::file(&self.path, error.to_string()))?;
        self.known.insert(key.to_owned(), entry.clone());
        Ok(entry)
    }
}
