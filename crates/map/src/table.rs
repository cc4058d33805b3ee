//! The cost reference table (section 4.5): what the server publishes so that a client can work out
//! its own costs without knowing the targets.
//!
//! The streets are cut into fine cells or road segments (the paper's V-hat, [`Division`]), each standing for a street
//! node. The paper's table has one line per pair of cells; this one keeps the (cells x targets) matrix and works out
//! `beta` for the pairs that are asked for, because 100 m cells over a city are tens of thousands and their pairs a billion.
//!
//! Departure: the offset of a place from its cell is measured as the loss is (a travel cost counts the worse direction),
//! not always a haversine distance. Only so do Lemmas B.1 and B.2 hold (`docs/specification.md` section 3). Every loss has a table: travel time
//! has offsets in time, the straight line in straight lines, and losses from a file have the places themselves as V-hat.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

mod cells;

use lrgeo_geo::Digest;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::units::{Length, Travel};
use lrgeo_geo::{BoundingBox, Coord, PlaceId};

use crate::MapError;
use crate::file::{Kind, Reader, Writer};
use crate::graph::Metric;
use crate::map::{Map, get_coords, get_distribution, put_coords};
use crate::places::Grid;
use crate::progress::Progress;
use crate::travel::{self, Origin, TravelMatrix};
use crate::utility::{LossMatrix, StraightLine, Utility, UtilityKind};

/// A slice with more cells than this is refused: its square would not fit a phone.
pub const MAX_SLICE_CELLS: usize = 4_000;

/// Fixed tiles are this many cells wide.
const TILE_CELLS: u32 = 20;

/// How V-hat is made of the streets (section 4.5.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Division {
    /// The cells of a grid, each at the street node nearest to its centre.
    Grid(Length),
    /// Segments of the roads, no longer than this: each at a node from and to which every node of it has half as long a
    /// way at most. So no place is farther from its own than that, whatever rivers and one-way streets a cell would hide.
    Segments(Length),
}

impl Division {
    /// The side of a cell, or the length of a segment.
    pub fn length(self) -> Length {
        match self {
            Division::Grid(length) | Division::Segments(length) => length,
        }
    }
}

impl From<Length> for Division {
    fn from(cell: Length) -> Self {
        Division::Grid(cell)
    }
}

impl fmt::Display for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Division::Grid(cell) => write!(f, "cells of {cell}"),
            Division::Segments(length) => write!(f, "road segments of {length}"),
        }
    }
}

/// What `beta` is between cells.
enum Reference {
    /// Of travel, from how far each cell is from every target.
    Travel(TravelMatrix),
    /// The straight line between them.
    Straight(StraightLine),
    /// Losses of one's own between the places, which are the cells.
    Given(Arc<dyn Utility>),
}

impl Reference {
    fn utility(&self) -> &dyn Utility {
        match self {
            Reference::Travel(travel) => travel,
            Reference::Straight(straight) => straight,
            Reference::Given(given) => &**given,
        }
    }

    /// `beta` between cells, row-major. Straight lines were made between the cells, and of losses of one's own the places are the cells: both
    /// know them as their places.
    fn beta(&self, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        let known = |cells: &[u32]| -> Vec<PlaceId> {
            cells.iter().map(|&cell| PlaceId::new(cell)).collect()
        };
        match self {
            Reference::Travel(travel) => travel.beta(rows, columns),
            Reference::Straight(straight) => straight.losses(&known(rows), &known(columns)),
            Reference::Given(given) => given.losses(&known(rows), &known(columns)),
        }
    }

    /// Units of `beta` per unit of an offset: those are whole millimetres or milliseconds.
    fn scale(&self) -> f64 {
        match self {
            Reference::Travel(travel) => travel.scale(),
            Reference::Straight(_) | Reference::Given(_) => Metric::Distance.scale(),
        }
    }
}

