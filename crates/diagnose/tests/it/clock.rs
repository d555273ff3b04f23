//! Tests of captures whose clock steps back.

use std::convert::Infallible;

use rtolab_capture::{Interface, Writer};
use rtolab_diagnose::{Document, diagnose};
use rtolab_time::{Duration, Instant};

use crate::failures::{RTT, Script, text};

/// The diagnosis of a transfer whose second half has times this much earlier.
fn stepped(millis: u64) -> Document {
    let mut script = Script::opened(1);
    script.transfer(10_000, 400);
    let mut writer = Writer::new(Vec::new(), &Interface::default()).expect("a writer");
    let middle = script.packets.len() / 2;
    for (index, captured) in script.packets.iter_mut().enumerate() {
        if index >= middle {
            let nanos = captured.packet.at.nanos() - Duration::from_millis(millis).nanos();
            captured.packet.at = Instant::from_nanos(nanos);
        }
        writer.packet(&captured.packet).expect("a packet");
    }
    let capture = writer.finish().expect("a capture");
    let Ok(document) = diagnose::<_, Infallible>(&capture[..], |_| Ok(()));
    document
}

#[test]
fn a_clock_that_steps_back_is_named_and_changes_no_verdict() {
    let whole = stepped(0);
    assert!(!text(&whole).contains("clock"), "{}", text(&whole));
    for millis in [500, 5000] {
        let document = stepped(millis);
        let said = text(&document);
        assert!(said.starts_with("The clock of the capture stepped back once, by"), "{said}");
        assert_eq!(document.answer.connections[0].sentences, document.answer.sentences);
        assert_eq!(document.answer.network, whole.answer.network);
        assert_eq!(document.connections[0].vantage, whole.connections[0].vantage);
        let ends = [&whole, &document].map(|one| one.connections[0].end);
        assert!(ends[0] - ends[1] <= RTT as f64 / 1000.0, "{ends:?}");
    }
}
