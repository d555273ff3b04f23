//! The response of docs/prototype.md: what the page shows is compiled and run here.

#[path = "walkthrough/halfway.rs"]
mod halfway;
#[path = "it/script/mod.rs"]
mod script;

use halfway::Halfway;
use rtolab_tcp::Config;
use rtolab_tcp::response::{self, Prototype};
use rtolab_tcp::spurious::Verdict;
use script::Script;

const PAGE: &str = include_str!("../../../docs/prototype.md");

/// A row as the table of policies makes it; the table itself keeps what it sets.
struct Row {
    name: &'static str,
    set: fn(&mut Config),
}

const fn response(
    name: &'static str,
    _about: &'static str,
    _source: &'static str,
    set: fn(&mut Config),
) -> Row {
    Row { name, set }
}

const POLICY: Row = include!("walkthrough/responses_row.rs");

/// Ten segments outstanding since 10 ms, as many as the window.
fn ten_outstanding() -> Script {
    let setup = Script::sender("newreno+eifel").set(POLICY.set);
    setup.cwnd(10).ssthresh(20).rto_of(40).at_millis(10).sent(1..=10)
}

include!("walkthrough/halfway_story.rs");

#[test]
fn the_page_shows_what_is_compiled_here() {
    let compiled = [
        include_str!("walkthrough/halfway.rs"),
        include_str!("walkthrough/responses_row.rs"),
        include_str!("walkthrough/halfway_story.rs"),
    ];
    for shown in compiled {
        assert!(PAGE.contains(&format!("```rust\n{shown}```")), "{shown}");
    }
    assert_eq!(POLICY.name, "halfway");
}
