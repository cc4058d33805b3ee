//! Everything that is the same for everybody: the map's description, the published tiles, the slices
//! of the cost table. Made at the first start, verified at every start, never changed while serving.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lrgeo_map::graph::Metric;
use lrgeo_map::map::Map;
use lrgeo_map::progress::Progress;
use lrgeo_map::table::CostTable;
use lrgeo_map::travel::TravelMatrix;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::const_opt::public_y;
use lrgeo_mechanism::lr_geo::coefficients::Costs;
use lrgeo_mechanism::publish::{Directory, Hash, Issued, Manifest, PublicKey, SecretKey, publish};
use lrgeo_mechanism::relevant::TieRule;
use lrgeo_mechanism::{City, Notion, Plan, RangeRule, build, by_name};
use lrgeo_optim::ProgressCallback;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Circle, TableCircle};
use lrgeo_protocol::public::{
    DESCRIPTION, Local, MapDescription, Parameters, Range, Rounds, Signed, TableDescription,
    Target, Targets,
};
use lrgeo_protocol::{Digest, VERSION};

use crate::config::Config;
use crate::slices::table_tiles;
use crate::{ServerError, refuse};

/// Where the server keeps things, and who signs them.
pub struct Home<'a> {
    /// The directory of the data.
    pub data: &'a Path,
    /// Tiles that were published before; without, they are made.
    pub tiles: Option<&'a Path>,
    /// The operator's key; without, one in the data directory, made at the first start.
    pub key: Option<&'a Path>,
    /// Who wants to know how the bounds move while mechanisms are made.
    pub solving: Option<ProgressCallback>,
}

impl Home<'_> {
    fn key_path(&self) -> PathBuf {
        self.key.map_or_else(|| self.data.join("operator.key"), Path::to_owned)
    }

    fn open_key(&self) -> Result<SecretKey, ServerError> {
        let path = self.key_path();
        if self.key.is_none() && !path.exists() {
            SecretKey::generate()?.save_new(&path)?;
        }
        Ok(SecretKey::open(&path)?)
    }
}

/// A public file that never changes, under its hash.
#[derive(Clone)]
pub struct File {
    /// Its content.
    pub bytes: Arc<[u8]>,
    /// Its hash.
    pub hash: Digest,
}

impl File {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { hash: digest(Hash::of(&bytes)), bytes: bytes.into() }
    }
}

/// The public side of the service, and the private knowledge that answers are worked out from.
pub struct Catalogue {
    /// Places, streets, losses.
    pub city: City,
    /// How rounds are solved.
    pub plan: Plan,
    /// Which entries are tied.
    pub ties: TieRule,
    /// Who signs.
    pub key: PublicKey,
    /// The signed description.
    pub description: Signed<MapDescription>,
    /// What the tiles are.
    pub tiles: Manifest,
    /// Their manifest as it was signed, and its signature.
    pub manifest: [File; 2],
    /// Lists of places and tiles, by hash.
    pub files: HashMap<Digest, File>,
    /// Slices of the cost table, by hash; encoded as CBOR, which is what the hash is of.
    pub table_tiles: HashMap<Digest, File>,
    table: Arc<CostTable>,
    travel: TravelMatrix,
    circle_cells: usize,
}

/// The digest of a hash.
pub fn digest(hash: impl Into<Hash>) -> Digest {
    Digest(hash.into().0)
}

