//! A mechanism as it was made: rows, promise, proof. Saved in one checked file that stands alone.

use std::path::Path;
use std::sync::Arc;

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::spacing::{reach_km, spacing_km};
use lrgeo_geo::{Coord, Digest, PlaceId};
use lrgeo_map::MapError;
use lrgeo_map::file::{Kind, Reader, Writer};
use lrgeo_map::map::{get_coords, put_coords};
use lrgeo_optim::Status;
use lrgeo_tiles::coordinates::{Lattice, LatticeNoise};
use lrgeo_tiles::{Cover, Distribution, Epsilon, Guarantee, Notion, SparseMatrix};

use crate::mechanism::{Made, Mechanism};
use crate::relevant::{Free, TieRule};
use crate::rows::{Round, UserMatrix};
use crate::{City, MechanismError, ObfuscationMatrix, Plan, RangeRule, Rows};

/// What the optimiser proved about the programme it solved. Costs are per report (`docs/specification.md` section 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proof {
    /// How the solve ended.
    pub status: Status,
    /// The cost of the matrix over the rows and costs of the programme.
    pub cost: f64,
    /// No matrix of the programme costs less.
    pub lower_bound: f64,
    /// `(cost - lower_bound) / cost`.
    pub gap: f64,
    /// Iterations of the engine.
    pub iterations: usize,
    /// Seconds of solving.
    pub seconds: f64,
}

/// A mechanism that was made and verified.
#[derive(Clone, Debug)]
pub struct Built {
    /// The name of its kind.
    pub kind: String,
    /// The version of the map it was made for.
    pub map: Digest,
    /// What the map calls the places.
    pub ids: Vec<String>,
    /// Where the places are.
    pub coords: Vec<Coord>,
    /// How likely each is.
    pub prior: Vec<f64>,
    /// What it promises.
    pub guarantee: Guarantee,
    /// What it reports.
    pub rows: Rows,
    /// The true cost per report of the deployed rows.
    pub expected_cost: f64,
    /// The unit of costs.
    pub unit: String,
    /// What the optimiser proved.
    pub proof: Option<Proof>,
    /// No matrix of the same promise costs less per report, whichever programme it comes from ([`Made::floor`]).
    pub floor: Option<f64>,
    /// Pairs whose bounds prove all others.
    pub witness: Vec<[PlaceId; 2]>,
    /// What else to know, for people.
    pub notes: Vec<(String, String)>,
}

impl Built {
    /// What a kind has made, at a cost that is known already or else worked out.
    pub(crate) fn new(
        kind: &dyn Mechanism,
        city: &City,
        plan: &Plan,
        made: Made,
        cost: Option<f64>,
    ) -> Self {
        let expected_cost = cost.unwrap_or_else(|| expected_cost(city, &made.rows));
        let guarantee = kind.promised(plan, &made);
        Self {
            kind: kind.name().to_owned(),
            map: city.version(),
            ids: city.map().places.iter().map(|place| place.id.clone()).collect(),
            coords: city.coords().to_vec(),
            prior: city.prior().to_vec(),
            guarantee,
            rows: made.rows,
            expected_cost,
            unit: city.utility().unit().to_owned(),
            proof: made.proof,
            floor: made.floor,
            witness: made.witness,
            notes: made.notes.into_iter().map(|(name, text)| (name.to_owned(), text)).collect(),
        }
    }

    /// The exact row that a user at `place` reports from; `None` where there is none.
    pub fn row(&self, place: PlaceId) -> Option<Distribution> {
        self.rows.row(place)
    }

    /// The exact distribution that somebody at a coordinate draws from, over all places. Mechanisms on places take the nearest
    /// one first, as phones do; `None` outside of the map, and for the rounds of others.
    pub fn row_at(&self, at: Coord) -> Option<Distribution> {
        if let Rows::Noise(noise) = &self.rows {
            return noise.row_at(at);
        }
        let spacing_km = spacing_km(&self.coords)?;
        let (place, km) = SpatialIndex::new(&self.coords).nearest(at)?;
        (km <= reach_km(spacing_km)).then(|| self.row(PlaceId::new(place)))?
    }

