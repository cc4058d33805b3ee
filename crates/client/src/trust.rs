//! Whose word counts: keys are pinned at first use, and every manifest must follow the one that was accepted before.
//!
//! A manifest that does not is older, or it is one of two under one number. The second case is a *fork*: the operator
//! shows different things to different people, and has signed both.

use lrgeo_protocol::Digest;
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::{Hash, Link, PublicKey, SignedManifest, TileError, follow, peek};

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
    /// The key that signed it.
    pub signer: PublicKey,
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
    let offered = offered.map(|key| key.parse::<PublicKey>()).transpose().map_err(Lie::Tiles)?;
    let current = match state.pinned_mut(name) {
        None => first(name, bytes, signature, given, offered)?,
        Some(pinned) => later(wire, pinned, bytes, signature, given, offered).await?,
    };
    let Link { issued, expires, .. } = current.signed.manifest.link;
    if expires.unix() <= now {
        return Err(Lie::Expired { expires }.into());
    }
    if issued.unix() > now.saturating_add(FUTURE_SECONDS) {
        return Err(Lie::FromTheFuture { issued }.into());
    }
    Ok(current)
}

fn changed(name: &str, pinned: PublicKey, offered: PublicKey) -> ClientError {
    ClientError::KeyChanged { server: name.into(), pinned: pinned.into(), offered: offered.into() }
}

/// A server that is seen for the first time: the key given by the user, else the one that the server offers.
fn first(
    name: &str,
    bytes: Vec<u8>,
    signature: Vec<u8>,
    given: Option<PublicKey>,
    offered: Option<PublicKey>,
) -> Result<Current, ClientError> {
    let signer = match (given, offered) {
        (Some(given), Some(offered)) if given != offered => {
            return Err(changed(name, given, offered));
        }
        (Some(key), _) | (None, Some(key)) => key,
        (None, None) => return Err(ClientError::NoKey),
    };
    let signed = SignedManifest::open(bytes, signature, &signer)?;
    Ok(Current { signed, signer, operator: signer, first_use: given.is_none() })
}

/// A server that is known: what it shows is the known manifest, or follows it.
async fn later(
    wire: &Wire,
    pinned: &mut Pinned,
    bytes: Vec<u8>,
    signature: Vec<u8>,
    given: Option<PublicKey>,
    offered: Option<PublicKey>,
) -> Result<Current, ClientError> {
    if let Some(Fork { sequence, known, other }) = pinned.fork {
        return Err(Lie::Forked { sequence, known, other }.into());
    }
    let keys = [pinned.key, pinned.signer, pinned.next_key];
    if let Some(given) = given.filter(|given| !keys.contains(given)) {
        return Err(changed(&pinned.server, pinned.key, given));
    }
    // A server that changes its key says so more clearly than a signature that does not fit.
    let expected = pinned.next_key;
    let clearer = |error: TileError| match (error, offered) {
        (TileError::Signature, Some(offered)) if !keys.contains(&offered) => {
            changed(&pinned.server, expected, offered)
        }
        (error, _) => error.into(),
    };
    let operator = pinned.key;
    let known = |signed, signer| Current { signed, signer, operator, first_use: false };
    if Hash::of(&bytes).0 == pinned.manifest.0 {
        let signed = SignedManifest::open(bytes, signature, &pinned.signer).map_err(clearer)?;
        return Ok(known(signed, pinned.signer));
    }
    // What is no manifest was signed by nobody.
    let link = peek(&bytes).map_err(|_| clearer(TileError::Signature))?;
    if link.sequence <= pinned.sequence {
        // Only what the operator signed can accuse the operator.
        let signed = SignedManifest::open(bytes, signature, &pinned.signer).map_err(clearer)?;
        if link.sequence == pinned.sequence {
            return Err(fork(pinned, signed.hash()).into());
        }
        return Err(TileError::Older { issued: link.issued, known: pinned.issued }.into());
    }
    let mut path = walk_back(wire, pinned.sequence, link, bytes, signature).await?;
    let Some((bytes, signature)) = path.pop() else {
        return Err(Lie::nonsense("manifest", "link", "leads nowhere").into());
    };
    let next =
        SignedManifest::open(bytes.clone(), signature.clone(), &expected).map_err(clearer)?;
    if next.manifest.link.previous != Some(Hash(pinned.manifest.0)) {
        return Err(fork(pinned, next.hash()).into());
    }
    let mut signer = expected;
    let mut newest =
        follow(Hash(pinned.manifest.0), pinned.sequence, pinned.issued, &signer, bytes, signature)?;
    while let Some((bytes, signature)) = path.pop() {
        signer = newest.manifest.link.next_key;
        newest = newest.next(bytes, signature)?;
    }
    Ok(known(newest, signer))
}

/// The bytes of a manifest and of its signature, of which nothing was looked at but the link.
type Unread = (Vec<u8>, Vec<u8>);

/// The manifests after number `known` up to the given one, which comes first.
async fn walk_back(
    wire: &Wire,
    known: u64,
    mut link: Link,
    bytes: Vec<u8>,
    signature: Vec<u8>,
) -> Result<Vec<Unread>, ClientError> {
    let wrong = |reason: &str| Lie::nonsense("manifest", "link", reason);
    if link.sequence - known > MOST_LINKS {
        return Err(wrong("is hundreds of manifests after the one that is known").into());
    }
    let mut path = vec![(bytes, signature)];
    while link.sequence > known + 1 {
        let hash = link.previous.ok_or_else(|| wrong("names none before it"))?;
        let bytes = wire.ask(Request::Earlier(Digest(hash.0)), MOST_MANIFEST).await?.body;
        if Hash::of(&bytes) != hash {
            return Err(Lie::OtherBytes { what: "an earlier manifest" }.into());
        }
        let ask = Request::EarlierSignature(Digest(hash.0));
        let signature = wire.ask(ask, MOST_SIGNATURE).await?.body;
        let before = peek(&bytes)?;
        if before.sequence + 1 != link.sequence {
            return Err(wrong("does not count one by one").into());
        }
        path.push((bytes, signature));
        link = before;
    }
    Ok(path)
}

/// Remembers that the operator signed two manifests that cannot both be true.
fn fork(pinned: &mut Pinned, other: Hash) -> Lie {
    let Pinned { sequence, manifest: known, .. } = *pinned;
    let other = Digest(other.0);
    pinned.fork = Some(Fork { sequence, known, other });
    Lie::Forked { sequence, known, other }
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
    let link = current.signed.manifest.link;
    let manifest = Digest(current.signed.hash().0);
    if state.pinned(name).is_none() {
        state.servers.push(Pinned {
            server: name.to_owned(),
            key: current.operator,
            since: now,
            sequence: link.sequence,
            manifest,
            issued: link.issued,
            signer: current.signer,
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
    (pinned.signer, pinned.next_key) = (current.signer, link.next_key);
    pinned.terms.insert(mode, terms);
    Ok(())
}