impl Catalogue {
    /// Makes or opens everything; `now` is in seconds since 1970.
    pub fn open(
        map: Map,
        home: &Home<'_>,
        config: &Config,
        now: u64,
        progress: &dyn Progress,
    ) -> Result<Self, ServerError> {
        std::fs::create_dir_all(home.data).map_err(ServerError::io(home.data))?;
        let key = home.open_key()?;
        let version = map.version();
        let travel = TravelMatrix::of_places(&map, Metric::Distance, progress)?;
        let city = City::new(map, version, UtilityKind::TravelDistance, progress)?;
        let plan = config.plan(&city)?;
        let table = city.table(plan.table_cell, progress)?;
        let Some(table) = table else {
            return Err(ServerError::Setting {
                field: "map",
                reason: "has no cost reference table".into(),
            });
        };

        // What was computed for other settings stays beside it, under another name.
        let asked = format!("{version} {:?} {:?}", config.privacy, parameters(&plan));
        let name: String = Hash::of(asked.as_bytes()).to_string().chars().take(16).collect();
        let folder = home.data.join("maps").join(name);
        std::fs::create_dir_all(&folder).map_err(ServerError::io(&folder))?;

        let issued = Issued::from_unix(now);
        let directory = open_tiles(&city, home, &folder, config, &key, issued, progress)?;
        let manifest = ["manifest.json", "manifest.sig"].map(|name| read(&directory.root, name));
        let [text, signature] = manifest;
        let manifest = [text?, signature?];
        let files = tile_files(&directory)?;

        let slices = table_tiles(&city, &plan, &table, &directory.manifest)?;
        let ties = TieRule::of(&plan)?;
        let mut body = MapDescription {
            protocol: VERSION,
            map: digest(version),
            issued: issued.to_string(),
            manifest: manifest[0].hash,
            places: city.coords().iter().map(|at| [at.lat(), at.lon()]).collect(),
            prior: city.prior().to_vec(),
            parameters: parameters(&plan),
            table: TableDescription {
                cell_km: table.cell().km(),
                cells: table.places().iter().map(|place| place.cell).collect(),
                offsets_mm: table.places().iter().map(|place| place.offset).collect(),
                ceiling: Costs::of(&city, Some(&table)).ceiling(),
            },
            local: None,
            rounds: Rounds {
                users: config.rounds.users as u32,
                window_seconds: config.rounds.window_seconds,
                keep_seconds: config.rounds.keep_seconds,
                most_relevant: config.rounds.most_relevant as u32,
            },
        };
        let table_tiles = slices.iter().map(|file| file.hash).collect();
        let path = folder.join("description.cbor");
        let mut solving = plan.clone();
        solving.solver.progress = home.solving.clone();
        (solving.solver.time_limit, solving.gap) = (None, None);
        let known = known_description(&path, &key.public());
        body.local = match &known {
            // The costly part is y; it depends on map and parameters only, which are in the folder's name.
            Some(known) => known.body.local.clone().map(|local| Local { table_tiles, ..local }),
            None if config.privacy.local && plan.range == RangeRule::Each => {
                let y = public_y(&city, &solving, progress)?;
                let (cost, lower_bound) = (y.proof.cost, y.proof.lower_bound);
                Some(Local { y: y.y, cost, lower_bound, table_tiles })
            }
            None => None,
        };
        let description = describe(body, known, &path, &key)?;
        let circle_cells = config.limits.circle_cells;
        let key = key.public();
        Ok(Self {
            city,
            plan,
            ties,
            key,
            description,
            tiles: directory.manifest,
            manifest,
            files,
            table_tiles: slices.into_iter().map(|file| (file.hash, file)).collect(),
            table,
            travel,
            circle_cells,
        })
    }

    /// The version of the map.
    pub fn map(&self) -> Digest {
        self.description.body.map
    }

    /// The largest cost that an upload may hold.
    pub fn ceiling(&self) -> f64 {
        self.description.body.table.ceiling
    }

    /// The y that everybody may share, where there is one: what `local` solves with.
    pub fn public_y(&self) -> Option<&[f64]> {
        self.description.body.local.as_ref().map(|local| local.y.as_slice())
    }

    /// The cells of the places in a circle, and `beta` between them (Proposition 4.3). Cells that stand for
    /// no place are left out: nobody needs them.
    pub fn circle(&self, circle: &Circle) -> refuse::Result<TableCircle> {
        let Circle { map, centre, radius_km } = *circle;
        refuse::other_map(map, self.map())?;
        let Some(&centre) = self.city.coords().get(centre as usize) else {
            return refuse::field("centre", "is not a place of the map");
        };
        if !(radius_km.is_finite() && radius_km > 0.0) {
            return refuse::field("radius_km", "must be a positive number of kilometres");
        }
        let near = self.city.index().within(centre, radius_km);
        let places = self.table.places();
        let mut cells: Vec<u32> = near.iter().map(|&(v, _)| places[v as usize].cell).collect();
        cells.sort_unstable();
        cells.dedup();
        if cells.len() > self.circle_cells {
            return refuse::too_large(format!(
                "the circle holds {} cells, at most {} are sent; ask for a smaller one, or use mode `published`",
                cells.len(),
                self.circle_cells
            ));
        }
        let beta = self.table.travel().beta(&cells, &cells);
        Ok(TableCircle { map, cells, beta })
    }

    /// The targets by estimated travel distance: what the service would do for a user at `place`.
    pub fn targets(&self, map: Digest, place: u32, limit: usize) -> refuse::Result<Targets> {
        self.check_place(map, place)?;
        let map = self.city.map();
        let row = self.travel.row(place as usize);
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by_key(|&l| (row[l], l));
        let target = |&l: &usize| {
            let at = map.graph.coords()[map.targets[l].node as usize];
            let estimated_km = f64::from(row[l]) * self.travel.scale();
            Target { target: l as u32, at: [at.lat(), at.lon()], estimated_km }
        };
        Ok(Targets { targets: order.iter().take(limit).map(target).collect() })
    }

