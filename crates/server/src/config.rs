//! Settings, from a TOML file; every one has a default that works.

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::HeaderValue;
use lrgeo_geo::units::Length;
use lrgeo_map::table::Division;
use lrgeo_map::utility::UtilitySource;
use lrgeo_mechanism::tail::Tails;
use lrgeo_mechanism::{Engine, Geography, Plan, RangeRule};
use lrgeo_tiles::{Epsilon, LEAST_PLACES, Notion};
use serde::Deserialize;
use tower_http::cors::AllowOrigin;

use crate::ServerError;
pub use crate::access::{AccessSettings, RouteSettings};
pub use crate::handover::HandoverSettings;

/// Everything that an operator may set. Unknown keys are refused.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// What a wrong report costs: `travel-distance`, `travel-time`, `straight-line`, or a matrix of one's own (.npy, .csv).
    pub utility: String,
    /// How private.
    pub privacy: Privacy,
    /// How rounds are held.
    pub rounds: RoundSettings,
    /// How much one request may ask for.
    pub limits: Limits,
    /// Which routes need a token.
    pub access: AccessSettings,
    /// How much all users together may ask of each kind of route.
    pub routes: RouteSettings,
    /// Where reports go besides being counted.
    pub handover: HandoverSettings,
    /// Which pages may use the service.
    pub browsers: Browsers,
    /// The server's own page.
    pub page: PageSettings,
    /// Ways that people go besides the one of the map.
    pub ways: Vec<WaySettings>,
    /// The certificate; without one connections are not encrypted.
    pub tls: Option<TlsSettings>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            utility: "travel-distance".into(),
            privacy: Privacy::default(),
            rounds: RoundSettings::default(),
            limits: Limits::default(),
            access: AccessSettings::default(),
            routes: RouteSettings::default(),
            handover: HandoverSettings::default(),
            browsers: Browsers::default(),
            page: PageSettings::default(),
            ways: Vec::new(),
            tls: None,
        }
    }
}

/// Pages of other origins that may use the service. What it serves is public and it knows no cookies, so that
/// this keeps nobody's secret: it says on whose pages the operator wants to be used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Browsers {
    /// `https://app.example`, or `*` for every page. None by default.
    pub origins: Vec<String>,
}

impl Browsers {
    /// As HTTP has it; `None` where no other page may.
    pub(crate) fn allowed(&self) -> Result<Option<AllowOrigin>, ServerError> {
        if self.origins.iter().any(|origin| origin == "*") {
            return Ok(Some(AllowOrigin::any()));
        }
        let origin = |text: &String| {
            let plain = text.strip_prefix("https://").or(text.strip_prefix("http://"));
            let sound = plain.is_some_and(|host| !host.is_empty() && !host.contains('/'));
            let value = text.parse::<HeaderValue>().ok().filter(|_| sound);
            value.map_or_else(
                || setting("browsers.origins", "must be like https://app.example, or *"),
                Ok,
            )
        };
        let origins = self.origins.iter().map(origin).collect::<Result<Vec<_>, ServerError>>()?;
        Ok((!origins.is_empty()).then(|| AllowOrigin::list(origins)))
    }
}

/// What the server's own page shows. Nothing of it is about anybody's whereabouts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageSettings {
    /// Whether there is a page at all.
    pub serve: bool,
    /// Whether it may fetch the travel costs from all places to all targets, with which it says what reports cost while a slider
    /// moves. They disclose the targets and how likely each is.
    pub costs: bool,
    /// Whether rounds of invented users may be watched; each size is solved once, for half a minute of one core at most.
    pub rounds: bool,
    /// Whether anybody may see load, latencies and errors of this server.
    pub operation: bool,
    /// Names to put on the map and to search for.
    pub landmarks: Vec<Landmark>,
}

impl Default for PageSettings {
    fn default() -> Self {
        Self { serve: true, costs: false, rounds: true, operation: true, landmarks: Vec::new() }
    }
}

/// A name on the map.
#[derive(Clone, Debug, PartialEq, Deserialize, serde::Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Landmark {
    /// What people call it.
    pub name: String,
    /// Latitude and longitude.
    pub at: [f64; 2],
}

/// People who go differently than on the map.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaySettings {
    /// What they call it: walk.
    pub name: String,
    /// A map of the same places with their streets (`lrgeo map build --same-places`), or what a wrong report costs them (.npy, .csv).
    pub file: PathBuf,
    /// How many of all people they are; who is left goes as the map says.
    pub share: f64,
}

