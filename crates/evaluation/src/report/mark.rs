//! How series are told apart: by colour (Okabe and Ito's, for the colour-blind too), dash and mark.

const COLOURS: usize = 7;
const DASHES: usize = 4;
const MARKS: usize = 8;
const RADIUS: f64 = 4.2;

/// Colour and dash of a series, in `style.css`.
pub(super) fn classes(index: usize) -> String {
    format!("c{} d{}", index % COLOURS, index % DASHES)
}

/// The outline of a series' mark around a point.
pub(super) fn outline(index: usize, x: f64, y: f64) -> String {
    let r = RADIUS;
    let polygon = |corners: &[(f64, f64)]| {
        let corner = |(dx, dy): &(f64, f64)| format!("{:.1} {:.1}", x + dx * r, y + dy * r);
        format!("M{}Z", corners.iter().map(corner).collect::<Vec<_>>().join("L"))
    };
    match index % MARKS {
        0 => format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z", x - r, d = 2.0 * r),
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)]),
        3 => polygon(&[(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)]),
        4 => polygon(&[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)]),
        5 => polygon(&[
            (0.0, -1.6),
            (0.45, -0.45),
            (1.6, 0.0),
            (0.45, 0.45),
            (0.0, 1.6),
            (-0.45, 0.45),
            (-1.6, 0.0),
            (-0.45, -0.45),
        ]),
        6 => polygon(&[(-0.55, -1.25), (0.55, -1.25), (0.55, 1.25), (-0.55, 1.25)]),
        _ => polygon(&[(-1.3, -0.55), (1.3, -0.55), (1.3, 0.55), (-1.3, 0.55)]),
    }
}
