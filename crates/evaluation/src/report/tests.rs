//! The page is whole, stands alone and shows the numbers; odd data neither break it nor vanish.

use super::*;
use lrgeo_geo::PlaceId;

fn axis(label: &str, log: bool) -> Axis {
    Axis::new(label, log)
}

fn point(x: f64, values: &[f64]) -> Point {
    Point { x, values: values.to_vec(), paper: None, note: None }
}

fn figure(id: &str, shown: Shown, log: bool, points: Vec<Point>) -> Figure {
    Figure {
        id: id.into(),
        title: format!("The title of {id}"),
        about: "What was done.".into(),
        x: axis("places K", log),
        y: axis("cost, km", log),
        series: vec![Series { name: "LR-Geo".into(), points }],
        shown,
        flags: Vec::new(),
    }
}

fn picture(places: Vec<[f64; 2]>, values: Vec<f64>, marked: Option<PlaceId>) -> Picture {
    let (id, title, label) = ("where".into(), "Where reports go".into(), "probability".into());
    Picture { id, title, label, places, values, marked }
}

fn grid(side: u32) -> Vec<[f64; 2]> {
    let place = |i: u32| [41.9 + f64::from(i / side) * 0.0042, 12.4 + f64::from(i % side) * 0.0057];
    (0..side * side).map(place).collect()
}

fn sample() -> Report {
    let mut table = figure(
        "table-2",
        Shown::Table,
        false,
        vec![point(100.0, &[0.351, 0.353]), point(200.0, &[]), point(300.0, &[0.4217])],
    );
    table.series[0].points[0].paper = Some("0.36±0.04".into());
    table.series[0].points[1].note = Some("over 1,800 s".into());
    table.flags = vec!["violates Geo-Ind between 3 pairs".into()];
    let plot = figure(
        "scale",
        Shown::Plot,
        true,
        vec![point(100.0, &[0.012, 0.017]), point(1600.0, &[17.0, 19.0])],
    );
    Report {
        verdict: vec!["Holds: one <thing>. Here 1.".into()],
        title: "A report".into(),
        settings: vec![("seed".into(), "4711".into())],
        figures: vec![table, plot],
        pictures: vec![picture(
            grid(6),
            (0..36).map(|i| 0.5f64.powi(i)).collect(),
            Some(PlaceId::new(7)),
        )],
    }
}

/// Panics unless every tag that is opened is closed in turn, and every attribute is quoted.
fn assert_well_formed(page: &str) {
    let body = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    let style = body.find("<style>").unwrap()..body.find("</style>").unwrap();
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(from) = body[at..].find('<').map(|found| at + found) {
        let to = from + body[from..].find('>').expect("every tag ends");
        let tag = &body[from + 1..to];
        assert!(!tag.contains('<'), "{tag}");
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap();
        assert!(!name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()), "{tag}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closed in turn");
        } else if !tag.ends_with('/') && !["meta", "link"].contains(&name) {
            open.push(name);
        }
        at = if name == "style" && !tag.starts_with('/') { style.end } else { to + 1 };
    }
    assert!(open.is_empty(), "still open: {open:?}");
}

/// Panics if the page is broken, or if a drawing has a coordinate that is no number.
fn assert_sound(report: &Report) -> String {
    let page = report.html();
    assert_well_formed(&page);
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    page
}

#[test]
fn the_page_is_whole_and_stands_alone() {
    let page = assert_sound(&sample());
    for reference in ["http:", "https:", "src=", "url(", "@import", "<script", "<img", "<iframe"] {
        assert!(!page.contains(reference), "{reference}");
    }
    for link in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let local = ["#", "data/", "report.json", "data:,"];
        assert!(local.iter().any(|start| link.starts_with(start)), "{link}");
        if let Some(anchor) = link.strip_prefix('#') {
            assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor} is nowhere");
        }
    }
}

#[test]
fn numbers_papers_notes_settings_and_flags_are_shown() {
    let page = assert_sound(&sample());
    for text in [
        "Of 1 claims of the paper that this run decides, 1 hold, 0 hold in part and 0 do not.",
        "<span class=\"mean\">0.3520</span><span class=\"spread\">± 0.0028</span>",
        "<span class=\"paper\">paper 0.36±0.04</span>",
        "<span class=\"mean\">—</span></span><span class=\"note\">over 1,800 s</span>",
        "<span class=\"mean\">0.4217</span>",
        "LR-Geo at 100: 0.0145 ± 0.0069",
        "LR-Geo at 1600: 18.0 ± 2.8",
        "<th scope=\"row\">seed</th><td>4711</td>",
        "of 1 to 2 repeats",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("violates Geo-Ind between 3 pairs").count(), 2, "at the top and above");
    assert!(!page.contains("No figure of this report is flagged"));
    let mut calm = sample();
    calm.figures[0].flags.clear();
    assert!(calm.html().contains("No figure of this report is flagged"));
}