    /// The radius around a reported place that holds the true position with a probability of 95 %, given mechanism, prior and *this*
    /// report: places by their posterior `p_i z_ik`, and half the diagonal of a cell more. It follows from what everybody knows, never from
    /// the true place, which a radius would otherwise betray; of a user's own matrix, which is not public, it is the obfuscation range.
    pub fn accuracy_km(&self, report: PlaceId) -> f64 {
        let half_cell_km =
            spacing_km(&self.coords).unwrap_or(0.0) * std::f64::consts::FRAC_1_SQRT_2;
        let mut likelihood = vec![0.0; self.coords.len()];
        match &self.rows {
            Rows::Users(round) => return round.ties.obfuscation_km + half_cell_km,
            Rows::Noise(noise) => noise.likelihood(report, &mut likelihood),
            rows => {
                let mut row = vec![0.0; self.coords.len()];
                for (i, slot) in likelihood.iter_mut().enumerate() {
                    rows.fill(i, &mut row);
                    *slot = row[report.index()];
                }
            }
        }
        lrgeo_tiles::posterior_radius_km(&self.coords, &self.prior, &likelihood, report)
            + half_cell_km
    }

    /// Refuses a mechanism that was made for another version of the map.
    pub fn expect_map(&self, version: Digest) -> Result<(), MechanismError> {
        if self.map == version {
            return Ok(());
        }
        Err(MechanismError::OtherMap { made_for: self.map, given: version })
    }
}

/// The true cost per report over the rows really used: `sum_m p_m (loss_m . z_m) / sum_m p_m` (`docs/specification.md`
/// section 2). Priors that are zero everywhere count as equal.
pub fn expected_cost(city: &City, rows: &Rows) -> f64 {
    let deployed = rows.deployed();
    let even = deployed.iter().all(|i| city.prior()[i.index()] == 0.0);
    let weight_of = |place: PlaceId| if even { 1.0 } else { city.prior()[place.index()] };
    let costs: Vec<f64> = match rows {
        Rows::Dense(_) | Rows::Sparse(_) | Rows::Noise(_) => {
            city.for_each_loss(&deployed, |index, losses| {
                let mut row = vec![0.0; losses.len()];
                rows.fill(index, &mut row);
                row.iter().zip(losses).map(|(z, c)| z * c).sum()
            })
        }
        // What is never reported costs nothing: in a round that is most of the map.
        Rows::Users(round) => {
            let cost = |(user, &place): (&UserMatrix, &PlaceId)| {
                let row = round.columns.iter().copied().zip(user.deployed().iter().copied());
                let (reported, row): (Vec<PlaceId>, Vec<f64>) =
                    row.filter(|(_, z)| *z > 0.0).unzip();
                let losses = city.utility().losses(&[place], &reported);
                row.iter().zip(&losses).map(|(z, c)| z * c).sum()
            };
            round.users.iter().zip(&deployed).map(cost).collect()
        }
    };
    let total: f64 =
        deployed.iter().zip(&costs).map(|(&place, cost)| weight_of(place) * cost).sum();
    total / deployed.iter().map(|&place| weight_of(place)).sum::<f64>()
}

const KIND: Kind =
    Kind { tag: *b"mechanis", name: "mechanism", version: 2, made_by: "lrgeo mechanism build" };

