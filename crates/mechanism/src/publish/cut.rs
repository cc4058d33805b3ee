//! Cutting a map into tiles of like population.

use std::collections::BTreeMap;

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::spacing::spacing_km;
use lrgeo_geo::units::Length;
use lrgeo_geo::{BoundingBox, Coord, PlaceId};

use lrgeo_tiles::{Grid, Likely, MOST_CELLS, MOST_PLACES, TileError};

/// Squares of one spacing are fine enough for cuts that balance. Where places are uneven these would
/// be too many; squares then grow until there are only this many per place,
const SQUARES_PER_PLACE: u64 = 4;
/// or so many in all, which no manifest is too small for.
const FEW_SQUARES: u64 = 2_500;

/// The tiles of a map.
pub struct Cut {
    /// Where they are.
    pub grid: Grid,
    /// The places of each, ascending.
    pub tiles: Vec<Vec<PlaceId>>,
}

/// Cuts a map by the rule of [`Grid`] into tiles of at least `least` likely places each.
pub fn cut(coords: &[Coord], prior: &[f64], least: usize) -> Result<Cut, TileError> {
    let bounds = BoundingBox::around(coords.iter().copied());
    let bounds = bounds.filter(|_| coords.len() == prior.len());
    let bounds =
        bounds.ok_or_else(|| TileError::Size("there are no places to cut into tiles".into()))?;
    let (mut grid, squares) = squares(coords, prior, bounds)?;
    let parts = bisect(squares, least as f64);

    let mut tile_of_cell = vec![None; grid.cells()?];
    for (tile, part) in parts.iter().enumerate() {
        part.iter().for_each(|square| tile_of_cell[square.cell] = Some(tile as u32));
    }
    let members = |part: Vec<Square>| {
        let mut places: Vec<PlaceId> = part.into_iter().flat_map(|square| square.places).collect();
        places.sort_unstable();
        places
    };
    let tiles: Vec<Vec<PlaceId>> = parts.into_iter().map(members).collect();
    // Squares without places follow the place nearest to their centre.
    let index = SpatialIndex::new(coords);
    let follow = |cell: usize| {
        let (place, _) = index.nearest(grid.centre(cell)?)?;
        tile_of_cell[usize::try_from(grid.cell_of(coords[place as usize])?).ok()?]
    };
    let tile = |cell: usize| tile_of_cell[cell].or_else(|| follow(cell)).unwrap_or(0);
    let named = (0..tile_of_cell.len()).map(tile).collect();
    grid.tiles = named;
    Ok(Cut { grid, tiles })
}

/// A square with places: the atom of a cut.
struct Square {
    cell: usize,
    /// Row and column.
    at: [u32; 2],
    places: Vec<PlaceId>,
    likely: Likely,
}

/// A grid that suits the map, and those of its squares that have places, from the south-west.
fn squares(
    coords: &[Coord],
    prior: &[f64],
    bounds: BoundingBox,
) -> Result<(Grid, Vec<Square>), TileError> {
    // Places may all be the same point; a metre is a spacing that loops end with.
    let spacing_km = spacing_km(coords).unwrap_or(1.0).max(1e-3);
    let over = |side_km: f64| -> Result<Grid, TileError> {
        let side = Length::from_km(side_km).map_err(|error| TileError::Size(error.to_string()))?;
        // With this margin even places are in the middle of squares of one spacing, where rounding
        // does no harm, and who stands half a cell outside the outermost places is on the map.
        Ok(Grid::over(bounds, 1.5 * spacing_km, side))
    };
    let count = |grid: &Grid| u64::from(grid.rows) * u64::from(grid.columns);
    let suitable = (SQUARES_PER_PLACE * coords.len() as u64).clamp(FEW_SQUARES, MOST_CELLS);
    let mut side_km = spacing_km;
    let mut grid = over(side_km)?;
    while count(&grid) > suitable {
        side_km *= 1.1;
        grid = over(side_km)?;
    }
    loop {
        let squares = occupied(coords, prior, &grid)?;
        let crowd = squares.iter().map(|square| square.places.len()).max().unwrap_or(0);
        if crowd <= MOST_PLACES {
            return Ok((grid, squares));
        }
        side_km /= 2.0;
        grid = over(side_km)?;
        if count(&grid) > MOST_CELLS {
            return Err(TileError::Size(format!(
                "{crowd} places lie so close together that they are one tile, more than {MOST_PLACES}; \
                 squares that tell them apart make a grid of more than {MOST_CELLS}"
            )));
        }
    }
}