#[test]
fn other_numbers_make_another_page() {
    let page = sample().html();
    assert_eq!(page, sample().html());
    let changed = |change: &dyn Fn(&mut Report)| {
        let mut report = sample();
        change(&mut report);
        report.html()
    };
    assert_ne!(page, changed(&|report| report.figures[0].series[0].points[0].values[0] += 0.01));
    assert_ne!(page, changed(&|report| report.figures[1].series[0].points[1].values[1] *= 2.0));
    assert_ne!(page, changed(&|report| report.pictures[0].values.swap(0, 30)));
    assert_ne!(page, changed(&|report| report.pictures[0].marked = Some(PlaceId::new(8))));
}

#[test]
fn text_is_escaped() {
    let nasty = "<b>&\"'</b><script>";
    let mut report = sample();
    report.title = nasty.into();
    report.settings.push((nasty.into(), nasty.into()));
    for figure in &mut report.figures {
        figure.flags.push(nasty.into());
        for text in [&mut figure.title, &mut figure.about, &mut figure.x.label, &mut figure.y.label]
        {
            *text = nasty.into();
        }
        figure.series[0].name = nasty.into();
        figure.series[0].points[0].paper = Some(nasty.into());
        figure.series[0].points[0].note = Some(nasty.into());
    }
    report.pictures[0].title = nasty.into();
    report.pictures[0].label = nasty.into();
    let page = assert_sound(&report);
    assert!(page.contains("<h1>&lt;b&gt;&amp;&quot;&#39;&lt;/b&gt;&lt;script&gt;</h1>"));
    assert!(!page.contains("<b>") && !page.contains("<script>"));
}

#[test]
fn what_has_no_logarithm_lies_on_the_edge_and_is_explained() {
    let zeros = vec![point(0.0, &[1.0, 2.0]), point(10.0, &[0.0, 0.0]), point(20.0, &[-3.0, 4.0])];
    let mut report = sample();
    report.figures = vec![figure("zeros", Shown::Plot, true, zeros)];
    assert!(assert_sound(&report).contains("stand for values of zero or below"));
    assert!(!assert_sound(&sample()).contains("stand for values of zero or below"));
    let none = vec![point(0.0, &[0.0]), point(-1.0, &[-2.0])];
    report.figures = vec![figure("none", Shown::Plot, true, none)];
    assert_sound(&report);
}

/// 0.5 and 1 have the mean 0.75 and a spread of 0.69: of shares, nothing is drawn or labelled above one.
#[test]
fn bars_of_shares_end_at_one() {
    let of = |share: bool| {
        let mut figure = figure("share", Shown::Plot, false, vec![point(1.0, &[0.5, 1.0])]);
        figure.y = Axis { share, ..figure.y };
        html::page(&Report { figures: vec![figure], ..sample() })
    };
    let above = ">1.2<";
    assert!(of(false).contains(above) && !of(true).contains(above));
}

#[test]
fn nothing_and_nonsense_are_drawn_as_a_dash() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, -0.0];
    let points: Vec<Point> = odd.iter().map(|&v| point(v, &[v, 1.0])).collect();
    let mut empty = figure("no-series", Shown::Plot, false, Vec::new());
    empty.series.clear();
    let mut report = Report {
        verdict: Vec::new(),
        title: String::new(),
        settings: Vec::new(),
        figures: vec![
            empty,
            figure("no-points", Shown::Table, false, Vec::new()),
            figure("no-values", Shown::Plot, true, vec![point(1.0, &[])]),
            figure("odd", Shown::Plot, false, points.clone()),
            figure("odd-log", Shown::Plot, true, points),
        ],
        pictures: vec![
            picture(Vec::new(), Vec::new(), Some(PlaceId::new(0))),
            picture(vec![[41.9, 12.5]], Vec::new(), Some(PlaceId::new(0))),
            picture(vec![[41.9, 12.5]; 3], vec![0.0, 0.0, 0.0], Some(PlaceId::new(9))),
            picture(vec![[f64::NAN, 1.0], [1e9, 2.0], [90.0, 0.0]], vec![1.0, 2.0], None),
            picture(
                grid(3),
                odd.into_iter().chain([1.0, 2.0, 3.0]).collect(),
                Some(PlaceId::new(0)),
            ),
            picture(grid(2), vec![5.0; 4], None),
        ],
    };
    let page = assert_sound(&report);
    assert!(page.contains("There are no values to draw.") && page.contains("There are no places"));
    assert!(page.contains("<span class=\"mean\">—</span>"));
    report.figures.clear();
    report.pictures.clear();
    assert_sound(&report);
}