impl Built {
    /// Writes the mechanism; nothing is left under `path` if that fails.
    pub fn save(&self, path: &Path) -> Result<Digest, MechanismError> {
        let mut file = Writer::new(KIND);
        file.bytes("map", self.map.0.to_vec());
        file.texts("kind", [self.kind.as_str(), self.unit.as_str()]);
        let notes = self.notes.iter().map(|(name, text)| format!("{name}\t{text}"));
        file.texts("notes", notes.collect::<Vec<_>>().iter().map(String::as_str));
        file.texts("ids", self.ids.iter().map(String::as_str));
        put_coords(&mut file, "places", self.coords.iter().copied());
        file.numbers("prior", self.prior.iter().copied());
        let Guarantee { notion, epsilon, cover } = self.guarantee;
        let cover = f64::from(u8::from(cover == Cover::Round));
        file.numbers("promise", [epsilon.value(), notion.reach_km(), cover]);
        file.numbers("cost", [self.expected_cost]);
        if let Some(proof) = &self.proof {
            file.texts("status", [proof.status.as_str()]);
            let numbers = [proof.cost, proof.lower_bound, proof.gap, proof.iterations as f64];
            file.numbers("proof", numbers.into_iter().chain([proof.seconds]));
        }
        file.numbers("floor", self.floor);
        file.numbers("witness", self.witness.iter().flatten().copied());
        put_rows(&mut file, &self.rows);
        Ok(file.save(path)?)
    }

    /// Opens a mechanism that [`Built::save`] wrote. Its shape is checked here; whether it keeps its
    /// promise is for [`crate::verify::verify`] to say.
    pub fn open(path: &Path) -> Result<(Self, Digest), MechanismError> {
        let file = Reader::open(path, KIND)?;
        let map = file.digest("map")?;
        let about = file.texts("kind")?;
        let [kind, unit] = about.as_slice() else {
            return Err(file.broken("kind", "must have two lines").into());
        };
        let notes = file.texts("notes")?;
        let notes = notes.iter().filter_map(|line| line.split_once('\t'));
        let notes = notes.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        let coords = get_coords(&file, "places")?;
        let ids = file.texts("ids")?;
        if ids.len() != coords.len() {
            return Err(file.broken("ids", "is not one name per place").into());
        }
        let prior = file.numbers::<f64>("prior")?;
        if prior.len() != coords.len() || prior.iter().any(|p| !p.is_finite() || *p < 0.0) {
            return Err(file.broken("prior", "is not one probability per place").into());
        }
        let guarantee = get_guarantee(&file)?;
        let cost = file.numbers::<f64>("cost")?;
        let &[expected_cost] = cost.as_slice() else {
            return Err(file.broken("cost", "must be one number").into());
        };
        let proof = get_proof(&file)?;
        let floor = match file.has("floor") {
            true => file.numbers::<f64>("floor")?.first().copied(),
            false => None,
        };
        let pairs = file.numbers::<PlaceId>("witness")?;
        if pairs.iter().any(|place| place.index() >= coords.len()) {
            return Err(file.broken("witness", "refers to an unknown place").into());
        }
        let witness = pairs.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
        let rows = get_rows(&file, &coords)?;
        let (kind, unit, fingerprint) = (kind.clone(), unit.clone(), file.fingerprint);
        let built = Self {
            kind,
            map,
            ids,
            coords,
            prior,
            guarantee,
            rows,
            expected_cost,
            unit,
            proof,
            floor,
            witness,
            notes,
        };
        Ok((built, fingerprint))
    }
}

fn get_guarantee(file: &Reader<'_>) -> Result<Guarantee, MechanismError> {
    let numbers = file.numbers::<f64>("promise")?;
    let &[epsilon, reach, cover] = numbers.as_slice() else {
        return Err(file.broken("promise", "must be three numbers").into());
    };
    if reach.is_nan() || reach <= 0.0 {
        return Err(file.broken("promise", "has a gamma that is no distance").into());
    }
    let notion = match reach.is_finite() {
        true => Notion::Within { gamma_km: reach },
        false if file.has("lattice") => Notion::Coordinates,
        false => Notion::AllPairs,
    };
    let cover = if cover == 0.0 { Cover::WholeMap } else { Cover::Round };
    Ok(Guarantee { notion, epsilon: Epsilon::per_km(epsilon)?, cover })
}

