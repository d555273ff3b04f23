//! Tests of the timestamps that a replay remembers.

use super::*;

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

/// A tick of the clock may be longer than the time between two segments.
#[test]
fn an_echo_measures_from_the_first_segment_with_its_timestamp() {
    let mut replay = TimerReplay::new();
    for (value, millis) in [(u32::MAX, 10), (u32::MAX, 20), (1, 30), (1, 40), (5, 50)] {
        replay.note_stamp(value, at(millis));
    }
    assert_eq!(replay.sent_with(u32::MAX), Some(at(10)));
    assert_eq!(replay.sent_with(0), None, "no segment had this one");
    assert_eq!(replay.sent_with(1), Some(at(30)), "timestamps wrap around");
    assert_eq!(replay.sent_with(1), Some(at(30)), "several ACKs may echo it");
    assert_eq!(replay.sent_with(u32::MAX), None, "older ones are forgotten");
    assert_eq!(replay.sent_with(7), None);
    assert_eq!(replay.sent_with(5), None);
}

#[test]
fn the_latest_timestamps_are_remembered() {
    let mut replay = TimerReplay::new();
    for value in 0..=MAX_STAMPS as u32 {
        replay.note_stamp(value, at(value.into()));
    }
    assert_eq!(replay.stamps.len(), MAX_STAMPS);
    assert_eq!(replay.sent_with(0), None);
    assert_eq!(replay.sent_with(1), Some(at(1)));
    assert_eq!(replay.sent_with(MAX_STAMPS as u32), Some(at(MAX_STAMPS as u64)));
}