/// Epsilon and radii; what is left out is chosen to suit the map.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Privacy {
    /// `2/km`, or `factor 2 within 300 m`.
    pub epsilon: String,
    /// gamma, like `1km`: between which places of a user's own matrix there is a promise. Without, between all of them, at
    /// the epsilon of the tiles.
    pub gamma: Option<String>,
    /// Gamma.
    pub lr_radius: Option<String>,
    /// At most this many relevant places.
    pub lr_max: Option<usize>,
    /// r_exp.
    pub exp_radius: Option<String>,
    /// r_obf.
    pub obf_radius: Option<String>,
    /// `each` or `own`.
    pub range: String,
    /// Users of so many neighbouring places at least have the same relevant places: an upload then tells which of these
    /// classes its user is in, and nothing more, for a price in cost.
    pub alike: Option<usize>,
    /// Cells of the cost reference table.
    pub table_cell: String,
    /// Road segments of this length instead of cells.
    pub table_segments: Option<String>,
    /// The largest share of a row beyond r_exp, where reports fall off slowly, that radii of one's own may leave: more
    /// makes `local` report places that are kilometres off.
    pub most_tail: f64,
    /// Whether phones may solve by themselves: needs a public y, hence ConstOPT over the map.
    pub local: bool,
    /// The proven gap at which the published mechanism is good enough.
    pub gap: Option<f64>,
    /// The published mechanism, and the public y after it, are optimised for so long at most: the cheapest that is there by then is
    /// verified and used. Fine maps would take longer.
    pub solve_seconds: f64,
    /// At least so many likely places per tile.
    pub tile_places: usize,
}

impl Default for Privacy {
    fn default() -> Self {
        Self {
            epsilon: "2/km".into(),
            gamma: None,
            lr_radius: None,
            lr_max: None,
            exp_radius: None,
            obf_radius: None,
            range: "each".into(),
            alike: None,
            table_cell: "100m".into(),
            table_segments: None,
            most_tail: 0.1,
            local: true,
            gap: None,
            solve_seconds: 600.0,
            tile_places: LEAST_PLACES,
        }
    }
}

/// How the users of a round are brought together and how it is solved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoundSettings {
    /// A round begins when so many users have joined,
    pub users: usize,
    /// or so many seconds after the first one did.
    pub window_seconds: f64,
    /// Results are kept for so long.
    pub keep_seconds: f64,
    /// `colgen` or `benders`.
    pub engine: String,
    /// The relative gap at which a round is solved well enough.
    pub gap: f64,
    /// Users are solved together for so long; then the best matrices so far are used, or each user's own.
    pub time_limit_seconds: f64,
    /// Before that each is solved alone, for so long; whose programme has no matrix by then is refused.
    pub user_seconds: f64,
    /// A user's matrix may cost so much more, as a share, than it would without strangers; where it would cost more
    /// the whole round gets the public y.
    pub most_stranger_cost: f64,
    /// A user may upload at most so many relevant places,
    pub most_relevant: usize,
    /// and so many pairs of a relevant and a reported place.
    pub most_entries: usize,
    /// Rounds with more of these pairs than this are not solved together.
    pub most_round_entries: usize,
    /// At most so many users may wait; more are refused.
    pub most_waiting: usize,
    /// Nor may what those who wait or are being solved uploaded take more memory than this.
    pub most_waiting_bytes: usize,
    /// Uploads and results may take so much of the disk; more users are refused until some results have expired.
    pub most_kept_bytes: u64,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self {
            users: 10,
            window_seconds: 2.0,
            keep_seconds: 3600.0,
            engine: "colgen".into(),
            gap: 1e-6,
            time_limit_seconds: 30.0,
            user_seconds: 5.0,
            most_stranger_cost: 0.05,
            most_relevant: 200,
            most_entries: 400_000,
            most_round_entries: 4_000_000,
            most_waiting: 1_000,
            most_waiting_bytes: 256 << 20,
            most_kept_bytes: 4 << 30,
        }
    }
}

/// Encrypted connections. Both files are PEM, and read again when they change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// The certificate, then those that it was signed by.
    pub certificate: PathBuf,
    /// Its secret key.
    pub key: PathBuf,
}

