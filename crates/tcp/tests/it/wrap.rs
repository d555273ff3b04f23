//! Sequence numbers and timestamps that wrap between a timeout and the acknowledgments that decide
//! about it, for every variant of F-RTO and Eifel and for `recover`. Two ends exchange the bytes of
//! headers.
//!
//! The engine's sequence numbers are 64-bit offsets, so only the wire format wraps. Its timestamps
//! are those of the wire.

use std::net::Ipv4Addr;

use crate::script::pair::{End, connected};
use crate::script::{SEGMENT, base, number_of, start_of};
use rtolab_tcp::config::InitialWindow;
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::wire::{Addresses, Payload, Ports, SeqReference, Side, WireMapping, WireSegment};
use rtolab_tcp::{Event, Flags, Segment, Seq, specification};

const ADDRESSES: Addresses =
    Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 1, 2) };
const PORTS: Ports = Ports { from: 49_152, to: 80 };

/// Segment 1 ends below the wrap, 2 spans it, and 3 begins above it.
const ISN: u32 = 0_u32.wrapping_sub(1500);

/// All variants, F-RTO's first.
const FRTO: [&str; 8] = [
    "newreno+frto",
    "newreno+frto:rfc4138",
    "newreno+frto:rfc5682",
    "sack+frto:rfc5682-sack",
    "newreno+frto:linux",
    "sack+frto:linux",
    "newreno+frto:ns2",
    "sack+frto:ns2",
];
const EIFEL: [&str; 4] =
    ["newreno+eifel", "newreno+eifel:rfc3522", "newreno+eifel:safe", "newreno+eifel:forward"];
const MARKS: [&str; 2] = ["newreno+eifel:rxt", "newreno+eifel:two-bits"];

/// Two ends whose segments travel as bytes.
struct Wire {
    sender: End,
    receiver: End,
    /// The acknowledgment numbers that the sender has received.
    acks: Vec<u32>,
    /// The mapping towards the receiver.
    mapping: WireMapping,
}

impl Wire {
    /// Two ends connected at `millis`; timestamps are in use only if `spec` requires them.
    fn connected(spec: &str, millis: u64) -> Self {
        let mut config = base();
        config.window.initial = InitialWindow::Segments(6);
        let mut receiving = config.clone();
        receiving.timestamps = true;
        let sending = specification::sender(spec, &config).unwrap();
        let (sender, receiver) = connected(&sending, &receiving, millis);
        let side = |isn| Side { isn, shift: 0 };
        let mapping = WireMapping { from: side(ISN), to: side(0x0102_0304) };
        Self { sender, receiver, acks: Vec::new(), mapping }
    }

    /// Converts the segment to bytes and back.
    fn travels(segment: &Segment, mapping: &WireMapping, to: &End) -> (WireSegment, Segment) {
        let header =
            WireSegment::from_segment(segment, mapping, PORTS).emit(ADDRESSES, Payload::Zeros);
        let length = header.len() + segment.len as usize;
        let read = WireSegment::parse(&header, length).expect("a whole header");
        let widened = read.to_segment(mapping, SeqReference { seq: to.rcv_nxt(), ack: to.una() });
        (read, widened)
    }

    /// A segment reaches the receiver, whose answer reaches the sender 10 ms later. Returns the
    /// segments that the sender then sends.
    fn round_trip(&mut self, segment: &Segment, millis: u64) -> Vec<u32> {
        let (_, data) = Self::travels(segment, &self.mapping, &self.receiver);
        let answer = self.receiver.answers(&data, millis)[0];
        let (wire, ack) = Self::travels(&answer, &self.mapping.reversed(), &self.sender);
        self.acks.push(wire.ack);
        let left = self.sender.answers(&ack, millis + 10);
        left.iter().map(|segment| number_of(segment.seq)).collect()
    }

