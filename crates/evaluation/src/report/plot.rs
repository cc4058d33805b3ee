//! A figure as a line chart: means with error bars, and the paper's figures as hollow marks.

use std::fmt::Write;

use super::html::Text;
use super::scale::{Scale, Ticks};
use super::{Figure, Point, Series, mark, number, table};

/// A drawing for pages, and one for phones: the same one scaled down would have letters that nobody can read. Styles show
/// the one that fits.
const WIDE: Frame = Frame { class: "wide", width: 760.0, height: 400.0 };
const NARROW: Frame = Frame { class: "narrow", width: 360.0, height: 300.0 };
const TOP: f64 = 38.0;
const RIGHT: f64 = 18.0;
const BOTTOM: f64 = 56.0;
/// Between the frame and the outermost settings, so that no mark lies on the frame.
const INSET: f64 = 22.0;
/// Width of a letter of a tick's label.
const LETTER: f64 = 7.4;

/// The size of a drawing.
#[derive(Clone, Copy)]
struct Frame {
    class: &'static str,
    width: f64,
    height: f64,
}

/// The chart and its legend.
pub(super) fn draw(out: &mut String, figure: &Figure) {
    let Some(chart) = Chart::of(figure, WIDE) else {
        out.push_str("<p class=\"nothing\">There are no values to draw.</p>\n");
        return;
    };
    out.push_str("<figure>\n");
    chart.draw(out, figure);
    if let Some(narrow) = Chart::of(figure, NARROW) {
        narrow.draw(out, figure);
    }
    chart.draw_legend(out, figure);
    out.push_str("</figure>\n");
}

fn names(figure: &Figure) -> String {
    figure.series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>().join(", ")
}

struct Chart {
    frame: Frame,
    x: Scale,
    y: Scale,
    x_ticks: Ticks,
    y_ticks: Ticks,
    left: f64,
    /// Pixels between the marks of neighbouring series, so that error bars do not hide each other.
    apart: f64,
    series: usize,
    /// One mark for so many settings.
    every: usize,
    papers: bool,
    /// Whether a value has no place on a logarithmic axis.
    edge: bool,
    /// Where error bars end at the latest.
    most: f64,
}

impl Chart {
    /// `None` when nothing can be drawn.
    fn of(figure: &Figure, frame: Frame) -> Option<Self> {
        let points = || figure.series.iter().flat_map(|series| &series.points);
        let drawn = || points().filter_map(|point| Some((point, mean_of(point)?)));
        let papers: Vec<f64> = points().filter_map(paper_of).collect();
        let all: Vec<f64> = drawn()
            .flat_map(|(point, mean)| {
                let spread = spread_of(point);
                // Nothing that is never negative gets an axis that is.
                let least = if point.values.iter().all(|v| *v >= 0.0) { 0.0 } else { f64::MIN };
                // A bar that nearly reaches zero would take all decades for itself.
                let least = if figure.y.log { mean / 10.0 } else { least };
                let foot = (mean - spread).max(least);
                [foot, mean, (mean + spread).min(figure.y.most().max(mean))]
            })
            .chain(papers.iter().copied())
            .collect();
        if all.is_empty() {
            return None;
        }
        let settings: Vec<f64> =
            table::settings(figure).into_iter().filter(|x| x.is_finite()).collect();
        let x = Scale::tight(&settings, figure.x.log);
        let y = Scale::round(&all, figure.y.log);
        let y_ticks = y.ticks(8);
        let widest = y_ticks.labelled.iter().map(|&v| letters(v)).max().unwrap_or(1);
        let spreads = drawn().any(|(point, _)| spread_of(point) > 0.0);
        let series = figure.series.len();
        let crowded = settings.len() > 30;
        let chart = Self {
            frame,
            x,
            y,
            x_ticks: Ticks::default(),
            y_ticks,
            left: 14.0 + LETTER * widest as f64,
            apart: 0.0,
            series,
            every: if crowded { settings.len() / 15 } else { 1 },
            papers: !papers.is_empty(),
            edge: (y.log && all.iter().any(|value| *value <= 0.0))
                || (x.log && drawn().any(|(point, _)| point.x <= 0.0)),
            most: figure.y.most(),
        };
        let gaps = settings.windows(2).map(|pair| chart.across(pair[1]) - chart.across(pair[0]));
        let room = gaps.fold(INSET, f64::min) / series as f64;
        let apart = if spreads && !crowded { room.min(5.0) } else { 0.0 };
        Some(Self { x_ticks: chart.ticks_of(&settings), apart, ..chart })
    }

