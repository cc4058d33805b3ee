//! The paper's protocol: join a round, follow it, get the matrix.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use lrgeo_protocol::Refusal;
use lrgeo_protocol::offload::{Join, Joined, TicketState, UserMatrix};
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};

use super::message::{Answer, Answered, Asked, Message, No, Reads, Token};
use super::public::blocking;
use crate::rounds::{Watched, is_final};
use crate::service::App;

/// Join a round with the coefficients of your programme.
#[utoipa::path(post, path = "/v1/rounds", tag = "offload", request_body = Join,
    responses((status = 202, body = Joined), (status = 400, body = Refusal), (status = 409, body = Refusal), (status = 413, body = Refusal), (status = 415, body = Refusal), (status = 422, body = Refusal), (status = 503, body = Refusal)))]
pub async fn join(
    State(app): State<App>,
    Message(reads, join): Message<Join>,
) -> Answered<(StatusCode, Answer<Joined>)> {
    let rounds = app.rounds.clone();
    let joined = app.heavy(move || rounds.join(join)).await;
    let joined = joined.map_err(|refusal| No(reads, refusal))?;
    Ok((StatusCode::ACCEPTED, Answer(reads, joined)))
}

/// How long to wait.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patience {
    wait: Option<f64>,
}

/// The state of a ticket; with `wait`, once it is answered or after so many seconds.
#[utoipa::path(get, path = "/v1/rounds/{ticket}", tag = "offload",
    params(("ticket" = String, Path), ("wait" = Option<f64>, Query)),
    responses((status = 200, body = TicketState), (status = 403, body = Refusal), (status = 404, body = Refusal), (status = 410, body = Refusal)))]
pub async fn state(
    State(app): State<App>,
    Path(ticket): Path<String>,
    Token(token): Token,
    Reads(reads): Reads,
    Asked(patience): Asked<Patience>,
) -> Answered<Answer<TicketState>> {
    // A second is left for the answer itself.
    let most = (app.limits.request_seconds - 1.0).max(0.0);
    let wait = patience.wait.filter(|wait| *wait > 0.0).unwrap_or(0.0).min(most);
    let watched = blocking(move || app.rounds_of(&ticket).state(&ticket, token.as_deref())).await;
    let watched = watched.map_err(|refusal| No(reads, refusal))?;
    Ok(Answer(reads, watched.wait(Duration::from_secs_f64(wait)).await))
}

/// The state of a ticket as it changes, bounds included, as server-sent events named `state`.
#[utoipa::path(get, path = "/v1/rounds/{ticket}/events", tag = "offload",
    params(("ticket" = String, Path)),
    responses((status = 200, content_type = "text/event-stream", body = TicketState), (status = 403, body = Refusal), (status = 404, body = Refusal), (status = 410, body = Refusal)))]
pub async fn events(
    State(app): State<App>,
    Path(ticket): Path<String>,
    Token(token): Token,
) -> Answered<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let watched = blocking(move || app.rounds_of(&ticket).state(&ticket, token.as_deref())).await;
    let watched = watched.map_err(|refusal| No(Default::default(), refusal))?;
    let states: std::pin::Pin<Box<dyn Stream<Item = TicketState> + Send>> = match watched {
        Watched::Final(state) => Box::pin(tokio_stream::once(state)),
        Watched::Live(live) => Box::pin(until_answered(WatchStream::new(live))),
    };
    let event = |state| {
        let event = Event::default().event("state").json_data(&state);
        Ok(event.unwrap_or_else(|_| Event::default().comment("unreadable")))
    };
    Ok(Sse::new(states.map(event)).keep_alive(KeepAlive::default()))
}

/// States up to and including the one that answers the ticket.
fn until_answered(states: impl Stream<Item = TicketState>) -> impl Stream<Item = TicketState> {
    let mut answered = false;
    states.take_while(move |state| !std::mem::replace(&mut answered, is_final(state.phase)))
}

/// The matrix of a ticket.
#[utoipa::path(get, path = "/v1/rounds/{ticket}/matrix", tag = "offload",
    params(("ticket" = String, Path)),
    responses((status = 200, body = UserMatrix), (status = 403, body = Refusal), (status = 404, body = Refusal), (status = 409, body = Refusal), (status = 410, body = Refusal), (status = 422, body = Refusal)))]
pub async fn matrix(
    State(app): State<App>,
    Path(ticket): Path<String>,
    Token(token): Token,
    Reads(reads): Reads,
) -> Answered<Answer<UserMatrix>> {
    let matrix = blocking(move || app.rounds_of(&ticket).matrix(&ticket, token.as_deref())).await;
    matrix.map(|matrix| Answer(reads, matrix)).map_err(|refusal| No(reads, refusal))
}
