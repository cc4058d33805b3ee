//! Whose word counts: keys are pinned at first use, and every manifest must follow the one that was accepted before.
//!
//! A manifest that does not is older, or it is one of two under one number. The second case is a *fork*: the operator
//! shows different things to different people, and has signed both.

use lrgeo_geo::Digest;
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::{Envelope, Link, PublicKey, SignedManifest, TileError};

use crate::error::Caught;
use crate::policy::Terms;
use crate::state::{Fork, Pinned, State};
use crate::steps::Wire;
use crate::transport::Answer;
use crate::{ClientError, Lie, Mode};

/// A manifest is JSON, with a line per tile and per square of the grid.
const MOST_MANIFEST: u64 = 32 << 20;
const MOST_SIGNATURE: u64 = 1 << 10;
/// Manifests that are walked through at once: who was away for longer pins the server anew.
const MOST_LINKS: u64 = 200;
/// Clocks differ; a manifest from farther in the future is no manifest.
const FUTURE_SECONDS: u64 = 86_400;

/// The newest manifest of a server, found to follow what is known.
pub struct Current {
    /// The manifest.
    pub signed: SignedManifest,
    /// The key that the operator is known by.
    pub operator: PublicKey,
    /// Whether there was nothing to compare the key with: the user has to be told.
    pub first_use: bool,
}

/// Fetches the manifest of a server and everything between it and the one that is known; the same for everybody who
/// knows the same one.
pub async fn current(
    wire: &Wire,
    name: &str,
    state: &mut State,
    given: Option<PublicKey>,
    now: u64,
) -> Result<Current, ClientError> {
    let Answer { body: bytes, key: offered } = wire.ask(Request::Manifest, MOST_MANIFEST).await?;
    let signature = wire.ask(Request::Signature, MOST_SIGNATURE).await?.body;
    let envelope = Envelope { bytes, signature };
    let offered = offered.map(|key| key.parse::<PublicKey>()).transpose()?;
    let current = match state.pinned_mut(name) {
        None => first(envelope, given, offered)?,
        Some(pinned) => later(wire, pinned, envelope, given, offered).await?,
    };
    let Link { issued, expires, .. } = current.signed.link();
    if expires.unix() <= now {
        let offered = format!("expired {expires}");
        let expected = "one that is still good; the operator has to sign a new one";
        return Err(Lie::new(Caught::Time, "manifest", offered, expected).into());
    }
    if issued.unix() > now.saturating_add(FUTURE_SECONDS) {
        let offered = format!("issued {issued}, which is in the future");
        let expected = "a time that has come; one of the two clocks is wrong";
        return Err(Lie::new(Caught::Time, "manifest", offered, expected).into());
    }
    Ok(current)
}

/// A server that is seen for the first time: the key given by the user, else the one that the server offers.
fn first(
    envelope: Envelope,
    given: Option<PublicKey>,
    offered: Option<PublicKey>,
) -> Result<Current, ClientError> {
    let signer = match (given, offered) {
        (Some(given), Some(offered)) if given != offered => {
            return Err(Lie::other_key(offered, given).into());
        }
        (Some(key), _) | (None, Some(key)) => key,
        (None, None) => return Err(ClientError::NoKey),
    };
    let signed = envelope.open(&signer)?;
    Ok(Current { signed, operator: signer, first_use: given.is_none() })
}

