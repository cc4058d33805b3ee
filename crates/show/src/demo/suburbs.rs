//! The streets between the boulevard and the edge of the map: belt, suburbs, villages, country roads.

use super::layout::{Layout, blob, widest};
use super::network::{Class, Stroke};
use super::plane::{Point, Segment, SegmentIndex, inside, middle, segments, sides, smooth};
use super::quarters::{Grid, Ground};
use super::random::Chance;

/// What lies outside the old centre.
#[derive(Clone, Debug, Default)]
pub(super) struct Outside {
    pub(super) strokes: Vec<Stroke>,
    /// Centre and radius of each suburb.
    pub(super) suburbs: Vec<(Point, f64)>,
    /// Centre and radius of each village.
    pub(super) villages: Vec<(Point, f64)>,
    /// Centre and radius of the works by the railway.
    pub(super) works: (Point, f64),
    /// Where small streets are still to be laid.
    sites: Vec<Grid>,
    /// The shapes of all of these.
    pub(super) outlines: Vec<Vec<Point>>,
}

impl Outside {
    pub(super) fn new(seed: u64, layout: &Layout) -> Self {
        let works = (railway_site(layout, 3900.0), 620.0);
        let mut outside = Self { works, ..Self::default() };
        outside.build_country_loop(layout, &mut Chance::new(seed, "country loop"));
        outside.build_suburbs(layout, &mut Chance::new(seed, "suburbs"));
        outside.build_country(layout, &mut Chance::new(seed, "country"));
        outside.build_belt(layout, &mut Chance::new(seed, "belt"));
        outside
    }

    /// A grid per quarter inside the ring: tight and partly one-way near the boulevard, wider farther out.
    fn build_belt(&mut self, layout: &Layout, chance: &mut Chance) {
        for face in &layout.quarters {
            let (origin, _) = widest(face);
            let out = ((origin.length() - 1000.0) / 2000.0).clamp(0.0, 1.0);
            let size = chance.between(0.88, 1.15);
            let grid = Grid {
                origin,
                along: origin.unit().turned(Point::direction(chance.between(-0.09, 0.09))),
                block: (size * (122.0 + 40.0 * out), size * (80.0 + 26.0 * out)),
                bend: chance.between(12.0, 34.0 + 40.0 * out),
                missing: chance.between(0.04, 0.1 + 0.1 * out),
                one_way: out < 0.5 && chance.happens(0.55),
                class: Class::Street,
                reach: 2600.0,
            };
            let ground = Ground {
                inside: &|p| inside(face, p) && layout.buildable(p),
                fronts: &layout.fronts,
                walls: &layout.walls,
            };
            self.strokes.extend(grid.fill(&ground, chance));
        }
    }

    /// A country road around the city from suburb to suburb, interrupted by river and airfield.
    fn build_country_loop(&mut self, layout: &Layout, chance: &mut Chance) {
        let controls: Vec<Point> = (0..22)
            .map(|k| Point::direction(f64::from(k) / 22.0) * chance.between(3950.0, 4750.0))
            .collect();
        let around = smooth(&controls, true, 140.0);
        let away = |p: &Point| sides(&layout.airfield[0]).all(|s| s.distance(*p) > 150.0);
        let open = |p: &Point| {
            layout.river.offset(*p).abs() > 170.0 && away(p) && !inside(&layout.airfield[0], *p)
        };
        for piece in around.split(|p| !open(p)).filter(|piece| piece.len() > 4) {
            self.strokes.push(Stroke::new(piece.to_vec(), Class::Country));
        }
    }

    /// A suburb on every road out of town, works by the railway, and villages on the country road.
    fn build_suburbs(&mut self, layout: &Layout, chance: &mut Chance) {
        let country_road: Vec<Point> = self.strokes.iter().flat_map(|s| s.path.clone()).collect();
        for (k, road) in layout.arterials.iter().chain(&layout.collectors).enumerate() {
            let collector = k >= layout.arterials.len();
            let radius = if collector { 3700.0 } else { chance.between(3900.0, 4350.0) };
            let Some(at) = segments(road).find(|s| s.1.length() > radius) else { continue };
            let along = (at.1 - at.0).unit();
            let origin = at.0 + along.left() * chance.between(-180.0, 180.0);
            let reach =
                if collector { chance.between(380.0, 560.0) } else { chance.between(560.0, 820.0) };
            self.suburbs.push((origin, reach));
            self.sites.push(Grid {
                origin,
                along: along.turned(Point::direction(chance.between(-0.05, 0.05))),
                block: (chance.between(150.0, 195.0), chance.between(105.0, 135.0)),
                bend: chance.between(40.0, 75.0),
                missing: chance.between(0.12, 0.22),
                one_way: false,
                class: Class::Street,
                reach,
            });
        }
        let (origin, reach) = self.works;
        let works = Grid {
            origin,
            along: origin.unit(),
            block: (230.0, 190.0),
            bend: 10.0,
            reach,
            ..self.sites[0]
        };
        self.sites.push(works);
        self.add_access_road(layout);
        for origin in country_road {
            let river = layout.river.offset(origin).abs();
            let far = |other: &(Point, f64)| other.0.distance(origin) > 1500.0;
            let fields = !inside(&layout.ring, origin * 0.88)
                && layout.woods.iter().flatten().all(|tree| tree.distance(origin) > 380.0);
            if river < 350.0
                || !fields
                || self.built_up(origin, 300.0)
                || !self.villages.iter().all(far)
            {
                continue;
            }
            let reach = chance.between(260.0, 340.0);
            let along = Point::direction(chance.between(0.0, 1.0));
            self.villages.push((origin, reach));
            self.sites.push(Grid {
                origin,
                along,
                block: (115.0, 88.0),
                class: Class::Lane,
                reach,
                ..self.sites[0]
            });
        }
        let mut fronts = layout.fronts.clone();
        self.strokes.iter().for_each(|stroke| fronts.push_path(&stroke.path));
        for grid in std::mem::take(&mut self.sites) {
            let shape = blob(grid.origin, grid.reach, chance);
            let ground = Ground {
                inside: &|p| {
                    let taken = self.outlines.iter().any(|other| inside(other, p));
                    inside(&shape, p) && !taken && !inside(&layout.ring, p) && layout.buildable(p)
                },
                fronts: &fronts,
                walls: &layout.walls,
            };
            let streets = grid.fill(&ground, chance);
            self.strokes.extend(streets);
            self.outlines.push(shape);
        }
    }

