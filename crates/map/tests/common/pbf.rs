//! A writer of small `.osm.pbf` files: enough of the format to test the reader without real data.

pub struct Way<'a> {
    pub nodes: Vec<i64>,
    pub tags: Vec<(&'a str, &'a str)>,
}

/// A file with one block of dense nodes and one of ways, stored uncompressed.
pub fn encode(nodes: &[(i64, f64, f64)], ways: &[Way<'_>]) -> Vec<u8> {
    let mut header = Vec::new();
    bytes_field(&mut header, 4, b"OsmSchema-V0.6");
    bytes_field(&mut header, 4, b"DenseNodes");
    let mut file = blob("OSMHeader", &header);

    let (mut ids, mut lats, mut lons) = (Deltas::default(), Deltas::default(), Deltas::default());
    for &(id, lat, lon) in nodes {
        ids.push(id);
        lats.push((lat * 1e7).round() as i64);
        lons.push((lon * 1e7).round() as i64);
    }
    let mut dense = Vec::new();
    bytes_field(&mut dense, 1, &ids.bytes);
    bytes_field(&mut dense, 8, &lats.bytes);
    bytes_field(&mut dense, 9, &lons.bytes);
    let mut group = Vec::new();
    bytes_field(&mut group, 2, &dense);
    file.extend(blob("OSMData", &block(&[], &group)));

    let mut strings: Vec<&str> = vec![""];
    let mut group = Vec::new();
    for (id, way) in ways.iter().enumerate() {
        let (mut keys, mut values, mut refs) = (Vec::new(), Vec::new(), Deltas::default());
        for (key, value) in &way.tags {
            for (text, list) in [(key, &mut keys), (value, &mut values)] {
                strings.push(text);
                varint(list, strings.len() as u64 - 1);
            }
        }
        way.nodes.iter().for_each(|&node| refs.push(node));
        let mut encoded = Vec::new();
        varint(&mut encoded, 1 << 3);
        varint(&mut encoded, id as u64 + 1);
        bytes_field(&mut encoded, 2, &keys);
        bytes_field(&mut encoded, 3, &values);
        bytes_field(&mut encoded, 8, &refs.bytes);
        bytes_field(&mut group, 3, &encoded);
    }
    file.extend(blob("OSMData", &block(&strings, &group)));
    file
}

fn block(strings: &[&str], group: &[u8]) -> Vec<u8> {
    let mut table = Vec::new();
    strings.iter().for_each(|text| bytes_field(&mut table, 1, text.as_bytes()));
    let mut block = Vec::new();
    bytes_field(&mut block, 1, &table);
    bytes_field(&mut block, 2, group);
    block
}

fn blob(kind: &str, data: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    bytes_field(&mut content, 1, data);
    let mut header = Vec::new();
    bytes_field(&mut header, 1, kind.as_bytes());
    varint(&mut header, 3 << 3);
    varint(&mut header, content.len() as u64);
    let mut out = (header.len() as u32).to_be_bytes().to_vec();
    out.extend(header);
    out.extend(content);
    out
}

fn bytes_field(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    varint(out, number << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Differences, zigzag-coded.
#[derive(Default)]
struct Deltas {
    last: i64,
    bytes: Vec<u8>,
}

impl Deltas {
    fn push(&mut self, value: i64) {
        let delta = value - self.last;
        self.last = value;
        varint(&mut self.bytes, ((delta << 1) ^ (delta >> 63)) as u64);
    }
}
