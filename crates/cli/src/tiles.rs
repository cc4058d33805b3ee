//! What fetching tiles tells besides the report, worked out and in words.

use lrgeo_evaluation::tiles::{MOST_PLACES, TileLeak, doublings, tile_leak};
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::Built;
use lrgeo_tiles::Manifest;

use crate::failure::Failure;
use crate::ui::{Ui, count};

/// What the tiles of a publication tell, for phones that fetch one, two, four .. or all of them.
pub fn leak(built: &Built, members: &[Vec<PlaceId>], ui: &Ui) -> Result<TileLeak, Failure> {
    Ok(tile_leak(built, members, &doublings(members.len()), ui)?)
}

/// A few lines for people.
pub fn lines(leak: &TileLeak, manifest: &Manifest) -> Vec<(&'static str, String)> {
    let bytes: u64 = manifest.tiles.iter().map(|tile| tile.bytes).sum();
    vec![("attacker", attacker(leak, bytes)), ("borders", borders(leak))]
}

fn attacker(leak: &TileLeak, bytes: u64) -> String {
    let Some(guesses) = &leak.guesses else {
        return format!("not worked out: more than {} places", count(MOST_PLACES));
    };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let (report, blind) = (percent(guesses.report), percent(guesses.blind));
    let tiles = leak.tiles.len();
    let [own, between @ .., _] = guesses.fetching.as_slice() else {
        return format!(
            "guesses right {report} of the time from the report, {blind} without it; there is one tile, \
             which tells nothing more"
        );
    };
    let worst = leak.tiles.iter().filter_map(|tile| tile.right).fold(0.0, f64::max);
    let mut text = format!(
        "who knows the tile guesses right {} of the time ({} in the worst tile), from the report alone {report}, \
         without both {blind}",
        percent(own.right),
        percent(worst)
    );
    if !between.is_empty() {
        let some =
            between.iter().map(|with| format!("{} for {}", percent(with.right), with.fetched));
        let some = some.collect::<Vec<_>>().join(", ");
        text += &format!("\na phone that fetches random other tiles too: {some} of {tiles} tiles");
    }
    let megabytes = bytes as f64 / 1e6;
    text + &format!(
        "\na phone that fetches all {tiles} tiles ({megabytes:.1} MB) tells nothing more than its report"
    )
}

fn borders(leak: &TileLeak) -> String {
    let borders = &leak.borders;
    match borders.separated {
        0 => "none between neighbouring places".into(),
        _ => format!(
            "{:.1} % of neighbouring places (at most {:.2} km apart) are in different tiles: whatever epsilon is, \
             fetching one tile tells them apart",
            100.0 * borders.share(),
            borders.within_km
        ),
    }
}
