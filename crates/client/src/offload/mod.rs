//! Mode `offload`: the paper's protocol (sections 4.2-4.5). The server solves; the client asks for a circle
//! of the cost table, uploads its coefficients, and checks the matrix that comes back.
//!
//! What this discloses is in `docs/what-the-server-learns.md`: in short, nearly always the place.

mod check;
mod upload;

use std::future::ready;
use std::time::Duration;

use lrgeo_protocol::offload::{Joined, Phase};
use lrgeo_tiles::{Distribution, DrawError};

use crate::clock::Clock;
use crate::draws::Draws;
use crate::ground::OwnPlace;
use crate::outcome::{Accuracy, Learnt, Row};
use crate::session::Common;
use crate::steps::Open;
use crate::transport::Offload;
use crate::{ClientError, Described, Mode};

pub use check::check;
pub use upload::{Upload, choose_centre, circle, prepare};

/// One long poll.
const POLL_SECONDS: u32 = 20;
/// What a server may take to solve, besides its window.
const PATIENCE: Duration = Duration::from_secs(600);
/// A server that answers at once although nothing happened is not asked more often than this.
const PAUSE: Duration = Duration::from_millis(300);

/// The row of a place over all places.
pub(crate) async fn row<'a>(
    server: &dyn Offload,
    common: &'a Common,
    described: &Described,
    place: &OwnPlace,
    kept: &mut Open<'_>,
    draws: &mut dyn Draws,
    clock: &dyn Clock,
) -> Result<Row<'a>, ClientError> {
    let policy = kept.state.policy;
    let relevant = described.relevant(place, upload::relevant_max(described));
    common.allow_relevant(&policy, &relevant)?;
    let centre =
        kept.state.memory.centre(&common.ground, place, || choose_centre(&relevant, draws))?;
    // Asked again after a crash, the circle is the same.
    kept.commit().await?;
    let table = server.circle(&circle(described, centre))?;
    let upload = prepare(described, place, table, draws)?;
    let joined = server.join(&upload.join)?;
    let users = wait(server, described, &joined, clock)?;
    let matrix = server.matrix(&joined)?;
    let round = check(described, &upload, matrix)?;
    let epsilon_per_km = common.effective_epsilon(&policy, &round)?;
    let learnt = Learnt::Coefficients { relevant: upload.join.rows, users };
    let values = round.spread(round.users[0].deployed());
    let values = Distribution::new(values).map_err(DrawError::from)?;
    let range_km = round.ties.obfuscation_km + common.ground.half_cell_km();
    Ok(Row {
        values,
        epsilon_per_km,
        compared: upload.join.rows as usize,
        learnt,
        accuracy: Box::new(move |_| Box::pin(ready(Some(Accuracy::new(range_km, Mode::Offload))))),
    })
}

/// Waits until the round is over; says how many users it had. A server that is away for a while, because
/// it is restarted, is waited for.
fn wait(
    server: &dyn Offload,
    described: &Described,
    joined: &Joined,
    clock: &dyn Clock,
) -> Result<u32, ClientError> {
    let window = described.description.rounds.window_seconds.clamp(0.0, 86_400.0);
    let patience = PATIENCE + Duration::from_secs_f64(window);
    let begun = clock.since_1970();
    loop {
        let asked = clock.since_1970();
        match server.state(joined, POLL_SECONDS) {
            Ok(state) => match state.phase {
                Phase::Done => return Ok(state.users),
                Phase::Failed => {
                    return Err(ClientError::RoundFailed(state.refusal.unwrap_or(
                        lrgeo_protocol::Refusal {
                            reason: lrgeo_protocol::Reason::Internal,
                            message: "the server does not say why".into(),
                            field: None,
                        },
                    )));
                }
                Phase::Waiting | Phase::Solving => {}
            },
            Err(error) if error.is_passing() => {}
            Err(error) => return Err(error.into()),
        }
        let now = clock.since_1970();
        if now.saturating_sub(begun) > patience {
            return Err(ClientError::RoundTooSlow { seconds: patience.as_secs_f64() });
        }
        if now.saturating_sub(asked) < PAUSE {
            std::thread::sleep(PAUSE);
        }
    }
}

/// What a person must know before the first upload.
pub const DISCLOSURE: &str = "\
Mode `offload` is the protocol of the paper: the server solves your programme for you. For that it gets
  - the distances between your relevant places, and from them to the places you may report,
  - the estimated costs of all of these reports,
  - the numbers of the places you may report, a disc around you, and a circle that contains you.
Measured on real places, the costs alone tell the server where you are in 100 % of the cases, the distances
alone in more than 99 %. What stays hidden is your position within your cell. The epsilon of the report
protects you from those who see the report, not from the server. `published` and `local` tell it a tile only.
docs/what-the-server-learns.md has the table.";
