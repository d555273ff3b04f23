//! Packet scripts of explicit loss notification (ELN).

use super::super::Middlebox;
use super::super::script::{Script, ack, data, packet};
use super::*;

fn script() -> Script {
    Script::new(Middlebox::Eln(Eln::default()))
}

#[test]
fn duplicates_for_a_segment_that_passed_are_marked() {
    let mut script = script();
    script.pass([data(1), data(2), data(3), data(4), ack(1)]);
    assert_eq!(script.on_packet(ack(1)), ["A1 marked"]);
    assert_eq!(script.on_packet(ack(1)), ["A1 marked"]);
    assert_eq!(script.on_packet(ack(4)), ["A4"]);
}

#[test]
fn duplicates_for_a_segment_that_never_came_are_not_marked() {
    let mut script = script();
    script.pass([data(1), data(3), data(4), ack(1)]);
    assert_eq!(script.on_packet(ack(1)), ["A1"]);
}

#[test]
fn a_segment_counts_from_when_it_came_late() {
    let mut script = script();
    script.pass([data(1), data(4), ack(1), data(2)]);
    assert_eq!(script.on_packet(ack(1)), ["A1 marked"]);
    // The third segment is still missing.
    script.pass([ack(2)]);
    assert_eq!(script.on_packet(ack(2)), ["A2"]);
    script.pass([data(3)]);
    assert_eq!(script.on_packet(ack(2)), ["A2 marked"]);
}

#[test]
fn acks_that_are_no_duplicates_are_not_marked() {
    let mut script = script();
    script.pass([data(1), data(2), data(3), ack(1)]);
    let mut opened = ack(1);
    opened.segment.window += 100;
    assert_eq!(script.on_packet(opened), ["A1"]);
    assert_eq!(script.on_packet(ack(3)), ["A3"]);
    // Nothing is outstanding.
    assert_eq!(script.on_packet(ack(3)), ["A3"]);
}

#[test]
fn a_reset_ends_what_is_known() {
    let mut script = script();
    script.pass([data(1), data(2), ack(1)]);
    script.pass([packet(Segment::new(Seq::FIRST + 1, 0, Flags::RST), true)]);
    script.pass([ack(1)]);
    assert_eq!(script.on_packet(ack(1)), ["A1"]);
}
