//! What a mechanism is called once the verifier has looked at it.
//!
//! A [`Built`] claims something; an [`Examined`] one comes with what was found about the claim; of a [`Verified`] one it was found to hold. The
//! latter two cannot be made in any other way, nor changed, so whoever takes one need not look again.

use std::path::Path;

use lrgeo_geo::Digest;
use lrgeo_map::progress::Progress;

use super::{Verdict, verify};
use crate::{Built, MechanismError};

/// A mechanism and what the verifier found, whether or not its promise holds: for those who say how good or bad it is.
#[derive(Clone, Debug)]
pub struct Examined {
    built: Built,
    verdict: Verdict,
}

impl Examined {
    /// Looks at every promise of a mechanism.
    pub fn new(built: Built, progress: &dyn Progress) -> Self {
        let verdict = verify(&built, progress);
        Self { built, verdict }
    }

    /// What was found.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The same as one whose promise holds, if it does.
    pub fn verified(self) -> Result<Verified, MechanismError> {
        if !self.verdict.guaranteed.is_private() {
            let worst_log_excess = self.verdict.guaranteed.worst_log_excess;
            return Err(MechanismError::NotPrivate { worst_log_excess });
        }
        match self.verdict.holds() {
            true => Ok(Verified(self)),
            false => Err(MechanismError::invalid("mechanism", "has rows that do not sum to one")),
        }
    }
}

impl std::ops::Deref for Examined {
    type Target = Built;

    fn deref(&self) -> &Built {
        &self.built
    }
}

/// A mechanism that keeps its promise, as was found here: what may be published and drawn from.
#[derive(Clone, Debug)]
pub struct Verified(Examined);

impl Verified {
    /// Looks at every promise of a mechanism; one that does not keep them is refused.
    pub fn new(built: Built, progress: &dyn Progress) -> Result<Self, MechanismError> {
        Examined::new(built, progress).verified()
    }

    /// The same for one in a file, which may say anything, with the fingerprint of the file.
    pub fn open(path: &Path, progress: &dyn Progress) -> Result<(Self, Digest), MechanismError> {
        let (built, fingerprint) = Built::open(path)?;
        Ok((Self::new(built, progress)?, fingerprint))
    }

    /// Adds something to know about it, for people: no promise depends on that.
    pub fn note(&mut self, name: &str, text: String) {
        self.0.built.notes.push((name.to_owned(), text));
    }

    /// The mechanism alone, without the proof: for whoever changes it.
    pub fn into_built(self) -> Built {
        self.0.built
    }
}

impl From<Verified> for Examined {
    fn from(verified: Verified) -> Self {
        verified.0
    }
}

impl std::ops::Deref for Verified {
    type Target = Examined;

    fn deref(&self) -> &Examined {
        &self.0
    }
}
