//! An operator who signs everything correctly, whatever it says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use lrgeo_client::transport::{Answer, Offload, Quiet, Server, TransportError};
use lrgeo_geo::Digest;
use lrgeo_geo::PlaceId;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Circle, Join, Joined, TableCircle, TicketState, UserMatrix};
use lrgeo_protocol::path;
use lrgeo_protocol::public::{MapDescription, PublicFile, Received, TableTile};
use lrgeo_protocol::quiet::Request;
use lrgeo_tiles::{Manifest, Places, SecretKey};
use serde_json::{Value, json};

use super::Service;

/// Changes the bytes of a file, given what it is called.
pub type Spoil = dyn Fn(&str, &mut Vec<u8>) + Send + Sync;

/// Everything that an operator says, to be changed at will and signed.
#[derive(Clone)]
pub struct Operator {
    pub seed: [u8; 32],
    /// The manifest, without the hashes of what follows.
    pub manifest: Value,
    /// Latitude, longitude and prior of every place.
    pub places: Vec<[f64; 3]>,
    /// The places of each tile and their rows.
    pub tiles: Vec<(Vec<u32>, Vec<Vec<f64>>)>,
    /// The noise for coordinates, as a file.
    pub noise: Vec<u8>,
    pub description: MapDescription,
    pub slices: Vec<TableTile>,
    /// Changes the bytes of a file after everything else, before it is hashed: `places`, `tile 3`, `noise`, `description`,
    /// `slice 3`, `manifest`.
    pub spoil: Option<Arc<Spoil>>,
    /// Manifests that were shown before.
    pub earlier: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Operator {
    /// What an honest server says.
    pub fn of(service: &Service) -> Self {
        let catalogue = &service.catalogue;
        let manifest: Value = serde_json::from_slice(&catalogue.manifest[0].bytes).unwrap();
        let city = &catalogue.city;
        let places = city.coords().iter().zip(city.prior());
        let list = service.places();
        let members = service.manifest.members(&list).unwrap();
        let tile = |(number, members): (usize, &Vec<PlaceId>)| {
            let hash = service.manifest.tiles[number].hash;
            let bytes = &catalogue.files[&hash].bytes;
            let tile = service.manifest.open_tile(number, members, bytes).unwrap();
            let row = |&place: &PlaceId| tile.row(place).unwrap().into_vec();
            (
                members.iter().map(|place| place.number()).collect(),
                members.iter().map(row).collect(),
            )
        };
        let local = catalogue.description.local.as_ref().unwrap();
        let slice = |file: &PublicFile| {
            Encoding::Cbor.decode(&catalogue.table_tiles[&file.hash].bytes).unwrap()
        };
        Self {
            seed: [42; 32],
            manifest,
            places: places.map(|(at, p)| [at.lat(), at.lon(), *p]).collect(),
            tiles: members.iter().enumerate().map(tile).collect(),
            noise: service.noise(),
            description: catalogue.description.clone(),
            slices: local.table_tiles.iter().map(slice).collect(),
            spoil: None,
            earlier: Vec::new(),
        }
    }

    pub fn key(&self) -> SecretKey {
        SecretKey::from_seed(self.seed).unwrap()
    }

    /// A hash of the manifest as bytes; zeros where it is none any more.
    fn hash_of(&self, field: &str) -> [u8; 32] {
        let text = self.manifest[field].as_str().unwrap_or_default();
        let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
        std::array::from_fn(|at| byte(at).unwrap_or(0))
    }

    fn spoiled(&self, name: &str, mut bytes: Vec<u8>) -> Vec<u8> {
        if let Some(spoil) = &self.spoil {
            spoil(name, &mut bytes);
        }
        bytes
    }

    /// The list of places, written by the table of docs/tiles.md and not by the code that reads it.
    fn places_file(&self) -> Vec<u8> {
        let mut out = b"LRPLACES\x03\0\0\0".to_vec();
        out.extend(self.hash_of("map"));
        out.extend((self.places.len() as u32).to_le_bytes());
        out.extend(self.places.iter().flatten().flat_map(|number| number.to_le_bytes()));
        self.spoiled("places", out)
    }

    fn tile_file(&self, number: usize) -> Vec<u8> {
        let (places, rows) = &self.tiles[number];
        let columns = rows.first().map_or(self.places.len(), Vec::len);
        let mut out = b"LRTILE\r\n\x03\0\0\0".to_vec();
        out.extend(self.hash_of("map"));
        out.extend(self.hash_of("mechanism"));
        out.extend((columns as u32).to_le_bytes());
        out.extend((places.len() as u32).to_le_bytes());
        out.extend(places.iter().flat_map(|place| place.to_le_bytes()));
        let present: Vec<bool> = (0..columns).map(|k| rows.iter().any(|r| r[k] != 0.0)).collect();
        let eight = |bits: &[bool]| bits.iter().rev().fold(0u8, |b, bit| b << 1 | u8::from(*bit));
        out.extend(present.chunks(8).map(eight));
        out.extend(vec![0u8; 8 * places.len()]);
        out.extend(0u32.to_le_bytes());
        for row in rows {
            let values = row.iter().zip(&present).filter(|(_, present)| **present);
            out.extend(values.flat_map(|(z, _)| z.to_le_bytes()));
        }
        self.spoiled(&format!("tile {number}"), out)
    }

    /// Hashes and signs all of it.
    pub fn sign(&self) -> Shown {
        let mut files = HashMap::new();
        let hashed = |bytes: &[u8]| json!(Digest::of(bytes));
        let mut manifest = self.manifest.clone();
        let places = self.places_file();
        if manifest["places"].is_object() {
            manifest["places"]["hash"] = hashed(&places);
            manifest["places"]["bytes"] = json!(places.len());
        }
        files.insert(path::file(path::PLACES, Digest::of(&places)), places);
        for number in 0..self.tiles.len() {
            let tile = self.tile_file(number);
            if manifest["tiles"][number].is_object() {
                manifest["tiles"][number]["hash"] = hashed(&tile);
                manifest["tiles"][number]["bytes"] = json!(tile.len());
            }
            files.insert(path::file(path::TILES, Digest::of(&tile)), tile);
        }
        let noise = self.spoiled("noise", self.noise.clone());
        if manifest["noise"].is_object() {
            manifest["noise"]["hash"] = hashed(&noise);
            manifest["noise"]["bytes"] = json!(noise.len());
        }
        files.insert(path::file(path::NOISE, Digest::of(&noise)), noise);
        let mut description = self.description.clone();
        let slice = |(number, slice): (usize, &TableTile)| {
            self.spoiled(&format!("slice {number}"), Encoding::Cbor.encode(slice))
        };
        let slices: Vec<Vec<u8>> = self.slices.iter().enumerate().map(slice).collect();
        if let Some(local) = &mut description.local {
            let named =
                |bytes: &Vec<u8>| PublicFile { hash: Digest::of(bytes), bytes: bytes.len() as u64 };
            local.table_tiles = slices.iter().map(named).collect();
        }
        for bytes in slices {
            files.insert(path::file(path::TABLE_TILES, Digest::of(&bytes)), bytes);
        }
        let description = self.spoiled("description", Encoding::Cbor.encode(&description));
        if !manifest["description"].is_null() {
            manifest["description"] = hashed(&description);
        }
        files.insert(path::MAP.into(), description);
        let manifest = self.spoiled("manifest", serde_json::to_vec(&manifest).unwrap());
        let signature = self.key().sign(&manifest).to_vec();
        for (bytes, signature) in
            self.earlier.iter().chain([&(manifest.clone(), signature.clone())])
        {
            let path = path::file(path::MANIFESTS, Digest::of(bytes));
            files.insert(format!("{path}/signature"), signature.clone());
            files.insert(path, bytes.clone());
        }
        files.insert(path::MANIFEST.into(), manifest);
        files.insert(path::SIGNATURE.into(), signature);
        Shown {
            files: Arc::new(files),
            key: self.key().public().to_string(),
            asked: Arc::default(),
        }
    }

    /// The manifest that follows what was shown: the next number, the hash of the one before.
    pub fn following(&self, shown: &Shown) -> Self {
        let mut next = self.clone();
        let (bytes, signature) =
            (shown.files[path::MANIFEST].clone(), shown.files[path::SIGNATURE].clone());
        let sequence = next.manifest["link"]["sequence"].as_u64().unwrap();
        next.manifest["link"]["sequence"] = json!(sequence + 1);
        next.manifest["link"]["previous"] = json!(Digest::of(&bytes));
        next.earlier.push((bytes, signature));
        next
    }
}

/// What everybody is shown.
#[derive(Clone)]
pub struct Shown {
    pub files: Arc<HashMap<String, Vec<u8>>>,
    pub key: String,
    pub asked: Arc<Mutex<Vec<String>>>,
}

impl Shown {
    /// How many reports it got.
    pub fn reports(&self) -> usize {
        self.asked.lock().unwrap().iter().filter(|path| *path == path::REPORTS).count()
    }