    /// A pure acknowledgment of all data below `end` reaches the sender. Returns the segments that
    /// it then sends.
    fn acknowledged(&mut self, end: Seq, millis: u64) -> Vec<u32> {
        let mut segment = Segment::new(self.receiver.una(), 0, Flags::ACK);
        (segment.ack, segment.window) = (end, 60_000);
        let (wire, ack) = Self::travels(&segment, &self.mapping.reversed(), &self.sender);
        self.acks.push(wire.ack);
        let left = self.sender.answers(&ack, millis);
        left.iter().map(|segment| number_of(segment.seq)).collect()
    }

    /// Six segments leave, and the timer of the first expires `times` times. Returns the originals,
    /// the last retransmission and its time.
    fn times_out(&mut self, millis: u64, times: u32) -> (Vec<Segment>, Segment, u64) {
        self.sender.connection.write(100_000);
        let originals = self.sender.sends(millis);
        assert_eq!(originals.len(), 6);
        let mut again = None;
        let mut at = millis;
        for _ in 0..times {
            at = self.sender.timer();
            again = Some(self.sender.sends_one(at));
        }
        (originals, again.unwrap(), at)
    }

    fn verdict(&self) -> Option<Verdict> {
        self.sender.events.iter().rev().find_map(|event| match event {
            Event::Verdict { verdict, .. } => Some(*verdict),
            _ => None,
        })
    }

    /// Are the first two acknowledgments on different sides of the wrap?
    fn wrapped(&self) -> bool {
        self.acks[0] > 0xffff_0000 && self.acks[1..].iter().all(|ack| *ack < 0x1_0000)
    }
}

/// The originals are late.
fn late(spec: &str, millis: u64) -> (Wire, Vec<Vec<u32>>) {
    let mut wire = Wire::connected(spec, millis);
    let (originals, _, at) = wire.times_out(millis, 1);
    let left = originals[..3].iter().map(|segment| wire.round_trip(segment, at + 20)).collect();
    assert!(wire.wrapped(), "{:x?}", wire.acks);
    (wire, left)
}

/// All were lost; the retransmission of the first arrives.
fn lost(spec: &str) -> Wire {
    let mut wire = Wire::connected(spec, 10);
    let (_, again, at) = wire.times_out(10, 1);
    wire.round_trip(&again, at + 20);
    wire
}

#[test]
fn t_fr_16_a_spurious_timeout_across_the_wrap() {
    for spec in FRTO.iter().chain(&EIFEL).chain(&MARKS) {
        let (wire, left) = late(spec, 10);
        assert_eq!(wire.verdict(), Some(Verdict::Spurious), "{spec}");
        // Only new segments leave.
        let left: Vec<u32> = left.into_iter().flatten().collect();
        assert!(!left.is_empty() && left[0] == 7 && left.is_sorted(), "{spec}: {left:?}");
        let sender = wire.sender.connection.sender();
        assert_eq!(number_of(sender.flight().una()), 4, "{spec}");
    }
}

#[test]
fn t_fr_16_a_needed_timeout_across_the_wrap() {
    for spec in FRTO {
        // Of the new segments the first arrives: a duplicate, whose block lies above the wrap.
        let mut wire = lost(spec);
        let una = wire.sender.una();
        assert_eq!(number_of(una), 2, "{spec}");
        assert_eq!(una.narrow(ISN), 0_u32.wrapping_sub(499), "{spec}");
        let left = wire.round_trip(&data(7, &wire), 1100);
        assert_eq!(wire.verdict(), Some(Verdict::Genuine), "{spec}");
        assert_eq!(left[..2], [2, 3], "{spec}");
        let reported = if spec.starts_with("sack") { 1000 } else { 0 };
        assert_eq!(wire.sender.connection.sender().flight().sacked(), reported, "{spec}");
    }
}

#[test]
fn t_fr_16_blocks_that_span_the_wrap() {
    // Segment 2 arrives, 1 is late.
    let mut wire = Wire::connected("sack+frto:linux", 10);
    let (originals, _, at) = wire.times_out(10, 1);
    assert!(wire.round_trip(&originals[1], at + 20).is_empty());
    assert_eq!(wire.verdict(), Some(Verdict::Spurious));
    assert_eq!(wire.acks, [ISN.wrapping_add(1)]);
}

