//! Pages of other origins: which of them the operator lets use the service, and what a browser asks beforehand.

mod common;

use common::{Answer, Running, Scratch, config, map};
use lrgeo_protocol::path;

const APP: &str = "https://app.example";
const OTHER: &str = "https://other.example";

/// What a browser asks before a page of `origin` may send a report.
fn preflight(server: &Running, origin: &str) -> Answer {
    let asked = ureq::options(format!("{}{}", server.url, path::REPORTS))
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type");
    Answer::of(asked.call().unwrap())
}

#[test]
fn pages_of_other_origins_may_ask_where_the_operator_says_so() {
    for (origins, app, other) in
        [(&[APP][..], APP, ""), (&["*"], "*", "*"), (&[OTHER, APP], APP, OTHER), (&[], "", "")]
    {
        let scratch = Scratch::new();
        let mut config = config(1);
        config.privacy.local = false;
        config.browsers.origins = origins.iter().map(|&origin| origin.to_owned()).collect();
        let server = Running::start(map(20), &scratch.0, &config);
        for (origin, allowed) in [(APP, app), (OTHER, other)] {
            let asked = preflight(&server, origin);
            assert_eq!(asked.status, 200, "a preflight is always answered");
            assert_eq!(asked.header("access-control-allow-origin"), allowed, "{origins:?}");
            let answer = server.get(path::MANIFEST, &[("origin", origin)]);
            assert_eq!(answer.status, 200, "who is no browser need not care");
            assert_eq!(answer.header("access-control-allow-origin"), allowed, "{origins:?}");
            if !origins.is_empty() {
                assert!(asked.header("access-control-allow-methods").contains("POST"));
                assert!(asked.header("access-control-allow-headers").contains("content-type"));
                assert!(!asked.headers.contains_key("access-control-allow-credentials"));
            }
        }
    }
}
