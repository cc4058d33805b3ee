//! The streets of a picture: classes, lines from node to node, one-way arrows.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Sheet;
use lrgeo_map::streets::Streets;

/// How streets of one class look; the class is known by its speed.
struct Style {
    name: &'static str,
    /// Slowest speed of the class in km/h.
    from_kmh: f64,
    /// Width on the ground in metres, wider than in truth so that it can be seen.
    metres: f64,
    /// Narrowest and widest line in pixels.
    pixels: (f64, f64),
    fill: &'static str,
    casing: &'static str,
}

/// Slow streets first: fast ones are drawn over them.
const STYLES: [Style; 5] = [
    Style {
        name: "lanes",
        from_kmh: 0.0,
        metres: 13.0,
        pixels: (0.5, 4.0),
        fill: "#ffffff",
        casing: "#c9c3b8",
    },
    Style {
        name: "streets",
        from_kmh: 35.0,
        metres: 15.0,
        pixels: (0.6, 4.5),
        fill: "#ffffff",
        casing: "#bdb6a9",
    },
    Style {
        name: "avenues",
        from_kmh: 45.0,
        metres: 24.0,
        pixels: (1.0, 6.5),
        fill: "#fdeeb5",
        casing: "#c8ac63",
    },
    Style {
        name: "arterials",
        from_kmh: 55.0,
        metres: 31.0,
        pixels: (1.4, 8.0),
        fill: "#fbd48b",
        casing: "#bf9143",
    },
    Style {
        name: "fast roads",
        from_kmh: 70.0,
        metres: 34.0,
        pixels: (1.7, 9.0),
        fill: "#f2a57c",
        casing: "#b4623b",
    },
];

/// The streets of each class, both directions once, chained into as few lines as possible.
pub(super) fn draw_streets(out: &mut String, sheet: &Sheet, streets: &Streets) {
    let mut classes: [Vec<(u32, u32)>; STYLES.len()] = Default::default();
    for arc in &streets.arcs {
        let class = STYLES.iter().rposition(|style| arc.speed_kmh >= style.from_kmh).unwrap_or(0);
        if arc.from != arc.to {
            classes[class].push((arc.from.min(arc.to), arc.from.max(arc.to)));
        }
    }
    let paths: Vec<String> = classes
        .into_iter()
        .map(|mut links| {
            links.sort_unstable();
            links.dedup();
            let mut path = String::new();
            for chain in chains(&links) {
                sheet.path(&mut path, chain.iter().map(|&k| streets.nodes[k as usize]));
            }
            path
        })
        .collect();
    // All casings first: a crossing is open, whatever crosses.
    for casing in [true, false] {
        for (style, path) in STYLES.iter().zip(&paths).filter(|(_, path)| !path.is_empty()) {
            let width = sheet.line(style);
            let edge = (width * 0.28).clamp(0.3, 1.0);
            // Thin lines are all casing: white on a light ground would vanish.
            let (colour, width) = match (casing, width < 1.1) {
                (true, true) if style.fill == "#ffffff" => ("#a8a194", width),
                (true, _) => (style.casing, width + 2.0 * edge),
                (false, true) if style.fill == "#ffffff" => continue,
                (false, _) => (style.fill, width),
            };
            let id = style.name.replace(' ', "-");
            if casing {
                let _ = writeln!(out, r#"<defs><path id="{id}" fill="none" d="{path}"/></defs>"#);
            }
            let _ = writeln!(
                out,
                r##"<use href="#{id}" stroke="{colour}" stroke-width="{width:.2}"/>"##
            );
        }
    }
}

impl Sheet {
    /// The width of a street's line in pixels.
    fn line(&self, style: &Style) -> f64 {
        (style.metres / 1000.0 * self.per_km).clamp(style.pixels.0, style.pixels.1)
    }
}

/// Covers the links with lines that follow each other from node to node.
pub(super) fn chains(links: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut at: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (k, &(a, b)) in links.iter().enumerate() {
        at.entry(a).or_default().push(k);
        at.entry(b).or_default().push(k);
    }
    let mut drawn = vec![false; links.len()];
    let follow = |mut node: u32, drawn: &mut Vec<bool>| {
        let mut chain = vec![node];
        while let Some(&k) = at[&node].iter().find(|&&k| !drawn[k]) {
            drawn[k] = true;
            let (a, b) = links[k];
            node = if a == node { b } else { a };
            chain.push(node);
        }
        chain
    };
    let mut lines = Vec::new();
    // Lines start at ends and odd crossings first, so that few are needed.
    for parity in [1, 0] {
        for (&node, here) in &at {
            while here.len() % 2 == parity && here.iter().any(|&k| !drawn[k]) {
                lines.push(follow(node, &mut drawn));
                if parity == 1 {
                    break;
                }
            }
        }
    }
    for k in 0..links.len() {
        if !drawn[k] {
            lines.push(follow(links[k].0, &mut drawn));
        }
    }
    lines
}

/// A chevron in the middle of every one-way link that is long enough to carry one.
pub(super) fn draw_arrows(out: &mut String, sheet: &Sheet, streets: &Streets) {
    let mut both: Vec<(u32, u32)> = streets.arcs.iter().map(|arc| (arc.to, arc.from)).collect();
    both.sort_unstable();
    let mut path = String::new();
    for arc in streets.arcs.iter().filter(|arc| both.binary_search(&(arc.from, arc.to)).is_err()) {
        let (a, b) = (
            sheet.pixel(streets.nodes[arc.from as usize]),
            sheet.pixel(streets.nodes[arc.to as usize]),
        );
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = (dx * dx + dy * dy).sqrt();
        if length < 7.0 {
            continue;
        }
        let (dx, dy) = (dx / length * 1.8, dy / length * 1.8);
        let (x, y) = ((a.0 + b.0) / 2.0 + dx / 2.0, (a.1 + b.1) / 2.0 + dy / 2.0);
        let (left, right) = ((x - dx - dy, y - dy + dx), (x - dx + dy, y - dy - dx));
        let _ = write!(
            path,
            "M{:.1} {:.1}L{x:.1} {y:.1}L{:.1} {:.1}",
            left.0, left.1, right.0, right.1
        );
    }
    if !path.is_empty() {
        let _ =
            writeln!(out, r##"<path fill="none" stroke="#8fa3bf" stroke-width=".7" d="{path}"/>"##);
    }
}
