//! A map as a picture: one self-contained SVG, for people.
//!
//! Streets of one class are a single path element, chained from node to node, so that a whole city stays
//! a file of a few hundred kilobytes that any browser opens.

mod lines;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use lines::{draw_arrows, draw_streets};
use lrgeo_geo::{BoundingBox, Coord};
use lrgeo_map::streets::Streets;

/// What lies beneath the streets. Imported maps know none of it and leave it empty.
#[derive(Clone, Debug, Default)]
pub struct Scenery {
    /// Built-up areas, as polygons; they may overlap.
    pub built_up: Vec<Vec<Coord>>,
    /// Rivers and lakes, as polygons.
    pub water: Vec<Vec<Coord>>,
    /// Parks and woods, as polygons.
    pub greens: Vec<Vec<Coord>>,
    /// Open squares of a town, as polygons.
    pub squares: Vec<Vec<Coord>>,
    /// Grounds without public streets, such as an airfield, as polygons.
    pub grounds: Vec<Vec<Coord>>,
    /// Runways, as polygons.
    pub runways: Vec<Vec<Coord>>,
    /// Railways, as lines.
    pub railways: Vec<Vec<Coord>>,
}

/// A place, drawn as a dot whose colour shows its prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Where it is.
    pub at: Coord,
    /// Its prior, up to scale; zero or more.
    pub prior: f64,
}

/// A target, drawn as a marker whose size shows its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Where it is.
    pub at: Coord,
    /// What to write beside it; may be empty.
    pub name: String,
    /// Its weight, up to scale; zero or more.
    pub weight: f64,
}

/// The layers of a picture.
#[derive(Clone, Debug)]
pub struct Drawing<'a> {
    /// Written in the upper left corner.
    pub title: String,
    /// The street network.
    pub streets: &'a Streets,
    /// What lies beneath it.
    pub scenery: Scenery,
    /// Dots above it.
    pub places: Vec<Dot>,
    /// Markers on top.
    pub targets: Vec<Marker>,
    /// Whether one-way streets get small arrows.
    pub one_way_arrows: bool,
    /// Width of the picture in pixels; its height follows from the map.
    pub width_px: f64,
}

impl<'a> Drawing<'a> {
    /// A picture of the streets alone, 1400 pixels wide.
    pub fn new(title: impl Into<String>, streets: &'a Streets) -> Self {
        Self {
            title: title.into(),
            streets,
            scenery: Scenery::default(),
            places: Vec::new(),
            targets: Vec::new(),
            one_way_arrows: false,
            width_px: 1400.0,
        }
    }
}

/// From rare to dense: light yellow over orange to dark violet.
const PRIOR_COLOURS: [&str; 7] =
    ["#fde7a3", "#fbc66b", "#f69a52", "#e66a54", "#c13f6b", "#8b2a7b", "#4f1d72"];

const MARGIN: f64 = 18.0;

/// The picture as the text of an SVG file.
pub fn svg(drawing: &Drawing) -> String {
    let sheet = Sheet::around(drawing);
    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0} {h:.0}" width="{w:.0}" height="{h:.0}" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif">"#,
        w = sheet.width,
        h = sheet.height
    );
    let title = escape(&drawing.title);
    let _ = writeln!(
        out,
        r##"<title>{title}</title><rect width="100%" height="100%" fill="#f4f1ea"/>"##
    );
    let _ = writeln!(
        out,
        r#"<clipPath id="map"><rect width="{:.0}" height="{:.0}"/></clipPath><g clip-path="url(#map)" stroke-linejoin="round" stroke-linecap="round">"#,
        sheet.width, sheet.height
    );
    draw_scenery(&mut out, &sheet, &drawing.scenery);
    draw_streets(&mut out, &sheet, drawing.streets);
    draw_railways(&mut out, &sheet, &drawing.scenery.railways);
    if drawing.one_way_arrows {
        draw_arrows(&mut out, &sheet, drawing.streets);
    }
    draw_places(&mut out, &sheet, &drawing.places);
    draw_targets(&mut out, &sheet, &drawing.targets);
    out.push_str("</g>\n");
    draw_frame(&mut out, &sheet, &title, drawing);
    out.push_str("</svg>\n");
    out
}

