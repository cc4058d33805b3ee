//! Values of places as a map: equirectangular around its middle, coloured in round classes.

use std::fmt::Write;

use lrgeo_geo::EARTH_RADIUS_KM;

use super::classes::{Class, Classes};
use super::html::Text;
use super::scale::round_step;
use super::{Picture, number};

const WIDTH: f64 = 460.0;
const TALLEST: f64 = 520.0;
const MARGIN: f64 = 16.0;
/// Room below the map for the scale bar and the colours.
const FOOT: f64 = 92.0;

/// The map and what its colours mean.
pub(super) fn draw(out: &mut String, picture: &Picture) {
    let Some(sheet) = Sheet::around(&picture.places) else {
        out.push_str("<p class=\"nothing\">There are no places to draw.</p>\n");
        return;
    };
    let values = || picture.values.iter().copied().chain(std::iter::repeat(f64::NAN));
    let classes = Classes::of(&picture.values);
    let (id, title) = (Text(&picture.id), Text(&picture.title));
    let _ = write!(
        out,
        "<figure>\n<svg class=\"map\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{title}</title>\n\
         <desc id=\"{id}-desc\">{} of {} places on a map.</desc>\n",
        sheet.height + FOOT,
        Text(&picture.label),
        picture.places.len()
    );
    // One path per colour keeps maps of thousands of places small.
    let mut paths: Vec<(Class, String)> = Vec::new();
    for (&place, value) in picture.places.iter().zip(values()) {
        let (Some(at), class) = (sheet.pixel(place), classes.class(value)) else { continue };
        let known = paths.iter().position(|(other, _)| *other == class).unwrap_or_else(|| {
            paths.push((class, String::new()));
            paths.len() - 1
        });
        sheet.draw_place(&mut paths[known].1, at);
    }
    paths.sort_by_key(|(class, _)| *class);
    for (class, path) in &paths {
        let _ = writeln!(out, "<path class=\"{}\" d=\"{path}\"/>", class.style());
    }
    let marked = picture.marked.and_then(|marked| {
        let at = sheet.pixel(*picture.places.get(marked.index())?)?;
        Some((at, values().nth(marked.index())?))
    });
    if let Some(((x, y), value)) = marked {
        let r = (sheet.side * 0.71 + 3.0).max(8.0);
        let _ = writeln!(
            out,
            "<circle class=\"halo\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/>\
             <circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\">\
             <title>The marked place: {}</title></circle>",
            number::value(value)
        );
    }
    sheet.draw_scale_bar(out);
    draw_legend(out, &classes, sheet.height + 46.0, &paths);
    let ring = if marked.is_some() { " The ring marks the place it is about." } else { "" };
    let _ = writeln!(
        out,
        "</svg>\n<figcaption>Colours: {}{}.{ring}</figcaption>\n</figure>",
        Text(&picture.label),
        if classes.log { " (logarithmic)" } else { "" }
    );
}

/// Where coordinates come to lie, in pixels.
struct Sheet {
    /// Of the map without its foot.
    height: f64,
    middle: [f64; 2],
    per_km: f64,
    km_per_lat: f64,
    km_per_lon: f64,
    /// How wide a place is drawn.
    side: f64,
    square: bool,
}

impl Sheet {
    fn around(places: &[[f64; 2]]) -> Option<Self> {
        let places: Vec<[f64; 2]> = places.iter().copied().filter(known).collect();
        let range = |axis: usize| {
            let values = || places.iter().map(|place| place[axis]);
            let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
            Some((low / 2.0 + high / 2.0, high - low))
        };
        let ((lat, tall), (lon, wide)) = (range(0)?, range(1)?);
        let km_per_lat = EARTH_RADIUS_KM.to_radians();
        let km_per_lon = km_per_lat * lat.to_radians().cos().max(1e-3);
        let (wide_km, tall_km) = (wide * km_per_lon, tall * km_per_lat);
        let mut sheet = Self {
            height: 0.0,
            middle: [lat, lon],
            per_km: 1.0,
            km_per_lat,
            km_per_lon,
            side: 0.0,
            square: false,
        };
        let (spacing_km, square) = sheet.spacing_km(&places);
        // Half a place more on every side; a single place gets a map of 200 m.
        let (wide_km, tall_km) = ((wide_km + spacing_km).max(0.2), (tall_km + spacing_km).max(0.2));
        let room = WIDTH - 2.0 * MARGIN;
        sheet.per_km = (room / wide_km).min((TALLEST - 2.0 * MARGIN) / tall_km);
        sheet.height = tall_km * sheet.per_km + 2.0 * MARGIN;
        sheet.square = square;
        sheet.side = (spacing_km * sheet.per_km * if square { 0.94 } else { 0.9 }).clamp(2.5, 26.0);
        Some(sheet)
    }

