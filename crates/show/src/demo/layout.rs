//! The plan of the city: river, ring, boulevard, avenue and arterials, and the quarters between them.

use super::network::{Class, Stroke};
use super::plane::{Point, SegmentIndex, inside, middle, segments, sides, smooth, split};
use super::random::Chance;
use super::river::{River, shifted};
use super::roads::{
    ARTERIALS, COLLECTORS, axes, close, closed_road, from_bridge, overlapping, railway, road_out,
};

/// Everything that is decided before the small streets are drawn.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) river: River,
    /// The main streets, the most important first.
    pub(super) strokes: Vec<Stroke>,
    /// Main streets on which small streets may end.
    pub(super) fronts: SegmentIndex,
    /// What no small street crosses: ring, railway, river banks, the edges of woods and airfield.
    pub(super) walls: SegmentIndex,
    /// The ring road, as a polygon.
    pub(super) ring: Vec<Point>,
    /// Old quarters inside the boulevard.
    pub(super) old_quarters: Vec<Vec<Point>>,
    /// Quarters between boulevard and ring.
    pub(super) quarters: Vec<Vec<Point>>,
    /// The disc inside the ring.
    pub(super) built_up: Vec<Point>,
    /// Arterials from the boulevard to the edge of the map, counter-clockwise from the east.
    pub(super) arterials: Vec<Vec<Point>>,
    /// Lesser roads between them, from the avenue through the ring to a suburb.
    pub(super) collectors: Vec<Vec<Point>>,
    /// The railway, from its terminus outwards.
    pub(super) railway: Vec<Point>,
    /// Parks inside the ring, each with a street around it.
    pub(super) parks: Vec<Vec<Point>>,
    /// Woods outside the ring.
    pub(super) woods: Vec<Vec<Point>>,
    /// The airfield and its runway.
    pub(super) airfield: [Vec<Point>; 2],
}

/// Where the map ends, in metres from the centre.
pub(super) const EDGE: f64 = 5000.0;

impl Layout {
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed, "layout");
        let river = River::new(seed);
        let boulevard = closed_road(&river, 830.0, 11, 0.07, &mut chance);
        let avenue = closed_road(&river, 1850.0, 12, 0.09, &mut chance);
        let ring = closed_road(&river, 3100.0, 14, 0.06, &mut chance);
        let arterials: Vec<Vec<Point>> = ARTERIALS
            .iter()
            .map(|&turn| road_out(&river, &boulevard, turn, EDGE, &mut chance))
            .collect();
        let collectors: Vec<Vec<Point>> = COLLECTORS
            .iter()
            .map(|&turn| {
                let end = chance.between(3900.0, 4400.0);
                road_out(&river, &avenue, turn, end, &mut chance)
            })
            .collect();
        let axes = axes(&river, &boulevard, &arterials, &mut chance);
        let railway = railway(&mut chance);

        let mut strokes = Vec::new();
        // Traffic keeps to the right: counter-clockwise outside, clockwise inside.
        let carriageway = |out: f64| {
            let mut path = shifted(&ring, |_| -out);
            path.pop();
            let start = path[0];
            close(path, start)
        };
        let mut inner = carriageway(-24.0);
        inner.reverse();
        for side in [carriageway(24.0), inner] {
            strokes.push(Stroke::new(side, Class::Ring).one_way().bridging());
        }
        for path in &arterials {
            strokes.push(Stroke::new(path.clone(), Class::Arterial));
        }
        strokes.push(Stroke::new(boulevard.clone(), Class::Avenue).bridging());
        strokes.push(Stroke::new(avenue.clone(), Class::Avenue).bridging());
        for path in &collectors {
            strokes.push(Stroke::new(path.clone(), Class::Avenue));
        }
        for path in &axes {
            strokes.push(Stroke::new(path.clone(), Class::Avenue).bridging());
        }
        let quays = [0, 1].map(|bank| river.quay(bank));
        for quay in &quays {
            let built: Vec<Point> = quay.iter().copied().filter(|p| p.length() < 2500.0).collect();
            strokes.push(Stroke::new(built, Class::Street));
        }

        // The disc inside the ring, cut along everything that bounds a quarter.
        let hedge: Vec<Point> = ring[1..].iter().map(|&p| p - p.unit() * 75.0).collect();
        let mut cuts: Vec<Vec<Point>> = quays.to_vec();
        cuts.push(from_bridge(&river, &boulevard));
        cuts.push(from_bridge(&river, &avenue));
        cuts.extend(arterials.iter().map(|path| overlapping(path)));
        cuts.extend(collectors.iter().map(|path| overlapping(path)));
        cuts.extend(axes.iter().map(|path| overlapping(path)));
        let faces = cuts.iter().fold(vec![hedge.clone()], |faces, cut| {
            faces.into_iter().flat_map(|face| split(face, cut)).collect()
        });
        let dry = faces.into_iter().filter(|face| {
            let (middle, room) = widest(face);
            !river.wets(middle) && room > 20.0
        });
        let (old_quarters, quarters): (Vec<_>, Vec<_>) =
            dry.partition(|face| inside(&boulevard, widest(face).0));

        let mut layout = Self {
            fronts: SegmentIndex::default(),
            walls: SegmentIndex::default(),
            parks: Vec::new(),
            woods: Vec::new(),
            airfield: airfield(&river, &arterials, &collectors),
            river,
            strokes,
            ring,
            old_quarters,
            quarters,
            built_up: hedge,
            arterials,
            collectors,
            railway,
        };
        layout.plant_parks(&mut chance);
        layout.plant_woods(&mut chance);
        layout.index();
        layout
    }

    /// Whether small streets may be built at `p` at all.
    pub(super) fn buildable(&self, p: Point) -> bool {
        !self.river.wets(p)
            && !self.parks.iter().chain(&self.woods).any(|green| inside(green, p))
            && !inside(&self.airfield[0], p)
    }

    /// One large park in the widest quarter and two smaller ones; a street runs around each.
    fn plant_parks(&mut self, chance: &mut Chance) {
        let clear_of_railway =
            |site: Point| segments(&self.railway).all(|s| s.distance(site) > 520.0);
        let mut sites: Vec<(Point, f64)> = self
            .quarters
            .iter()
            .map(|face| widest(face))
            .filter(|&(site, _)| clear_of_railway(site))
            .collect();
        sites.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (rank, &(site, room)) in sites.iter().step_by(4).take(4).enumerate() {
            let radius = (room - 70.0).min(if rank == 0 { 480.0 } else { 170.0 });
            let green = blob(site, radius, chance);
            self.strokes.push(Stroke::new(close(green.clone(), green[0]), Class::Street));
            self.parks.push(green);
        }
    }

    /// Metres from `p` to the nearest road out of town or to the river.
    fn clearance(&self, p: Point) -> f64 {
        clearance(&self.river, self.arterials.iter().chain(&self.collectors), p)
    }

    /// Woods beyond the ring, between the arterials.
    fn plant_woods(&mut self, chance: &mut Chance) {
        let n = self.arterials.len();
        for k in 0..n {
            let between = (self.arterials[k].last(), self.arterials[(k + 1) % n].last());
            let (Some(&a), Some(&b)) = between else { continue };
            let site = middle(&[a, b]).unit() * chance.between(4200.0, 4500.0);
            let radius = chance.between(380.0, 560.0);
            let room = self
                .clearance(site)
                .min(segments(&self.railway).map(|s| s.distance(site)).fold(EDGE, f64::min));
            if room > 300.0 && self.airfield[0].iter().all(|corner| corner.distance(site) > 1300.0)
            {
                self.woods.push(blob(site, radius.min(room - 60.0), chance));
            }
        }
    }

    fn index(&mut self) {
        for stroke in &self.strokes {
            let index =
                if stroke.class == Class::Ring { &mut self.walls } else { &mut self.fronts };
            index.push_path(&stroke.path);
        }
        self.walls.push_path(&self.railway);
        for bank in &self.river.banks {
            self.walls.push_path(bank);
        }
        for polygon in self.woods.iter().chain(&self.airfield[..1]) {
            sides(polygon).for_each(|side| self.walls.push(side));
        }
    }
}