    /// As a reader of this project sees it, where that is possible.
    pub fn read(&self, key: &SecretKey) -> Option<(Manifest, Places)> {
        let (bytes, signature) =
            (self.files[path::MANIFEST].clone(), self.files[path::SIGNATURE].clone());
        let signed = lrgeo_tiles::Envelope { bytes, signature }.open(&key.public()).ok()?;
        let path = path::file(path::PLACES, signed.manifest().places.hash);
        let places = signed.manifest().open_places(self.files.get(&path)?).ok()?;
        Some((signed.manifest().clone(), places))
    }
}

impl Quiet for Shown {
    fn ask(&self, request: &Request, most_bytes: u64) -> Result<Answer, TransportError> {
        let path = request.path();
        self.asked.lock().unwrap().push(path.clone());
        let body = match request {
            Request::Report(_) => Encoding::Cbor.encode(&Received { reports: 1 }),
            _ => self.files.get(&path).cloned().ok_or(TransportError::Status { status: 404 })?,
        };
        match body.len() as u64 <= most_bytes {
            true => Ok(Answer { body, key: Some(self.key.clone()) }),
            false => Err(TransportError::TooLong { most_bytes }),
        }
    }
}

/// Rounds are held by real servers only.
impl Offload for Shown {
    fn circle(&self, _: &Circle) -> Result<TableCircle, TransportError> {
        Err(TransportError::Status { status: 404 })
    }

    fn join(&self, _: &Join) -> Result<Joined, TransportError> {
        Err(TransportError::Status { status: 404 })
    }

    fn state(&self, _: &Joined, _: u32) -> Result<TicketState, TransportError> {
        Err(TransportError::Status { status: 404 })
    }

    fn matrix(&self, _: &Joined) -> Result<UserMatrix, TransportError> {
        Err(TransportError::Status { status: 404 })
    }
}

impl Server for Shown {
    fn name(&self) -> &str {
        "http://operator"
    }

    fn offload(&self) -> Option<&dyn Offload> {
        Some(self)
    }
}
