//! Whose word counts: keys are pinned at first use, and time goes forward only.

use lrgeo_mechanism::publish::{Issued, PublicKey, TileError};

use crate::state::{Pinned, State};
use crate::{ClientError, Lie};

/// The key that a server's documents are checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trusted {
    /// The key.
    pub key: PublicKey,
    /// Whether there was nothing to compare it with: the user has to be told.
    pub first_use: bool,
}

/// Decides on a key: the one given by the user, else the pinned one, else the one that the server offers.
/// Nothing is pinned before something was found to be signed with it.
pub fn decide(
    state: &State,
    server: &str,
    given: Option<PublicKey>,
    offered: Option<&str>,
) -> Result<Trusted, ClientError> {
    let pinned = state.pinned(server).map(|pinned| pinned.key.as_str());
    let changed = |pinned: &str, offered: String| ClientError::KeyChanged {
        server: server.to_owned(),
        pinned: pinned.to_owned(),
        offered,
    };
    let known = match (given, pinned) {
        (Some(given), Some(pinned)) if given.to_string() != pinned => {
            return Err(changed(pinned, given.to_string()));
        }
        (Some(given), _) => Some(given),
        (None, Some(pinned)) => Some(pinned.parse().map_err(Lie::Tiles)?),
        (None, None) => None,
    };
    // Offered keys are compared too: a server that changes its key says so more clearly than a
    // signature that does not fit.
    let offered_key = offered.map(str::parse::<PublicKey>).transpose().map_err(Lie::Tiles)?;
    match (known, offered_key) {
        (Some(key), Some(offered)) if key != offered => {
            Err(changed(&key.to_string(), offered.to_string()))
        }
        (Some(key), _) => Ok(Trusted { key, first_use: false }),
        (None, Some(key)) => Ok(Trusted { key, first_use: true }),
        (None, None) => Err(ClientError::NoKey),
    }
}

/// Which of a server's documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// The manifest of the tiles.
    Manifest,
    /// The description of the map.
    Description,
}

/// Pins the key of a document whose signature was found right, and refuses one that is older than a known
/// one.
pub fn accept(
    state: &mut State,
    server: &str,
    key: PublicKey,
    document: Document,
    issued: Issued,
    now: u64,
) -> Result<(), Lie> {
    if state.pinned(server).is_none() {
        state.servers.push(Pinned {
            server: server.to_owned(),
            key: key.to_string(),
            since: now,
            manifest: None,
            description: None,
        });
    }
    let Some(pinned) = state.pinned_mut(server) else { return Ok(()) };
    let newest = match document {
        Document::Manifest => &mut pinned.manifest,
        Document::Description => &mut pinned.description,
    };
    match *newest {
        Some(known) if issued < known => Err(match document {
            Document::Manifest => TileError::Older { issued, known }.into(),
            Document::Description => Lie::Older { what: "map description", issued, known },
        }),
        _ => {
            *newest = Some(issued);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lrgeo_mechanism::publish::SecretKey;

    fn key(seed: u8) -> PublicKey {
        SecretKey::from_seed([seed; 32]).unwrap().public()
    }

    const SERVER: &str = "http://localhost:1";

    fn pinned(seed: u8) -> State {
        let mut state = State::default();
        let issued = Issued::from_unix(1_000);
        accept(&mut state, SERVER, key(seed), Document::Manifest, issued, 5).unwrap();
        state
    }

    #[test]
    fn the_first_key_is_kept() {
        let offered = key(1).to_string();
        let first = decide(&State::default(), SERVER, None, Some(&offered)).unwrap();
        assert_eq!(first, Trusted { key: key(1), first_use: true });
        let again = decide(&pinned(1), SERVER, None, Some(&offered)).unwrap();
        assert_eq!(again, Trusted { key: key(1), first_use: false });
        // A server that offers none is checked with the pinned one.
        assert_eq!(decide(&pinned(1), SERVER, None, None).unwrap().key, key(1));
        // Another server has a key of its own.
        assert!(decide(&pinned(1), "http://other", None, Some(&offered)).unwrap().first_use);
        assert!(matches!(decide(&State::default(), SERVER, None, None), Err(ClientError::NoKey)));
    }

    #[test]
    fn another_key_is_refused() {
        let offered = key(2).to_string();
        let changed = decide(&pinned(1), SERVER, None, Some(&offered)).unwrap_err();
        assert!(matches!(changed, ClientError::KeyChanged { .. }));
        assert!(changed.to_string().contains("reset --servers"));
        for (state, given) in [(pinned(1), key(2)), (State::default(), key(1))] {
            let refused = decide(&state, SERVER, Some(given), Some(&offered));
            assert!(matches!(refused, Err(ClientError::KeyChanged { .. })));
        }
        assert!(decide(&State::default(), SERVER, None, Some("ed25519:00")).is_err());
        // A key that the user gives is no first use.
        let given = decide(&State::default(), SERVER, Some(key(2)), Some(&offered)).unwrap();
        assert!(!given.first_use);
    }

    #[test]
    fn documents_do_not_get_older() {
        let mut state = pinned(1);
        let mut at = |document, seconds| {
            accept(&mut state, SERVER, key(1), document, Issued::from_unix(seconds), 9)
        };
        assert!(at(Document::Manifest, 1_000).is_ok());
        assert!(at(Document::Manifest, 2_000).is_ok());
        assert!(at(Document::Manifest, 1_999).is_err());
        // The two documents are issued independently.
        assert!(at(Document::Description, 500).is_ok());
        assert!(at(Document::Description, 499).is_err());
    }
}
