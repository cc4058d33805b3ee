//! The cost reference table (section 4.5): what the server publishes so that a client can work out
//! its own costs without knowing the targets.
//!
//! The streets are cut into fine cells (the paper's V-hat), each standing for the street node
//! nearest to its centre. The paper's table has one line per pair of cells; this one keeps the
//! (cells x targets) matrix and works out `beta` for the pairs that are asked for, because 100 m
//! cells over a city are tens of thousands and their pairs a billion.
//!
//! Departure: the offset of a place from its cell is a travel cost, not a haversine distance, and
//! counts the worse direction. Only so do Lemmas B.1 and B.2 hold (spec section 3).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use lrgeo_geo::bytes::Fingerprint;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::parallel::*;
use lrgeo_geo::units::{Length, Travel, travel_from_km};
use lrgeo_geo::{BoundingBox, Coord};

use crate::MapError;
use crate::file::{Kind, Reader, Writer};
use crate::graph::{Direction, Metric, StreetGraph};
use crate::map::{Map, get_coords, get_distribution, put_coords};
use crate::places::{Grid, Place};
use crate::progress::Progress;
use crate::search::Search;
use crate::travel::{Origin, TravelMatrix};

/// A slice with more cells than this is refused: its square would not fit a phone.
pub const MAX_SLICE_CELLS: usize = 4_000;

/// Fixed tiles are this many cells wide.
const TILE_CELLS: u32 = 20;

/// The table: cells, how far each is from every target, and which cell stands for each place.
pub struct CostTable {
    cell: Length,
    grid: Grid,
    cells: Vec<Coord>,
    travel: TravelMatrix,
    places: Vec<PlaceCell>,
    /// The map it was made from.
    pub map: Fingerprint,
    /// Finds cells by distance; made when the first circle is asked for.
    index: OnceLock<SpatialIndex>,
    /// Worked out when it is first asked for: every cell has its part in it.
    ceiling_km: OnceLock<f64>,
}

/// The cell that stands for a place, and how wrong that is at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceCell {
    /// Which cell (the paper's v-hat).
    pub cell: u32,
    /// `o_v = max(tc(v, v_hat), tc(v_hat, v))` in millimetres.
    pub offset: Travel,
}

/// A fixed public part of the table: the cells of one square of the city.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    /// Counted from the south.
    pub row: u32,
    /// Counted from the west.
    pub column: u32,
}

/// What a client downloads: some cells and `beta` between all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Cell numbers, ascending.
    pub cells: Vec<u32>,
    /// Where they are.
    pub coords: Vec<Coord>,
    /// `beta(i, k)` in kilometres, row-major over `cells`.
    pub beta: Vec<f64>,
}

const KIND: Kind =
    Kind { tag: *b"table   ", name: "cost table", version: 1, made_by: "lrgeo cost-table build" };

impl CostTable {
    /// Builds the table of a map with cells of side `cell`.
    pub fn build(
        map: &Map,
        version: Fingerprint,
        cell: Length,
        progress: &dyn Progress,
    ) -> Result<Self, MapError> {
        let streets = map.graph.coords();
        let bounds = BoundingBox::around(streets.iter().copied()).ok_or(MapError::Empty {
            what: "street graph",
            advice: "the map has no street".into(),
        })?;
        if cell.m() < 1.0 {
            return Err(MapError::invalid(
                "cell",
                "table cells below 1 m make no sense; use --cell 100m",
            ));
        }
        let grid = Grid::new(bounds, cell);
        let nodes = representatives(streets, &grid);
        let origins: Vec<Origin> = nodes.iter().map(|&node| Origin { node, leg: 0 }).collect();
        let travel = TravelMatrix::new(
            &map.graph,
            map.travel,
            Metric::Distance,
            &origins,
            &map.targets,
            progress,
        )?;
        let places = assign(&map.graph, &map.places, &nodes, cell, progress);
        let cells = nodes.iter().map(|&node| streets[node as usize]).collect();
        Ok(Self::from_parts(cell, grid, cells, travel, places, version))
    }

    fn from_parts(
        cell: Length,
        grid: Grid,
        cells: Vec<Coord>,
        travel: TravelMatrix,
        places: Vec<PlaceCell>,
        map: Fingerprint,
    ) -> Self {
        let (index, ceiling_km) = (OnceLock::new(), OnceLock::new());
        Self { cell, grid, cells, travel, places, map, index, ceiling_km }
    }

    /// The side of a cell.
    pub fn cell(&self) -> Length {
        self.cell
    }

    /// Where the cells are: each at its street node.
    pub fn cells(&self) -> &[Coord] {
        &self.cells
    }

    /// How far each cell is from every target.
    pub fn travel(&self) -> &TravelMatrix {
        &self.travel
    }

