//! A proxy on a real socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// An answer on its way to the client.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: String,
    /// All but the length of the body.
    pub headers: Vec<String>,
    pub body: Vec<u8>,
    /// What the headers say about the length, where that is a lie.
    pub claimed_length: Option<usize>,
}

impl Reply {
    /// Replaces a header.
    pub fn set(&mut self, name: &str, value: &str) {
        let prefix = format!("{name}:");
        self.headers.retain(|line| !line.to_ascii_lowercase().starts_with(&prefix));
        self.headers.push(format!("{name}: {value}"));
    }
}

type Lie = dyn Fn(&str, &mut Reply) + Send + Sync;

/// Passes requests on, writes them down, and may change the answers.
pub struct Proxy {
    pub address: String,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Proxy {
    /// Before `server`; changes nothing.
    pub fn honest(server: &str) -> Self {
        Self::lying(server, |_, _| {})
    }

    /// Before `server`; `lie` gets the path of each request and the answer to it.
    pub fn lying(server: &str, lie: impl Fn(&str, &mut Reply) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let (server, written, lie) = (server.to_owned(), sent.clone(), Arc::new(lie));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (server, written, lie) = (server.clone(), written.clone(), lie.clone());
                std::thread::spawn(move || {
                    let _ = pass(stream, &server, &written, &*lie);
                });
            }
        });
        Self { address, sent }
    }

    /// Every request so far, byte by byte, with the port of this proxy blanked: it is the only thing that differs
    /// between two proxies.
    pub fn sent(&self) -> Vec<Vec<u8>> {
        let blank = |bytes: &Vec<u8>| replace(bytes, self.address.as_bytes(), b"HOST");
        self.sent.lock().unwrap().iter().map(blank).collect()
    }

    /// The first lines of all requests.
    pub fn lines(&self) -> Vec<String> {
        let first = |bytes: &Vec<u8>| {
            String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned()
        };
        self.sent().iter().map(first).collect()
    }

    /// Whether a report was made.
    pub fn saw_report(&self) -> bool {
        self.lines().iter().any(|line| line.starts_with("POST /v1/reports"))
    }
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Head and body of a message; `None` when the connection was closed.
fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut head = Vec::new();
    loop {
        let from = head.len();
        if stream.read_until(b'\n', &mut head)? == 0 {
            return Ok(None);
        }
        if &head[from..] == b"\r\n" {
            break;
        }
    }
    let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    stream.read_exact(&mut body)?;
    Ok(Some((head, body)))
}

fn pass(
    client: TcpStream,
    server: &str,
    written: &Mutex<Vec<Vec<u8>>>,
    lie: &Lie,
) -> std::io::Result<()> {
    let mut to_client = client.try_clone()?;
    let mut from_client = BufReader::new(client);
    let mut to_server = TcpStream::connect(server)?;
    let mut from_server = BufReader::new(to_server.try_clone()?);
    while let Some((head, body)) = read(&mut from_client)? {
        written.lock().unwrap().push([head.clone(), body.clone()].concat());
        let path = String::from_utf8_lossy(&head);
        let path = path.split(' ').nth(1).unwrap_or_default().to_owned();
        to_server.write_all(&[head, body].concat())?;
        let Some((head, body)) = read(&mut from_server)? else { return Ok(()) };
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.lines().filter(|line| !line.is_empty()).map(str::to_owned);
        let status = lines.next().unwrap_or_default();
        let is_length = |line: &String| line.to_ascii_lowercase().starts_with("content-length:");
        let headers = lines.filter(|line| !is_length(line)).collect();
        let mut reply = Reply { status, headers, body, claimed_length: None };
        lie(&path, &mut reply);
        let length = reply.claimed_length.unwrap_or(reply.body.len());
        let head = format!(
            "{}\r\n{}\r\ncontent-length: {length}\r\n\r\n",
            reply.status,
            reply.headers.join("\r\n")
        );
        to_client.write_all(&[head.as_bytes(), &reply.body].concat())?;
        if reply.claimed_length.is_some() {
            return Ok(());
        }
    }
    Ok(())
}