#[test]
fn t_fr_16_a_timeout_in_a_recovery_that_began_below_the_wrap() {
    // `recover`, above the wrap, is beyond SND.UNA, below it.
    for spec in ["newreno+frto:rfc5682", "sack+frto:rfc5682-sack", "newreno+frto:linux"] {
        let mut wire = Wire::connected(spec, 10);
        let (originals, _, at) = wire.times_out(10, 1);
        assert_eq!(wire.round_trip(&originals[0], at + 20), [7, 8]);
        let at = wire.sender.timer();
        assert_eq!(number_of(wire.sender.sends_one(at).seq), 2);
        assert_eq!(wire.round_trip(&originals[1], at + 20), [3, 4], "{spec}");
    }
}

#[test]
fn t_nr_5_an_acknowledgment_beyond_recover_may_have_a_smaller_number() {
    // Six segments, whose last number is 0xfffffff0, time out and are all acknowledged. Duplicates
    // of that ACK start nothing; those of the ACK of the next 31 bytes, number 0x10, do.
    for (more, number, fast_retransmits) in [(0, 0xffff_fff1, 0), (31, 0x10, 1)] {
        let mut wire = Wire::connected("newreno:careful", 10);
        wire.mapping.from.isn = 0xffff_fff0 - 6 * SEGMENT;
        wire.sender.connection.write(u64::from(6 * SEGMENT + 31));
        assert_eq!(wire.sender.sends(10).len(), 6);
        let at = wire.sender.timer();
        assert_eq!(number_of(wire.sender.sends_one(at).seq), 1);
        assert_eq!(wire.acknowledged(start_of(7), at + 20), [7]);
        wire.sender.connection.write(100_000);
        for _ in 0..4 {
            wire.acknowledged(start_of(7) + more, at + 30);
        }
        assert_eq!(wire.acks[1..], [number; 4]);
        let events = wire.sender.events.iter();
        let fast = events.filter(|event| matches!(event, Event::FastRetransmit(_)));
        assert_eq!(fast.count(), fast_retransmits, "{number:#x}");
    }
}

#[test]
fn t_ei_8_a_spurious_timeout_across_the_wrap_of_timestamps() {
    // The originals carry 0xfffffff0, and the retransmission, a second later, 984. The sequence
    // numbers wrap as well.
    for spec in EIFEL {
        let before = (1 << 32) - 16;
        let mut wire = Wire::connected(spec, before);
        let (originals, again, at) = wire.times_out(before, 1);
        let value = |segment: &Segment| segment.timestamps().map(|stamps| stamps.value);
        assert_eq!((value(&originals[0]), value(&again)), (Some(0xffff_fff0), Some(984)));
        wire.round_trip(&originals[0], at + 20);
        wire.round_trip(&originals[1], at + 20);
        assert!(wire.wrapped());
        assert_eq!(wire.verdict(), Some(Verdict::Spurious), "{spec}");
    }
}

#[test]
fn t_ei_8_a_needed_timeout_across_the_wrap_of_timestamps() {
    // The first retransmission carries 0xfffffff0 and the second, which arrives, 1,984: the smaller
    // number is the later one.
    for spec in EIFEL {
        let before = (1 << 32) - 1016;
        let mut wire = Wire::connected(spec, before);
        let (_, again, at) = wire.times_out(before, 2);
        assert_eq!(again.timestamps().map(|stamps| stamps.value), Some(1984));
        assert_eq!(wire.round_trip(&again, at + 20), [2, 3], "{spec}");
        assert_eq!(wire.verdict(), Some(Verdict::Genuine), "{spec}");
    }
}

/// A segment of data of the sender's.
fn data(number: u32, wire: &Wire) -> Segment {
    let mut segment = Segment::new(start_of(number), 1000, Flags::ACK);
    (segment.ack, segment.window) = (wire.sender.rcv_nxt(), 60_000);
    segment
}
