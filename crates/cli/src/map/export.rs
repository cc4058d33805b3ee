//! `lrgeo map export`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use lrgeo_geo::PlaceId;
use lrgeo_map::export::parquet::{self, LongTable};
use lrgeo_map::export::{geojson, losses_csv, losses_npy, places_csv, targets_csv};
use lrgeo_map::import::read_losses;
use lrgeo_map::map::{Map, Source};
use lrgeo_map::streets::Streets;
use lrgeo_map::utility::UtilitySource;
use lrgeo_map::{utility, write_stream, write_whole};
use lrgeo_show::demo::demo_city;
use lrgeo_show::draw::{Dot, Drawing, Marker, svg};

use crate::failure::Failure;
use crate::ui::Ui;

/// Write a map for other programs and for people.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  lrgeo map export city.lrmap --geojson city.geojson\n  \
                  lrgeo map export city.lrmap --svg city.svg\n  \
                  lrgeo map export city.lrmap --parquet places.parquet\n  \
                  lrgeo map export city.lrmap --costs losses.npy --utility travel-time",
    group = ArgGroup::new("what").required(true).multiple(true).args(["geojson", "places_csv", "targets_csv", "parquet", "svg", "costs"])
)]
pub struct Export {
    /// The map.
    map: PathBuf,
    /// Streets, places and targets for geographic programs.
    #[arg(long, value_name = "OUT")]
    geojson: Option<PathBuf>,
    /// Places as id,lat,lon,prior.
    #[arg(long, value_name = "OUT")]
    places_csv: Option<PathBuf>,
    /// Targets as lat,lon,weight.
    #[arg(long, value_name = "OUT")]
    targets_csv: Option<PathBuf>,
    /// Places as GeoParquet: id, lat, lon, prior, access_m, geometry.
    #[arg(long, value_name = "OUT")]
    parquet: Option<PathBuf>,
    /// A picture.
    #[arg(long, value_name = "OUT")]
    svg: Option<PathBuf>,
    /// The loss of every report at every place: .npy or .csv (rows: true place), or .parquet as place, report, cost.
    #[arg(long, value_name = "OUT.npy|.csv|.parquet")]
    costs: Option<PathBuf>,
    /// What a wrong report costs: travel-distance (km), travel-time (min), straight-line (km), or a
    /// matrix file (.npy, .csv).
    #[arg(long, default_value = "travel-distance")]
    utility: UtilitySource,
}

impl Export {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (map, _) = Map::open(&self.map)?;
        let write = |path: &Path, bytes: &[u8]| -> Result<(), Failure> {
            write_whole(path, [bytes])?;
            ui.remark(format!("wrote {}", path.display()));
            Ok(())
        };
        if let Some(path) = &self.geojson {
            write(path, geojson(&map).as_bytes())?;
        }
        if let Some(path) = &self.places_csv {
            write(path, places_csv(&map).as_bytes())?;
        }
        if let Some(path) = &self.targets_csv {
            write(path, targets_csv(&map).as_bytes())?;
        }
        if let Some(path) = &self.parquet {
            write_stream(path, |out| parquet::places(&map, out))?;
            ui.remark(format!("wrote {}", path.display()));
        }
        if let Some(path) = &self.svg {
            write(path, picture(&map).as_bytes())?;
        }
        if let Some(path) = &self.costs {
            let losses = match &self.utility {
                UtilitySource::Measured(kind) => kind.of(&map, ui)?,
                UtilitySource::File(path) => Box::new(read_losses(path, map.places.len())?),
            };
            let ending = path.extension().and_then(|ending| ending.to_str());
            match ending {
                Some("npy") => write(path, &losses_npy(&*losses)?)?,
                Some("parquet") => {
                    write_stream(path, |out| long_costs(&map, &*losses, out))?;
                    ui.remark(format!("wrote {}", path.display()));
                }
                _ => write(path, &losses_csv(&*losses)?)?,
            }
        }
        Ok(())
    }
}

/// The losses as a long table, a row of places at a time.
fn long_costs(
    map: &Map,
    losses: &dyn utility::Utility,
    out: &mut (dyn Write + Send),
) -> std::io::Result<()> {
    let mut table = LongTable::new(out, "cost")?;
    let reports: Vec<PlaceId> = PlaceId::all(map.places.len()).collect();
    for (i, place) in map.places.iter().enumerate() {
        let row = losses.losses(&[reports[i]], &reports);
        for (report, cost) in map.places.iter().zip(row) {
            table.entry(&place.id, &report.id, cost)?;
        }
    }
    table.finish()
}

/// The map as a picture; of the demo city, river and parks are known too.
pub fn picture(map: &Map) -> String {
    let streets = match map.streets() {
        Ok(graph) => graph.to_streets(),
        Err(_) => Streets { nodes: map.coords(), arcs: Vec::new() },
    };
    let title =
        format!("{}: {} places, {} targets", map.source, map.places.len(), map.targets.len());
    let mut drawing = Drawing::new(title, &streets);
    drawing.places = map.places.iter().map(|p| Dot { at: p.coord, prior: p.prior }).collect();
    let city = match map.source {
        Source::Demo(seed) => Some(demo_city(seed)),
        _ => None,
    };
    // Up to a hundred targets are markers; a target at every place is no information.
    if map.targets.len() <= 100 {
        let name = |at| {
            let targets = city.as_ref().map_or(&[][..], |city| &city.demand.targets);
            targets.iter().find(|t| t.at == at).map_or("", |t| t.name).to_string()
        };
        let coords = map.graph.coords();
        drawing.targets = map
            .targets
            .iter()
            .map(|t| (coords[t.node as usize], t.weight))
            .map(|(at, weight)| Marker { at, name: name(at), weight })
            .collect();
    }
    if let Some(city) = city {
        drawing.scenery = city.scenery;
    }
    svg(&drawing)
}