/// A position on the sheet in pixels.
type Pixel = (f64, f64);

/// Where coordinates come to lie: equirectangular around the middle of the map.
struct Sheet {
    width: f64,
    height: f64,
    north_west: Coord,
    per_lat: f64,
    per_lon: f64,
    per_km: f64,
}

impl Sheet {
    fn around(drawing: &Drawing) -> Self {
        let streets = drawing.streets.nodes.iter().copied();
        let places = drawing.places.iter().map(|p| p.at);
        let shown = streets.chain(places).chain(drawing.targets.iter().map(|t| t.at));
        let sides = BoundingBox::around(shown).map_or([0.0, 0.0, 0.01, 0.01], |b| b.to_array());
        let [south, west, north, east] = sides;
        let shrink = ((south + north) / 2.0).to_radians().cos().max(1e-6);
        let km_per_degree = (lrgeo_geo::EARTH_RADIUS_KM).to_radians();
        let wide_km = ((east - west) * shrink * km_per_degree).max(0.05);
        let tall_km = ((north - south) * km_per_degree).max(0.05);
        // A map much taller than wide is made to fit a screen instead.
        let width = drawing.width_px.clamp(200.0, 20_000.0);
        let per_km = ((width - 2.0 * MARGIN) / wide_km).min(2.0 * width / tall_km);
        let per_lat = per_km * km_per_degree;
        let margin_lat = MARGIN / per_lat;
        let margin_lon = (width / per_km - wide_km) / 2.0 / (shrink * km_per_degree);
        let corner = Coord::new((north + margin_lat).min(90.0), (west - margin_lon).max(-180.0));
        Self {
            width,
            height: tall_km * per_km + 2.0 * MARGIN,
            north_west: corner.expect("clamped into range"),
            per_lat,
            per_lon: per_lat * shrink,
            per_km,
        }
    }

    fn pixel(&self, at: Coord) -> Pixel {
        (
            (at.lon() - self.north_west.lon()) * self.per_lon,
            (self.north_west.lat() - at.lat()) * self.per_lat,
        )
    }

    /// Appends "Mx y" and "Lx y ..." for the points, without repeating a position.
    fn path(&self, out: &mut String, points: impl Iterator<Item = Coord>) {
        let mut last = None;
        for (k, at) in points.enumerate() {
            let (x, y) = self.pixel(at);
            let position = ((x * 10.0).round() as i64, (y * 10.0).round() as i64);
            if last.replace(position) == Some(position) {
                continue;
            }
            out.push(if k == 0 { 'M' } else { 'L' });
            let _ = write!(out, "{} {}", tenths(position.0), tenths(position.1));
        }
    }
}

/// A number of tenths with at most one decimal.
fn tenths(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    match (value.abs() / 10, value.abs() % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (whole, tenth) => format!("{sign}{whole}.{tenth}"),
    }
}