/// Metres from `p` to the nearest of the roads or to the river.
fn clearance<'a>(river: &River, roads: impl Iterator<Item = &'a Vec<Point>>, p: Point) -> f64 {
    let pieces = roads.flat_map(|path| segments(path));
    pieces.map(|s| s.distance(p)).fold(river.offset(p).abs() - 120.0, f64::min)
}

/// An airfield with one runway in the south-east, clear of roads and river.
fn airfield(river: &River, arterials: &[Vec<Point>], collectors: &[Vec<Point>]) -> [Vec<Point>; 2] {
    let rectangle = |site: Point, along: Point, length: f64, width: f64| {
        let (a, b) = (along * (length / 2.0), along.left() * (width / 2.0));
        vec![site - a - b, site + a - b, site + a + b, site - a + b]
    };
    let room = |p: Point| clearance(river, arterials.iter().chain(collectors), p);
    let candidates = (0..40).map(|k| Point::direction(0.66 + 0.005 * f64::from(k)) * 4300.0);
    let site = candidates.max_by(|a, b| room(*a).total_cmp(&room(*b))).expect("forty candidates");
    let along = site.unit().left();
    let along = (along + site.unit() * 0.25).unit();
    let length = (room(site) * 1.85).min(1800.0);
    [
        rectangle(site, along, length, 520.0),
        rectangle(site + along.left() * 60.0, along, length - 160.0, 55.0),
    ]
}

/// A rounded, uneven patch around `site`.
pub(super) fn blob(site: Point, radius: f64, chance: &mut Chance) -> Vec<Point> {
    let controls: Vec<Point> = (0..9)
        .map(|k| {
            let turn = (f64::from(k) + chance.between(-0.25, 0.25)) / 9.0;
            site + Point::direction(turn) * (radius * chance.between(0.62, 1.0))
        })
        .collect();
    smooth(&controls, true, 90.0)
}

/// The point of a polygon that is farthest from its sides, and that distance; found on a 60 m grid.
pub(super) fn widest(polygon: &[Point]) -> (Point, f64) {
    let low = polygon.iter().fold(polygon[0], |m, p| Point::new(m.x.min(p.x), m.y.min(p.y)));
    let high = polygon.iter().fold(polygon[0], |m, p| Point::new(m.x.max(p.x), m.y.max(p.y)));
    let mut best = (middle(polygon), 0.0);
    let mut y = low.y;
    while y < high.y {
        let mut x = low.x;
        while x < high.x {
            let p = Point::new(x, y);
            if inside(polygon, p) {
                let room = sides(polygon).map(|s| s.distance(p)).fold(f64::INFINITY, f64::min);
                if room > best.1 {
                    best = (p, room);
                }
            }
            x += 60.0;
        }
        y += 60.0;
    }
    best
}
