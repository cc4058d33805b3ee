//! Everything that is the same for everybody: the map's description, the published tiles, the slices
//! of the cost table. Made at the first start, verified at every start, never changed while serving.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use lrgeo_geo::{Digest, PlaceId};
use lrgeo_map::graph::Metric;
use lrgeo_map::map::Map;
use lrgeo_map::progress::Progress;
use lrgeo_map::table::CostTable;
use lrgeo_map::travel::TravelMatrix;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::const_opt::public_y;
use lrgeo_mechanism::coordinates::noise_for;
use lrgeo_mechanism::lr_geo::coefficients::ceiling;
use lrgeo_mechanism::publish::{Directory, PublishError, open_key, publish, save_new_key};
use lrgeo_mechanism::relevant::TieRule;
use lrgeo_mechanism::{City, Plan, RangeRule, build, by_name};
use lrgeo_optim::ProgressCallback;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Circle, CirclePart, TableCircle};
use lrgeo_protocol::public::{
    Local, MapDescription, Parameters, PublicFile, Range, Rounds, Target, Targets, WayDescription,
};
use lrgeo_protocol::{Reason, VERSION};
use lrgeo_tiles::{
    Envelope, Epsilon, FileEntry, Issued, Manifest, Notion, PublicKey, SecretKey, SignedManifest,
    TileError, check_rows, encode_noise,
};

use crate::chain::Chain;
use crate::config::Config;
use crate::slices::table_tiles;
use crate::ways::Ways;
use crate::{ServerError, refuse};

/// Where the server keeps things, and who signs them.
pub struct Home<'a> {
    /// The directory of the data.
    pub data: &'a Path,
    /// Tiles that were published before; without, they are made.
    pub tiles: Option<&'a Path>,
    /// The operator's key; without, one in the data directory, made at the first start.
    pub key: Option<&'a Path>,
    /// The key before that one, to hand over from.
    pub retiring_key: Option<&'a Path>,
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
            save_new_key(&SecretKey::generate()?, &path)?;
        }
        Ok(open_key(&path)?)
    }
}

/// A public file that never changes, under its hash.
#[derive(Clone)]
pub struct File {
    /// Its content, shared with the answers that are being sent.
    pub bytes: Bytes,
    /// Its hash.
    pub hash: Digest,
}