fn draw_scenery(out: &mut String, sheet: &Sheet, scenery: &Scenery) {
    let layers: [(&Vec<Vec<Coord>>, &str, &str); 6] = [
        (&scenery.built_up, "#e9e4da", "none"),
        (&scenery.grounds, "#e6e3df", "#d3cfc8"),
        (&scenery.greens, "#cfe4bd", "#b5d19f"),
        (&scenery.runways, "#b9b7b5", "#a5a3a1"),
        (&scenery.squares, "#f3dfc4", "#dcc39e"),
        (&scenery.water, "#a9d0e6", "#85b5d1"),
    ];
    for (polygons, fill, edge) in layers {
        if polygons.iter().all(Vec::is_empty) {
            continue;
        }
        let _ = write!(out, r#"<path fill="{fill}" stroke="{edge}" stroke-width="1" d=""#);
        for polygon in polygons {
            sheet.path(out, polygon.iter().copied());
            out.push('Z');
        }
        out.push_str("\"/>\n");
    }
}

fn draw_railways(out: &mut String, sheet: &Sheet, railways: &[Vec<Coord>]) {
    for line in railways {
        let mut path = String::new();
        sheet.path(&mut path, line.iter().copied());
        let _ = writeln!(
            out,
            r##"<path fill="none" stroke="#77726b" stroke-width="3" stroke-linecap="butt" d="{path}"/>"##
        );
        let _ = writeln!(
            out,
            r##"<path fill="none" stroke="#ffffff" stroke-width="1.6" stroke-dasharray="7 7" stroke-linecap="butt" d="{path}"/>"##
        );
    }
}

/// Dots by colour: a line of no length with round ends is the shortest way to write a dot.
fn draw_places(out: &mut String, sheet: &Sheet, places: &[Dot]) {
    let top = places.iter().map(|p| p.prior).fold(0.0, f64::max);
    let mut dots: [String; PRIOR_COLOURS.len()] = Default::default();
    for place in places {
        let share = if top > 0.0 { (place.prior / top).clamp(0.0, 1.0) } else { 0.0 };
        // The square root spreads the many small priors over the colours.
        let colour = (share.sqrt() * PRIOR_COLOURS.len() as f64) as usize;
        let (x, y) = sheet.pixel(place.at);
        let _ = write!(dots[colour.min(PRIOR_COLOURS.len() - 1)], "M{x:.1} {y:.1}h0");
    }
    let spacing = (sheet.width * sheet.height / places.len().max(1) as f64).sqrt();
    let size = (spacing * 0.3).clamp(2.0, 8.0);
    for (path, colour) in dots.iter().zip(PRIOR_COLOURS).filter(|(path, _)| !path.is_empty()) {
        let _ = writeln!(
            out,
            r##"<path stroke="#3b2a45" stroke-opacity=".55" stroke-width="{:.1}" d="{path}"/>"##,
            size + 1.0
        );
        let _ = writeln!(out, r#"<path stroke="{colour}" stroke-width="{size:.1}" d="{path}"/>"#);
    }
}

/// Markers, heaviest first; a name is written where it covers no other name.
fn draw_targets(out: &mut String, sheet: &Sheet, targets: &[Marker]) {
    let top = targets.iter().map(|t| t.weight).fold(0.0, f64::max);
    let mut order: Vec<&Marker> = targets.iter().collect();
    order.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let radius = |t: &Marker| {
        3.0 + 3.5 * if top > 0.0 { (t.weight / top).clamp(0.0, 1.0).sqrt() } else { 0.0 }
    };
    let mut covered: Vec<[f64; 4]> = Vec::new();
    for target in &order {
        let ((x, y), r) = (sheet.pixel(target.at), radius(target));
        covered.push([x - r, y - r, x + r, y + r]);
        let name = escape(&target.name);
        let _ = writeln!(
            out,
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="{r:.1}" fill="#c8102e" stroke="#fff" stroke-width="1.5"><title>{name}</title></circle>"##
        );
    }
    out.push_str(r##"<g font-size="11.5" font-weight="600" fill="#46121c" stroke="#fff" stroke-width="3" stroke-opacity=".85" paint-order="stroke">"##);
    out.push('\n');
    for target in order.iter().filter(|t| !t.name.is_empty()) {
        let ((x, y), r) = (sheet.pixel(target.at), radius(target));
        let wide = 6.4 * target.name.chars().count() as f64;
        let spots = [
            (x + r + 4.0, y + 4.0),
            (x - r - 4.0 - wide, y + 4.0),
            (x - wide / 2.0, y - r - 5.0),
            (x - wide / 2.0, y + r + 13.0),
        ];
        let free = spots.into_iter().find(|&(left, base)| {
            let label = [left, base - 10.0, left + wide, base + 3.0];
            let on_sheet = left > 2.0
                && left + wide < sheet.width - 2.0
                && base > 12.0
                && base < sheet.height - 4.0;
            let overlaps = |c: &[f64; 4]| {
                label[0] < c[2] && c[0] < label[2] && label[1] < c[3] && c[1] < label[3]
            };
            on_sheet && !covered.iter().any(overlaps)
        });
        if let Some((left, base)) = free {
            covered.push([left, base - 10.0, left + wide, base + 3.0]);
            let _ = writeln!(
                out,
                r#"<text x="{left:.1}" y="{base:.1}">{}</text>"#,
                escape(&target.name)
            );
        }
    }
    out.push_str("</g>\n");
}

/// Title, counts, scale bar and, with places, the colours of the prior.
fn draw_frame(out: &mut String, sheet: &Sheet, title: &str, drawing: &Drawing) {
    let streets = drawing.streets;
    let mut counts = format!("{} street nodes, {} arcs", streets.nodes.len(), streets.arcs.len());
    for (count, what) in [(drawing.places.len(), "places"), (drawing.targets.len(), "targets")] {
        if count > 0 {
            let _ = write!(counts, ", {count} {what}");
        }
    }
    let wide = (12.0 * title.chars().count() as f64).max(6.6 * counts.len() as f64) + 28.0;
    let _ = writeln!(
        out,
        r##"<rect x="12" y="12" width="{wide:.0}" height="56" rx="6" fill="#fff" fill-opacity=".88"/><text x="26" y="38" font-size="20" font-weight="700" fill="#2b2a28">{title}</text><text x="26" y="57" font-size="12" fill="#5d5a55">{counts}</text>"##
    );
    let (km, label) = scale_bar(sheet.width * 0.18 / sheet.per_km);
    let (bar, base) = (km * sheet.per_km, sheet.height - 26.0);
    let _ = writeln!(
        out,
        r##"<rect x="12" y="{:.1}" width="{:.1}" height="36" rx="6" fill="#fff" fill-opacity=".88"/><path d="M24 {:.1}v6h{bar:.1}v-6" fill="none" stroke="#2b2a28" stroke-width="1.6"/><text x="{:.1}" y="{:.1}" font-size="12" text-anchor="middle" fill="#2b2a28">{label}</text>"##,
        base - 22.0,
        bar + 24.0,
        base - 1.0,
        24.0 + bar / 2.0,
        base - 5.0
    );
    if !drawing.places.is_empty() {
        let left = 24.0 + bar + 28.0;
        let _ = writeln!(
            out,
            r##"<rect x="{:.1}" y="{:.1}" width="196" height="36" rx="6" fill="#fff" fill-opacity=".88"/>"##,
            left - 10.0,
            base - 22.0
        );
        let _ = writeln!(
            out,
            r##"<text x="{left:.1}" y="{:.1}" font-size="12" fill="#2b2a28">prior: low</text>"##,
            base
        );
        for (k, colour) in PRIOR_COLOURS.iter().enumerate() {
            let _ = writeln!(
                out,
                r##"<circle cx="{:.1}" cy="{:.1}" r="4" fill="{colour}" stroke="#3b2a45" stroke-opacity=".5"/>"##,
                left + 68.0 + 12.0 * k as f64,
                base - 4.0
            );
        }
        let _ = writeln!(
            out,
            r##"<text x="{:.1}" y="{:.1}" font-size="12" fill="#2b2a28">high</text>"##,
            left + 154.0,
            base
        );
    }
}

/// The longest of 1, 2, 5 times a power of ten that is no longer than `limit_km`, and its label.
fn scale_bar(limit_km: f64) -> (f64, String) {
    let mut km = 0.001;
    for power in 0..8 {
        for step in [1.0, 2.0, 5.0] {
            let candidate = step * 10f64.powi(power - 3);
            if candidate <= limit_km {
                km = candidate;
            }
        }
    }
    let label = if km < 1.0 { format!("{:.0} m", km * 1000.0) } else { format!("{km:.0} km") };
    (km, label)
}

/// Text as it may stand in XML.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
