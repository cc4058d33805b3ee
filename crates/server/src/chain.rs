//! The manifests that this operator has signed, one after the other. Clients that come back after a while walk
//! from the one they know to the newest, so all of them are kept.

use std::path::{Path, PathBuf};

use lrgeo_map::write_whole;
use lrgeo_tiles::{Envelope, Issued, Link, Manifest, PublicKey, SecretKey, SignedManifest};

use crate::ServerError;

/// How long a manifest is good for. At half of it a new one is signed at the next start.
const VALID_DAYS: u64 = 365;

/// All of them, oldest first, in a folder: `00000007.json`, `.sig`, and `.key`, which names who signed.
pub struct Chain {
    folder: PathBuf,
    links: Vec<SignedManifest>,
}

impl Chain {
    /// Reads the folder and checks every link; an absent one is an empty chain.
    pub fn open(folder: &Path) -> Result<Self, ServerError> {
        std::fs::create_dir_all(folder).map_err(ServerError::io(folder))?;
        let names = std::fs::read_dir(folder).map_err(ServerError::io(folder))?;
        let stem = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json").map(str::to_owned)
        };
        let mut stems: Vec<String> = names.filter_map(|entry| stem(entry.ok()?)).collect();
        stems.sort();
        let mut links: Vec<SignedManifest> = Vec::new();
        for stem in stems {
            let read = |ending: &str| {
                let path = folder.join(format!("{stem}.{ending}"));
                std::fs::read(&path).map_err(ServerError::io(&path))
            };
            let envelope = Envelope { bytes: read("json")?, signature: read("sig")? };
            let signed = match links.last() {
                Some(before) => before.tip().next(envelope)?,
                None => envelope.open(&String::from_utf8_lossy(&read("key")?).parse()?)?,
            };
            links.push(signed);
        }
        Ok(Self { folder: folder.to_owned(), links })
    }

    /// The newest.
    pub fn tip(&self) -> Option<&SignedManifest> {
        self.links.last()
    }

    /// All of them, oldest first.
    pub fn manifests(&self) -> impl Iterator<Item = &SignedManifest> {
        self.links.iter()
    }

    /// Every key that ever signed.
    pub fn keys(&self) -> impl Iterator<Item = PublicKey> {
        self.links.iter().map(SignedManifest::signer)
    }

    /// The link of the next manifest that `key` signs.
    pub fn next_link(&self, issued: Issued, key: PublicKey) -> Link {
        match self.tip() {
            Some(tip) => Link::after(tip, issued, VALID_DAYS, key),
            None => Link::first(issued, VALID_DAYS, key),
        }
    }

    /// Hands over from a retiring key: a manifest that says the same as the newest, signed by the old key, and
    /// names the new one. Nothing where the new key is the one that signs anyway.
    pub fn hand_over(
        &mut self,
        retiring: Option<&SecretKey>,
        key: PublicKey,
        issued: Issued,
    ) -> Result<(), ServerError> {
        let Some(tip) = self.tip() else { return Ok(()) };
        let named = tip.link().next_key;
        if named == key {
            return Ok(());
        }
        let Some(old) = retiring.filter(|old| old.public() == named) else {
            let reason = format!(
                "clients expect the next manifest to be signed by {named}; start with that key, or hand over from it \
                 (`retiring_key`)"
            );
            return Err(ServerError::Setting { field: "key", reason });
        };
        let link = Link::after(tip, issued, VALID_DAYS, key);
        let manifest = tip.manifest().clone().linked(link);
        self.push(SignedManifest::sign(&manifest, old)?)
    }

    /// The manifest to serve for this content: the newest if it says the same and is good for a while, else a new
    /// one after it. `published` is the one that came with the tiles; it takes its place in the chain where it fits.
    pub fn issue(
        &mut self,
        content: Manifest,
        published: &SignedManifest,
        issued: Issued,
        key: &SecretKey,
    ) -> Result<SignedManifest, ServerError> {
        let half = issued.plus_days(VALID_DAYS / 2);
        if let Some(tip) = self.tip()
            && tip.signer() == key.public()
            && tip.manifest().same_content(&content)
            && tip.link().expires > half
        {
            return Ok(tip.clone());
        }
        let fits = match self.tip() {
            Some(tip) => {
                published.signer() == tip.link().next_key && tip.tip().expect(published).is_ok()
            }
            None => true,
        };
        // A manifest that hands over to somebody else is not this server's to go on from.
        if fits && published.link().next_key == key.public() {
            self.push(published.clone())?;
        }
        let link = self.next_link(issued, key.public());
        let signed = SignedManifest::sign(&content.linked(link), key)?;
        self.push(signed.clone())?;
        Ok(signed)
    }

    /// On disk, the text last: it is what makes a link.
    fn push(&mut self, signed: SignedManifest) -> Result<(), ServerError> {
        let stem = format!("{:08}", signed.link().sequence);
        let (Envelope { bytes, signature }, key) = (signed.envelope(), signed.signer().to_string());
        for (ending, bytes) in
            [("sig", signature.as_slice()), ("key", key.as_bytes()), ("json", bytes.as_slice())]
        {
            write_whole(&self.folder.join(format!("{stem}.{ending}")), [bytes])?;
        }
        // What phones were shown must be there after a loss of power; not every system can say so of a directory.
        let _ = std::fs::File::open(&self.folder).and_then(|folder| folder.sync_all());
        self.links.push(signed);
        Ok(())
    }
}
