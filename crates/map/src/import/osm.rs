//! Streets from an OpenStreetMap `.osm.pbf` file, in one pass.
//!
//! Every node's position is kept until the ways are known (16 bytes each, about twice the size of
//! the file), so each block is unpacked once; two passes would unpack the nodes twice.

use std::io::Read;
use std::path::Path;

use lrgeo_geo::Coord;
use osmpbf::{BlobDecode, BlobReader, PrimitiveBlock};
use rayon::prelude::*;

use super::rules::{Tags, Ways, usable};
use crate::MapError;
use crate::map::TravelMode;
use crate::progress::Progress;
use crate::streets::Streets;

/// A long bend keeps a node at least this often, so that places find a street near them.
const KEEP_EVERY_KM: f64 = 0.1;

/// What an OpenStreetMap file held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OsmReport {
    /// Nodes of any kind.
    pub nodes: u64,
    /// Ways of any kind.
    pub ways: u64,
    /// Ways that the travel mode can use.
    pub usable_ways: u64,
    /// References from usable ways to nodes that are not in the file; such a way is cut there.
    pub missing_references: u64,
}

/// Reads the streets that `mode` can use.
pub fn read_osm(
    path: &Path,
    mode: TravelMode,
    progress: &dyn Progress,
) -> Result<(Streets, OsmReport), MapError> {
    let file = std::fs::File::open(path).map_err(MapError::io(path))?;
    let size = file.metadata().map_err(MapError::io(path))?.len();
    let reader = Counting { inner: std::io::BufReader::new(file), progress };
    progress.begin("reading OpenStreetMap", size);
    let blocks = BlobReader::new(reader)
        .enumerate()
        .par_bridge()
        .filter_map(|(order, blob)| match blob.and_then(|blob| unpack(&blob, mode)) {
            Ok(block) => block.map(|block| Ok((order, block))),
            Err(error) => Some(Err(MapError::file(path, format!("damaged or cut off: {error}")))),
        })
        .collect::<Result<Vec<_>, _>>();
    progress.end();
    let mut blocks = blocks?;
    if blocks.is_empty() {
        return Err(MapError::file(
            path,
            "no OpenStreetMap data in it; an .osm.pbf file is needed",
        ));
    }
    blocks.sort_unstable_by_key(|&(order, _)| order); // threads finish in any order
    Ok(assemble(blocks.into_iter().map(|(_, block)| block).collect()))
}

/// What is kept of one block of the file.
#[derive(Default)]
struct Block {
    /// Ids and positions in units of 1e-7 degrees.
    nodes: Vec<(i64, i32, i32)>,
    ways: Vec<Way>,
    ways_seen: u64,
}

struct Way {
    nodes: Vec<i64>,
    ways: Ways,
    speed_kmh: f64,
}

fn unpack(blob: &osmpbf::Blob, mode: TravelMode) -> Result<Option<Block>, osmpbf::Error> {
    let BlobDecode::OsmData(data) = blob.decode()? else {
        return Ok(None);
    };
    let mut block = Block::default();
    for group in data.groups() {
        block
            .nodes
            .extend(group.dense_nodes().map(|n| (n.id(), n.decimicro_lat(), n.decimicro_lon())));
        block.nodes.extend(group.nodes().map(|n| (n.id(), n.decimicro_lat(), n.decimicro_lon())));
        for way in group.ways() {
            block.ways_seen += 1;
            if let Some((ways, speed_kmh)) = usable(&tags_of(&way, &data), mode) {
                block.ways.push(Way { nodes: way.refs().collect(), ways, speed_kmh });
            }
        }
    }
    block.nodes.shrink_to_fit();
    Ok(Some(block))
}

/// The tags of a way, read as bytes: a bad string in the file spoils one tag, not the import.
fn tags_of<'a>(way: &osmpbf::Way<'a>, data: &'a PrimitiveBlock) -> Tags<'a> {
    let strings = data.raw_stringtable();
    let text = |index: u32| strings.get(index as usize).map_or(&[][..], Vec::as_slice);
    let mut tags = Tags::default();
    way.raw_tags().for_each(|(key, value)| tags.set(text(key), text(value)));
    tags
}

