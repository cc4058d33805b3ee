//! A server that is started, asked, signalled and killed as a process.

// Not every test uses everything.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{self, Scratch};

pub const LRGEO: &str = env!("CARGO_BIN_EXE_lrgeo");

/// A map on disk and a directory for data.
pub struct Place {
    pub scratch: Scratch,
    pub map: PathBuf,
    pub port: u16,
}

impl Place {
    pub fn new(places: usize) -> Self {
        let scratch = Scratch::new();
        let map = scratch.0.join("city.lrmap");
        common::map(places).save(&map).unwrap();
        // Free a moment ago; asked for by number, so that it is known before the server says it.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { scratch, map, port }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.0.join(name)
    }

    pub fn serve(&self, data: &str) -> Command {
        self.serve_on(&format!("127.0.0.1:{}", self.port), data)
    }

    pub fn serve_on(&self, address: &str, data: &str) -> Command {
        let mut command = Command::new(LRGEO);
        command.args(["serve", "--listen", address, "--map"]);
        command.arg(&self.map).arg("--data").arg(self.path(data));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn is_listening(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }
}

/// A server; killed when dropped.
pub struct Server(pub Child);

impl Server {
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Waits until it says that it listens.
    pub fn ready(mut self) -> Self {
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening on "), "{line}{}", self.errors());
        self
    }

    pub fn errors(&mut self) -> String {
        let _ = self.0.kill();
        let mut said = String::new();
        let _ = self.0.stderr.take().unwrap().read_to_string(&mut said);
        said
    }

    pub fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "not {what} after two minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
}