/// A server that is known: what it shows is the known manifest, or follows it.
async fn later(
    wire: &Wire,
    pinned: &mut Pinned,
    envelope: Envelope,
    given: Option<PublicKey>,
    offered: Option<PublicKey>,
) -> Result<Current, ClientError> {
    if let Some(fork) = pinned.fork {
        return Err(Lie::forked(fork).into());
    }
    let keys = [pinned.key, pinned.signer, pinned.next_key];
    if let Some(given) = given.filter(|given| !keys.contains(given)) {
        return Err(Lie::other_key(given, pinned.key).into());
    }
    // A server that changes its key says so more clearly than a signature that does not fit.
    let expected = pinned.next_key;
    let clearer = |error: TileError| match (error, offered) {
        (TileError::Signature, Some(offered)) if !keys.contains(&offered) => {
            Lie::other_key(offered, expected)
        }
        (error, _) => error.into(),
    };
    let operator = pinned.key;
    let known = |signed| Current { signed, operator, first_use: false };
    if envelope.digest() == pinned.manifest {
        return Ok(known(envelope.open(&pinned.signer).map_err(clearer)?));
    }
    // What is no manifest was signed by nobody.
    let link = envelope.claimed_link().map_err(|_| clearer(TileError::Signature))?;
    if link.sequence <= pinned.sequence {
        // Only what the operator signed can accuse the operator.
        let signed = envelope.open(&pinned.signer).map_err(clearer)?;
        if link.sequence == pinned.sequence {
            return Err(fork(pinned, signed.digest()).into());
        }
        return Err(TileError::Older { issued: link.issued, known: pinned.issued }.into());
    }
    let mut path = walk_back(wire, pinned.sequence, link, envelope).await?;
    let Some(next) = path.pop() else {
        return Err(Lie::nonsense("manifest", "link", "leads nowhere").into());
    };
    let mut newest = next.open(&expected).map_err(clearer)?;
    if newest.link().previous != Some(pinned.manifest) {
        return Err(fork(pinned, newest.digest()).into());
    }
    pinned.tip().expect(&newest)?;
    while let Some(next) = path.pop() {
        newest = newest.tip().next(next)?;
    }
    Ok(known(newest))
}

/// The manifests after number `known` up to the given one, which comes first. Nothing of them was looked at but the link.
async fn walk_back(
    wire: &Wire,
    known: u64,
    mut link: Link,
    newest: Envelope,
) -> Result<Vec<Envelope>, ClientError> {
    let wrong = |reason: &str| Lie::nonsense("manifest", "link", reason);
    if link.sequence - known > MOST_LINKS {
        return Err(wrong("is hundreds of manifests after the one that is known").into());
    }
    let mut path = vec![newest];
    while link.sequence > known + 1 {
        let hash = link.previous.ok_or_else(|| wrong("names none before it"))?;
        let bytes = wire.ask(Request::Earlier(hash), MOST_MANIFEST).await?.body;
        if Digest::of(&bytes) != hash {
            return Err(Lie::other_bytes("earlier manifest", Digest::of(&bytes), hash).into());
        }
        let ask = Request::EarlierSignature(hash);
        let signature = wire.ask(ask, MOST_SIGNATURE).await?.body;
        let envelope = Envelope { bytes, signature };
        let before = envelope.claimed_link()?;
        if before.sequence + 1 != link.sequence {
            return Err(wrong("does not count one by one").into());
        }
        path.push(envelope);
        link = before;
    }
    Ok(path)
}

/// Remembers that the operator signed two manifests that cannot both be true.
fn fork(pinned: &mut Pinned, other: Digest) -> Lie {
    let Pinned { sequence, manifest: known, .. } = *pinned;
    let fork = Fork { sequence, known, other };
    pinned.fork = Some(fork);
    Lie::forked(fork)
}

/// Pins a manifest, with what was accepted of it in a mode. Before anything weaker than before is accepted, the owner
/// is asked.
pub fn accept(
    state: &mut State,
    name: &str,
    current: &Current,
    (mode, terms): (Mode, Terms),
    consent: bool,
    now: u64,
) -> Result<(), ClientError> {
    let (link, signer) = (current.signed.link(), current.signed.signer());
    let manifest = current.signed.digest();
    if state.pinned(name).is_none() {
        state.servers.push(Pinned {
            server: name.to_owned(),
            key: current.operator,
            since: now,
            sequence: link.sequence,
            manifest,
            issued: link.issued,
            signer,
            next_key: link.next_key,
            terms: Default::default(),
            fork: None,
        });
    }
    let Some(pinned) = state.pinned_mut(name) else { return Ok(()) };
    if let Some(before) = pinned.terms.get(&mode).filter(|_| !consent) {
        terms.no_weaker_than(before)?;
    }
    (pinned.sequence, pinned.manifest, pinned.issued) = (link.sequence, manifest, link.issued);
    (pinned.signer, pinned.next_key) = (signer, link.next_key);
    pinned.terms.insert(mode, terms);
    Ok(())
}
