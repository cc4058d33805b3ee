//! Who may ask, and how much: API tokens, rates and places per kind of route. All of it is off or generous by default: an open service.
//!
//! There are no limits per network address, and addresses are not looked at: behind a proxy there is one for everybody, an address is about
//! where somebody is, and who wants many has many. The proxy in front is the place for those.

mod bucket;
mod kind;
mod settings;
mod tokens;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

pub use kind::Kind;
pub use settings::{AccessSettings, RouteSettings};
pub use tokens::{Scope, Token, TokenFile, Wanted};

use crate::ServerError;
use bucket::Bucket;

/// The file of tokens is looked at again after so long.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Who may ask, and how much.
pub struct Access {
    required: Vec<Scope>,
    report_bytes: usize,
    rates: [Bucket; Kind::ALL.len()],
    at_once: [usize; Kind::ALL.len()],
    under_way: [Arc<AtomicUsize>; Kind::ALL.len()],
    guesses: Bucket,
    data: PathBuf,
    known: Mutex<Known>,
}

/// The tokens as they were when the file was read last.
struct Known {
    tokens: HashMap<String, Token>,
    /// By id, of those that have a rate of their own.
    rates: HashMap<String, Arc<Bucket>>,
    version: Option<Version>,
    looked: Instant,
}

/// What tells one version of a file from another. It is replaced whole, so another content is another file.
type Version = (Option<SystemTime>, u64, u64);

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// A token is needed and there is none.
    NoToken,
    /// The token is unknown, revoked or expired.
    WrongToken,
    /// The token is for something else.
    NotFor(Scope),
    /// Too often; again after so long.
    TooOften(Duration),
    /// As many as there is room for are under way.
    Busy,
}

/// Who is let in: the id of the token, if there was one, and a place that is given back when this is dropped.
pub struct Admitted {
    /// Whose token it was.
    pub token: Option<String>,
    /// The place.
    pub place: Place,
}

/// A place among those under way.
pub struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Access {
    /// As the settings say, with the tokens of a data directory.
    pub fn open(
        access: &AccessSettings,
        routes: &RouteSettings,
        data: &Path,
    ) -> Result<Self, ServerError> {
        let known = Known {
            tokens: HashMap::new(),
            rates: HashMap::new(),
            version: None,
            looked: Instant::now(),
        };
        let opened = Self {
            required: access.required()?,
            report_bytes: routes.report_bytes,
            rates: Kind::ALL
                .map(|(kind, _)| Bucket::new(routes.per_second.of(kind).unwrap_or(0.0))),
            at_once: Kind::ALL.map(|(kind, _)| routes.at_once.of(kind).unwrap_or(usize::MAX)),
            under_way: Default::default(),
            guesses: Bucket::new(access.guesses_per_second),
            data: data.to_owned(),
            known: Mutex::new(known),
        };
        opened.lock().read(&opened.data)?;
        Ok(opened)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many requests of a kind are under way.
    pub fn under_way(&self, kind: Kind) -> usize {
        self.under_way[kind as usize].load(Ordering::Relaxed)
    }

    /// How many tokens there are.
    pub fn tokens(&self) -> usize {
        self.lock().tokens.len()
    }

    /// The largest body of a kind of request; `None` for what the limits of the service say.
    pub fn most_bytes(&self, kind: Kind) -> Option<usize> {
        (kind == Kind::Report).then_some(self.report_bytes)
    }

    /// Lets a request in, or says why not. `bearer` is what it was sent with.
    pub fn admit(&self, kind: Kind, bearer: Option<&str>, now: u64) -> Result<Admitted, Denied> {
        let needed = kind.scope().filter(|scope| self.required.contains(scope));
        // The token of a ticket stands where an API token would; and what others put there is theirs, where nobody asks for it.
        let is_for_us = |text: &&str| needed.is_some() || text.starts_with(tokens::PREFIX);
        let bearer = bearer.filter(|_| kind != Kind::Ticket).filter(is_for_us);
        let presented = match bearer.map(|text| self.find(text, now)) {
            None => None,
            Some(Some(found)) => Some(found),
            Some(None) => {
                // Nobody finds a token by trying; this bounds what trying costs us.
                self.guesses.take().map_err(Denied::TooOften)?;
                return Err(Denied::WrongToken);
            }
        };
        if let Some(scope) = needed {
            match &presented {
                None => return Err(Denied::NoToken),
                Some((token, _)) if !token.scopes.contains(&scope) => {
                    return Err(Denied::NotFor(scope));
                }
                Some(_) => {}
            }
        }
        let own = presented.as_ref().and_then(|(_, rate)| rate.as_deref());
        let rate = own.unwrap_or(&self.rates[kind as usize]);
        rate.take().map_err(Denied::TooOften)?;
        let place = self.take_place(kind).ok_or(Denied::Busy)?;
        Ok(Admitted { token: presented.map(|(token, _)| token.id), place })
    }

    fn take_place(&self, kind: Kind) -> Option<Place> {
        let under_way = &self.under_way[kind as usize];
        // Counted first: of two who come at once at most one is turned away for the other.
        let place = Place(under_way.clone());
        let before = under_way.fetch_add(1, Ordering::Relaxed);
        let room = kind == Kind::Health || before < self.at_once[kind as usize];
        room.then_some(place)
    }

    fn find(&self, text: &str, now: u64) -> Option<(Token, Option<Arc<Bucket>>)> {
        let mut known = self.lock();
        known.look_again(&self.data);
        let token = known.tokens.get(tokens::id_of(text)?)?;
        if !token.is(text) || !token.is_valid(now) {
            return None;
        }
        Some((token.clone(), known.rates.get(&token.id).cloned()))
    }
}

impl Known {
    /// Reads the file if it is another one by now.
    fn look_again(&mut self, data: &Path) {
        if self.looked.elapsed() < LOOK_AGAIN {
            return;
        }
        self.looked = Instant::now();
        // What was known stays: the file is replaced whole, so this is the disk, and not somebody who revoked a token.
        if let Err(error) = self.read(data) {
            tracing::error!(%error, "the tokens could not be read again");
        }
    }

    fn read(&mut self, data: &Path) -> Result<(), ServerError> {
        let version = version(&data.join("tokens.json"));
        if version == self.version {
            return Ok(());
        }
        self.tokens = TokenFile::open(data)?.by_id();
        self.version = version;
        let tokens = &self.tokens;
        let rate = |id: &String| tokens.get(id).and_then(|token| token.per_second);
        // Who has used up a rate has used it up, whatever happens to other tokens.
        self.rates.retain(|id, bucket| rate(id) == Some(bucket.per_second()));
        for id in tokens.keys() {
            if let Some(per_second) = rate(id).filter(|_| !self.rates.contains_key(id)) {
                self.rates.insert(id.clone(), Arc::new(Bucket::new(per_second)));
            }
        }
        tracing::info!(tokens = tokens.len(), "tokens read");
        Ok(())
    }
}

fn version(path: &Path) -> Option<Version> {
    let about = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let file = std::os::unix::fs::MetadataExt::ino(&about);
    #[cfg(not(unix))]
    let file = 0;
    Some((about.modified().ok(), about.len(), file))
}