impl File {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { hash: Digest::of(&bytes), bytes: bytes.into() }
    }

    /// Its name and length.
    fn named(&self) -> PublicFile {
        PublicFile { hash: self.hash, bytes: self.bytes.len() as u64 }
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
    /// What `local` and `offload` need.
    pub description: MapDescription,
    /// The same in CBOR, which is what its hash is of.
    pub description_file: File,
    /// What is published.
    pub tiles: Manifest,
    /// The same as it was signed, and its signature.
    pub manifest: [File; 2],
    /// The manifests before it with their signatures, by hash.
    pub earlier: HashMap<Digest, [File; 2]>,
    /// Lists of places and tiles, by hash.
    pub files: HashMap<Digest, File>,
    /// Slices of the cost table, by hash; encoded as CBOR, which is what the hash is of.
    pub table_tiles: HashMap<Digest, File>,
    tables: Vec<Arc<CostTable>>,
    /// Where the costs are no distances, these all the same: targets are told by them.
    distances: Option<TravelMatrix>,
    circle_cells: usize,
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
        if let Some(given) = home.tiles {
            agree(given, version, config)?;
        }
        let Ways { ways, split, kind, files } = Ways::open(config, &map)?;
        let city = City::with_tables(map, version, ways, split, config.division()?, progress)?;
        let distances = match distances(&city) {
            Some(_) => None,
            None => Some(TravelMatrix::of_places(city.map(), Metric::Distance, progress)?),
        };
        let plan = config.plan(&city)?;
        let tables = city.tables(plan.division, progress)?;

        // What was computed for other settings stays beside it, under another name.
        let (short, settings) = (version.short(), parameters(&plan));
        let mut asked = format!("{short} {:?} {settings:?} {files:?}", config.privacy);
        if kind != UtilityKind::default() {
            asked += &format!(" {kind:?}");
        }
        let folder = home.data.join("maps").join(Digest::of(asked.as_bytes()).short());
        std::fs::create_dir_all(&folder).map_err(ServerError::io(&folder))?;

        let issued = Issued::from_unix(now);
        let mut chain = Chain::open(&home.data.join("chain"))?;
        let retiring = home.retiring_key.map(open_key).transpose()?;
        chain.hand_over(retiring.as_ref(), key.public(), issued)?;
        let tiles = open_tiles(&city, home, &folder, config, (&key, &chain), issued, progress)?;
        let tiled = tiles.published.manifest().guarantee()?.epsilon;
        one_epsilon(plan.epsilon, tiled)?;
        let noise = match &tiles.noise {
            Some(bytes) => bytes.clone(),
            None => encode_noise(city.version(), &noise_for(&city, tiled, progress)?),
        };
        let noise = File::new(noise);

        let slices = table_tiles(&city, &plan, &tables, &tiles.members);
        let ties = TieRule::of(&plan, &city)?;
        let mut body = MapDescription {
            protocol: VERSION,
            map: version,
            parameters: parameters(&plan),
            ways: describe_ways(&city, &tables),
            ceiling: ceiling(&city, &tables),
            local: None,
            rounds: Rounds {
                users: config.rounds.users as u32,
                window_seconds: config.rounds.window_seconds,
                keep_seconds: config.rounds.keep_seconds,
                most_relevant: config.rounds.most_relevant as u32,
            },
        };
        let table_tiles = slices.iter().map(File::named).collect();
        let path = folder.join("description.cbor");
        let mut solving = plan.clone();
        solving.solver.progress = home.solving.clone();
        // As close as phones solve with it.
        let limit = Duration::from_secs_f64(config.privacy.solve_seconds);
        (solving.solver.time_limit, solving.gap) = (Some(limit), Some(1e-3));
        let known = std::fs::read(&path).ok();
        let known = known.and_then(|bytes| Encoding::Cbor.decode::<MapDescription>(&bytes).ok());
        body.local = match &known {
            // The costly part is y; it depends on map and parameters only, which are in the folder's name.
            Some(known) => known.local.clone().map(|local| Local { table_tiles, ..local }),
            None if tiles.members.is_empty() => None,
            None if config.privacy.local && plan.range == RangeRule::Each => {
                let y = public_y(&city, &solving, progress)?;
                let (cost, lower_bound) = (y.proof.cost, y.proof.lower_bound);
                Some(Local { y: y.y, cost, lower_bound, table_tiles })
            }
            None => None,
        };
        let description_file = File::new(Encoding::Cbor.encode(&body));
        if known.as_ref() != Some(&body) {
            lrgeo_map::write_whole(&path, [&*description_file.bytes])?;
        }
        let mut content = tiles.published.manifest().clone();
        content.description = Some(description_file.hash);
        content.noise = Some(FileEntry {
            hash: noise.hash,
            bytes: noise.bytes.len() as u64,
            places: city.places() as u32,
        });
        let mut files = tiles.files;
        files.insert(noise.hash, noise);
        let current = chain.issue(content, &tiles.published, issued, &key)?;
        let files_of = |signed: &SignedManifest| {
            let Envelope { bytes, signature } = signed.envelope();
            [bytes, signature].map(|bytes| File::new(bytes.clone()))
        };
        let earlier = chain.manifests().map(|signed| (signed.digest(), files_of(signed)));
        let circle_cells = config.limits.circle_cells;
        let key = key.public();
        Ok(Self {
            city,
            plan,
            ties,
            key,
            description: body,
            description_file,
            manifest: files_of(&current),
            earlier: earlier.collect(),
            tiles: current.manifest().clone(),
            files,
            table_tiles: slices.into_iter().map(|file| (file.hash, file)).collect(),
            tables,
            distances,
            circle_cells,
        })
    }

    /// The version of the map.
    pub fn map(&self) -> Digest {
        self.description.map
    }

    /// The cost reference tables, one per way to go.
    pub(crate) fn tables(&self) -> &[Arc<CostTable>] {
        &self.tables
    }

    /// The largest cost that an upload may hold.
    pub fn ceiling(&self) -> f64 {
        self.description.ceiling
    }

    /// The y that everybody may share, where there is one: what `local` solves with.
    pub fn public_y(&self) -> Option<&[f64]> {
        self.description.local.as_ref().map(|local| local.y.as_slice())
    }

    /// The cells of the places in a circle, and `beta` between them (Proposition 4.3). Cells that stand for
    /// no place are left out: nobody needs them.
    pub fn circle(&self, circle: &Circle) -> refuse::Result<TableCircle> {
        let Circle { map, centre, radius_km } = *circle;
        refuse::other_map(map, self.map())?;
        let Some(&centre) = self.city.coords().get(centre.index()) else {
            return refuse::field("centre", "is not a place of the map");
        };
        if !(radius_km.is_finite() && radius_km > 0.0) {
            return refuse::field("radius_km", "must be a positive number of kilometres");
        }
        let near = self.city.within(centre, radius_km);
        let mut ways = Vec::with_capacity(self.tables.len());
        for table in &self.tables {
            let places = table.places();
            let mut cells: Vec<u32> = near.iter().map(|(v, _)| places[v.index()].cell).collect();
            cells.sort_unstable();
            cells.dedup();
            if cells.len() > self.circle_cells {
                return refuse::too_large(format!(
                    "the circle holds {} cells, at most {} are sent; ask for a smaller one, or use mode `published`",
                    cells.len(),
                    self.circle_cells
                ));
            }
            let beta = table.beta(&cells, &cells);
            ways.push(CirclePart { cells, beta });
        }
        Ok(TableCircle { map, ways })
    }

    /// How far every place is from every target, whatever a wrong report costs.
    pub fn travel(&self) -> Option<&TravelMatrix> {
        self.distances.as_ref().or_else(|| distances(&self.city))
    }

    /// The targets by estimated travel distance: what the service would do for a user at `place`.
    pub fn targets(&self, map: Digest, place: PlaceId, limit: usize) -> refuse::Result<Targets> {
        self.check_place(map, place)?;
        let map = self.city.map();
        let Some(travel) = self.travel() else {
            return refuse::because(Reason::Internal, "this service has no ways to targets");
        };
        let row = travel.row(place.index());
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by_key(|&l| (row[l], l));
        let target = |&l: &usize| {
            let at = map.graph.coords()[map.targets[l].node as usize];
            let estimated_km = f64::from(row[l]) * travel.scale();
            Target { target: l as u32, at: [at.lat(), at.lon()], estimated_km }
        };
        Ok(Targets { targets: order.iter().take(limit).map(target).collect() })
    }

    /// Refuses a place that this map does not have.
    pub fn check_place(&self, map: Digest, place: PlaceId) -> refuse::Result<()> {
        refuse::other_map(map, self.map())?;
        match place.index() < self.city.places() {
            true => Ok(()),
            false => refuse::field("place", "is not a place of the map"),
        }
    }
}

