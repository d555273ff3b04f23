//! The detector of docs/detector.md: what the page shows is compiled and run here.

#[path = "walkthrough/early.rs"]
mod early;
#[path = "it/script/mod.rs"]
mod script;

use early::Early;
use rtolab_tcp::spurious::{self, DetectorKind, Verdict};
use rtolab_tcp::{AckFacts, Config};
use script::{Script, Setup};

const PAGE: &str = include_str!("../../../docs/detector.md");

/// A row as the table of policies makes it; the table itself keeps what it sets.
struct Row {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    set: fn(&mut Config),
}

const fn spurious(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    set: fn(&mut Config),
) -> Row {
    Row { name, about, source, set }
}

const JUDGE: DetectorKind = include!("walkthrough/detectors_row.rs");
const POLICY: Row = include!("walkthrough/policies_row.rs");

/// Segments 1 to 4 are on a path whose smallest round trip is 100 ms.
fn held_up() -> Script {
    let setup: Setup = Script::sender("newreno").unlisted(POLICY.set, JUDGE);
    setup.cwnd(4).ssthresh(4).handshake_takes(100).sent(1..=4)
}

include!("walkthrough/story.rs");

#[test]
fn the_page_shows_what_is_compiled_here() {
    let shown: Vec<_> =
        PAGE.split("```rust\n").skip(1).map(|rest| rest.split("```").next()).collect();
    let compiled = [
        include_str!("walkthrough/early.rs"),
        include_str!("walkthrough/detectors_row.rs"),
        include_str!("walkthrough/policies_row.rs"),
        include_str!("walkthrough/story.rs"),
    ];
    for (shown, compiled) in shown.iter().zip(compiled) {
        assert_eq!(shown.unwrap_or_default(), compiled);
    }
    assert_eq!(shown.len(), compiled.len());
}

#[test]
fn both_rows_are_of_one_detector() {
    assert_eq!((POLICY.name, POLICY.source), (JUDGE.name, JUDGE.source));
    assert!(!POLICY.about.is_empty());
}