fn occupied(coords: &[Coord], prior: &[f64], grid: &Grid) -> Result<Vec<Square>, TileError> {
    let outside = || TileError::Size("a place lies outside the grid over all places".into());
    let mut squares = BTreeMap::<usize, Square>::new();
    for (place, &here) in coords.iter().enumerate() {
        let cell = grid.cell_of(here).and_then(|cell| usize::try_from(cell).ok());
        let cell = cell.ok_or_else(outside)?;
        let columns = grid.columns as usize;
        let square = squares.entry(cell).or_insert_with(|| Square {
            cell,
            at: [(cell / columns) as u32, (cell % columns) as u32],
            places: Vec::new(),
            likely: Likely::default(),
        });
        square.places.push(PlaceId::at(place));
        square.likely.add(Likely::one(prior[place]));
    }
    Ok(squares.into_values().collect())
}

/// Rules 1 to 3 of [`Grid`]: parts from the south-west. A list of what is to be done, not recursion:
/// an uneven prior can make hundreds of cuts one inside the other.
fn bisect(squares: Vec<Square>, least: f64) -> Vec<Vec<Square>> {
    let (mut parts, mut open) = (Vec::new(), vec![squares]);
    while let Some(part) = open.pop() {
        match division(&part, least) {
            Some(Division { axis, line, .. }) => {
                let (low, high) = part.into_iter().partition(|square| square.at[axis] <= line);
                open.extend([high, low]);
            }
            None => parts.push(part),
        }
    }
    parts
}

/// Where a part is cut in two.
#[derive(Clone, Copy)]
struct Division {
    axis: usize,
    /// The last row or column of the southern or western half.
    line: u32,
    /// How good it is: the likely places of the half that has fewer, then its places.
    worth: (f64, usize),
}

/// The cut of a part, if it is to be cut.
fn division(part: &[Square], least: f64) -> Option<Division> {
    let span = |axis: usize| {
        let along = || part.iter().map(|square| square.at[axis]);
        along().max().unwrap_or(0) - along().min().unwrap_or(0)
    };
    let axes = if span(0) >= span(1) { [0, 1] } else { [1, 0] };
    let best = axes.map(|axis| balanced(part, axis));
    let enough = best.into_iter().flatten().find(|cut| cut.worth.0 >= least);
    let places: usize = part.iter().map(|square| square.places.len()).sum();
    enough.or_else(|| {
        let better = |a: Division, b: Division| if b.worth > a.worth { b } else { a };
        best.into_iter().flatten().reduce(better).filter(|_| places > MOST_PLACES)
    })
}