#[test]
fn long_tables_lie_on_their_side() {
    let points: Vec<Point> = (1..=40).map(|i| point(f64::from(i), &[1.0 / f64::from(i)])).collect();
    let report = Report { figures: vec![figure("long", Shown::Plot, false, points)], ..sample() };
    let page = assert_sound(&report);
    assert!(
        page.contains("<th scope=\"col\">LR-Geo</th>")
            && page.contains("<th scope=\"row\">40</th>")
    );
}

#[test]
fn files_hold_every_number() {
    let dir = std::env::temp_dir().join(format!("lrgeo-report-{}", std::process::id()));
    let mut report = sample();
    report.figures[0].series[0].name = "with \"quotes\", and commas".into();
    report.figures[0].series[0].points[2].values = vec![f64::NAN, 0.1 + 0.2, f64::NEG_INFINITY];
    report.write(&dir).unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    assert_eq!(read("index.html"), report.html());
    assert_eq!(
        read("data/table-2.csv"),
        "series,x,repeat,value,paper,note\n\
         \"with \"\"quotes\"\", and commas\",100,1,0.351,0.36±0.04,\n\
         \"with \"\"quotes\"\", and commas\",100,2,0.353,0.36±0.04,\n\
         \"with \"\"quotes\"\", and commas\",200,,,,\"over 1,800 s\"\n\
         \"with \"\"quotes\"\", and commas\",300,1,NaN,,\n\
         \"with \"\"quotes\"\", and commas\",300,2,0.30000000000000004,,\n\
         \"with \"\"quotes\"\", and commas\",300,3,-inf,,\n"
    );
    assert!(read("data/where.csv").starts_with("latitude,longitude,value,marked\n41.9,12.4,1,0\n"));
    assert_eq!(read("data/where.csv").lines().filter(|line| line.ends_with(",1")).count(), 1);
    let again: Report = serde_json::from_str(&read("report.json")).unwrap();
    // NaN differs from itself: what is written again decides.
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&report).unwrap());
    assert_eq!(again.html(), report.html());
    assert!(again.figures[0].series[0].points[2].values[0].is_nan());
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn ids_that_are_no_file_names_are_refused_before_anything_is_written() {
    let dir = std::env::temp_dir().join(format!("lrgeo-report-ids-{}", std::process::id()));
    for id in ["", "../up", "Table", "a b", "ä", "where"] {
        let mut report = sample();
        report.figures[1].id = id.into();
        let error = report.write(&dir).unwrap_err().to_string();
        assert!(error.starts_with("id: ") && error.contains(&format!("{id:?}")), "{error}");
        assert!(!dir.exists());
    }
}

/// A drawing for pages and one for phones; whatever the spread, bars end between the axis and the top of the frame.
#[test]
fn both_drawings_of_a_chart_keep_their_error_bars_inside_the_axes() {
    for (log, share) in [(false, false), (true, false), (false, true)] {
        let wild =
            vec![point(1.0, &[0.001, 0.9]), point(2.0, &[0.99, 1.0]), point(3.0, &[0.0, 0.7])];
        let mut figure = figure("wild", Shown::Plot, log, wild);
        figure.y.share = share;
        let mut out = String::new();
        plot::draw(&mut out, &figure);
        for (class, height) in [("wide", 400.0), ("narrow", 300.0)] {
            let start = out.find(&format!("chart {class}")).unwrap();
            let drawing = &out[start..start + out[start..].find("</svg>").unwrap()];
            let bars =
                drawing.split("class=\"bar\" d=\"").nth(1).unwrap().split('"').next().unwrap();
            let moves: Vec<&str> = bars.split('M').filter(|part| !part.is_empty()).collect();
            assert!(!moves.is_empty(), "{class}");
            for part in moves {
                let ends = part.split([' ', 'V', 'h']).skip(1);
                // Across are the feet, which are six wide.
                for end in ends.filter_map(|end| end.parse::<f64>().ok()).filter(|end| *end != 6.0)
                {
                    assert!((38.0..=height - 56.0).contains(&end), "{class}: {part}");
                }
            }
        }
    }
}
