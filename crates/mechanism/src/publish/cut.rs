//! Cutting a map into tiles.

use std::collections::{BTreeMap, BTreeSet};

use lrgeo_map::geo::{BoundingBox, Coord};
use lrgeo_map::index::SpatialIndex;
use lrgeo_map::places::spacing_km;
use lrgeo_map::units::Length;

use super::grid::Grid;
use super::{LEAST_PLACES, MOST_PLACES, TileError};

/// Without a wish, squares have this many spacings a side: 64 places where places are even.
const SPACINGS: f64 = 8.0;
/// Where they are not, squares grow until the average place shares its own with this many.
const WANTED_PLACES: f64 = 50.0;

/// The tiles of a map.
pub struct Cut {
    /// Where they are.
    pub grid: Grid,
    /// The places of each, ascending.
    pub tiles: Vec<Vec<u32>>,
}

/// Cuts squares of side `side`, or of a side that suits the map.
pub fn cut(coords: &[Coord], side: Option<Length>) -> Result<Cut, TileError> {
    let empty = || TileError::Size("there are no places to cut into tiles".into());
    let bounds = BoundingBox::around(coords.iter().copied()).ok_or_else(empty)?;
    let spacing_km = spacing_km(coords).unwrap_or(1.0).max(1e-3);
    let side = match side {
        Some(side) => side,
        None => suitable_side(coords, bounds, spacing_km)?,
    };
    // A margin of one spacing: who stands half a cell outside the outermost places is on the map.
    let mut grid = Grid::over(bounds, spacing_km, side);
    let cells = grid.cells()?;
    let index = SpatialIndex::new(coords);
    let group_of = merge(coords, squares(coords, &grid)?, &index, spacing_km);

    let mut number = BTreeMap::new();
    for &group in &group_of {
        number.insert(group, 0);
    }
    number.values_mut().enumerate().for_each(|(n, tile)| *tile = n);
    let mut tiles = vec![Vec::new(); number.len()];
    for (place, group) in group_of.iter().enumerate() {
        tiles[number[group]].push(place as u32);
    }
    if let Some(largest) = tiles.iter().map(Vec::len).max().filter(|&n| n > MOST_PLACES) {
        return Err(TileError::Size(format!(
            "squares of {side} put {largest} places into one tile, more than {MOST_PLACES}; \
             choose smaller ones with --tile"
        )));
    }
    // Squares with places have theirs; the others follow the place nearest to their centre.
    let mut tile_of_cell = vec![None; cells];
    for (place, &at) in coords.iter().enumerate() {
        if let Some(cell) = grid.cell_of(at) {
            tile_of_cell[cell as usize] = Some(number[&group_of[place]]);
        }
    }
    let nearest = |cell: usize| grid.centre(cell).and_then(|centre| index.nearest(centre));
    let tile = |cell: usize, tile: Option<usize>| {
        tile.or_else(|| nearest(cell).map(|(place, _)| number[&group_of[place as usize]]))
    };
    let named = tile_of_cell.into_iter().enumerate().map(|(c, t)| tile(c, t).unwrap_or(0) as u32);
    grid.tiles = named.collect();
    Ok(Cut { grid, tiles })
}

/// The square of every place.
fn squares(coords: &[Coord], grid: &Grid) -> Result<Vec<u64>, TileError> {
    let outside = || TileError::Size("a place lies outside the grid over all places".into());
    coords.iter().map(|&at| grid.cell_of(at).ok_or_else(outside)).collect()
}

/// The side of squares in which the average place has company, in whole steps of 10 m.
fn suitable_side(
    coords: &[Coord],
    bounds: BoundingBox,
    spacing_km: f64,
) -> Result<Length, TileError> {
    let mut km = SPACINGS * spacing_km;
    loop {
        let rounded = (km * 100.0 - 1e-6).ceil() / 100.0;
        let side = Length::from_km(rounded).map_err(|e| TileError::Size(e.to_string()))?;
        let grid = Grid::over(bounds, spacing_km, side);
        let mut company = BTreeMap::<u64, f64>::new();
        for square in squares(coords, &grid)? {
            *company.entry(square).or_default() += 1.0;
        }
        let average = company.values().map(|n| n * n).sum::<f64>() / coords.len() as f64;
        if average >= WANTED_PLACES || company.len() == 1 {
            return Ok(side);
        }
        km *= 1.1;
    }
}

/// Rule 1 of [`Grid`]: the group of every place, named by one of its squares.
fn merge(
    coords: &[Coord],
    mut group_of: Vec<u64>,
    index: &SpatialIndex,
    spacing_km: f64,
) -> Vec<u64> {
    let mut members = BTreeMap::<u64, Vec<u32>>::new();
    for (place, &group) in group_of.iter().enumerate() {
        members.entry(group).or_default().push(place as u32);
    }
    let mut by_size: BTreeSet<(usize, u64)> = members.iter().map(|(&g, m)| (m.len(), g)).collect();
    while let Some(&(size, small)) = by_size.first().filter(|_| by_size.len() > 1) {
        if size >= LEAST_PLACES {
            break;
        }
        let moving = members.remove(&small).unwrap_or_default();
        let joined = group_of[nearest_other(coords, &moving, &group_of, index, spacing_km)];
        moving.iter().for_each(|&place| group_of[place as usize] = joined);
        let home = members.entry(joined).or_default();
        by_size.remove(&(size, small));
        by_size.remove(&(home.len(), joined));
        home.extend(moving);
        by_size.insert((home.len(), joined));
    }
    group_of
}

