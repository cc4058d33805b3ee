use std::collections::BTreeSet;

use super::lines::chains;
use super::*;
use crate::demo::demo_city;

fn at(lat: f64, lon: f64) -> Coord {
    Coord::new(lat, lon).expect("in range")
}

/// Every tag is closed by its own name, in order.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closing tag");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().expect("a tag has a name"));
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

fn cross() -> Streets {
    let nodes =
        vec![at(50.0, 10.0), at(50.01, 10.0), at(49.99, 10.0), at(50.0, 10.01), at(50.0, 9.99)];
    let mut streets = Streets { nodes, arcs: Vec::new() };
    for k in 1..5 {
        streets.add(0, k, 1.2, 40.0, k == 1);
    }
    streets
}

#[test]
fn a_city_with_all_layers_is_a_small_well_formed_file() {
    let city = demo_city(1);
    let mut drawing = Drawing::new("Demo city", &city.streets);
    drawing.scenery = city.scenery.clone();
    drawing.one_way_arrows = true;
    drawing.places = city
        .streets
        .nodes
        .iter()
        .step_by(7)
        .map(|&at| Dot { at, prior: city.demand.weight(at) })
        .collect();
    let targets = city.demand.targets.iter();
    drawing.targets =
        targets.map(|t| Marker { at: t.at, name: t.name.into(), weight: t.weight }).collect();
    let picture = svg(&drawing);
    assert_well_formed(&picture);
    assert!(picture.len() < 300_000, "{} bytes", picture.len());
    assert!(!picture.contains("NaN") && !picture.contains("inf"));
    for name in ["lanes", "streets", "avenues", "arterials", "fast-roads"] {
        assert_eq!(picture.matches(&format!("<path id=\"{name}\"")).count(), 1);
    }
    assert_eq!(picture.matches("<circle").count(), drawing.targets.len() + PRIOR_COLOURS.len());
}

#[test]
fn streets_alone_are_enough() {
    let streets = cross();
    let picture = svg(&Drawing::new("Imported", &streets));
    assert_well_formed(&picture);
    assert!(picture.contains("<path id=\"streets\""));
    assert!(!picture.contains("prior"));
}

#[test]
fn nothing_to_draw_and_a_single_node_are_fine() {
    let mut streets = Streets::default();
    assert_well_formed(&svg(&Drawing::new("Empty", &streets)));
    streets.nodes.push(at(90.0, -180.0));
    let picture = svg(&Drawing::new("Pole", &streets));
    assert_well_formed(&picture);
    assert!(!picture.contains("NaN") && !picture.contains("inf"));
}

#[test]
fn names_cannot_break_the_file() {
    let streets = cross();
    let mut drawing = Drawing::new("<script>\"&'\u{0}", &streets);
    drawing.targets.push(Marker { at: at(50.0, 10.0), name: "A<B & \"C\"".into(), weight: 1.0 });
    let picture = svg(&drawing);
    assert_well_formed(&picture);
    assert!(picture.contains("A&lt;B &amp; &quot;C&quot;"));
    assert!(!picture.contains("<script") && !picture.contains('\u{0}'));
}

#[test]
fn chains_draw_every_link_once() {
    let city = demo_city(3);
    let links: BTreeSet<(u32, u32)> =
        city.streets.arcs.iter().map(|a| (a.from.min(a.to), a.from.max(a.to))).collect();
    let links: Vec<(u32, u32)> = links.into_iter().collect();
    let lines = chains(&links);
    let mut drawn: Vec<(u32, u32)> = lines
        .iter()
        .flat_map(|line| line.windows(2))
        .map(|w| (w[0].min(w[1]), w[0].max(w[1])))
        .collect();
    drawn.sort_unstable();
    assert_eq!(drawn, links);
    assert!(2 * lines.len() < links.len(), "{} lines for {} links", lines.len(), links.len());
}

#[test]
fn only_one_way_streets_get_arrows() {
    let streets = cross();
    let mut drawing = Drawing::new("", &streets);
    drawing.one_way_arrows = true;
    let arrows = svg(&drawing);
    let path = arrows.lines().find(|l| l.contains("#8fa3bf")).expect("an arrow layer");
    assert_eq!(path.matches('M').count(), 1);
}

#[test]
fn scale_bars_are_round_and_fit() {
    assert_eq!(scale_bar(0.6), (0.5, "500 m".into()));
    assert_eq!(scale_bar(2.4), (2.0, "2 km".into()));
    assert_eq!(scale_bar(99.0), (50.0, "50 km".into()));
}

#[test]
fn numbers_have_at_most_one_decimal() {
    assert_eq!([tenths(120), tenths(-7), tenths(-123), tenths(0)], ["12", "-0.7", "-12.3", "0"]);
}
