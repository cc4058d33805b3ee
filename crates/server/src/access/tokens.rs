//! API tokens: who may do what, how often and until when.
//!
//! A token is `lrgeo_<id>_<secret>` with 256 random bits of secret. The file has its id and the digest of the whole. One BLAKE3 is
//! enough for that: slow password hashes are for secrets that people choose and others can guess, and nobody guesses 256 bits, however quick
//! each try. The id is no secret: it is what a token is called in the list and in the log, and what it is looked up by; then the digests are
//! compared in constant time.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use lrgeo_geo::Digest;
use serde::{Deserialize, Serialize};

use crate::{ServerError, owner_only};

/// The file in the data directory.
const FILE: &str = "tokens.json";
/// Held while the file is changed: of two changes at once neither is lost.
const LOCK: &str = "tokens.lock";
/// What digests are of; nothing else is hashed with it.
const CONTEXT: &str = "lrgeo 2026-11-18 what an API token is recognised by";
/// What every token begins with: programs that look for secrets where none should be find it.
pub(super) const PREFIX: &str = "lrgeo_";

/// What a token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// What is the same for everybody: map, manifests, tiles, the page.
    Public,
    /// Reports, and what the service makes of them.
    Report,
    /// The paper's rounds. Whoever has a ticket follows it with the ticket's own token.
    Rounds,
    /// The reports that were taken. Needs a token whatever the settings say.
    Stream,
    /// Metrics and figures of the operation.
    Operate,
}

impl Scope {
    /// All, with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Public, "public"),
        (Self::Report, "report"),
        (Self::Rounds, "rounds"),
        (Self::Stream, "stream"),
        (Self::Operate, "operate"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl std::str::FromStr for Scope {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(scope, _)| *scope).ok_or("must be public, report, rounds, stream or operate")
    }
}

/// What is kept of a token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// What it is called by programs.
    pub id: String,
    /// What it is called by people.
    pub name: String,
    /// What it is recognised by.
    digest: Digest,
    /// What it is for.
    pub scopes: Vec<Scope>,
    /// At most so many requests a second; without, they count with everybody else's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// When it was made, in seconds since 1970.
    pub issued: u64,
    /// From when on it opens nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

/// What a new token shall be.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub scopes: Vec<Scope>,
    /// At most so many requests a second.
    pub per_second: Option<f64>,
    /// For so many seconds.
    pub lifetime_seconds: Option<u64>,
}

/// The file as it is written.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: Format,
    tokens: Vec<Token>,
}

#[derive(Default, Serialize, Deserialize)]
enum Format {
    #[default]
    #[serde(rename = "lrgeo tokens 1")]
    First,
}

/// All tokens of a data directory.
pub struct TokenFile {
    path: PathBuf,
    tokens: Vec<Token>,
}

impl TokenFile {
    /// Reads the file; where there is none there are no tokens.
    pub fn open(data: &Path) -> Result<Self, ServerError> {
        let path = data.join(FILE);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { path, tokens: Vec::new() });
            }
            Err(error) => return Err(ServerError::Io { path, error }),
        };
        let written: Written = serde_json::from_slice(&text).map_err(|error| {
            let reason = format!(
                "is no list of tokens: {error}; restore it, or delete it and give out new ones"
            );
            ServerError::Store { path: path.clone(), reason }
        })?;
        Ok(Self { path, tokens: written.tokens })
    }

    /// Changes the file: all or nothing, and no change of somebody else's in between is lost.
    pub fn change<T>(
        data: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, ServerError>,
    ) -> Result<T, ServerError> {
        owner_only::directory(data)?;
        let lock = data.join(LOCK);
        let held = owner_only::file(&lock)?;
        held.lock().map_err(ServerError::io(&lock))?;
        let mut tokens = Self::open(data)?;
        let done = change(&mut tokens)?;
        tokens.save()?;
        Ok(done)
    }

    /// All of them, oldest first.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Makes a token: the text that opens, which is kept nowhere, and what is kept of it.
    pub fn issue(&mut self, wanted: &Wanted, now: u64) -> Result<(String, Token), ServerError> {
        let field =
            |field, reason: &str| Err(ServerError::Setting { field, reason: reason.into() });
        if wanted.name.is_empty()
            || wanted.name.len() > 64
            || wanted.name.chars().any(char::is_control)
        {
            return field("name", "must have 1 to 64 letters");
        }
        if wanted.scopes.is_empty() {
            return field("scope", "must be one at least: a token for nothing opens nothing");
        }
        if wanted.per_second.is_some_and(|rate| !(rate > 0.0 && rate <= 1e6)) {
            return field("per_second", "must be a positive number of requests a second");
        }
        if self.tokens.iter().any(|token| token.name == wanted.name) {
            return field("name", "is taken; revoke that token, or choose another name");
        }
        let id = loop {
            let id = lrgeo_geo::to_hex(&random::<4>()?);
            if self.tokens.iter().all(|token| token.id != id) {
                break id;
            }
        };
        let text = format!("{PREFIX}{id}_{}", lrgeo_geo::to_hex(&random::<32>()?));
        let mut scopes = wanted.scopes.clone();
        scopes.sort_unstable();
        scopes.dedup();
        let token = Token {
            id,
            name: wanted.name.clone(),
            digest: digest(&text),
            scopes,
            per_second: wanted.per_second,
            issued: now,
            expires: wanted.lifetime_seconds.map(|seconds| now.saturating_add(seconds)),
        };
        self.tokens.push(token.clone());
        Ok((text, token))
    }

    /// Forgets the token of this id or name.
    pub fn revoke(&mut self, which: &str) -> Result<Token, ServerError> {
        let found = self.tokens.iter().position(|token| token.id == which || token.name == which);
        match found {
            Some(at) => Ok(self.tokens.remove(at)),
            None => Err(ServerError::Setting {
                field: "token",
                reason: "there is none of this id or name; `lrgeo token list` shows all".into(),
            }),
        }
    }

    /// Under a temporary name first: a reader sees the old file or the new one.
    fn save(&self) -> Result<(), ServerError> {
        let written = Written { format: Format::First, tokens: self.tokens.clone() };
        let text = serde_json::to_vec_pretty(&written).unwrap_or_default();
        let new = self.path.with_extension("json.new");
        let io = || ServerError::io(&self.path);
        // What a process left that was killed while it wrote is in nobody's way.
        let mut file = owner_only::file(&new)?;
        file.set_len(0).map_err(io())?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(io())?;
        std::fs::rename(&new, &self.path).map_err(io())?;
        // The name is on disk when the directory is.
        if let Some(folder) = self.path.parent() {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// The tokens by id, for a server to look up.
    pub(super) fn by_id(self) -> HashMap<String, Token> {
        self.tokens.into_iter().map(|token| (token.id.clone(), token)).collect()
    }
}

impl Token {
    /// Whether this text is the token.
    pub(super) fn is(&self, text: &str) -> bool {
        // Of this type, since it is compared in constant time.
        blake3::Hash::from_bytes(self.digest.0) == blake3::Hash::from_bytes(digest(text).0)
    }

    /// Whether it opens anything at this time.
    pub fn is_valid(&self, now: u64) -> bool {
        self.expires.is_none_or(|end| now < end)
    }
}

/// The id of what looks like a token.
pub(super) fn id_of(text: &str) -> Option<&str> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    (id.len() == 8 && secret.len() == 64).then_some(id)
}