    /// The settings themselves where there is room for each, round numbers otherwise.
    fn ticks_of(&self, settings: &[f64]) -> Ticks {
        let fits = |pair: &[f64]| {
            let room = self.across(pair[1]) - self.across(pair[0]);
            room > LETTER * letters(pair[0]).max(letters(pair[1])) as f64 + 8.0
        };
        if settings.len() <= 12 && settings.windows(2).all(fits) {
            return Ticks { labelled: settings.to_vec(), minor: Vec::new() };
        }
        self.x.ticks(if self.frame.width < WIDE.width { 4 } else { 7 })
    }

    fn across(&self, x: f64) -> f64 {
        let (from, to) = (self.left + INSET, self.frame.width - RIGHT - INSET);
        from + self.x.share(x) * (to - from)
    }

    fn down(&self, y: f64) -> f64 {
        let floor = self.frame.height - BOTTOM;
        floor - self.y.share(y) * (floor - TOP)
    }

    fn draw(&self, out: &mut String, figure: &Figure) {
        let Frame { class, width, height } = self.frame;
        let (id, title) = (Text(&figure.id), Text(&figure.title));
        let _ = write!(
            out,
            "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-{class}-title {id}-{class}-desc\">\n\
             <title id=\"{id}-{class}-title\">{title}</title>\n\
             <desc id=\"{id}-{class}-desc\">{} against {}; {}.</desc>\n",
            Text(&figure.y.label),
            Text(&figure.x.label),
            Text(&names(figure)),
        );
        self.draw_axes(out, figure);
        for (index, series) in figure.series.iter().enumerate() {
            self.draw_series(out, index, series);
        }
        out.push_str("</svg>\n");
    }

    fn draw_axes(&self, out: &mut String, figure: &Figure) {
        let Frame { width, height, .. } = self.frame;
        let (left, right, floor) = (self.left, width - RIGHT, height - BOTTOM);
        out.push_str("<g class=\"axes\">\n");
        let _ = writeln!(
            out,
            "<text x=\"0\" y=\"16\" class=\"label\">{}</text>",
            Text(&figure.y.label)
        );
        for &minor in &self.y_ticks.minor {
            let y = self.down(minor);
            let _ = writeln!(out, "<path class=\"faint\" d=\"M{left:.1} {y:.1}H{right}\"/>");
        }
        for &tick in &self.y_ticks.labelled {
            let y = self.down(tick);
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                y + 4.5,
                number::short(tick)
            );
        }
        let _ = writeln!(out, "<path class=\"axis\" d=\"M{left:.1} {floor}H{right}\"/>");
        for &minor in &self.x_ticks.minor {
            let _ =
                writeln!(out, "<path class=\"axis\" d=\"M{:.1} {floor}v4\"/>", self.across(minor));
        }
        for &tick in &self.x_ticks.labelled {
            let x = self.across(tick);
            let _ = writeln!(
                out,
                "<path class=\"axis\" d=\"M{x:.1} {floor}v7\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" class=\"tick\" text-anchor=\"middle\">{}</text>",
                floor + 23.0,
                number::short(tick)
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"label\" text-anchor=\"middle\">{}</text>\n</g>",
            (left + right) / 2.0,
            height - 8.0,
            Text(&figure.x.label)
        );
    }