/// The table: cells, what a wrong one costs, and which cell stands for each place.
pub struct CostTable {
    division: Division,
    grid: Grid,
    cells: Vec<Coord>,
    reference: Reference,
    places: Vec<PlaceCell>,
    /// No place is farther from its cell by air, in kilometres.
    margin_km: f64,
    /// The map it was made from.
    pub map: Digest,
    /// Finds cells by distance; made when the first circle is asked for.
    index: OnceLock<SpatialIndex>,
    /// Worked out when it is first asked for: every cell has its part in it.
    ceiling: OnceLock<f64>,
}

/// The cell that stands for a place, and how wrong that is at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceCell {
    /// Which cell (the paper's v-hat).
    pub cell: u32,
    /// `o_v = max(tc(v, v_hat), tc(v_hat, v))` in millimetres, or milliseconds where the loss is one of time.
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
    /// `beta(i, k)` in the unit of the loss, row-major over `cells`.
    pub beta: Vec<f64>,
}

const KIND: Kind =
    Kind { tag: *b"table   ", name: "cost table", version: 2, made_by: "lrgeo cost-table build" };

impl CostTable {
    /// Builds the table of a map for one of the losses that are measured on it.
    pub fn build(
        map: &Map,
        version: Digest,
        division: Division,
        loss: UtilityKind,
        progress: &dyn Progress,
    ) -> Result<Self, MapError> {
        Ok(Self::make(map, version, division, loss, false, progress)?.0)
    }

    /// The table, and the losses between the places of the map themselves, which read the same searches.
    pub fn with_losses(
        map: &Map,
        version: Digest,
        division: Division,
        loss: UtilityKind,
        progress: &dyn Progress,
    ) -> Result<(Self, Arc<dyn Utility>), MapError> {
        let (table, travel) = Self::make(map, version, division, loss, true, progress)?;
        Ok(match travel {
            Some(travel) => (table, Arc::new(travel)),
            None => (table, Arc::from(loss.of(map, progress)?)),
        })
    }

    /// The table, and what the losses between places are measured by where that is asked for and searched for at all.
    fn make(
        map: &Map,
        version: Digest,
        division: Division,
        loss: UtilityKind,
        with_places: bool,
        progress: &dyn Progress,
    ) -> Result<(Self, Option<TravelMatrix>), MapError> {
        let streets = map.streets()?.coords();
        let grid = grid(map, division)?;
        let nodes = match division {
            Division::Grid(_) => cells::nearest_to_centres(streets, &grid),
            Division::Segments(length) => cells::middles(&map.graph, length),
        };
        let cells: Vec<Coord> = nodes.iter().map(|&node| streets[node as usize]).collect();
        let origins: Vec<Origin> = nodes.iter().map(|&node| Origin { node, leg: 0 }).collect();
        let between_places = if with_places { travel::origins(map) } else { Vec::new() };
        let measured = |metric| -> Result<_, MapError> {
            let origins = [origins.as_slice(), &between_places];
            let (graph, targets) = (&map.graph, &map.targets);
            let (travel, between_places) =
                TravelMatrix::of_both(graph, map.travel, metric, origins, targets, progress)?;
            let assigned = cells::assign(map, metric, &nodes, division.length(), progress);
            let between_places = with_places.then_some(between_places);
            Ok((Reference::Travel(travel), assigned, between_places))
        };
        let (reference, places, between_places) = match loss {
            UtilityKind::TravelDistance => measured(Metric::Distance)?,
            UtilityKind::TravelTime => measured(Metric::Time)?,
            UtilityKind::StraightLine => {
                let straight = StraightLine::new(cells.clone());
                (Reference::Straight(straight), cells::nearest_by_air(&map.places, &cells), None)
            }
        };
        let margin_km = cells::margin_km(&map.places, &places, &cells, division);
        let table = Self::from_parts(division, grid, cells, reference, places, margin_km, version);
        Ok((table, between_places))
    }