    /// The works lie on no road: one leads there from the arterial on their side of the railway.
    fn add_access_road(&mut self, layout: &Layout) {
        let (site, _) = self.works;
        let feet =
            layout.arterials.iter().flat_map(|road| segments(road)).map(|s| s.at(s.nearest(site)));
        let reachable = feet.filter(|&foot| layout.walls.first_hit(Segment(site, foot)).is_none());
        let nearest = reachable.min_by(|a, b| a.distance(site).total_cmp(&b.distance(site)));
        self.strokes.extend(nearest.map(|foot| Stroke::new(vec![site, foot], Class::Street)));
    }

    /// Winding roads from each suburb and village to its neighbours.
    fn build_country(&mut self, layout: &Layout, chance: &mut Chance) {
        let mut streets = layout.fronts.clone();
        self.strokes.iter().for_each(|stroke| streets.push_path(&stroke.path));
        let homes: Vec<Point> = self.outlines.iter().map(|shape| middle(shape)).collect();
        let mut pairs: Vec<(usize, usize)> =
            (0..homes.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let length = |&(a, b): &(usize, usize)| homes[a].distance(homes[b]);
        pairs.retain(|pair| length(pair) < 2100.0);
        pairs.sort_by(|x, y| length(x).total_cmp(&length(y)));
        let mut built: Vec<Segment> = Vec::new();
        for (a, b) in pairs {
            let chord = Segment(homes[a], homes[b]);
            let meets = |s: &Segment| {
                let apart = [s.0, s.1].iter().all(|end| ![chord.0, chord.1].contains(end));
                apart && s.crossing(chord).is_some()
            };
            if built.iter().any(meets) {
                continue;
            }
            let aside = (chord.1 - chord.0).left() * chance.between(-0.2, 0.2);
            let swing = aside * chance.between(-0.8, 0.4);
            let bends = [chord.0, chord.at(0.35) + aside, chord.at(0.7) + swing, chord.1];
            let road = smooth(&bends, false, 130.0);
            let road = leaving(&self.outlines[a], &road, &streets);
            let road = road.and_then(|r| leaving(&self.outlines[b], &r, &streets));
            let Some(road) = road else { continue };
            let blocked = segments(&road).any(|s| layout.walls.first_hit(s).is_some());
            // No second road beside an older one.
            let beside = streets.nearest(road[road.len() / 2], 150.0).is_some();
            if !blocked && !beside {
                built.push(chord);
                streets.push_path(&road);
                self.strokes.push(Stroke::new(road, Class::Country));
            }
        }
    }

    /// Whether `p` lies in a suburb, a village or the works, or within `margin` of one.
    fn built_up(&self, p: Point, margin: f64) -> bool {
        let all = self.suburbs.iter().chain(&self.villages).chain([&self.works]);
        all.into_iter().any(|&(site, radius)| site.distance(p) < radius + margin)
    }
}

/// A point beside the railway at about this distance from the centre.
fn railway_site(layout: &Layout, radius: f64) -> Point {
    let at = segments(&layout.railway).find(|s| s.1.length() > radius);
    at.map_or(Point::new(0.0, radius), |s| s.0 + (s.1 - s.0).unit().left() * 120.0)
}

/// The path from the last street it meets inside the shape, reversed: done twice, it leads from shape to shape.
fn leaving(shape: &[Point], path: &[Point], streets: &SegmentIndex) -> Option<Vec<Point>> {
    let out = path.iter().position(|&p| !inside(shape, p))?;
    for k in (1..=out).rev() {
        let inward = Segment(path[k], path[k - 1]);
        if let Some(t) = streets.first_hit(inward) {
            let mut road: Vec<Point> = path[k..].iter().rev().copied().collect();
            road.push(inward.at(t));
            return Some(road);
        }
    }
    None
}
