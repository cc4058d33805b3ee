//! Connections: who is let in, how long each may take over what, and how all of them end.
//!
//! | phase | ends after |
//! |---|---|
//! | a TLS handshake | [`HANDSHAKE`] |
//! | no whole request head since the connection began or the last answer was sent | `limits.idle_seconds` |
//! | a request, its body included | `limits.request_seconds` (`http/mod.rs`) |
//! | an answer of which nobody reads another byte | `limits.write_seconds` |
//! | everything, once the server is told to stop | `limits.stop_seconds` |

mod stream;
mod table;
mod tls;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower_service::Service;

use crate::config::Limits;
use crate::held_body::HeldBody;
use stream::Stream;
use table::{Connection, Place, Request, Table};
pub use tls::Tls;

/// A client that means it says its part of the handshake at once.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Descriptors that are not for connections: storage, files, standard streams.
const RESERVED_DESCRIPTORS: u64 = 64;
/// Request heads are a few hundred bytes; a ticket, a token and a browser's headers fit many times.
const HEAD_BYTES: usize = 64 << 10;
/// While stopping, a connection without a request has so long to send one that is under way.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// For somebody who finds the server full.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// What answers now. It is exchanged when the server becomes ready, and when it publishes something new.
pub struct Front(RwLock<Router>);

impl Front {
    /// This one to begin with.
    pub fn new(router: Router) -> Self {
        Self(RwLock::new(router))
    }

    /// From now on this one; requests at hand are answered by the one before.
    pub fn set(&self, router: Router) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = router;
    }

    /// A handle: all routes are shared, nothing is copied.
    fn now(&self) -> Router {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Everybody who is connected or wants to be.
pub struct Listener {
    listener: TcpListener,
    table: Arc<Table>,
    front: Arc<Front>,
    tls: Option<Arc<Tls>>,
    idle: Duration,
    write: Duration,
    stop: Duration,
}

impl Listener {
    /// On a socket that is bound.
    pub fn new(
        listener: TcpListener,
        front: Arc<Front>,
        tls: Option<Arc<Tls>>,
        limits: &Limits,
    ) -> Self {
        let seconds = Duration::from_secs_f64;
        let table = Arc::new(Table::new(limits.connections.min(descriptors())));
        let (idle, write) = (seconds(limits.idle_seconds), seconds(limits.write_seconds));
        Self { listener, table, front, tls, idle, write, stop: seconds(limits.stop_seconds) }
    }

    /// Lets people in until `stop`, then sees to it that all have gone by its deadline.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((socket, from)) => self.let_in(socket, from, &mut open, &stop),
                    Err(error) => self.not_accepted(error).await,
                },
                Some(_) = open.join_next() => {}
                () = wish_to_stop(&mut stop) => break,
            }
        }
        drop(self.listener);
        let all_gone = async { while open.join_next().await.is_some() {} };
        if timeout(self.stop, all_gone).await.is_err() {
            tracing::warn!(connections = open.len(), "cut off: they took too long to end");
            open.shutdown().await;
        }
    }

    fn let_in(
        &self,
        socket: TcpStream,
        from: SocketAddr,
        open: &mut JoinSet<()>,
        stop: &watch::Receiver<bool>,
    ) {
        let Some(place) = self.table.seat(from.ip()) else {
            // Best effort: whoever cannot take it at once sees the connection end.
            let _ = self.tls.is_none().then(|| socket.try_write(FULL));
            return;
        };
        let _ = socket.set_nodelay(true);
        let stream = Stream::new(socket, place.connection.clone(), self.write);
        let (front, idle, mut stop) = (self.front.clone(), self.idle, stop.clone());
        match &self.tls {
            None => open.spawn(attend(stream, place, front, idle, stop)),
            Some(tls) => {
                let acceptor = tls.acceptor();
                open.spawn(async move {
                    let handshake = Box::pin(timeout(HANDSHAKE, acceptor.accept(stream)));
                    let shaken = tokio::select! {
                        shaken = handshake => shaken,
                        () = place.connection.dismissed() => return,
                        () = wish_to_stop(&mut stop) => return,
                    };
                    if let Ok(Ok(stream)) = shaken {
                        attend(stream, place, front, idle, stop).await;
                    }
                })
            }
        };
    }

    /// Nobody came in. Where the system has no room for more somebody who is idle goes.
    async fn not_accepted(&self, error: std::io::Error) {
        use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
        if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
            return;
        }
        let made_room = self.table.make_room();
        tracing::warn!(%error, made_room, "a connection was not accepted");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Answers one connection until it ends, has to go, or the server stops.
async fn attend<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    place: Place,
    front: Arc<Front>,
    idle: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let connection = &place.connection;
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let (mut router, request_at_hand) = (front.now(), Request::on(connection));
        async move {
            // Its request is at hand until the answer was sent.
            let answer = router.call(request).await?;
            Ok::<_, Infallible>(answer.map(|body| HeldBody::new(body, request_at_hand)))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(idle).max_buf_size(HEAD_BYTES);
    let mut answering = pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // Who went away, or sent what is no HTTP, is nobody's trouble.
        _ = answering.as_mut() => return,
        () = connection.dismissed() => return,
        () = wish_to_stop(&mut stop) => answering.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = answering => {}
        () = without_requests(connection) => {}
    }
}

/// Returns once a connection has had no request for a moment.
async fn without_requests(connection: &Connection) {
    loop {
        sleep(LAST_WORDS).await;
        if !connection.is_busy() {
            return;
        }
    }
}

/// Returns when the server is to stop, be it that this was said before.
pub async fn wish_to_stop(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// How many descriptors there are for connections; as many as the system allows once this was asked.
#[cfg(unix)]
fn descriptors() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    let free = now.map_or(u64::MAX, |now| now.saturating_sub(RESERVED_DESCRIPTORS).max(1));
    usize::try_from(free).unwrap_or(usize::MAX)
}

/// Other systems have no such limit.
#[cfg(not(unix))]
fn descriptors() -> usize {
    usize::MAX
}
