//! A report step by step, for whoever brings the network and the disk: this says what is to be done next, and is told what came of it.
//!
//! Nothing here waits, so anything may drive it: a blocking loop ([`crate::Client`]), or one that awaits JavaScript's `fetch` and a browser's storage.
//!
//! ```text
//! let mut steps = phone.obfuscate(at, mode);
//! let outcome = loop {
//!     match steps.next() {
//!         Step::Ask { request, most_bytes } => steps.answer(fetch(request, most_bytes).await),
//!         Step::Keep(text) => steps.kept(store(text).await),
//!         Step::Done(outcome) => break outcome,
//!     }
//! };
//! ```

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use lrgeo_protocol::quiet::Request;

use crate::state::{State, StateError};
use crate::transport::{Answer, TransportError};
use crate::{ClientError, Outcome};

/// What is to be done next.
#[derive(Debug)]
pub enum Step {
    /// Ask the server this, and say what came back by [`Steps::answer`].
    Ask {
        /// What to ask.
        request: Request,
        /// An answer of more bytes is to be refused before it fills the memory.
        most_bytes: u64,
    },
    /// Keep this text of the state where it survives a power failure, all of it or nothing, and say so by [`Steps::kept`]. What is asked for
    /// afterwards relies on it.
    Keep(Vec<u8>),
    /// There is nothing more to do.
    Done(Box<Result<Outcome, ClientError>>),
}

/// A report on its way. Dropped early, nothing happened but what was asked and kept so far.
pub struct Steps<'a> {
    wire: Wire,
    work: Option<Work<'a>>,
}

/// The code of a report, which stops wherever it waits for an answer.
pub(crate) type Work<'a> = Pin<Box<dyn Future<Output = Result<Outcome, ClientError>> + 'a>>;

impl<'a> Steps<'a> {
    /// Of work that speaks through `wire`.
    pub(crate) fn new(wire: Wire, work: Work<'a>) -> Self {
        Self { wire, work: Some(work) }
    }

    /// The next step. Asked again without an answer in between, it is the same.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Step {
        if let Some(work) = &mut self.work {
            let polled = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if let Poll::Ready(outcome) = polled {
                self.work = None;
                return Step::Done(Box::new(outcome));
            }
        }
        match self.wire.0.borrow().wanted.clone() {
            Some(Wanted::Answer { request, most_bytes }) => Step::Ask { request, most_bytes },
            Some(Wanted::Keeping(text)) => Step::Keep(text),
            // Only after the end; there is one outcome.
            None => Step::Done(Box::new(Err(ClientError::Over))),
        }
    }

    /// What came back from the server.
    pub fn answer(&mut self, answer: Result<Answer, TransportError>) {
        self.wire.0.borrow_mut().answer = Some(answer);
    }

    /// Whether the state was kept.
    pub fn kept(&mut self, kept: Result<(), StateError>) {
        self.wire.0.borrow_mut().kept = Some(kept);
    }
}

/// What the work waits for.
#[derive(Clone, Debug)]
enum Wanted {
    Answer { request: Request, most_bytes: u64 },
    Keeping(Vec<u8>),
}

/// Where the work leaves what it wants and finds what it got.
#[derive(Default)]
struct Desk {
    wanted: Option<Wanted>,
    answer: Option<Result<Answer, TransportError>>,
    kept: Option<Result<(), StateError>>,
}

/// The work's end of the line.
#[derive(Clone, Default)]
pub(crate) struct Wire(Rc<RefCell<Desk>>);

impl Wire {
    /// Says what [`Request`] can say, and no more; an answer of more than `most_bytes` is refused, whoever brings it.
    pub(crate) async fn ask(
        &self,
        request: Request,
        most_bytes: u64,
    ) -> Result<Answer, TransportError> {
        let wanted = Wanted::Answer { request, most_bytes };
        let answer = self.wait(wanted, |desk| desk.answer.take()).await?;
        match answer.body.len() as u64 <= most_bytes {
            true => Ok(answer),
            false => Err(TransportError::TooLong { most_bytes }),
        }
    }

    async fn keep(&self, text: Vec<u8>) -> Result<(), StateError> {
        self.wait(Wanted::Keeping(text), |desk| desk.kept.take()).await
    }

    async fn wait<T>(&self, wanted: Wanted, take: impl Fn(&mut Desk) -> Option<T>) -> T {
        *self.0.borrow_mut() = Desk { wanted: Some(wanted), ..Desk::default() };
        poll_fn(|_| {
            let mut desk = self.0.borrow_mut();
            match take(&mut desk) {
                Some(got) => {
                    desk.wanted = None;
                    Poll::Ready(got)
                }
                None => Poll::Pending,
            }
        })
        .await
    }
}

/// A state while a report is made, and the text of it that was kept last.
pub(crate) struct Open<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) saved: &'a mut Vec<u8>,
    pub(crate) wire: &'a Wire,
}

impl Open<'_> {
    /// Has the state kept if it changed. What may be sent next is on disk when this is over.
    pub(crate) async fn commit(&mut self) -> Result<(), StateError> {
        let text = self.state.to_bytes();
        if text != *self.saved {
            self.wire.keep(text.clone()).await?;
            *self.saved = text;
        }
        Ok(())
    }
}
