//! Samples of the delivery rate, segment by segment, against Linux's `tcp_rate.c` and
//! `tcp_input.c`.

use super::*;
use crate::flight::Cause;
use crate::segment::{Flags, SynOptions};

const SMSS: u64 = 1000;

/// A flight and its sampler. A place is a number of bytes after the SYN.
struct Transfer {
    flight: Flight,
    rate: RateSampler,
}

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

fn place(bytes: u32) -> Seq {
    Seq::FIRST + 1 + bytes
}

impl Transfer {
    /// The handshake took 100 ms.
    fn new() -> Self {
        let mut flight = Flight::default();
        let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
        syn.set_syn_options(SynOptions { sack_permitted: true, ..SynOptions::default() });
        flight.sent(&syn, at(0), Cause::New);
        (syn.flags, syn.ack) = (Flags::SYN | Flags::ACK, Seq::FIRST + 1);
        flight.on_ack(&syn, at(100));
        Self { flight, rate: RateSampler::new(at(100), SMSS, Some(Duration::from_millis(100))) }
    }

    /// Sends or retransmits `len` bytes.
    fn send(&mut self, bytes: u32, len: u32, millis: u64) -> &mut Self {
        let segment = Segment::new(place(bytes), len, Flags::ACK);
        let in_flight = self.flight.size();
        self.rate.on_sent(&segment, at(millis), (in_flight, in_flight == 0));
        self.flight.sent(&segment, at(millis), Cause::Unknown);
        self
    }

    fn acks(&mut self, bytes: u32, sacked: Option<(u32, u32)>, millis: u64) -> RateSample {
        let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        (segment.ack, segment.window) = (place(bytes), 60_000);
        if let Some((start, end)) = sacked {
            segment.push_sack(place(start)..place(end));
        }
        let Self { flight, rate } = self;
        let mut facts = flight.expected(&segment, at(millis));
        rate.begin_ack(flight.size());
        flight.note_acked(&segment, &mut facts, |sent, facts| rate.on_delivered(sent, facts));
        rate.end_ack(&facts, 0, None)
    }
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// `tcp_clean_rtx_queue`: no round trip is measured if a retransmission is among the acknowledged
/// segments (`FLAG_RETRANS_DATA_ACKED`).
#[test]
fn an_ack_that_covers_a_retransmission_gives_no_round_trip() {
    for (retransmitted, rtt) in [(None, Some(millis(400))), (Some(0), None), (Some(1000), None)] {
        let mut transfer = Transfer::new();
        transfer.send(0, 1000, 100).send(1000, 1000, 100).send(2000, 1000, 100);
        if let Some(bytes) = retransmitted {
            transfer.send(bytes, 1000, 400);
        }
        assert_eq!(transfer.acks(3000, None, 500).rtt, rtt, "{retransmitted:?}");
    }
}

/// The same: a segment that is newly SACKed gives one in any case (`sack_rtt_us`).
#[test]
fn sacked_data_gives_a_round_trip_beside_a_retransmission() {
    let mut transfer = Transfer::new();
    transfer.send(0, 1000, 100).send(1000, 1000, 150).send(2000, 1000, 170).send(0, 1000, 400);
    assert_eq!(transfer.acks(1000, Some((2000, 3000)), 500).rtt, Some(millis(330)));
}

/// `tcp_ack`: the receiver may have waited (`FLAG_ACK_MAYBE_DELAYED`) if the ACK delivers a single
/// segment that is not full, and nothing else was delivered since that left.
#[test]
fn only_the_ack_of_a_lone_short_segment_may_be_delayed() {
    for (len, delayed) in [(999, true), (1000, false)] {
        assert_eq!(Transfer::new().send(0, len, 100).acks(len, None, 240).is_ack_delayed, delayed);
    }
    // Two segments at once, and one after the other.
    let mut transfer = Transfer::new();
    transfer.send(0, 300, 100).send(300, 300, 100);
    assert!(!transfer.acks(600, None, 240).is_ack_delayed);
    let mut transfer = Transfer::new();
    transfer.send(0, 300, 100).send(300, 300, 100);
    assert!(transfer.acks(300, None, 240).is_ack_delayed);
    assert!(!transfer.acks(600, None, 241).is_ack_delayed);
}

/// The same: the segment was not retransmitted, and no data is SACKed.
#[test]
fn an_ack_of_a_retransmission_or_of_a_gap_is_not_delayed() {
    let mut transfer = Transfer::new();
    assert!(!transfer.send(0, 300, 100).send(0, 300, 150).acks(300, None, 240).is_ack_delayed);
    let mut transfer = Transfer::new();
    transfer.send(0, 300, 100).send(300, 300, 100);
    assert!(!transfer.acks(0, Some((300, 600)), 240).is_ack_delayed);
    // The gap is filled by a segment that nothing was delivered since.
    transfer.send(600, 300, 250);
    assert!(!transfer.acks(600, None, 251).is_ack_delayed);
}

/// `tcp_update_rtt_min`: a longer round trip replaces the smallest one after five minutes, unless
/// the receiver may have waited.
#[test]
fn the_smallest_round_trip_counts_for_five_minutes() {
    // The first one is measured at 200 ms, and the other ones 140 ms after the segment leaves.
    for (len, left, least) in [(1000, 300_060, 100), (1000, 300_061, 140), (500, 300_061, 100)] {
        let mut transfer = Transfer::new();
        transfer.send(0, 1000, 100).acks(1000, None, 200);
        transfer.send(1000, len, left).acks(1000 + len, None, left + 140);
        assert_eq!(transfer.rate.min_rtt(), Some(millis(least)), "{len} bytes at {left} ms");
    }
}