/// The cut across one axis whose smaller half has most; of equals the first.
fn balanced(part: &[Square], axis: usize) -> Option<Division> {
    let mut lines = BTreeMap::<u32, Likely>::new();
    for square in part {
        lines.entry(square.at[axis]).or_default().add(square.likely);
    }
    let (mut low, mut high) = (Likely::default(), Likely::default());
    // From both ends, each sum forwards: differences of sums would cancel where priors are uneven.
    let mut above = Vec::with_capacity(lines.len());
    for &likely in lines.values().rev() {
        above.push(high);
        high.add(likely);
    }
    let mut best: Option<Division> = None;
    for ((&line, &likely), high) in lines.iter().zip(above.into_iter().rev()) {
        low.add(likely);
        let worth = (low.effective().min(high.effective()), low.places.min(high.places));
        if high.places > 0 && best.is_none_or(|best| worth > best.worth) {
            best = Some(Division { axis, line, worth });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use lrgeo_geo::rng::SplitMix;

    use super::*;
    use lrgeo_tiles::LEAST_PLACES;

    fn block(rows: u32, columns: u32, corner: Coord, spacing_km: f64) -> Vec<Coord> {
        let at = |n: u32| spacing_km * f64::from(n);
        (0..rows * columns).map(|i| corner.offset_km(at(i / columns), at(i % columns))).collect()
    }

    fn rome() -> Coord {
        Coord::new(41.8, 12.4).unwrap()
    }

    fn even(coords: &[Coord]) -> Vec<f64> {
        vec![1.0 / coords.len() as f64; coords.len()]
    }

    fn likely(prior: &[f64], places: &[PlaceId]) -> f64 {
        let weights: Vec<f64> = places.iter().map(|place| prior[place.index()]).collect();
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return weights.len() as f64;
        }
        let shares = weights.iter().map(|w| w / total).filter(|p| *p > 0.0);
        shares.map(|p| -p * p.ln()).sum::<f64>().exp()
    }

    /// Every place is in exactly one tile, the grid alone says in which, and every tile has as many
    /// likely places as it must, unless the map has not.
    fn check(coords: &[Coord], prior: &[f64], least: usize) -> Cut {
        let cut = cut(coords, prior, least).unwrap();
        let mut seen = vec![0; coords.len()];
        let all: Vec<PlaceId> = PlaceId::all(coords.len()).collect();
        for (tile, places) in cut.tiles.iter().enumerate() {
            assert!(places.windows(2).all(|w| w[0] < w[1]));
            for &place in places {
                seen[place.index()] += 1;
                assert_eq!(cut.grid.tile_of(coords[place.index()]), Some(tile));
            }
            let (found, whole) = (likely(prior, places), likely(prior, &all));
            let bound = (least as f64).min(whole) - 1e-5;
            assert!(found >= bound, "tile {tile}: {found} of {} places", places.len());
        }
        assert!(seen.into_iter().all(|n| n == 1));
        cut.grid.validate(cut.tiles.len()).unwrap();
        cut
    }

    fn sizes(cut: &Cut) -> Vec<usize> {
        cut.tiles.iter().map(Vec::len).collect()
    }

    #[test]
    fn even_maps_are_cut_into_tiles_of_like_size() {
        for (rows, columns) in
            [(40, 40), (17, 17), (36, 37), (10, 30), (1, 400), (101, 7), (13, 8), (60, 25)]
        {
            for least in [10, LEAST_PLACES, 64] {
                let coords = block(rows, columns, rome(), 0.5);
                let sizes = sizes(&check(&coords, &even(&coords), least));
                let (few, many) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
                assert!(many as f64 <= 2.5 * few as f64, "{rows} x {columns}: {sizes:?}");
                assert!(sizes.len() == 1 || many < 5 * least / 2, "{rows} x {columns}: {sizes:?}");
            }
        }
        // 40 x 40 halves five times.
        let coords = block(40, 40, rome(), 0.5);
        assert_eq!(sizes(&check(&coords, &even(&coords), 50)), vec![50; 32]);
    }

    #[test]
    fn a_tile_of_even_places_is_one_piece() {
        let coords = block(24, 24, rome(), 0.5);
        let cut = check(&coords, &even(&coords), 50);
        assert_eq!(cut.tiles.len(), 8);
        for tile in &cut.tiles {
            let row = |p: &PlaceId| p.number() / 24;
            let column = |p: &PlaceId| p.number() % 24;
            let span = |of: &dyn Fn(&PlaceId) -> u32| {
                tile.iter().map(of).max().unwrap() - tile.iter().map(of).min().unwrap() + 1
            };
            assert_eq!(span(&row) * span(&column), tile.len() as u32, "a rectangle");
        }
    }

    #[test]
    fn uneven_priors_over_four_orders_of_magnitude_with_zeros() {
        let mut random = SplitMix::new(5);
        let mut several = 0;
        for round in 0..60 {
            let (rows, columns) = (8 + random.below(30) as u32, 8 + random.below(30) as u32);
            let coords = block(rows, columns, rome(), 0.4);
            let mut prior: Vec<f64> =
                coords.iter().map(|_| 10f64.powf(random.between(-4.0, 0.0))).collect();
            for p in &mut prior {
                if random.unit() < 0.2 {
                    *p = 0.0;
                }
            }
            if round % 3 == 0 {
                // Half of the map is nobody's, as a lake is.
                prior.iter_mut().take(coords.len() / 2).for_each(|p| *p = 0.0);
            }
            several += usize::from(check(&coords, &prior, 12).tiles.len() > 1);
        }
        assert!(several >= 50, "only {several} of 60 maps were cut at all");
    }

    #[test]
    fn a_prior_on_few_places_makes_few_tiles() {
        let coords = block(30, 30, rome(), 0.5);
        let mut prior = vec![0.0; 900];
        prior[400] = 1.0;
        // Where nobody is expected, everything counts: 105 places have no cut that leaves 50 on both sides.
        assert_eq!(check(&coords, &vec![0.0; 900], 50).tiles.len(), 12);
        // Whoever uses the map is at that place; no cut may make that plainer than it is.
        let alone = check(&coords, &prior, 50);
        assert_eq!(alone.tiles.len(), 1);
        prior.iter_mut().take(60).for_each(|p| *p = 1.0);
        prior.iter_mut().skip(800).for_each(|p| *p = 1e-4);
        let three = check(&coords, &prior, 40);
        assert!(three.tiles.len() >= 2, "{:?}", sizes(&three));
    }

    #[test]
    fn uneven_places_share_squares() {
        // Pairs of places 20 m apart every 500 m: squares of the spacing would be 250,000.
        let pairs = block(20, 20, rome(), 0.5);
        let coords: Vec<Coord> =
            pairs.iter().flat_map(|&at| [at, at.offset_km(0.02, 0.0)]).collect();
        let cut = check(&coords, &even(&coords), 50);
        assert!(cut.grid.tiles.len() <= 3_200);
        assert_eq!(sizes(&cut), vec![50; 16]);

        // Two towns a thousand kilometres apart.
        let mut coords = block(12, 12, rome(), 0.1);
        coords.extend(block(12, 12, rome().offset_km(700.0, 700.0), 0.1));
        let cut = check(&coords, &even(&coords), 50);
        assert_eq!(sizes(&cut), [144, 144]);

        // At random, dense in the middle.
        let mut random = SplitMix::new(9);
        let coords: Vec<Coord> = (0..3_000)
            .map(|_| {
                let km = 20.0 * random.unit().powi(3);
                let angle = random.between(0.0, std::f64::consts::TAU);
                rome().offset_km(km * angle.sin(), km * angle.cos())
            })
            .collect();
        let cut = check(&coords, &even(&coords), 50);
        assert!(cut.tiles.len() >= 15, "{:?}", sizes(&cut));
    }

    #[test]
    fn places_at_one_point_end() {
        let coords = vec![rome(); 120];
        assert_eq!(sizes(&check(&coords, &even(&coords), 50)), [120]);
        let mut coords = vec![rome(); 120];
        coords.extend(vec![rome().offset_km(3.0, 4.0); 70]);
        assert_eq!(sizes(&check(&coords, &even(&coords), 50)), [120, 70]);
        let coords = [rome()];
        assert_eq!(sizes(&check(&coords, &[1.0], 50)), [1]);
        let crowd = vec![rome(); MOST_PLACES + 1];
        assert!(matches!(cut(&crowd, &even(&crowd), 50), Err(TileError::Size(_))));
        assert!(matches!(cut(&[], &[], 50), Err(TileError::Size(_))));
        assert!(matches!(cut(&[rome()], &[], 50), Err(TileError::Size(_))));
    }

    #[test]
    fn a_tile_never_has_more_places_than_a_phone_checks() {
        // All that is likely is ten places in the south-west.
        let coords = block(90, 90, rome(), 0.2);
        let mut prior = vec![0.0; coords.len()];
        prior.iter_mut().take(10).for_each(|p| *p = 0.1);
        let first = cut(&coords, &prior, 50).unwrap();
        assert!(sizes(&first).iter().all(|&n| n <= MOST_PLACES), "{:?}", sizes(&first));
        let home = first.tiles.iter().find(|tile| tile.contains(&PlaceId::default())).unwrap();
        assert!(PlaceId::all(10).all(|place| home.contains(&place)), "they are not told apart");
        // As many at two points, which take finer squares than the map else has.
        let mut coords = vec![rome(); 1_500];
        coords.extend(vec![rome().offset_km(0.0, 0.3); 1_500]);
        coords.extend(block(2, 2, rome(), 10.0));
        let cut = check(&coords, &even(&coords), 50);
        assert!(sizes(&cut).iter().all(|&n| n <= MOST_PLACES), "{:?}", sizes(&cut));
    }

    #[test]
    fn a_map_with_fewer_places_than_a_tile_wants_is_one_tile() {
        let coords = block(2, 2, rome(), 0.5);
        assert_eq!(check(&coords, &even(&coords), 50).tiles, [PlaceId::all(4).collect::<Vec<_>>()]);
        let coords = block(9, 11, rome(), 0.5);
        assert_eq!(check(&coords, &even(&coords), 50).tiles.len(), 1);
    }

    #[test]
    fn empty_squares_follow_the_nearest_place_and_points_outside_have_no_tile() {
        let mut coords = block(10, 10, rome(), 0.5);
        coords.extend(block(10, 10, rome().offset_km(0.0, 30.0), 0.5));
        let cut = check(&coords, &even(&coords), 80);
        assert_eq!(sizes(&cut), [100, 100]);
        for (east, place) in [(8.0, 0), (15.0, 0), (19.0, 100), (25.0, 100)] {
            let between = cut.grid.tile_of(rome().offset_km(0.5, east));
            assert_eq!(between, cut.grid.tile_of(coords[place]), "{east} km east");
        }
        assert!(cut.grid.tile_of(rome().offset_km(-0.4, -0.4)).is_some());
        for (north, east) in [(-30.0, 0.0), (0.0, -30.0), (60.0, 0.0), (0.0, 90.0)] {
            assert_eq!(cut.grid.tile_of(rome().offset_km(north, east)), None);
        }
    }
}