/// How much one request may ask for, and all of them together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The largest body.
    pub body_bytes: usize,
    /// The longest that a request may take, waiting for a round included.
    pub request_seconds: f64,
    /// The most cells in a circle of the cost table.
    pub circle_cells: usize,
    /// So many connections at a time; beyond, an idle one of whoever has the most is closed.
    pub connections: usize,
    /// A connection without a whole request head is closed after so long.
    pub idle_seconds: f64,
    /// One whose other end reads nothing more of an answer is closed after so long.
    pub write_seconds: f64,
    /// Whoever is not done so long after the server was told to stop is cut off.
    pub stop_seconds: f64,
    /// Bodies that are being read or decoded may take so much memory together; more are refused.
    pub bodies_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 32 << 20,
            request_seconds: 60.0,
            circle_cells: 2_000,
            connections: 4_096,
            idle_seconds: 30.0,
            write_seconds: 30.0,
            stop_seconds: 10.0,
            bodies_bytes: 256 << 20,
        }
    }
}

/// Spacings per Gamma: some 57 relevant places on a grid.
const RELEVANT: f64 = 4.26;

impl Config {
    /// Reads a file.
    pub fn open(path: &Path) -> Result<Self, ServerError> {
        let text = std::fs::read_to_string(path).map_err(ServerError::io(path))?;
        let config: Self = toml::from_str(&text)
            .map_err(|error| ServerError::Config { path: path.into(), error })?;
        config.check()?;
        Ok(config)
    }

    /// Refuses values that make no sense on any map.
    pub fn check(&self) -> Result<(), ServerError> {
        let Self { rounds, limits, .. } = self;
        for (field, value) in [
            ("privacy.solve_seconds", self.privacy.solve_seconds),
            ("rounds.window_seconds", rounds.window_seconds),
            ("rounds.keep_seconds", rounds.keep_seconds),
            ("rounds.time_limit_seconds", rounds.time_limit_seconds),
            ("rounds.user_seconds", rounds.user_seconds),
            ("limits.request_seconds", limits.request_seconds),
            ("limits.idle_seconds", limits.idle_seconds),
            ("limits.write_seconds", limits.write_seconds),
            ("limits.stop_seconds", limits.stop_seconds),
        ] {
            if !(value > 0.0 && value <= 1e9) {
                return setting(field, "must be a positive number of seconds");
            }
        }
        for (field, value) in [
            ("privacy.tile_places", self.privacy.tile_places),
            ("rounds.users", rounds.users),
            ("rounds.most_relevant", rounds.most_relevant),
            ("rounds.most_entries", rounds.most_entries),
            ("rounds.most_round_entries", rounds.most_round_entries),
            ("rounds.most_waiting", rounds.most_waiting),
            ("limits.body_bytes", limits.body_bytes),
            ("limits.circle_cells", limits.circle_cells),
            ("limits.connections", limits.connections),
            ("rounds.most_waiting_bytes", rounds.most_waiting_bytes),
        ] {
            if value == 0 {
                return setting(field, "must be at least 1");
            }
        }
        if limits.bodies_bytes < limits.body_bytes {
            return setting(
                "limits.bodies_bytes",
                "must have room for one body (limits.body_bytes)",
            );
        }
        if rounds.most_kept_bytes == 0 {
            return setting("rounds.most_kept_bytes", "must be at least 1");
        }
        if !(rounds.gap > 0.0 && rounds.gap < 1.0) {
            return setting("rounds.gap", "must lie between 0 and 1");
        }
        if !(rounds.most_stranger_cost >= 0.0 && rounds.most_stranger_cost.is_finite()) {
            return setting("rounds.most_stranger_cost", "must be a share of the cost, like 0.05");
        }
        if !(0.0..=1.0).contains(&self.privacy.most_tail) {
            return setting("privacy.most_tail", "must be a share, like 0.1");
        }
        if self.ways.iter().any(|way| way.share.is_nan() || way.share < 0.0)
            || self.ways_share() > 1.0
        {
            return setting("ways", "have a share below 0, or are more than all people");
        }
        let is_somewhere = |mark: &Landmark| lrgeo_geo::Coord::new(mark.at[0], mark.at[1]).is_ok();
        if !self.page.landmarks.iter().all(is_somewhere) {
            return setting("page.landmarks", "must each be at a latitude and a longitude");
        }
        if !(0.0..=1e6).contains(&self.access.guesses_per_second) {
            return setting("access.guesses_per_second", "must be a number of tries a second");
        }
        self.access.required()?;
        self.routes.check()?;
        self.handover.check()?;
        self.browsers.allowed()?;
        self.engine()?;
        self.epsilon()?;
        self.utility()?;
        Ok(())
    }

