//! A phone with a network and a disk: does what [`Steps`](crate::Steps) say, one after the other, and waits for each.

use lrgeo_geo::Coord;
use lrgeo_protocol::Reference;
use lrgeo_tiles::PublicKey;
use lrgeo_tiles::sample::SystemRandomness;

use crate::clock::Clock;
use crate::draws::Draws;
use crate::policy::Policy;
use crate::state::{Keeper, Kept, State};
use crate::transport::Server;
use crate::{ClientError, Mode, Outcome, Phone, Step};

/// A user of one server.
pub struct Client<D: Draws = SystemRandomness> {
    phone: Phone<D>,
    server: Box<dyn Server>,
    keeper: Box<dyn Keeper>,
}

#[cfg(feature = "system")]
impl Client {
    /// A client for a person: whatever it reports is drawn with the operating system's randomness.
    pub fn new(server: impl Server + 'static, kept: Kept) -> Self {
        Self::with_draws(server, kept, crate::clock::SystemClock, SystemRandomness)
    }
}

#[cfg(feature = "system")]
impl Client<crate::draws::Rehearsal> {
    /// A client whose reports can be predicted, for tests and demonstrations. Never for a person.
    pub fn rehearse(
        server: impl Server + 'static,
        kept: Kept,
        draws: crate::draws::Rehearsal,
    ) -> Self {
        Self::with_draws(server, kept, crate::clock::SystemClock, draws)
    }
}

impl<D: Draws> Client<D> {
    /// Of all its parts.
    pub fn with_draws(
        server: impl Server + 'static,
        kept: Kept,
        clock: impl Clock + 'static,
        draws: D,
    ) -> Self {
        let Kept { state, keeper, saved } = kept;
        let phone = Phone::with_draws(server.name(), (state, saved), clock, draws);
        Self { phone, server: Box::new(server), keeper }
    }

    /// Believes this operator only.
    pub fn key(self, key: Option<PublicKey>) -> Self {
        Self { phone: self.phone.key(key), ..self }
    }

    /// Whether the owner agrees to terms that are weaker than those accepted before, as long as the policy allows them.
    pub fn consent(self, consent: bool) -> Self {
        Self { phone: self.phone.consent(consent), ..self }
    }

    /// How often the user goes each way that the city has, by name: in `local` and `offload` the matrix is made for it. It
    /// stays on the device, but what `offload` uploads tells it, and reports do in part (`docs/what-the-server-learns.md`).
    pub fn going(self, going: Vec<(String, f64)>) -> Self {
        Self { phone: self.phone.going(going), ..self }
    }

    /// Asks for so many targets after a report; not at all for 0.
    pub fn targets(self, targets: usize) -> Self {
        Self { phone: self.phone.targets(targets), ..self }
    }

    /// Sends reports with what the app calls what they belong to: [`Phone::reference`].
    pub fn reference(self, reference: Option<Reference>) -> Self {
        Self { phone: self.phone.reference(reference), ..self }
    }

    /// Uses another clock.
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        Self { phone: self.phone.clock(clock), ..self }
    }

    /// What is remembered.
    pub fn state(&self) -> &State {
        self.phone.state()
    }

    /// The owner's rules, to be changed; what changes them for good is [`Client::obfuscate`], which writes the state.
    pub fn policy_mut(&mut self) -> &mut Policy {
        self.phone.policy_mut()
    }

    /// Remembers that the owner knows what `offload` discloses ([`crate::offload::DISCLOSURE`]).
    #[cfg(feature = "offload")]
    pub fn understand_offload(&mut self) -> Result<(), ClientError> {
        let (state, saved) = self.phone.state_mut();
        state.offload_understood = true;
        Ok(crate::state::commit(state, saved, &mut *self.keeper)?)
    }

    /// Reports for somebody at `at`: [`Phone::obfuscate`], all steps of it.
    ///
    /// What is reported is on disk before it is sent: after an error the same report is sent again.
    pub fn obfuscate(&mut self, at: Coord, mode: Mode) -> Result<Outcome, ClientError> {
        let Self { phone, server, keeper } = self;
        let mut steps = phone.obfuscate_over(at, mode, server.offload());
        loop {
            match steps.next() {
                Step::Ask { request, most_bytes } => {
                    steps.answer(server.ask(&request, most_bytes));
                }
                Step::Keep(text) => steps.kept(keeper.save(&text)),
                Step::Done(outcome) => return *outcome,
            }
        }
    }
}