/// The distances that the costs of the first way are errors in, where they are.
fn distances(city: &City) -> Option<&TravelMatrix> {
    let travel = city.ways().first()?.utility().travel()?;
    (travel.metric() == Metric::Distance).then_some(travel)
}

fn describe_ways(city: &City, tables: &[Arc<CostTable>]) -> Vec<WayDescription> {
    let all = || PlaceId::all(city.places());
    let people: f64 = city.prior().iter().sum();
    let describe = |(way, table): (usize, &Arc<CostTable>)| {
        let going = |v: PlaceId| city.prior()[v.index()] * city.shares_at(v)[way];
        WayDescription {
            name: city.ways()[way].name().to_owned(),
            share: all().map(going).sum::<f64>() / people,
            cell_km: table.division().length().km(),
            cells: table.places().iter().map(|place| place.cell).collect(),
            offsets: all().map(|v| table.offset(v)).collect(),
        }
    };
    tables.iter().enumerate().map(describe).collect()
}

fn parameters(plan: &Plan) -> Parameters {
    Parameters {
        epsilon_per_km: plan.epsilon.value(),
        gamma_km: match plan.notion {
            Notion::Within { gamma_km } => Some(gamma_km),
            Notion::AllPairs | Notion::Coordinates => None,
        },
        relevant_km: plan.radii.relevant,
        relevant_max: plan.radii.relevant_max.map(|n| n as u32),
        exponential_km: plan.radii.exponential,
        obfuscation_km: plan.radii.obfuscation,
        range: match plan.range {
            RangeRule::Own => Range::Own,
            RangeRule::Each => Range::Each,
        },
        alike: plan.alike.map(|count| count as u32),
    }
}

/// Verified tiles.
struct Tiles {
    published: SignedManifest,
    /// The places of each; none where noise for coordinates is all that was published.
    members: Vec<Vec<PlaceId>>,
    /// That noise, where it was published with them.
    noise: Option<Vec<u8>>,
    /// The list of places and the tiles, by hash.
    files: HashMap<Digest, File>,
}

/// Refuses tiles for another map or epsilon before anything is computed. What they say is read again, and not believed, when they are opened.
fn agree(tiles: &Path, map: Digest, config: &Config) -> Result<(), ServerError> {
    let path = tiles.join("manifest.json");
    let bytes = std::fs::read(&path).map_err(ServerError::io(&path))?;
    // What is no manifest is refused with its reason later.
    let Ok(manifest) = serde_json::from_slice::<Manifest>(&bytes) else { return Ok(()) };
    if manifest.map != map {
        let reason = format!(
            "{} is for the map {}, and this is {}: publish again, or give the map that it was made from",
            tiles.display(),
            manifest.map.short(),
            map.short()
        );
        return Err(ServerError::Setting { field: "tiles", reason });
    }
    one_epsilon(config.epsilon()?, manifest.guarantee()?.epsilon)
}