    /// The table of losses of one's own, which are known between places and nowhere else: V-hat is V, and no offset is
    /// needed.
    pub fn given(
        map: &Map,
        version: Digest,
        division: Division,
        losses: Arc<dyn Utility>,
    ) -> Result<Self, MapError> {
        let grid = grid(map, division)?;
        let cell = |cell| PlaceCell { cell, offset: 0 };
        let places: Vec<PlaceCell> = (0..map.places.len() as u32).map(cell).collect();
        let (cells, reference) = (map.coords(), Reference::Given(losses));
        Ok(Self::from_parts(division, grid, cells, reference, places, 0.0, version))
    }

    fn from_parts(
        division: Division,
        grid: Grid,
        cells: Vec<Coord>,
        reference: Reference,
        places: Vec<PlaceCell>,
        margin_km: f64,
        map: Digest,
    ) -> Self {
        let (index, ceiling) = (OnceLock::new(), OnceLock::new());
        Self { division, grid, cells, reference, places, margin_km, map, index, ceiling }
    }

    /// How V-hat was made.
    pub fn division(&self) -> Division {
        self.division
    }

    /// Where the cells are: each at its street node.
    pub fn cells(&self) -> &[Coord] {
        &self.cells
    }

    /// `beta` between cells, row-major.
    pub fn beta(&self, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        self.reference.beta(rows, columns)
    }