fn get_proof(file: &Reader<'_>) -> Result<Option<Proof>, MechanismError> {
    if !file.has("proof") {
        return Ok(None);
    }
    let (words, numbers) = (file.texts("status")?, file.numbers::<f64>("proof")?);
    let status = words.first().and_then(|word| Status::from_word(word));
    match (status, numbers.as_slice()) {
        (Some(status), &[cost, lower_bound, gap, iterations, seconds]) => Ok(Some(Proof {
            status,
            cost,
            lower_bound,
            gap,
            iterations: iterations as usize,
            seconds,
        })),
        _ => Err(file.broken("proof", "must be a status and five numbers").into()),
    }
}

fn put_rows(file: &mut Writer, rows: &Rows) {
    match rows {
        Rows::Dense(matrix) => {
            file.numbers("dense", (0..matrix.places()).flat_map(|i| matrix.row(i)).copied());
        }
        Rows::Sparse(matrix) => {
            file.numbers("start", matrix.start.iter().map(|&at| at as u64));
            file.numbers("column", matrix.column.iter().copied());
            file.numbers("value", matrix.value.iter().copied());
            file.numbers("tail", matrix.tail.iter().copied());
            file.bytes("present", matrix.present.iter().map(|&p| u8::from(p)).collect());
        }
        Rows::Users(round) => {
            file.numbers("users", round.users.iter().map(|user| user.place));
            file.numbers("columns", round.columns.iter().copied());
            let sizes = round.users.iter().map(|user| user.relevant.len() as u32);
            file.numbers("sizes", sizes);
            file.numbers("relevant", round.users.iter().flat_map(|u| &u.relevant).copied());
            file.numbers("values", round.users.iter().flat_map(|u| &u.values).copied());
            file.numbers("shares", round.users.iter().flat_map(|u| &u.shares).copied());
            put_ties(file, &round.ties);
        }
        Rows::Noise(noise) => put_noise(file, noise),
    }
}

fn put_ties(file: &mut Writer, rule: &TieRule) {
    let range = f64::from(u8::from(rule.range == RangeRule::Each));
    file.numbers("ties", [rule.obfuscation_km, rule.epsilon.value(), range]);
    match &rule.free {
        Free::Within(km) => file.numbers("within", [*km]),
        Free::OfEach(radii) => file.numbers("of each", radii.iter().copied()),
        Free::Drawn { within_km, share, seed } => {
            file.numbers("within", [*within_km, *share]);
            file.numbers("seed", [*seed]);
        }
    }
}

fn get_ties(file: &Reader<'_>, places: usize) -> Result<TieRule, MechanismError> {
    let numbers = file.numbers::<f64>("ties")?;
    let &[obfuscation_km, epsilon, range] = numbers.as_slice() else {
        return Err(file.broken("ties", "must be three numbers").into());
    };
    let range = if range == 0.0 { RangeRule::Own } else { RangeRule::Each };
    let epsilon = Epsilon::per_km(epsilon)?;
    let free = if file.has("of each") {
        let radii = file.numbers::<f64>("of each")?;
        if radii.len() != places {
            return Err(file.broken("of each", "is not one distance per place").into());
        }
        Free::OfEach(radii.into())
    } else {
        match (file.numbers::<f64>("within")?.as_slice(), file.has("seed")) {
            (&[km], false) => Free::Within(km),
            (&[within_km, share], true) => {
                let seed = file.numbers::<u64>("seed")?.first().copied().unwrap_or(0);
                Free::Drawn { within_km, share, seed }
            }
            _ => {
                return Err(file.broken("within", "must be a distance, or one and a share").into());
            }
        }
    };
    Ok(TieRule { epsilon, range, free, obfuscation_km })
}

fn put_noise(file: &mut Writer, noise: &LatticeNoise) {
    let Lattice { spacing_km, tip_km, first, squares, side } = noise.lattice;
    let numbers = [
        [noise.noise.value(), noise.centre.lat(), noise.centre.lon(), f64::from(side)],
        noise.area,
        [spacing_km, tip_km, first[0] as f64, first[1] as f64],
    ];
    file.numbers("lattice", numbers.into_iter().flatten());
    file.numbers("squares", squares);
    file.numbers("reports", noise.reports.iter().copied());
}

