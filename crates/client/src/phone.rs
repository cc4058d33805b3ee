//! From a coordinate to a report: the main loop of a phone.

use std::time::Duration;

use lrgeo_geo::Coord;
use lrgeo_protocol::Reference;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{Received, Target, Targets};
use lrgeo_protocol::quiet::{Report, ReportedPlace, Request};
use lrgeo_tiles::PublicKey;
use lrgeo_tiles::sample::SystemRandomness;

use crate::clock::Clock;
use crate::draws::{Draws, Rehearsal};
use crate::outcome::{Compared, Learnt, Outcome, Times};
use crate::policy::Policy;
use crate::session::{Asked, Session};
use crate::state::{Recalled, State};
use crate::steps::{Open, Steps, Wire};
use crate::transport::{Answer, Offload, TransportError};
use crate::{ClientError, Lie, Mode};

/// Targets of a city.
const MOST_TARGETS: u64 = 16 << 20;
const MOST_RECEIPT: u64 = 1 << 10;

/// A user of one server, without a network, a disk or a clock of its own: these are brought ([`Steps`], [`Clock`]).
pub struct Phone<D: Draws = SystemRandomness> {
    /// What the server is called where keys are pinned: its address.
    server: String,
    state: State,
    /// The text of it that was kept last.
    saved: Vec<u8>,
    clock: Box<dyn Clock>,
    draws: D,
    key: Option<PublicKey>,
    consent: bool,
    going: Vec<(String, f64)>,
    targets: usize,
    reference: Option<Reference>,
}

impl Phone {
    /// A phone of a person: whatever it reports is drawn with the operating system's randomness. `state` is what was kept last, or a new one.
    pub fn new(server: &str, state: State, clock: impl Clock + 'static) -> Self {
        let saved = state.to_bytes();
        Self::with_draws(server, (state, saved), clock, SystemRandomness)
    }
}

impl Phone<Rehearsal> {
    /// A phone whose reports can be predicted, for tests and demonstrations. Never for a person.
    pub fn rehearse(
        server: &str,
        state: State,
        clock: impl Clock + 'static,
        draws: Rehearsal,
    ) -> Self {
        let saved = state.to_bytes();
        Self::with_draws(server, (state, saved), clock, draws)
    }
}

impl<D: Draws> Phone<D> {
    pub(crate) fn with_draws(
        server: &str,
        (state, saved): (State, Vec<u8>),
        clock: impl Clock + 'static,
        draws: D,
    ) -> Self {
        let (server, clock) = (server.to_owned(), Box::new(clock));
        Self {
            server,
            state,
            saved,
            clock,
            draws,
            key: None,
            consent: false,
            going: Vec::new(),
            targets: 0,
            reference: None,
        }
    }

    /// Believes this operator only.
    pub fn key(self, key: Option<PublicKey>) -> Self {
        Self { key, ..self }
    }

    /// Whether the owner agrees to terms that are weaker than those accepted before, as long as the policy allows them.
    pub fn consent(self, consent: bool) -> Self {
        Self { consent, ..self }
    }

    /// How often the user goes each way that the city has, by name: in `local` and `offload` the matrix is made for it. It
    /// stays on the device, but what `offload` uploads tells it, and reports do in part (`docs/what-the-server-learns.md`).
    pub fn going(self, going: Vec<(String, f64)>) -> Self {
        Self { going, ..self }
    }

    /// Asks for so many targets after a report; not at all for 0.
    pub fn targets(self, targets: usize) -> Self {
        Self { targets, ..self }
    }

    /// Sends reports with what the app calls what they belong to, a ride or a task: reports with one reference can be told to belong together.
    pub fn reference(self, reference: Option<Reference>) -> Self {
        Self { reference, ..self }
    }

