//! The response of docs/prototype.md: the code on the page is compiled and run here.

#[expect(clippy::unnecessary_wraps, reason = "the rows of the table have one signature")]
#[path = "walkthrough/halfway.rs"]
mod halfway;
#[path = "it/script/mod.rs"]
mod script;

use rtolab_tcp::response::{self, CustomResponse, Responder, ResponseAction, ResponseContext};
use rtolab_tcp::spurious::Verdict;
use script::Script;

const PAGE: &str = include_str!("../../../docs/prototype.md");

/// A row of the table of responses, which the script asks as a user-defined one.
#[derive(Clone, Debug)]
struct Row(fn(&ResponseContext) -> Option<ResponseAction>);

impl Responder for Row {
    fn on_spurious(&mut self, context: &ResponseContext) -> Option<ResponseAction> {
        self.0(context)
    }
}

macro_rules! responses {
    ($(#[$doc:meta])+
        $choice:ident, $about:literal, $source:literal, $state:ident, $respond:path;) => {
        const NAME: &str = stringify!($choice);
        const ROW: Row = Row($respond);
    };
}

include!("walkthrough/responses_row.rs");

/// Ten segments outstanding since 10 ms, as many as the window.
fn ten_outstanding() -> Script {
    let setup = Script::sender("newreno+eifel");
    let setup = setup.set(|config| config.responder = Some(CustomResponse::new(NAME, ROW)));
    setup.cwnd(10).ssthresh(20).rto_of(40).at_millis(10).sent(1..=10)
}

include!("walkthrough/halfway_tests.rs");

#[test]
fn the_page_shows_what_is_compiled_here() {
    let compiled = [
        include_str!("walkthrough/halfway.rs"),
        include_str!("walkthrough/responses_row.rs"),
        include_str!("walkthrough/halfway_tests.rs"),
    ];
    for shown in compiled {
        assert!(PAGE.contains(&format!("```rust\n{shown}```")), "{shown}");
    }
    assert_eq!(NAME, "Halfway");
}