/// Reports of all modes have one epsilon.
fn one_epsilon(set: Epsilon, tiled: Epsilon) -> Result<(), ServerError> {
    if set == tiled {
        return Ok(());
    }
    let reason = format!(
        "is {set}, but the tiles were published at {tiled}: reports of all modes have one epsilon. Set it to \"{}/km\", or publish again",
        tiled.value()
    );
    Err(ServerError::Setting { field: "privacy.epsilon", reason })
}

/// The tiles that were given, those that were made before, or new ones; verified in any case, and once.
fn open_tiles(
    city: &City,
    home: &Home<'_>,
    folder: &Path,
    config: &Config,
    (key, chain): (&SecretKey, &Chain),
    issued: Issued,
    progress: &dyn Progress,
) -> Result<Tiles, ServerError> {
    let made = folder.join("tiles");
    match home.tiles {
        Some(given) => read_tiles(city, given, home, (key, chain), progress),
        None if made.exists() => read_tiles(city, &made, home, (key, chain), progress),
        None => make_tiles(city, &made, home, config, (key, chain), issued, progress),
    }
}

/// Makes, verifies and publishes the mechanism of the map. What comes back was read as a phone does before it was written.
fn make_tiles(
    city: &City,
    root: &Path,
    home: &Home<'_>,
    config: &Config,
    (key, chain): (&SecretKey, &Chain),
    issued: Issued,
    progress: &dyn Progress,
) -> Result<Tiles, ServerError> {
    let mut plan = Plan::new(city, config.epsilon()?);
    plan.gap = config.privacy.gap;
    plan.solver.time_limit = Some(Duration::from_secs_f64(config.privacy.solve_seconds));
    plan.solver.progress = home.solving.clone();
    let verified = build(by_name("published")?, city, &plan, progress)?;
    let fingerprint = verified.save(&root.with_file_name("mechanism.lrmech"))?;
    let link = chain.next_link(issued, key.public());
    let least = Some(config.privacy.tile_places);
    let publication = publish(&verified, fingerprint, least, link, key, progress)?;
    publication.write(root)?;
    let files = publication.files().filter(|(name, _)| name.contains('/'));
    let files = files.map(|(_, bytes)| File::new(bytes.to_vec()));
    let files = files.map(|file| (file.hash, file)).collect();
    Ok(Tiles { published: publication.signed, members: publication.members, noise: None, files })
}

/// Reads tiles that were published before, and believes nothing of them.
fn read_tiles(
    city: &City,
    root: &Path,
    home: &Home<'_>,
    (key, chain): (&SecretKey, &Chain),
    progress: &dyn Progress,
) -> Result<Tiles, ServerError> {
    let refused = |error: PublishError| {
        let (path, key) = (root.to_owned(), home.key_path());
        ServerError::Tiles { path, key, error: Box::new(error) }
    };
    let disbelieved = |error: TileError| refused(error.into());
    // Tiles that a key before this one signed are still this operator's.
    let mut opened = Directory::open(root, &key.public());
    for before in chain.keys() {
        opened = opened.or_else(|_| Directory::open(root, &before));
    }
    let directory = opened.map_err(refused)?;
    let manifest = directory.manifest();
    manifest.expect_map(city.version()).map_err(disbelieved)?;
    let guarantee = manifest.guarantee().map_err(disbelieved)?;
    let bytes = directory.read(&manifest.places_path()).map_err(refused)?;
    let places = manifest.open_places(&bytes).map_err(disbelieved)?;
    let mut files = HashMap::from([(manifest.places.hash, File::new(bytes))]);
    let noise = directory.noise(&places).map_err(refused)?;
    let members = manifest.members(&places).map_err(disbelieved)?;
    progress.begin("verifying tiles", members.len() as u64);
    for (number, (members, entry)) in members.iter().zip(&manifest.tiles).enumerate() {
        let bytes = directory.tile_bytes(number).map_err(refused)?;
        let tile = manifest.open_tile(number, members, &bytes).map_err(disbelieved)?;
        check_rows(&[tile], &places, &guarantee).map_err(disbelieved)?;
        files.insert(entry.hash, File::new(bytes));
        progress.advance(1);
    }
    progress.end();
    Ok(Tiles { published: directory.signed, members, noise, files })
}
