//! `lrgeo client` against a running `lrgeo serve`.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;

/// A directory with a running server; both are gone when the test ends.
pub struct Served {
    pub folder: PathBuf,
    server: Child,
    pub address: String,
    /// A server whose output nobody can take would stop.
    _said: BufReader<ChildStdout>,
}

impl Served {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lrgeo-ask-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let run = |arguments: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_lrgeo"));
            command.args(arguments.split_whitespace()).current_dir(&folder);
            command
        };
        assert!(run("map build --demo --cell 900m -o demo.lrmap -q").status().unwrap().success());
        let config = "[rounds]\nwindow_seconds = 0.2\n";
        std::fs::write(folder.join("server.toml"), config).unwrap();
        let serve =
            "serve --map demo.lrmap --config server.toml --data data --listen 127.0.0.1:0 -q";
        let mut server = run(serve).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        let mut said = BufReader::new(server.stdout.take().unwrap());
        said.read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("listening on ").expect("an address").to_owned();
        Self { folder, server, address, _said: said }
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lrgeo"));
        command.args(["client"]).args(arguments.split_whitespace());
        command.current_dir(&self.folder).env("XDG_STATE_HOME", self.folder.join("home"));
        command.env("XDG_CONFIG_HOME", self.folder.join("settings"));
        command
    }

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn json(&self, arguments: &str) -> Value {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "lrgeo client {arguments}: {error}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs a command that must fail with this code; gives back what it says.
    pub fn fail(&self, code: i32, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "lrgeo client {arguments}");
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