    /// How many people do not go as the map says.
    pub(crate) fn ways_share(&self) -> f64 {
        self.ways.iter().map(|way| way.share).sum()
    }

    /// The privacy asked for.
    pub fn epsilon(&self) -> Result<Epsilon, ServerError> {
        Ok(self.privacy.epsilon.parse::<Epsilon>()?)
    }

    /// Where the costs of a wrong report come from.
    pub(crate) fn utility(&self) -> Result<UtilitySource, ServerError> {
        self.utility.parse().or_else(|reason: String| setting("utility", &reason))
    }

    fn engine(&self) -> Result<Engine, ServerError> {
        let named = Engine::ALL.iter().find(|(_, name)| *name == self.rounds.engine);
        match named {
            Some((engine, _)) => Ok(*engine),
            None => setting("rounds.engine", "must be `colgen`, `benders` or `benders-plain`"),
        }
    }

    /// How the cost reference table is divided.
    pub fn division(&self) -> Result<Division, ServerError> {
        let privacy = &self.privacy;
        if let Some(km) = length("privacy.table_segments", privacy.table_segments.as_deref())? {
            return Ok(Division::Segments(Length::from_km(km)?));
        }
        let cell = privacy.table_cell.parse::<Length>();
        Ok(cell.or_else(|e| setting("privacy.table_cell", &e.to_string()))?.into())
    }

    /// The plan of rounds on a map.
    pub fn plan(&self, places: &Geography) -> Result<Plan, ServerError> {
        let privacy = &self.privacy;
        let mut plan = Plan::new(places, self.epsilon()?);
        // A promise within gamma says less about pairs farther apart than epsilon does: tiles and matrices have one.
        plan.notion = Notion::AllPairs;
        // Programmes need not reach as far as a gamma that joins all parts of the map.
        plan.radii.relevant = RELEVANT * places.spacing_km();
        let tails = Tails::new(places, plan.epsilon);
        plan.radii = tails.choose(places.spacing_km(), plan.radii);
        let chosen = plan.radii;
        if let Some(gamma) = length("privacy.gamma", privacy.gamma.as_deref())? {
            plan.notion = Notion::Within { gamma_km: gamma };
            plan.radii.relevant = plan.radii.relevant.max(gamma);
        }
        let radii = &mut plan.radii;
        let fields = [
            ("privacy.lr_radius", &privacy.lr_radius, &mut radii.relevant),
            ("privacy.exp_radius", &privacy.exp_radius, &mut radii.exponential),
            ("privacy.obf_radius", &privacy.obf_radius, &mut radii.obfuscation),
        ];
        for (field, text, slot) in fields {
            if let Some(km) = length(field, text.as_deref())? {
                *slot = km;
            }
        }
        // What the operator says about one radius, the other one follows.
        match (&privacy.exp_radius, &privacy.obf_radius) {
            (Some(_), None) => radii.obfuscation = radii.obfuscation.max(radii.exponential),
            (None, Some(_)) => radii.exponential = radii.exponential.min(radii.obfuscation),
            _ => {}
        }
        let tail = tails.beyond(radii.exponential, radii.obfuscation);
        if privacy.local && tail > privacy.most_tail {
            let reason = format!(
                "and privacy.obf_radius: {:.2} km and {:.2} km leave {:.0} % of a row to places beyond r_exp, and reports of \
                 `local` would be far off; at {} they should be {:.2} km and {:.2} km (leave both out), else set local = false, or \
                 most_tail = {:.2} if you want that",
                radii.exponential,
                radii.obfuscation,
                100.0 * tail,
                plan.epsilon,
                chosen.exponential,
                chosen.obfuscation,
                (100.0 * tail).ceil() / 100.0
            );
            return setting("privacy.exp_radius", &reason);
        }
        radii.relevant_max = privacy.lr_max;
        let rule = RangeRule::ALL.iter().find(|(_, name)| *name == privacy.range);
        let Some((rule, _)) = rule else {
            return setting("privacy.range", "must be `each` or `own`");
        };
        plan.range = *rule;
        plan.division = self.division()?;
        plan.alike = privacy.alike;
        plan.engine = self.engine()?;
        plan.gap = Some(self.rounds.gap);
        plan.solver.time_limit = Some(Duration::from_secs_f64(self.rounds.time_limit_seconds));
        plan.check(places)?;
        Ok(plan)
    }
}

fn length(field: &'static str, text: Option<&str>) -> Result<Option<f64>, ServerError> {
    let parsed = text.map(|text| text.parse::<Length>().map(Length::km)).transpose();
    parsed.or_else(|error| setting(field, &error.to_string()))
}