/// Joins the blocks: finds the positions of the ways' nodes, keeps junctions, measures lengths.
fn assemble(blocks: Vec<Block>) -> (Streets, OsmReport) {
    let mut report = OsmReport::default();
    let (mut nodes, mut ways) = (Vec::new(), Vec::new());
    nodes.reserve_exact(blocks.iter().map(|b| b.nodes.len()).sum());
    for block in blocks {
        nodes.extend_from_slice(&block.nodes);
        ways.extend(block.ways);
        report.ways += block.ways_seen;
    }
    report.nodes = nodes.len() as u64;
    report.usable_ways = ways.len() as u64;
    // Files are nearly always in order of id already.
    if !nodes.is_sorted_by_key(|n| n.0) {
        nodes.par_sort_unstable_by_key(|n| n.0);
    }

    // The nodes of streets, where they are, and how many ways meet there.
    let mut ids: Vec<i64> = ways.iter().flat_map(|way| &way.nodes).copied().collect();
    ids.par_sort_unstable();
    ids.dedup();
    let position: Vec<Option<Coord>> = ids
        .iter()
        .map(|id| {
            let (_, lat, lon) = nodes[nodes.binary_search_by_key(id, |n| n.0).ok()?];
            Coord::new(f64::from(lat) * 1e-7, f64::from(lon) * 1e-7).ok()
        })
        .collect();
    drop(nodes);
    let index_of = |id: &i64| ids.binary_search(id).unwrap_or(usize::MAX);
    let mut uses = vec![0u8; ids.len()];
    let ways: Vec<(Vec<usize>, Way)> = ways
        .into_iter()
        .map(|way| {
            let indices: Vec<usize> = way.nodes.iter().map(index_of).collect();
            for (at, &i) in indices.iter().enumerate() {
                let end = at == 0 || at + 1 == indices.len();
                uses[i] = uses[i].saturating_add(if end { 2 } else { 1 });
            }
            (indices, way)
        })
        .collect();

    let mut assembly = Assembly { streets: Streets::default(), node: vec![u32::MAX; ids.len()] };
    for (indices, way) in &ways {
        // A node that is not in the file cuts the way in two.
        for piece in indices.split(|&i| position[i].is_none()) {
            assembly.add(piece, way, &position, &uses);
        }
        report.missing_references +=
            indices.iter().filter(|&&i| position[i].is_none()).count() as u64;
    }
    (assembly.streets, report)
}

/// The network as it grows; `node` maps the nodes of ways to those that are kept.
struct Assembly {
    streets: Streets,
    node: Vec<u32>,
}

impl Assembly {
    /// Adds a chain of nodes. Shape points between junctions only lengthen the arc over them.
    fn add(&mut self, chain: &[usize], way: &Way, position: &[Option<Coord>], uses: &[u8]) {
        let mut points = chain.iter().filter_map(|&i| Some((i, position[i]?)));
        let Some((first, mut here)) = points.next() else { return };
        let mut kept = self.keep(first, here);
        let (mut length, last) = (0.0, chain.last().copied());
        for (i, there) in points {
            length += here.distance_km(there);
            here = there;
            if uses[i] > 1 || Some(i) == last || length >= KEEP_EVERY_KM {
                let node = self.keep(i, there);
                let (from, to) =
                    if way.ways == Ways::Backward { (node, kept) } else { (kept, node) };
                self.streets.add(from, to, length, way.speed_kmh, way.ways != Ways::Both);
                (kept, length) = (node, 0.0);
            }
        }
    }

    fn keep(&mut self, i: usize, coord: Coord) -> u32 {
        if self.node[i] == u32::MAX {
            self.node[i] = self.streets.nodes.len() as u32;
            self.streets.nodes.push(coord);
        }
        self.node[i]
    }
}

/// Tells the progress how much of the file was read.
struct Counting<'p, R> {
    inner: R,
    progress: &'p dyn Progress,
}

impl<R: Read> Read for Counting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}
