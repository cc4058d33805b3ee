//! What an importer hands over: street nodes and directed arcs, before anything is dropped.

use lrgeo_geo::Coord;

use crate::map::TravelMode;

/// One direction of a street between two neighbouring nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreetArc {
    /// Index of the node it starts at.
    pub from: u32,
    /// Index of the node it leads to.
    pub to: u32,
    /// Length along the street, in kilometres: finite, never negative.
    pub length_km: f64,
    /// Speed of travel in km/h: finite, positive.
    pub speed_kmh: f64,
}

/// A street network as imported: it may have several components and self-loops.
#[derive(Clone, Debug, Default)]
pub struct Streets {
    /// Node coordinates; arcs refer to them by index.
    pub nodes: Vec<Coord>,
    /// Directed arcs; a two-way street is two of them.
    pub arcs: Vec<StreetArc>,
}

impl Streets {
    /// Streets that say nothing of who may use them, as somebody uses them who moves like this: on foot all of them both ways
    /// at 4.8 km/h, by bicycle at 16 km/h at most. What an OpenStreetMap file says is read by [`crate::import::read_osm`].
    pub fn used_by(mut self, travel: TravelMode) -> Self {
        let kmh = match travel {
            TravelMode::Drive => return self,
            TravelMode::Walk => 4.8,
            TravelMode::Bike => 16.0,
        };
        self.arcs.iter_mut().for_each(|arc| arc.speed_kmh = arc.speed_kmh.min(kmh));
        if travel == TravelMode::Walk {
            let back = |arc: &StreetArc| StreetArc { from: arc.to, to: arc.from, ..*arc };
            let back: Vec<StreetArc> = self.arcs.iter().map(back).collect();
            self.arcs.extend(back);
        }
        self
    }

    /// Adds a street between two nodes, both ways unless `one_way`.
    pub fn add(&mut self, from: u32, to: u32, length_km: f64, speed_kmh: f64, one_way: bool) {
        self.arcs.push(StreetArc { from, to, length_km, speed_kmh });
        if !one_way {
            self.arcs.push(StreetArc { from: to, to: from, length_km, speed_kmh });
        }
    }
}