fn setting<T>(field: &'static str, reason: &str) -> Result<T, ServerError> {
    Err(ServerError::Setting { field, reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sample that operators copy: every key in it, with its default.
    const SAMPLE: &str = include_str!("../../../docs/server.sample.toml");

    #[test]
    fn the_sample_is_the_default() {
        let config: Config = toml::from_str(SAMPLE).unwrap();
        config.check().unwrap();
        assert_eq!(config, Config::default());
        // With the commented lines it must parse too: they show the keys without a default.
        let all: String = SAMPLE
            .lines()
            .map(|line| line.trim_start_matches("#: "))
            .fold(String::new(), |text, line| text + line + "\n");
        let config: Config = toml::from_str(&all).unwrap();
        assert!(config.privacy.gamma.is_some() && config.privacy.lr_max.is_some());
        assert!(config.privacy.alike.is_some() && config.ways.len() == 1 && config.tls.is_some());
    }

    #[test]
    fn radii_suit_epsilon_or_are_refused_with_those_that_do() {
        let map = lrgeo_show::demo::demo_map(1, Length::from_m(500.0).unwrap()).unwrap();
        let places =
            Geography::new(map.coords(), map.places.iter().map(|p| p.prior).collect()).unwrap();
        let mut config = Config::default();
        let plan = config.plan(&places).unwrap();
        assert_eq!(plan.notion, Notion::AllPairs);
        assert!((2.0..3.3).contains(&plan.radii.exponential), "{:?}", plan.radii);
        // Half the epsilon, about twice the radius.
        config.privacy.epsilon = "1/km".into();
        assert!(config.plan(&places).unwrap().radii.exponential > 1.4 * plan.radii.exponential);
        // What was the default.
        config.privacy.epsilon = "2/km".into();
        config.privacy.exp_radius = Some("1.065km".into());
        config.privacy.obf_radius = Some("4.25km".into());
        let refused = config.plan(&places).unwrap_err().to_string();
        for words in ["exp_radius", "leave both out", "local = false", "most_tail"] {
            assert!(refused.contains(words), "{words}: {refused}");
        }
        config.privacy.most_tail = 1.0;
        assert_eq!(config.plan(&places).unwrap().radii.exponential, 1.065);
        (config.privacy.most_tail, config.privacy.local) = (0.1, false);
        assert!(config.plan(&places).is_ok());
    }

    #[test]
    fn unknown_keys_and_nonsense_are_refused() {
        for bad in [
            "colour = 1",
            "[privacy]\nepsilom = \"2/km\"",
            "[rounds]\nusers = \"many\"",
            "[limits]\nbody = 1",
        ] {
            assert!(toml::from_str::<Config>(bad).is_err(), "{bad}");
        }
        for bad in [
            "utility = \"comfort\"",
            "[privacy]\nepsilon = \"-1/km\"",
            "[rounds]\nusers = 0",
            "[rounds]\nengine = \"magic\"",
            "[rounds]\nwindow_seconds = nan",
            "[rounds]\ngap = 2.0",
            "[privacy]\nmost_tail = 1.5",
            "[rounds]\nuser_seconds = 0.0",
            "[rounds]\nmost_stranger_cost = -0.1",
            "[rounds]\nmost_stranger_cost = nan",
            "[rounds]\nmost_entries = 0",
            "[limits]\nrequest_seconds = 0",
            "[access]\nrequired = [\"reports\"]",
            "[access]\nguesses_per_second = nan",
            "[routes.per_second]\nreport = -1.0",
            "[routes.at_once]\npublic = 0",
            "[routes]\nreport_bytes = 1",
            "[handover]\nwebhook = \"dispatch.example\"",
            "[handover]\nwebhook = \"http://a/b\"\nstream = true",
            "[handover]\ntimeout_seconds = 0.0",
            "[limits]\nidle_seconds = -1.0",
            "[limits]\nconnections = 0",
            "[limits]\nbodies_bytes = 1000",
            "[browsers]\norigins = [\"app.example\"]",
            "[browsers]\norigins = [\"https://app.example/page\"]",
            "[[ways]]\nname = \"walk\"\nfile = \"w.lrmap\"\nshare = 1.5",
            "[[page.landmarks]]\nname = \"nowhere\"\nat = [91.0, 0.0]",
        ] {
            assert!(toml::from_str::<Config>(bad).unwrap().check().is_err(), "{bad}");
        }
    }
}