    /// For every place of the map, its cell and offset.
    pub fn places(&self) -> &[PlaceCell] {
        &self.places
    }

    /// By how much a circle of places must grow to hold their cells: a place is never farther
    /// from its cell by air than by street. At least a cell's diagonal (spec section 3).
    pub fn margin_km(&self) -> f64 {
        let worst = self.places.iter().map(|p| p.offset).max().unwrap_or(0);
        (f64::from(worst) * 1e-6).max(self.cell.km() * std::f64::consts::SQRT_2)
    }

    /// The estimates of `c(i,k) / p_i` between places, row-major: `beta + o_i + o_k`, never below
    /// the true cost (Lemma B.1).
    pub fn upper(&self, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        self.estimate(rows, columns, |beta, offsets| beta + offsets)
    }

    /// Likewise `max(0, beta - o_i - o_k)`, never above the true cost (Lemma B.2).
    pub fn lower(&self, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        self.estimate(rows, columns, |beta, offsets| (beta - offsets).max(0.0))
    }

    /// No upper estimate between places is larger: a public constant.
    pub fn ceiling_km(&self) -> f64 {
        *self.ceiling_km.get_or_init(|| {
            let worst = self.places.iter().map(|p| p.offset).max().unwrap_or(0);
            self.travel.largest_beta() + 2.0 * f64::from(worst) * self.travel.scale()
        })
    }

    fn estimate(&self, rows: &[u32], columns: &[u32], with: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let cells = |places: &[u32]| -> Vec<u32> {
            places.iter().map(|&v| self.places[v as usize].cell).collect()
        };
        let offset = |v: u32| u64::from(self.places[v as usize].offset);
        let mut values = self.travel.beta(&cells(rows), &cells(columns));
        for (&i, line) in rows.iter().zip(values.chunks_exact_mut(columns.len().max(1))) {
            for (&k, value) in columns.iter().zip(line) {
                *value = with(*value, (offset(i) + offset(k)) as f64 * self.travel.scale());
            }
        }
        values
    }

    /// The cells for a circle of places (Proposition 4.3): among them is the cell of every place at
    /// most `radius_km` from `centre`.
    pub fn circle_cells(&self, centre: Coord, radius_km: f64) -> Vec<u32> {
        let index = self.index.get_or_init(|| SpatialIndex::new(&self.cells));
        let within = index.within(centre, radius_km + self.margin_km());
        within.into_iter().map(|(cell, _)| cell).collect()
    }

    /// The slice for a circle of places, as a client asks for it.
    pub fn circle(&self, centre: Coord, radius_km: f64) -> Result<Slice, MapError> {
        self.slice(self.circle_cells(centre, radius_km))
    }

    /// The tile that a cell or place lies in.
    pub fn tile_of(&self, coord: Coord) -> Tile {
        let (row, column) = self.grid.cell_of(coord);
        Tile { row: row / TILE_CELLS, column: column / TILE_CELLS }
    }

    /// All tiles that hold a cell, with their cells.
    pub fn tiles(&self) -> BTreeMap<Tile, Vec<u32>> {
        let mut tiles = BTreeMap::<Tile, Vec<u32>>::new();
        for (cell, &coord) in self.cells.iter().enumerate() {
            tiles.entry(self.tile_of(coord)).or_default().push(cell as u32);
        }
        tiles
    }

    /// The slice for a set of fixed tiles.
    pub fn tile_slice(&self, wanted: &[Tile]) -> Result<Slice, MapError> {
        let tiles = self.tiles();
        let mut cells = Vec::new();
        for tile in wanted {
            let Some(found) = tiles.get(tile) else {
                let reason = format!("{},{} holds no cell of this table", tile.row, tile.column);
                return Err(MapError::invalid("tile", reason));
            };
            cells.extend_from_slice(found);
        }
        cells.sort_unstable();
        cells.dedup();
        self.slice(cells)
    }

    fn slice(&self, cells: Vec<u32>) -> Result<Slice, MapError> {
        if cells.len() > MAX_SLICE_CELLS {
            return Err(MapError::TooLarge {
                what: "cells in a slice of the cost table",
                asked: cells.len() as u64,
                limit: MAX_SLICE_CELLS as u64,
                advice: "ask for a smaller circle or fewer tiles, or build the table with larger cells",
            });
        }
        if cells.is_empty() {
            return Err(MapError::Empty {
                what: "slice",
                advice: "no cell of the table lies there; is the place on this map?".into(),
            });
        }
        let coords = cells.iter().map(|&cell| self.cells[cell as usize]).collect();
        let beta = self.travel.beta(&cells, &cells);
        Ok(Slice { cells, coords, beta })
    }