    /// The unit of `beta`.
    pub fn unit(&self) -> &'static str {
        self.reference.utility().unit()
    }

    /// How far each cell is from every target, where the loss is one of travel.
    pub fn travel(&self) -> Option<&TravelMatrix> {
        match &self.reference {
            Reference::Travel(travel) => Some(travel),
            Reference::Straight(_) | Reference::Given(_) => None,
        }
    }

    /// The offset of a place in the unit of `beta`.
    pub fn offset(&self, place: PlaceId) -> f64 {
        f64::from(self.places[place.index()].offset) * self.reference.scale()
    }

    /// For every place of the map, its cell and offset.
    pub fn places(&self) -> &[PlaceCell] {
        &self.places
    }

    /// By how much a circle of places must grow to hold their cells (`docs/specification.md` section 3).
    pub fn margin_km(&self) -> f64 {
        self.margin_km
    }

    /// The estimates of `c(i,k) / p_i` between places, row-major: `beta + o_i + o_k`, never below
    /// the true cost (Lemma B.1).
    pub fn upper(&self, rows: &[PlaceId], columns: &[PlaceId]) -> Vec<f64> {
        self.estimate(rows, columns, |beta, offsets| beta + offsets)
    }

    /// Likewise `max(0, beta - o_i - o_k)`, never above the true cost (Lemma B.2).
    pub fn lower(&self, rows: &[PlaceId], columns: &[PlaceId]) -> Vec<f64> {
        self.estimate(rows, columns, |beta, offsets| (beta - offsets).max(0.0))
    }

    /// No upper estimate between places is larger: a public constant.
    pub fn ceiling(&self) -> f64 {
        *self.ceiling.get_or_init(|| {
            let worst = self.places.iter().map(|p| p.offset).max().unwrap_or(0);
            self.reference.utility().ceiling() + 2.0 * f64::from(worst) * self.reference.scale()
        })
    }

    fn estimate(
        &self,
        rows: &[PlaceId],
        columns: &[PlaceId],
        with: impl Fn(f64, f64) -> f64,
    ) -> Vec<f64> {
        let cells = |places: &[PlaceId]| -> Vec<u32> {
            places.iter().map(|v| self.places[v.index()].cell).collect()
        };
        let offset = |v: PlaceId| u64::from(self.places[v.index()].offset);
        let mut values = self.beta(&cells(rows), &cells(columns));
        for (&i, line) in rows.iter().zip(values.chunks_exact_mut(columns.len().max(1))) {
            for (&k, value) in columns.iter().zip(line) {
                *value = with(*value, (offset(i) + offset(k)) as f64 * self.reference.scale());
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
        let beta = self.beta(&cells, &cells);
        Ok(Slice { cells, coords, beta })
    }

    /// Writes the table; nothing is left under `path` if that fails.
    pub fn save(&self, path: &Path) -> Result<Digest, MapError> {
        let mut file = Writer::new(KIND);
        file.bytes("map", self.map.0.to_vec());
        let [origin, step] = self.grid.to_arrays();
        file.numbers("grid", origin.into_iter().chain(step));
        file.numbers("size", [self.grid.rows, self.grid.columns]);
        let is_grid = matches!(self.division, Division::Grid(_));
        let length = self.division.length().km();
        file.numbers("division", [f64::from(u8::from(is_grid)), length, self.margin_km]);
        put_coords(&mut file, "cells", self.cells.iter().copied());
        file.numbers("places", self.places.iter().flat_map(|p| [p.cell, p.offset]));
        match &self.reference {
            Reference::Travel(travel) => {
                file.bytes("metric", vec![u8::from(travel.metric() == Metric::Time)]);
                file.numbers("weights", travel.weights().iter().copied());
                file.numbers("travel", travel.values().iter().copied());
            }
            Reference::Straight(_) => {}
            Reference::Given(losses) => file.numbers("losses", losses.all()),
        }
        file.save(path)
    }

    /// Opens a table that [`CostTable::save`] wrote.
    pub fn open(path: &Path) -> Result<Self, MapError> {
        let file = Reader::open(path, KIND)?;
        let map = file.digest("map")?;
        let (numbers, size) = (file.numbers::<f64>("grid")?, file.numbers::<u32>("size")?);
        let grid = Grid::from_arrays(&numbers, &size)
            .ok_or_else(|| file.broken("grid", "does not describe cells"))?;
        let &[is_grid, length, margin_km] = file.numbers::<f64>("division")?.as_slice() else {
            return Err(file.broken("division", "must be three numbers"));
        };
        let length =
            Length::from_km(length).map_err(|e| file.broken("division", &e.to_string()))?;
        let division =
            if is_grid == 0.0 { Division::Segments(length) } else { Division::Grid(length) };
        if !(margin_km.is_finite() && margin_km >= 0.0) {
            return Err(file.broken("division", "has a margin that is no distance"));
        }
        let cells = get_coords(&file, "cells")?;
        let places: Vec<PlaceCell> = file
            .numbers::<u32>("places")?
            .chunks_exact(2)
            .map(|p| PlaceCell { cell: p[0], offset: p[1] })
            .collect();
        if places.iter().any(|p| p.cell as usize >= cells.len()) {
            return Err(file.broken("places", "refers to an unknown cell"));
        }
        let reference = get_reference(&file, &cells)?;
        Ok(Self::from_parts(division, grid, cells, reference, places, margin_km, map))
    }
}

fn get_reference(file: &Reader<'_>, cells: &[Coord]) -> Result<Reference, MapError> {
    if file.has("losses") {
        let losses = LossMatrix::new(cells.len(), file.numbers("losses")?)?;
        return Ok(Reference::Given(Arc::new(losses)));
    }
    if !file.has("travel") {
        return Ok(Reference::Straight(StraightLine::new(cells.to_vec())));
    }
    let metric = match file.bytes("metric")? {
        [0] => Metric::Distance,
        [1] => Metric::Time,
        _ => return Err(file.broken("metric", "is neither distance nor time")),
    };
    let (weights, values) = (get_distribution(file, "weights")?, file.numbers("travel")?);
    if values.len() != weights.len() * cells.len() {
        return Err(file.broken("travel", "disagrees with cells or weights in length"));
    }
    Ok(Reference::Travel(TravelMatrix::from_parts(metric, weights, values)?))
}

/// The grid of the tiles, and of the cells where those are a grid.
fn grid(map: &Map, division: Division) -> Result<Grid, MapError> {
    let bounds = BoundingBox::around(map.graph.coords().iter().copied())
        .ok_or(MapError::Empty { what: "street graph", advice: "the map has no street".into() })?;
    if division.length().m() < 1.0 {
        let reason = "cells or segments of the table below 1 m make no sense; use 100m";
        return Err(MapError::invalid("cell", reason));
    }
    Ok(Grid::new(bounds, division.length()))
}