fn digest(text: &str) -> Digest {
    Digest(blake3::derive_key(CONTEXT, text.as_bytes()))
}

fn random<const N: usize>() -> Result<[u8; N], ServerError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| ServerError::Setting {
        field: "token",
        reason: "the system has no randomness".into(),
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_data(name: &str, test: impl FnOnce(&Path)) {
        let data = std::env::temp_dir().join(format!("lrgeo-tokens-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&data);
        test(&data);
        std::fs::remove_dir_all(data).unwrap();
    }

    fn wanted(name: &str) -> Wanted {
        let scopes = vec![Scope::Report, Scope::Public, Scope::Report];
        Wanted { name: name.into(), scopes, per_second: Some(5.0), lifetime_seconds: Some(60) }
    }

    #[test]
    fn the_file_has_no_token_that_opens() {
        with_data("digest", |data| {
            let (text, token) = TokenFile::change(data, |f| f.issue(&wanted("app"), 1000)).unwrap();
            let written = std::fs::read_to_string(data.join(FILE)).unwrap();
            let secret = text.rsplit('_').next().unwrap();
            assert!(secret.len() == 64 && !written.contains(secret), "{written}");
            assert!(token.is(&text) && !token.is(&text.to_uppercase()));
            assert_eq!(id_of(&text), Some(token.id.as_str()));
            assert_eq!(token.scopes, [Scope::Public, Scope::Report]);
            assert!(token.is_valid(1059) && !token.is_valid(1060));
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = std::fs::metadata(data.join(FILE)).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600);
            }
            assert_eq!(TokenFile::open(data).unwrap().tokens(), std::slice::from_ref(&token));
            let again = TokenFile::change(data, |file| file.issue(&wanted("app"), 1000));
            assert!(again.unwrap_err().to_string().contains("is taken"));
            TokenFile::change(data, |file| file.revoke("app")).unwrap();
            assert!(TokenFile::change(data, |file| file.revoke("app")).is_err());
        });
    }

    #[test]
    fn of_many_changes_at_once_none_is_lost() {
        with_data("at-once", |data| {
            std::thread::scope(|scope| {
                for number in 0..16 {
                    let wanted = wanted(&format!("app {number}"));
                    scope.spawn(move || TokenFile::change(data, |file| file.issue(&wanted, 1)));
                }
            });
            assert_eq!(TokenFile::open(data).unwrap().tokens().len(), 16);
        });
    }

    #[test]
    fn a_damaged_file_is_refused_and_not_taken_for_none() {
        with_data("damaged", |data| {
            std::fs::create_dir_all(data).unwrap();
            for text in ["", "{}", "{\"format\":\"lrgeo tokens 2\",\"tokens\":[]}"] {
                std::fs::write(data.join(FILE), text).unwrap();
                let error = TokenFile::open(data).err().map(|error| error.to_string());
                assert!(error.is_some_and(|error| error.contains("tokens.json")), "{text}");
            }
        });
    }
}
