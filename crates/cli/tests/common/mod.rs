//! The real program in a directory of its own.
#![allow(dead_code)] // Not every test file uses everything.

pub mod served;

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A directory that is gone when the test ends.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("lrgeo-cli-{process}-{count}-{name}"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str, content: &str) {
        std::fs::write(self.0.join(name), content).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// Runs `lrgeo` in the directory, the arguments split at spaces; those within single quotes stay together.
    pub fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lrgeo"));
        for (at, part) in arguments.split('\'').enumerate() {
            match at % 2 {
                0 => command.args(part.split_whitespace()),
                _ => command.arg(part),
            };
        }
        command.current_dir(&self.0).output().unwrap()
    }

    pub fn succeed(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "lrgeo {arguments}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.succeed(arguments)).unwrap()
    }

    /// Runs a command that must fail; gives back what it says.
    pub fn fail(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "lrgeo {arguments} succeeded");
        String::from_utf8(output.stderr).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
