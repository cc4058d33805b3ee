//! The page: head, contents, what must not be overlooked, settings, figures, maps.

use std::fmt::{self, Write};

use super::{Figure, Picture, Report, Shown, picture, plot, table};

/// Text of ours or of others, escaped as it is written.
pub(super) struct Text<'a>(pub &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        for part in self.0.split_inclusive(['&', '<', '>', '"', '\'']) {
            let mut plain = part.chars();
            let name = match plain.next_back() {
                Some('&') => "&amp;",
                Some('<') => "&lt;",
                Some('>') => "&gt;",
                Some('"') => "&quot;",
                Some('\'') => "&#39;",
                _ => {
                    to.write_str(part)?;
                    continue;
                }
            };
            to.write_str(plain.as_str())?;
            to.write_str(name)?;
        }
        Ok(())
    }
}

/// What the page may load: its own styles, and nothing else from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let title = Text(&report.title);
    let mut out = String::new();
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<header>\n<h1>{title}</h1>\n</header>\n",
        include_str!("style.css")
    );
    draw_contents(&mut out, report);
    out.push_str("<main>\n");
    draw_verdict(&mut out, &report.verdict);
    draw_all_flags(&mut out, &report.figures);
    draw_settings(&mut out, &report.settings);
    if !report.figures.is_empty() {
        out.push_str("<section id=\"results\">\n<h2>Results</h2>\n");
        report.figures.iter().for_each(|figure| draw_figure(&mut out, figure));
        out.push_str("</section>\n");
    }
    if !report.pictures.is_empty() {
        out.push_str("<section id=\"maps\">\n<h2>Maps</h2>\n<div class=\"maps\">\n");
        report.pictures.iter().for_each(|picture| draw_picture(&mut out, picture));
        out.push_str("</div>\n</section>\n");
    }
    out.push_str(
        "</main>\n<footer>\n<p>Every number of this page, with all repeats: \
         <a href=\"report.json\">report.json</a>, and one CSV file for each figure and map.</p>\n\
         </footer>\n</body>\n</html>\n",
    );
    out
}

fn draw_contents(out: &mut String, report: &Report) {
    out.push_str("<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ul>\n");
    if !report.verdict.is_empty() {
        out.push_str("<li><a href=\"#verdict\">What holds and what does not</a></li>\n");
    }
    out.push_str("<li><a href=\"#flags\">Flags</a></li>\n");
    if !report.settings.is_empty() {
        out.push_str("<li><a href=\"#settings\">Settings</a></li>\n");
    }
    let results = report.figures.iter().map(|f| (&f.id, &f.title, !f.flags.is_empty()));
    draw_links(out, "results", "Results", results.collect());
    let maps = report.pictures.iter().map(|p| (&p.id, &p.title, false));
    draw_links(out, "maps", "Maps", maps.collect());
    out.push_str("</ul>\n</nav>\n");
}

fn draw_links(out: &mut String, section: &str, name: &str, links: Vec<(&String, &String, bool)>) {
    if links.is_empty() {
        return;
    }
    let _ = writeln!(out, "<li><a href=\"#{section}\">{name}</a>\n<ul>");
    for (id, title, flagged) in links {
        let sign = if flagged { " <span class=\"sign\" title=\"flagged\">⚠</span>" } else { "" };
        let _ = writeln!(out, "<li><a href=\"#of-{}\">{}</a>{sign}</li>", Text(id), Text(title));
    }
    out.push_str("</ul></li>\n");
}

fn draw_verdict(out: &mut String, verdict: &[String]) {
    if verdict.is_empty() {
        return;
    }
    out.push_str("<section id=\"verdict\">\n<h2>What holds and what does not</h2>\n");
    let of = |head: &str| verdict.iter().filter(|said| said.starts_with(head)).count();
    let _ = writeln!(
        out,
        "<p>Of {} claims of the paper that this run decides, {} hold, {} hold in part and {} do not.</p>\n<ul>",
        verdict.len(),
        of("Holds:"),
        of("Holds in part:"),
        of("Does not hold:")
    );
    for sentence in verdict {
        let (head, rest) = sentence.split_once(':').unwrap_or(("", sentence));
        let _ = writeln!(out, "<li><strong>{}:</strong>{}</li>", Text(head), Text(rest));
    }
    out.push_str("</ul>\n</section>\n");
}

fn draw_all_flags(out: &mut String, figures: &[Figure]) {
    let count: usize = figures.iter().map(|figure| figure.flags.len()).sum();
    if count == 0 {
        out.push_str(
            "<section id=\"flags\" class=\"fine\">\n<p>No figure of this report is flagged.</p>\n\
             </section>\n",
        );
        return;
    }
    out.push_str("<section id=\"flags\" class=\"warning\">\n");
    let things = if count == 1 { "One thing" } else { "Things" };
    let _ = writeln!(out, "<h2>{things} not to overlook</h2>\n<ul>");
    for figure in figures {
        for flag in &figure.flags {
            let (id, title, flag) = (Text(&figure.id), Text(&figure.title), Text(flag));
            let _ = writeln!(out, "<li><a href=\"#of-{id}\">{title}</a>: {flag}</li>");
        }
    }
    out.push_str("</ul>\n</section>\n");
}

fn draw_settings(out: &mut String, settings: &[(String, String)]) {
    if settings.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"settings\">\n<h2>Settings</h2>\n<div class=\"scroll\">\
         <table class=\"settings\"><tbody>\n",
    );
    for (name, value) in settings {
        let (name, value) = (Text(name), Text(value));
        let _ = writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

fn draw_figure(out: &mut String, figure: &Figure) {
    let id = Text(&figure.id);
    let _ = writeln!(out, "<article id=\"of-{id}\">\n<h3>{}</h3>", Text(&figure.title));
    if !figure.flags.is_empty() {
        out.push_str("<div class=\"warning\" role=\"note\" aria-label=\"Flags\">\n<ul>\n");
        for flag in &figure.flags {
            let _ = writeln!(out, "<li>{}</li>", Text(flag));
        }
        out.push_str("</ul>\n</div>\n");
    }
    if !figure.about.is_empty() {
        let _ = writeln!(out, "<p class=\"about\">{}</p>", Text(&figure.about));
    }
    match figure.shown {
        Shown::Table => table::draw(out, figure),
        Shown::Plot => {
            plot::draw(out, figure);
            out.push_str("<details>\n<summary>The same as a table</summary>\n");
            table::draw(out, figure);
            out.push_str("</details>\n");
        }
    }
    let repeats = table::repeats(figure).unwrap_or_default();
    let _ = writeln!(
        out,
        "<p class=\"source\">{repeats} <a href=\"data/{id}.csv\">All repeats as CSV</a></p>\n</article>"
    );
}

fn draw_picture(out: &mut String, picture: &Picture) {
    let id = Text(&picture.id);
    let _ = writeln!(out, "<article id=\"of-{id}\">\n<h3>{}</h3>", Text(&picture.title));
    picture::draw(out, picture);
    let _ = writeln!(
        out,
        "<p class=\"source\"><a href=\"data/{id}.csv\">Values of all places as CSV</a></p>\n</article>"
    );
}