    fn draw_series(&self, out: &mut String, index: usize, series: &Series) {
        let aside = (index as f64 - (self.series as f64 - 1.0) / 2.0) * self.apart;
        let _ = writeln!(out, "<g class=\"{}\">", mark::classes(index));
        let (mut line, mut bars, mut marks) = (String::new(), String::new(), String::new());
        let mut joined = false;
        for (place, point) in series.points.iter().enumerate() {
            if !point.x.is_finite() {
                continue;
            }
            let x = self.across(point.x) + aside;
            if let Some(paper) = paper_of(point) {
                let shape = mark::outline(index, x, self.down(paper));
                let said = point.paper.as_deref().unwrap_or_default();
                let _ = writeln!(
                    marks,
                    "<path class=\"hollow\" d=\"{shape}\"><title>{}, the paper’s, at {}: {}</title></path>",
                    Text(&series.name),
                    number::short(point.x),
                    Text(said)
                );
            }
            let Some(mean) = mean_of(point) else {
                // Nothing is known here: a line across would claim otherwise.
                joined = false;
                continue;
            };
            let y = self.down(mean);
            let marked = !joined || place % self.every == 0 || place + 1 == series.points.len();
            if self.y.log && mean <= 0.0 {
                // Lines to and from the edge would have a slope that means nothing.
                joined = false;
            } else {
                let _ = write!(line, "{}{x:.1} {y:.1}", if joined { 'L' } else { 'M' });
                joined = true;
            }
            if marked {
                self.draw_bar(&mut bars, x, mean, spread_of(point));
                let said = number::measured(mean, point.spread());
                let _ = writeln!(
                    marks,
                    "<path class=\"mark\" d=\"{}\"><title>{} at {}: {}{}</title></path>",
                    mark::outline(index, x, y),
                    Text(&series.name),
                    number::short(point.x),
                    said.mean,
                    said.spread.map(|spread| format!(" ± {spread}")).unwrap_or_default()
                );
            }
        }
        let _ = writeln!(
            out,
            "<path class=\"line\" d=\"{line}\"/>\n<path class=\"bar\" d=\"{bars}\"/>"
        );
        out.push_str(&marks);
        out.push_str("</g>\n");
    }

    /// An error bar; one that the axis cuts off ends without a foot.
    fn draw_bar(&self, bars: &mut String, x: f64, mean: f64, spread: f64) {
        if spread > 0.0 {
            let top = self.down((mean + spread).min(self.most.max(mean)));
            let foot = self.down(mean - spread);
            let _ = write!(bars, "M{x:.1} {top:.1}V{foot:.1}M{:.1} {top:.1}h6", x - 3.0);
            if !self.y.is_below(mean - spread) {
                let _ = write!(bars, "M{:.1} {foot:.1}h6", x - 3.0);
            }
        }
    }

    fn draw_legend(&self, out: &mut String, figure: &Figure) {
        out.push_str("<figcaption>\n<ul class=\"legend\">\n");
        for (index, series) in figure.series.iter().enumerate() {
            let _ = writeln!(
                out,
                "<li><svg class=\"swatch {}\" viewBox=\"0 0 40 14\" aria-hidden=\"true\">\
                 <path class=\"line\" d=\"M0 7H40\"/><path class=\"mark\" d=\"{}\"/></svg>{}</li>",
                mark::classes(index),
                mark::outline(index, 20.0, 7.0),
                Text(&series.name)
            );
        }
        out.push_str("</ul>\n");
        if self.apart > 0.0 {
            out.push_str("<p>Marks of the same setting stand side by side, with 1.96 standard deviations.</p>\n");
        }
        if self.papers {
            out.push_str("<p>Hollow marks are the paper’s figures.</p>\n");
        }
        if self.edge {
            out.push_str(
                "<p>Marks on the edge of a logarithmic axis stand for values of zero or below.</p>\n",
            );
        }
        out.push_str("</figcaption>\n");
    }
}

fn mean_of(point: &Point) -> Option<f64> {
    point.mean().filter(|mean| mean.is_finite() && point.x.is_finite())
}

fn spread_of(point: &Point) -> f64 {
    point.spread().filter(|spread| spread.is_finite()).unwrap_or(0.0)
}

/// The paper's figure where it is a plain number, with or without its spread.
fn paper_of(point: &Point) -> Option<f64> {
    let mean = point.paper.as_deref()?.split('±').next()?.trim().replace(',', "");
    mean.parse().ok().filter(|mean: &f64| mean.is_finite() && point.x.is_finite())
}

fn letters(value: f64) -> usize {
    number::short(value).chars().count()
}