/// The place outside the group of `moving` that is nearest to one of them.
fn nearest_other(
    coords: &[Coord],
    moving: &[u32],
    group_of: &[u64],
    index: &SpatialIndex,
    spacing_km: f64,
) -> usize {
    let own = group_of[moving[0] as usize];
    let mut radius_km = 2.0 * spacing_km;
    loop {
        let near = moving.iter().flat_map(|&p| index.within(coords[p as usize], radius_km));
        let outside = near.filter(|&(place, _)| group_of[place as usize] != own);
        let nearest = outside.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        if let Some((place, _)) = nearest {
            return place as usize;
        }
        radius_km *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: u32, columns: u32, corner: Coord, spacing_km: f64) -> Vec<Coord> {
        let at = |n: u32| spacing_km * f64::from(n);
        (0..rows * columns).map(|i| corner.offset_km(at(i / columns), at(i % columns))).collect()
    }

    fn rome() -> Coord {
        Coord::new(41.8, 12.4).unwrap()
    }

    /// Every place is in exactly one tile, and the grid alone says in which.
    fn check(coords: &[Coord], cut: &Cut) {
        let mut seen = vec![0; coords.len()];
        for (tile, places) in cut.tiles.iter().enumerate() {
            assert!(places.windows(2).all(|w| w[0] < w[1]));
            for &place in places {
                seen[place as usize] += 1;
                assert_eq!(cut.grid.tile_of(coords[place as usize]), Some(tile));
            }
        }
        assert!(seen.into_iter().all(|n| n == 1));
        cut.grid.validate(cut.tiles.len()).unwrap();
    }

    #[test]
    fn an_even_map_is_cut_into_tiles_of_about_64_places() {
        let coords = block(40, 40, rome(), 0.5);
        let cut = cut(&coords, None).unwrap();
        check(&coords, &cut);
        assert_eq!(cut.grid.side_km, 4.0);
        let sizes: Vec<usize> = cut.tiles.iter().map(Vec::len).collect();
        assert!(sizes.iter().all(|&n| (LEAST_PLACES..=100).contains(&n)), "{sizes:?}");
        assert!(sizes.iter().filter(|&&n| (56..=72).contains(&n)).count() >= 16, "{sizes:?}");
    }

    #[test]
    fn uneven_places_get_larger_squares() {
        // Pairs of places 20 m apart every 500 m: the spacing alone would make tiles of 160 m.
        let pairs = block(20, 20, rome(), 0.5);
        let coords: Vec<Coord> =
            pairs.iter().flat_map(|&at| [at, at.offset_km(0.02, 0.0)]).collect();
        let cut = cut(&coords, None).unwrap();
        check(&coords, &cut);
        let average = cut.tiles.iter().map(|t| (t.len() * t.len()) as f64).sum::<f64>();
        assert!(average / coords.len() as f64 >= WANTED_PLACES);
    }

    #[test]
    fn small_tiles_join_the_neighbour_with_the_nearest_place() {
        // A block, and three places far in the east, of which none has company enough.
        let mut coords = block(10, 10, rome(), 0.5);
        coords.extend(block(3, 1, rome().offset_km(0.0, 30.0), 0.5));
        let cut = cut(&coords, Some(Length::from_km(2.5).unwrap())).unwrap();
        check(&coords, &cut);
        assert!(cut.tiles.iter().all(|tile| tile.len() >= LEAST_PLACES));
        let far = cut.tiles.iter().find(|tile| tile.contains(&100)).unwrap();
        assert!(far.contains(&101) && far.contains(&102));
        // Place 9 is the south-eastern corner of the block, the nearest to those in the east.
        assert!(far.contains(&9), "{far:?}");
        // In between there is nothing; each half follows the nearer side, which is one tile.
        let between = cut.grid.tile_of(rome().offset_km(0.5, 15.0));
        assert_eq!(between, cut.grid.tile_of(coords[100]));
    }

    #[test]
    fn a_map_with_fewer_places_than_a_tile_wants_is_one_tile() {
        let coords = block(2, 2, rome(), 0.5);
        let cut = cut(&coords, Some(Length::from_km(0.1).unwrap())).unwrap();
        check(&coords, &cut);
        assert_eq!(cut.tiles, [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn points_outside_have_no_tile_and_sizes_have_limits() {
        let coords = block(10, 10, rome(), 0.5);
        let whole = cut(&coords, None).unwrap();
        assert!(whole.grid.tile_of(rome().offset_km(-0.4, -0.4)).is_some());
        for (north, east) in [(-30.0, 0.0), (0.0, -30.0), (60.0, 0.0), (0.0, 60.0)] {
            assert_eq!(whole.grid.tile_of(rome().offset_km(north, east)), None);
        }
        let tiny = cut(&coords, Some(Length::from_m(1.0).unwrap()));
        assert!(matches!(tiny, Err(TileError::Size(_))));
        let many = block(50, 50, rome(), 0.1);
        assert!(matches!(
            cut(&many, Some(Length::from_km(50.0).unwrap())),
            Err(TileError::Size(_))
        ));
    }
}