fn get_noise(file: &Reader<'_>, places: &[Coord]) -> Result<LatticeNoise, MechanismError> {
    let (numbers, squares) = (file.numbers::<f64>("lattice")?, file.numbers::<u32>("squares")?);
    let (&[e, lat, lon, side, west, south, east, north, h, b, column, row], Ok(squares)) =
        (numbers.as_slice(), squares.try_into())
    else {
        return Err(file.broken("lattice", "must be twelve numbers and two counts").into());
    };
    // Casts saturate, and what is out of range is refused.
    let (first, side) = ([column as i64, row as i64], side as u32);
    let lattice = Lattice { spacing_km: h, tip_km: b, first, squares, side };
    let (noise, centre) = (Epsilon::per_km(e)?, Coord::new(lat, lon)?);
    let area = [west, south, east, north];
    Ok(LatticeNoise::from_parts(
        noise,
        centre,
        area,
        lattice,
        file.numbers("reports")?,
        places.to_vec(),
    )?)
}

fn get_rows(file: &Reader<'_>, coords: &[Coord]) -> Result<Rows, MechanismError> {
    let places = coords.len();
    if file.has("lattice") {
        return Ok(Rows::Noise(get_noise(file, coords)?));
    }
    if file.has("dense") {
        return Ok(Rows::Dense(ObfuscationMatrix::new(places, file.numbers("dense")?)?));
    }
    if file.has("users") {
        let round = get_round(file, places)?;
        round.validate()?;
        return Ok(Rows::Users(round));
    }
    let matrix = SparseMatrix {
        start: file.numbers::<u64>("start")?.into_iter().map(|at| at as usize).collect(),
        column: file.numbers("column")?,
        value: file.numbers("value")?,
        tail: file.numbers("tail")?,
        present: file.bytes("present")?.iter().map(|&p| p != 0).collect(),
    };
    matrix.validate()?;
    if matrix.present.len() != places || matrix.tail.len() != places {
        return Err(file.broken("present", "is not one mark per place").into());
    }
    Ok(Rows::Sparse(matrix))
}

fn get_round(file: &Reader<'_>, places: usize) -> Result<Round, MechanismError> {
    let broken = |name: &str, what: &str| -> MapError { file.broken(name, what) };
    let columns: Arc<[PlaceId]> = file.numbers::<PlaceId>("columns")?.into();
    let (at, sizes) = (file.numbers::<PlaceId>("users")?, file.numbers::<u32>("sizes")?);
    let (relevant, values) = (file.numbers::<PlaceId>("relevant")?, file.numbers::<f64>("values")?);
    let rows: usize = sizes.iter().map(|&size| size as usize).sum();
    if at.len() != sizes.len() || rows != relevant.len() {
        return Err(broken("sizes", "disagrees with users or relevant in length").into());
    }
    if rows.checked_mul(columns.len()) != Some(values.len()) {
        return Err(broken("values", "disagrees with relevant and columns in length").into());
    }
    // As many for each user as the city has ways, none where it has one.
    let shares = file.numbers::<f64>("shares")?;
    let ways = shares.len() / at.len().max(1);
    if shares.len() != ways * at.len() {
        return Err(broken("shares", "are not equally many for every user").into());
    }
    let mut shares = shares.as_slice();
    let mut users = Vec::with_capacity(at.len());
    let (mut relevant, mut values) = (relevant.as_slice(), values.as_slice());
    for (place, size) in at.into_iter().zip(sizes) {
        let (mine, others) = relevant.split_at(size as usize);
        let (my_values, other_values) = values.split_at(mine.len() * columns.len());
        let (my_shares, other_shares) = shares.split_at(ways);
        users.push(UserMatrix {
            place,
            shares: my_shares.to_vec(),
            relevant: mine.to_vec(),
            values: my_values.to_vec(),
        });
        shares = other_shares;
        (relevant, values) = (others, other_values);
    }
    let ties = get_ties(file, places)?;
    Ok(Round { places, columns, users, ties })
}
