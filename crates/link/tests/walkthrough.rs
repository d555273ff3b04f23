//! The stage of docs/prototype.md: the page's code is compiled and run here.

#[path = "it/common/mod.rs"]
mod common;
#[path = "walkthrough/sleepy.rs"]
mod sleepy;

use common::{FrameOutcome, at, channel, drain, forward, rate, secs, send};
use rtolab_link::{
    Direction, DirectionConfig, Distribution, DisturbanceKind, DropCause, FrameAction, NamedStage,
    Rng, SentFrame, Stage,
};
use sleepy::Sleepy;

const PAGE: &str = include_str!("../../../docs/prototype.md");

fn with(stage: impl Stage + 'static) -> DirectionConfig {
    let stage = Some(NamedStage::new("own", stage));
    DirectionConfig { rate: rate(8_000_000), delay: secs(0.5), stage, ..Default::default() }
}

#[test]
fn the_page_shows_the_compiled_code() {
    let shown = include_str!("walkthrough/sleepy.rs");
    assert!(PAGE.contains(&format!("```rust\n{shown}```")));
}

#[test]
fn a_radio_that_sleeps_holds_the_first_frame() {
    let mut link = channel(&forward(with(Sleepy::default())));
    link.record_disturbances();
    for (number, time) in [(1, 0.0), (2, 0.1), (3, 1.0), (4, 1.01)] {
        send(&mut link, [number], 1000, at(time));
    }
    let seen = drain(&mut link);
    let held = |number: usize| match seen[number - 1] {
        FrameOutcome::Arrived { held, .. } => held,
        FrameOutcome::Lost { .. } => panic!("{number} is lost"),
    };
    assert_eq!([held(1), held(2)], [secs(0.0); 2]);
    assert!(held(3) >= secs(0.3) && held(3) <= secs(0.6));
    // It waits for the frame before it.
    assert_eq!(seen[3].arrival(), seen[2].arrival());
    let spikes = link.disturbances(at(9.0));
    assert_eq!(spikes.iter().map(|one| one.kind).collect::<Vec<_>>(), [DisturbanceKind::Spike]);
}

#[derive(Clone, Debug)]
struct EverySecond;

impl Stage for EverySecond {
    fn begin(&mut self, _: Direction, _: Rng) {}

    fn on_frame(&mut self, frame: &SentFrame) -> FrameAction {
        assert_eq!(frame.at, at(0.001 * frame.number as f64));
        if frame.number % 2 == 0 { FrameAction::Drop } else { FrameAction::Pass }
    }
}

#[test]
fn a_frame_dropped_by_a_stage_counts_like_a_scripted_drop() {
    let mut own = channel(&forward(with(EverySecond)));
    let listed = DirectionConfig { stage: None, drops: vec![2, 4], ..with(EverySecond) };
    let mut listed = channel(&forward(listed));
    for link in [&mut own, &mut listed] {
        send(link, 1..=5, 1000, at(0.0));
    }
    let seen = drain(&mut own);
    assert_eq!(seen[1].cause(), Some(DropCause::Script));
    assert_eq!(seen, drain(&mut listed));
    assert!(own.pipes().is_none());
}