    /// Uses another clock.
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        Self { clock: Box::new(clock), ..self }
    }

    /// What is remembered.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The owner's rules, to be changed; what changes them for good is [`Phone::obfuscate`], which has the state kept.
    pub fn policy_mut(&mut self) -> &mut Policy {
        &mut self.state.policy
    }

    /// The state, to be changed, and the text of it that was kept last.
    #[cfg(feature = "offload")]
    pub(crate) fn state_mut(&mut self) -> (&mut State, &mut Vec<u8>) {
        (&mut self.state, &mut self.saved)
    }

    /// Reports for somebody at `at`. The coordinate is not used for anything but finding a report that was drawn
    /// nearby before, or else the nearest place, and that place for nothing but finding a row to draw from.
    ///
    /// What is reported is kept before it is sent: after an error the same report is sent again.
    pub fn obfuscate(&mut self, at: Coord, mode: Mode) -> Steps<'_> {
        self.obfuscate_over(at, mode, None)
    }

    /// The same for a phone that lives as long as one report: the next one is made from the state that was kept.
    pub fn obfuscate_once(mut self, at: Coord, mode: Mode) -> Steps<'static>
    where
        D: 'static,
    {
        let wire = Wire::default();
        let line = wire.clone();
        let work = async move { self.report(line, None, at, mode).await };
        Steps::new(wire, Box::pin(work))
    }

    /// The same, with a line for the mode `offload` that may be waited on.
    pub(crate) fn obfuscate_over<'a>(
        &'a mut self,
        at: Coord,
        mode: Mode,
        offload: Option<&'a dyn Offload>,
    ) -> Steps<'a> {
        let wire = Wire::default();
        let work = self.report(wire.clone(), offload, at, mode);
        Steps::new(wire, Box::pin(work))
    }

    async fn report(
        &mut self,
        wire: Wire,
        offload: Option<&dyn Offload>,
        at: Coord,
        mode: Mode,
    ) -> Result<Outcome, ClientError> {
        if !mode.is_built_in() || mode == Mode::Offload && offload.is_none() {
            return Err(ClientError::NotHere { mode });
        }
        if mode == Mode::Offload && !self.state.offload_understood {
            return Err(ClientError::NotUnderstood);
        }
        let begun = self.clock.since_1970();
        let Self { server, state, saved, clock, draws, key, consent, going, targets, reference } =
            self;
        let mut kept = Open { state, saved, wire: &wire };
        let now = begun.as_secs();
        let asked = Asked { server, mode, going, key: *key, consent: *consent, now };
        let opened = Session::open(&wire, offload, kept.state, asked).await;
        // A fork that was found is remembered.
        kept.commit().await?;
        let session = opened?;
        let opened = clock.since_1970();

        let policy = kept.state.policy;
        let ground = session.ground();
        // Before the nearest place is looked for: a fix that jitters over the edge of the map is where it was.
        let recalled = kept.state.memory.recall(ground, at, policy.redraws);
        let (recalled, learnt, spent, compared) = match recalled {
            Some(recalled) => (recalled, Learnt::Nothing, 0.0, None),
            None => {
                // Before anything is asked for that tells more than that somebody is there.
                kept.state.ledger.allow(&policy, now, ground.epsilon.value())?;
                let row = session.row(at, &mut kept, draws, &**clock).await?;
                let report = draws.report(&row.values)?;
                let when = clock.since_1970().as_secs().max(now);
                let epsilon = row.epsilon_per_km;
                kept.state.ledger.spend(&policy, when, epsilon)?;
                let radius_km = policy.reuse_radius_km(epsilon);
                let accuracy = (row.accuracy)(report).await;
                let accuracy_m = accuracy.map(|accuracy| accuracy.metres);
                let drawn = Recalled {
                    report,
                    at: when,
                    epsilon_per_km: epsilon,
                    radius_km,
                    accuracy_m,
                    mode,
                };
                kept.state.memory.remember(ground, at, &drawn);
                let coordinates = mode == Mode::Coordinates;
                let of = ground.places();
                let compared = Compared { places: row.compared, of, coordinates };
                (drawn, row.learnt, epsilon, Some(compared))
            }
        };
        kept.commit().await?;
        let prepared = clock.since_1970();

        let place = ReportedPlace(recalled.report);
        let report = Report { map: ground.map, place, reference: *reference };
        let reports = send(&wire, report).await?;
        let targets = match *targets {
            0 => Vec::new(),
            most => ask_targets(&wire, report, most).await?,
        };
        let sent = clock.since_1970();
        let seconds = |from: Duration, to: Duration| to.saturating_sub(from).as_secs_f64();
        let unknown = || Lie::nonsense("map", "places", "lack the one that was reported");
        Ok(Outcome {
            mode,
            report: recalled.report,
            at: ground.report_coord(recalled.report).ok_or_else(unknown)?,
            map: ground.map,
            remembered: (spent == 0.0).then_some(recalled.at),
            epsilon_per_km: recalled.epsilon_per_km,
            spent_per_km: spent,
            reused_within_km: recalled.radius_km,
            balance: kept.state.ledger.balance(&policy, now),
            accuracy: recalled.accuracy(),
            off_grid_factor: session.off_grid_factor(),
            compared,
            learnt,
            operator: ground.operator,
            first_use: session.first_use(),
            reports,
            targets,
            times: Times {
                opening: seconds(begun, opened),
                preparing: seconds(opened, prepared),
                sending: seconds(prepared, sent),
            },
        })
    }
}

fn message<T: serde::de::DeserializeOwned>(answer: &Answer) -> Result<T, TransportError> {
    Ok(Encoding::Cbor.decode(&answer.body)?)
}

/// Reports; says how many reports the service has had.
async fn send(wire: &Wire, report: Report) -> Result<u64, ClientError> {
    let answer = wire.ask(Request::Report(report), MOST_RECEIPT).await?;
    let received: Received = message(&answer)?;
    Ok(received.reports)
}

/// The nearest targets by the service's estimate.
async fn ask_targets(wire: &Wire, report: Report, most: usize) -> Result<Vec<Target>, ClientError> {
    let answer = wire.ask(Request::Targets(report), MOST_TARGETS).await?;
    let Targets { mut targets } = message(&answer)?;
    let sound = |t: &Target| t.estimated_km.is_finite() && Coord::new(t.at[0], t.at[1]).is_ok();
    if !targets.iter().all(sound) {
        return Err(Lie::nonsense("targets", "numbers", "are no places or distances").into());
    }
    targets.truncate(most);
    Ok(targets)
}
