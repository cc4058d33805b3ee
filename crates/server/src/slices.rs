//! Fixed slices of the cost table, one per published tile (`docs/specification.md` section 9, `local`): whoever fetches one
//! says no more than whoever fetches the tile itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use lrgeo_geo::PlaceId;
use lrgeo_map::table::CostTable;
use lrgeo_mechanism::relevant::{geo_ind_graph, relevant_places};
use lrgeo_mechanism::{City, Plan};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{TablePart, TableTile};
use rayon::prelude::*;

use crate::catalogue::File;

/// For every tile by number, given the places of each, what the table says between the places relevant to any of its places
/// and those that may be reported from them.
pub fn table_tiles(
    city: &City,
    plan: &Plan,
    tables: &[Arc<CostTable>],
    members: &[Vec<PlaceId>],
) -> Vec<File> {
    let graph = geo_ind_graph(city, plan);
    let slice = |(tile, members): (usize, &Vec<PlaceId>)| {
        let relevant =
            members.iter().flat_map(|&m| relevant_places(city, graph.as_deref(), plan, m));
        let relevant: BTreeSet<PlaceId> = relevant.collect();
        let reach_km = plan.radii.obfuscation;
        let in_range = |i: &PlaceId| city.within(city.coords()[i.index()], reach_km);
        let reported: BTreeSet<PlaceId> =
            relevant.iter().flat_map(in_range).map(|(place, _)| place).collect();
        let part = |table: &Arc<CostTable>| {
            let (rows, columns) = (cells(table, &relevant), cells(table, &reported));
            let beta = table.beta(&rows, &columns);
            TablePart { rows, columns, beta }
        };
        let (map, ways) = (city.version(), tables.iter().map(part).collect());
        let slice = TableTile { map, tile: tile as u32, ways };
        File::new(Encoding::Cbor.encode(&slice))
    };
    members.par_iter().enumerate().map(slice).collect()
}

/// The cells that stand for some places, ascending.
fn cells(table: &CostTable, places: &BTreeSet<PlaceId>) -> Vec<u32> {
    let cells = places.iter().map(|place| table.places()[place.index()].cell);
    cells.collect::<BTreeSet<u32>>().into_iter().collect()
}