    /// The middle distance from a place to the next one, and whether that is nearly always straight
    /// north, south, east or west: a grid.
    fn spacing_km(&self, places: &[[f64; 2]]) -> (f64, bool) {
        const SAMPLE: usize = 150;
        let apart = |a: &[f64; 2], b: &[f64; 2]| {
            let (north, east) = ((a[0] - b[0]) * self.km_per_lat, (a[1] - b[1]) * self.km_per_lon);
            (north.hypot(east), north.abs().min(east.abs()))
        };
        let mut nearest: Vec<(f64, f64)> = places
            .iter()
            .step_by(places.len().div_ceil(SAMPLE).max(1))
            .filter_map(|a| {
                let others = places.iter().map(|b| apart(a, b)).filter(|(km, _)| *km > 1e-6);
                others.min_by(|a, b| a.0.total_cmp(&b.0))
            })
            .collect();
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
        let straight = nearest.iter().filter(|(km, aside)| *aside < 0.1 * km).count();
        let middle = nearest.get(nearest.len() / 2).map_or(0.0, |(km, _)| *km);
        (middle, straight * 10 > nearest.len() * 9)
    }

    fn pixel(&self, place: [f64; 2]) -> Option<(f64, f64)> {
        known(&place).then(|| {
            let east = (place[1] - self.middle[1]) * self.km_per_lon;
            let south = (self.middle[0] - place[0]) * self.km_per_lat;
            (WIDTH / 2.0 + east * self.per_km, self.height / 2.0 + south * self.per_km)
        })
    }

    fn draw_place(&self, path: &mut String, (x, y): (f64, f64)) {
        let (s, r) = (self.side, self.side / 2.0);
        let _ = if self.square {
            write!(path, "M{:.1} {:.1}h{s:.1}v{s:.1}h-{s:.1}z", x - r, y - r)
        } else {
            write!(
                path,
                "M{:.1} {y:.1}a{r:.1} {r:.1} 0 1 0 {s:.1} 0a{r:.1} {r:.1} 0 1 0 -{s:.1} 0z",
                x - r
            )
        };
    }

    fn draw_scale_bar(&self, out: &mut String) {
        let km = round_step(WIDTH / 12.0 / self.per_km);
        let (x, y, long) = (MARGIN, self.height + 8.0, km * self.per_km);
        let label = if km < 1.0 {
            format!("{} m", number::short(km * 1000.0))
        } else {
            format!("{} km", number::short(km))
        };
        let _ = writeln!(
            out,
            "<path class=\"scale-bar\" d=\"M{x} {a:.1}v8h{long:.1}v-8\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
            x + long + 8.0,
            y + 5.0,
            a = y - 4.0
        );
    }
}

fn known(place: &[f64; 2]) -> bool {
    place[0].abs() <= 90.0 && place[1].abs() <= 360.0
}

/// The colours with their edges, in a row.
fn draw_legend(out: &mut String, classes: &Classes, y: f64, drawn: &[(Class, String)]) {
    let bins = classes.edges.len() - 1;
    let mut x = MARGIN;
    for (class, name) in [(Class::Unknown, "none"), (Class::Nothing, "0")] {
        if drawn.iter().any(|(other, _)| *other == class) {
            let style = class.style();
            let _ = writeln!(
                out,
                "<rect class=\"{style}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"16\" height=\"14\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
                x + 8.0,
                y + 30.0
            );
            x += 36.0;
        }
    }
    let mut labels: Vec<String> = classes.edges.iter().map(|&edge| number::short(edge)).collect();
    if classes.cut {
        labels[0] = "less".into();
    }
    let widest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(1) as f64;
    // Half a label hangs over at either end.
    let (from, to) = (x + widest * 3.0, WIDTH - MARGIN - widest * 3.0);
    let wide = (to - from) / bins as f64;
    for bin in 0..bins {
        let style = Class::Colour(classes.colour(bin)).style();
        let _ = writeln!(
            out,
            "<rect class=\"{style}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"14\"/>",
            from + bin as f64 * wide
        );
    }
    let every = (widest * 7.0 / wide).ceil().max(1.0) as usize;
    for (edge, label) in labels.iter().enumerate().rev().step_by(every) {
        let _ = writeln!(
            out,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            from + edge as f64 * wide,
            y + 30.0
        );
    }
}
