//! What is asked for and uploaded.

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::lr_geo::coefficients::{Coefficients, UserPart};
use lrgeo_mechanism::{RangeRule, alike};
use lrgeo_protocol::offload::{Circle, CirclePart, Join, TableCircle};

use crate::draws::{Draws, shuffled};
use crate::ground::OwnPlace;
use crate::slice::Slice;
use crate::{ClientError, Described, Lie};

const WHAT: &str = "circle of the cost table";

/// Distances are rounded: a circle that is wider by this part has every place that belongs into it.
const MARGIN: f64 = 1e-9;

/// The centre v_a: a uniformly random relevant place (section 4.5 of the paper).
pub fn choose_centre(relevant: &[PlaceId], draws: &mut dyn Draws) -> Result<PlaceId, ClientError> {
    Ok(relevant[draws.below(relevant.len())?])
}

/// The circle that has every place a user needs, whichever relevant place is its centre (Proposition 4.3; `docs/specification.md`
/// section 3). Its radius is the same for everybody.
pub fn circle(described: &Described, centre: PlaceId) -> Circle {
    let radii = described.plan.radii;
    let radius_km = match described.plan.range {
        // Rows are at most 2 Gamma from v_a, columns at most Gamma + r_obf: they are around m.
        RangeRule::Own => (2.0 * radii.relevant).max(radii.relevant + radii.obfuscation),
        // Columns are around any row; of a class, rows are around its middle.
        RangeRule::Each => 2.0 * radii.relevant.max(class_km(described)) + radii.obfuscation,
    };
    Circle { map: described.description.map, centre, radius_km: radius_km * (1.0 + MARGIN) }
}

/// How far any place is from the middle of its class, where users of a class upload the same.
fn class_km(described: &Described) -> f64 {
    let coords = described.geography.coords();
    let reach = |count| alike::reach_km(coords, count);
    described.plan.alike.map_or(0.0, reach)
}

/// The fewer of what the parameters and the server's rounds allow.
pub(super) fn relevant_max(described: &Described) -> Option<usize> {
    let most = described.description.rounds.most_relevant as usize;
    Some(described.plan.radii.relevant_max.map_or(most, |n| n.min(most)).max(1))
}

/// What is uploaded, and what is kept to read the answer.
pub struct Upload {
    /// Leaves the device.
    pub join: Join,
    /// The relevant places, the user's own first. Stays here.
    pub(super) relevant: Vec<PlaceId>,
    /// Where each of them stands in the upload. Stays here.
    pub(super) row_of: Vec<usize>,
}

/// Works out the coefficients (Eq. 14-17, 25) and shuffles their rows: in their own order the first would be
/// the user's place.
pub fn prepare(
    described: &Described,
    place: &OwnPlace,
    table: TableCircle,
    draws: &mut dyn Draws,
) -> Result<Upload, ClientError> {
    if table.map != described.description.map {
        return Err(Lie::other_map(WHAT, table.map, described.description.map).into());
    }
    if table.ways.len() != described.description.ways.len() {
        return Err(Lie::nonsense(WHAT, "ways", "are not those of the description").into());
    }
    let slice = |way: CirclePart| Slice::new(WHAT, way.cells.clone(), way.cells, way.beta);
    let slices = table.ways.into_iter().map(slice).collect::<Result<Vec<Slice>, Lie>>()?;
    let part = described.prepare(&slices, place, relevant_max(described))?;
    let UserPart { relevant, upload, .. } = part;
    let order = shuffled(draws, relevant.len())?;
    let mut row_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &row)| row_of[row] = at);
    let join = shuffle(described, upload, &order);
    Ok(Upload { join, relevant, row_of })
}

/// The coefficients with row `order[i]` in position i.
fn shuffle(described: &Described, upload: Coefficients, order: &[usize]) -> Join {
    let Coefficients { rows, columns, between, towards, cost, .. } = upload;
    let width = columns.len();
    let lines = |values: &[f64]| -> Vec<f64> {
        order.iter().flat_map(|&row| values[row * width..(row + 1) * width].to_vec()).collect()
    };
    let (towards, cost) = (lines(&towards), lines(&cost));
    let pair = |i: usize| order.iter().map(move |&j| i * rows + j);
    let between = order.iter().flat_map(|&i| pair(i)).map(|at| between[at]).collect();
    let map = described.description.map;
    Join { map, rows: rows as u32, columns, between, towards, cost }
}