    /// Writes the table; nothing is left under `path` if that fails.
    pub fn save(&self, path: &Path) -> Result<Fingerprint, MapError> {
        let mut file = Writer::new(KIND);
        file.bytes("map", self.map.0.to_vec());
        let [origin, step] = self.grid.to_arrays();
        file.numbers("grid", origin.into_iter().chain(step).chain([self.cell.km()]));
        file.numbers("size", [self.grid.rows, self.grid.columns]);
        put_coords(&mut file, "cells", self.cells.iter().copied());
        file.numbers("places", self.places.iter().flat_map(|p| [p.cell, p.offset]));
        file.numbers("weights", self.travel.weights().iter().copied());
        file.numbers("travel", self.travel.values().iter().copied());
        file.save(path)
    }

    /// Opens a table that [`CostTable::save`] wrote.
    pub fn open(path: &Path) -> Result<Self, MapError> {
        let file = Reader::open(path, KIND)?;
        let map = file.bytes("map")?.try_into();
        let map = Fingerprint(map.map_err(|_| file.broken("map", "must have 32 bytes"))?);
        let (numbers, size) = (file.numbers::<f64>("grid")?, file.numbers::<u32>("size")?);
        let grid = Grid::from_arrays(&numbers, &size)
            .ok_or_else(|| file.broken("grid", "does not describe cells"))?;
        let cell = numbers.last().copied().unwrap_or(0.0);
        let cell = Length::from_km(cell).map_err(|e| file.broken("grid", &e.to_string()))?;
        let cells = get_coords(&file, "cells")?;
        let places: Vec<PlaceCell> = file
            .numbers::<u32>("places")?
            .chunks_exact(2)
            .map(|p| PlaceCell { cell: p[0], offset: p[1] })
            .collect();
        if places.iter().any(|p| p.cell as usize >= cells.len()) {
            return Err(file.broken("places", "refers to an unknown cell"));
        }
        let (weights, values) = (get_distribution(&file, "weights")?, file.numbers("travel")?);
        if values.len() != weights.len() * cells.len() {
            return Err(file.broken("travel", "disagrees with cells or weights in length"));
        }
        let travel = TravelMatrix::from_parts(Metric::Distance, weights, values)?;
        Ok(Self::from_parts(cell, grid, cells, travel, places, map))
    }
}

/// For every cell with a street node in it, the node nearest to its centre; in order of cells.
fn representatives(nodes: &[Coord], grid: &Grid) -> Vec<u32> {
    let mut best = BTreeMap::<(u32, u32), (f64, u32)>::new();
    for (node, &coord) in nodes.iter().enumerate() {
        let cell = grid.cell_of(coord);
        let distance = grid.centre(cell.0, cell.1).distance_km(coord);
        let entry = best.entry(cell).or_insert((distance, node as u32));
        if distance < entry.0 {
            *entry = (distance, node as u32);
        }
    }
    best.into_values().map(|(_, node)| node).collect()
}

/// For every place the cell with the smallest offset, by searches both ways in a growing circle.
fn assign(
    graph: &StreetGraph,
    places: &[Place],
    nodes: &[u32],
    cell: Length,
    progress: &dyn Progress,
) -> Vec<PlaceCell> {
    let mut cell_of_node = vec![u32::MAX; graph.node_count()];
    for (cell, &node) in nodes.iter().enumerate() {
        cell_of_node[node as usize] = cell as u32;
    }
    progress.begin("cells of places", places.len() as u64);
    let assigned = places
        .par_iter()
        .map_init(
            || (Search::new(graph, Metric::Distance), Search::new(graph, Metric::Distance)),
            |(out, back), place| {
                let mut limit = travel_from_km(cell.km());
                loop {
                    let found = nearest_cell(out, back, place, limit, &cell_of_node);
                    // Cells outside the circle are farther than the limit in one direction.
                    if let Some(found) = found {
                        progress.advance(1);
                        return found;
                    }
                    limit = limit.saturating_mul(2);
                }
            },
        )
        .collect();
    progress.end();
    assigned
}

/// The best cell within `limit` both ways; on a strongly connected graph some limit finds one.
fn nearest_cell(
    out: &mut Search<'_>,
    back: &mut Search<'_>,
    place: &Place,
    limit: Travel,
    cell_of_node: &[u32],
) -> Option<PlaceCell> {
    let there = out.within(place.node, Direction::Forward, limit);
    back.within(place.node, Direction::Reversed, limit);
    there
        .into_iter()
        .filter(|&(node, _)| cell_of_node[node as usize] != u32::MAX)
        .filter_map(|(node, forth)| {
            let both = forth.max(back.distance(node)?);
            Some(PlaceCell {
                cell: cell_of_node[node as usize],
                offset: both.saturating_add(place.leg),
            })
        })
        .min_by_key(|found| (found.offset, found.cell))
}