    /// Refuses a place that this map does not have.
    pub fn check_place(&self, map: Digest, place: u32) -> refuse::Result<()> {
        refuse::other_map(map, self.map())?;
        match (place as usize) < self.city.places() {
            true => Ok(()),
            false => refuse::field("place", "is not a place of the map"),
        }
    }
}

fn parameters(plan: &Plan) -> Parameters {
    Parameters {
        epsilon_per_km: plan.epsilon.value(),
        gamma_km: match plan.notion {
            Notion::Within { gamma_km } => Some(gamma_km),
            Notion::AllPairs => None,
        },
        relevant_km: plan.radii.relevant,
        relevant_max: plan.radii.relevant_max.map(|n| n as u32),
        exponential_km: plan.radii.exponential,
        obfuscation_km: plan.radii.obfuscation,
        range: match plan.range {
            RangeRule::Own => Range::Own,
            RangeRule::Each => Range::Each,
        },
    }
}

/// Verified tiles, and where they are.
struct Tiles {
    root: PathBuf,
    manifest: Manifest,
}

/// The tiles that were given, those that were made before, or new ones; verified in any case.
fn open_tiles(
    city: &City,
    home: &Home<'_>,
    folder: &Path,
    config: &Config,
    key: &SecretKey,
    issued: Issued,
    progress: &dyn Progress,
) -> Result<Tiles, ServerError> {
    let root = home.tiles.map_or_else(|| folder.join("tiles"), Path::to_owned);
    if home.tiles.is_none() && !root.exists() {
        let mut plan = Plan::new(city, config.epsilon()?);
        plan.gap = config.privacy.gap;
        plan.solver.progress = home.solving.clone();
        let built = build(by_name("published")?, city, &plan, progress)?;
        let fingerprint = built.save(&folder.join("mechanism.lrmech"))?;
        let publication = publish(&built, fingerprint, None, issued, key, progress)?;
        publication.write(&root)?;
    }
    let refused = |error| {
        let (path, key) = (root.clone(), home.key_path());
        ServerError::Tiles { path, key, error: Box::new(error) }
    };
    let directory = Directory::open(&root, &key.public()).map_err(refused)?;
    directory.manifest.expect_map(city.version().into()).map_err(refused)?;
    directory.places().map_err(refused)?;
    let count = directory.manifest.tiles.len();
    progress.begin("verifying tiles", count as u64);
    for number in 0..count {
        directory.tile(number).map_err(refused)?;
        progress.advance(1);
    }
    progress.end();
    Ok(Tiles { manifest: directory.manifest, root })
}

fn tile_files(tiles: &Tiles) -> Result<HashMap<Digest, File>, ServerError> {
    let numbers = 0..tiles.manifest.tiles.len();
    let paths = numbers.filter_map(|number| tiles.manifest.tile_path(number));
    let paths = std::iter::once(tiles.manifest.places_path()).chain(paths);
    let file = |name: String| read(&tiles.root, &name).map(|file| (file.hash, file));
    paths.map(file).collect()
}

fn read(root: &Path, name: &str) -> Result<File, ServerError> {
    let path = root.join(name);
    Ok(File::new(std::fs::read(&path).map_err(ServerError::io(&path))?))
}

/// The description that was signed before with this key.
fn known_description(path: &Path, key: &PublicKey) -> Option<Signed<MapDescription>> {
    let known: Signed<MapDescription> = Encoding::Cbor.decode(&std::fs::read(path).ok()?).ok()?;
    signed_by(&known, key).then_some(known)
}

/// The description signed before, if it says the same but for when; else a new one.
fn describe(
    body: MapDescription,
    known: Option<Signed<MapDescription>>,
    path: &Path,
    key: &SecretKey,
) -> Result<Signed<MapDescription>, ServerError> {
    let same = |known: &Signed<MapDescription>| {
        known.body == MapDescription { issued: known.body.issued.clone(), ..body.clone() }
    };
    if let Some(known) = known.filter(same) {
        return Ok(known);
    }
    let signature = hex::encode(key.sign(&Signed::bytes(DESCRIPTION, &body)));
    let signed = Signed { body, key: key.public().to_string(), signature };
    let bytes = Encoding::Cbor.encode(&signed);
    lrgeo_map::write_whole(path, [bytes.as_slice()])?;
    Ok(signed)
}

fn signed_by(signed: &Signed<MapDescription>, key: &PublicKey) -> bool {
    let signature = hex::decode(&signed.signature).unwrap_or_default();
    key.verify(&Signed::bytes(DESCRIPTION, &signed.body), &signature).is_ok()
}
