//! From a coordinate to a report: the main loop of a phone.

use std::time::Duration;

use lrgeo_geo::Coord;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{Received, Target, Targets};
use lrgeo_protocol::quiet::{Report, ReportedPlace, Request};
use lrgeo_tiles::PublicKey;
use lrgeo_tiles::sample::SystemRandomness;

use crate::clock::{Clock, SystemClock};
use crate::draws::{Draws, Rehearsal};
use crate::outcome::{Compared, Learnt, Outcome, Times};
use crate::policy::Policy;
use crate::session::Session;
use crate::state::{Kept, Recalled, State};
use crate::transport::{Answer, Quiet, Server, TransportError};
use crate::{ClientError, Lie, Mode};

/// Targets of a city.
const MOST_TARGETS: u64 = 16 << 20;
const MOST_RECEIPT: u64 = 1 << 10;

/// A user of one server.
pub struct Client<D: Draws = SystemRandomness> {
    server: Box<dyn Server>,
    kept: Kept,
    clock: Box<dyn Clock>,
    draws: D,
    key: Option<PublicKey>,
    consent: bool,
    going: Vec<(String, f64)>,
    targets: usize,
}

impl Client {
    /// A client for a person: whatever it reports is drawn with the operating system's randomness.
    pub fn new(server: impl Server + 'static, kept: Kept) -> Self {
        Self::with_draws(server, kept, SystemRandomness)
    }
}

impl Client<Rehearsal> {
    /// A client whose reports can be predicted, for tests and demonstrations. Never for a person.
    pub fn rehearse(server: impl Server + 'static, kept: Kept, draws: Rehearsal) -> Self {
        Self::with_draws(server, kept, draws)
    }
}

impl<D: Draws> Client<D> {
    fn with_draws(server: impl Server + 'static, kept: Kept, draws: D) -> Self {
        let (server, clock) = (Box::new(server), Box::new(SystemClock));
        Self {
            server,
            kept,
            clock,
            draws,
            key: None,
            consent: false,
            going: Vec::new(),
            targets: 0,
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

    /// Uses another clock.
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        Self { clock: Box::new(clock), ..self }
    }

    /// What is remembered.
    pub fn state(&self) -> &State {
        &self.kept.state
    }

    /// The owner's rules, to be changed; what changes them for good is [`Client::obfuscate`], which writes the state.
    pub fn policy_mut(&mut self) -> &mut Policy {
        &mut self.kept.state.policy
    }

    /// Remembers that the owner knows what `offload` discloses ([`offload::DISCLOSURE`]).
    pub fn understand_offload(&mut self) -> Result<(), ClientError> {
        self.kept.state.offload_understood = true;
        Ok(self.kept.commit()?)
    }

    /// Reports for somebody at `at`. The coordinate is not used for anything but finding a report that was drawn
    /// nearby before, or else the nearest place, and that place for nothing but finding a row to draw from.
    ///
    /// What is reported is on disk before it is sent: after an error the same report is sent again.
    pub fn obfuscate(&mut self, at: Coord, mode: Mode) -> Result<Outcome, ClientError> {
        if mode == Mode::Offload && !self.kept.state.offload_understood {
            return Err(ClientError::NotUnderstood);
        }
        let begun = self.clock.since_1970();
        let Self { server, kept, clock, draws, key, consent, going, .. } = self;
        let now = begun.as_secs();
        let opened = Session::open(&**server, &mut kept.state, mode, going, (*key, *consent), now);
        // A fork that was found is remembered.
        kept.commit()?;
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
                let row = session.row(at, kept, draws, &**clock)?;
                let report = draws.report(&row.values)?;
                let when = clock.since_1970().as_secs().max(now);
                let epsilon = row.epsilon_per_km;
                kept.state.ledger.spend(&policy, when, epsilon)?;
                let radius_km = policy.reuse_radius_km(epsilon);
                let accuracy = (row.accuracy)(report);
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
        kept.commit()?;
        let prepared = clock.since_1970();

        let report = Report { map: ground.map, place: ReportedPlace(recalled.report) };
        let reports = send(&**server, report)?;
        let targets = match self.targets {
            0 => Vec::new(),
            most => ask_targets(&**server, report, most)?,
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
fn send(server: &dyn Quiet, report: Report) -> Result<u64, ClientError> {
    let answer = server.ask(&Request::Report(report), MOST_RECEIPT)?;
    let received: Received = message(&answer)?;
    Ok(received.reports)
}

/// The nearest targets by the service's estimate.
fn ask_targets(
    server: &dyn Quiet,
    report: Report,
    most: usize,
) -> Result<Vec<Target>, ClientError> {
    let answer = server.ask(&Request::Targets(report), MOST_TARGETS)?;
    let Targets { mut targets } = message(&answer)?;
    let sound = |t: &Target| t.estimated_km.is_finite() && Coord::new(t.at[0], t.at[1]).is_ok();
    if !targets.iter().all(sound) {
        return Err(Lie::nonsense("targets", "numbers", "are no places or distances").into());
    }
    targets.truncate(most);
    Ok(targets)
}
