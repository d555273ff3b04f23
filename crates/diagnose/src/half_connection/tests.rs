//! Tests of one direction, on single segments.

use rtolab_tcp::Timestamps;

use super::*;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn sending(mss: u32) -> HalfConnection {
    HalfConnection { mss, ..HalfConnection::new(Seq::FIRST) }
}

/// A network card splits a super-segment into full segments, and the last may be smaller.
#[test]
fn a_super_segment_counts_as_the_segments_on_the_wire() {
    let found = [0, 1, 1000, 1001, 2000, 2001].map(|len| sending(1000).wire_segments(len));
    assert_eq!(found, [0, 1, 1, 2, 2, 3]);
}

#[test]
fn without_the_handshake_a_segment_has_the_mean_size() {
    let of =
        |mss, bytes, segments| HalfConnection { bytes, segments, ..sending(mss) }.segment_size();
    assert_eq!(of(UNKNOWN_MSS, 3000, 2), 1500);
    assert_eq!(of(UNKNOWN_MSS, 0, 0), 0);
    assert_eq!(of(1000, 3000, 2), 1000);
}

/// RFC 6298: a backed-off timer lasts until the next sample. The timeout is 300 ms.
#[test]
fn the_longest_timeout_is_the_one_backed_off_until_the_next_sample() {
    let mut end = sending(1000);
    assert_eq!(end.longest_timeout(), None);
    end.rtt.take(millis(100));
    assert_eq!(end.longest_timeout(), Some(millis(300)));
    for (backed_off, samples, expected) in [(600, 1, 600), (600, 0, 300), (200, 1, 300)] {
        end.backed_off = Some((millis(backed_off), samples));
        assert_eq!(end.longest_timeout(), Some(millis(expected)), "{backed_off} {samples}");
    }
}

/// Linux lets a timestamp be one tick older than TS.Recent, the last one echoed.
#[test]
fn a_receiver_discards_segments_with_older_timestamps_than_it_echoes() {
    let of = |value, echoed| {
        let mut segment = Segment::new(Seq::FIRST, 1000, Flags::ACK);
        segment.set_timestamps(Timestamps { value, echo: 1 });
        HalfConnection { echoed, ..sending(1000) }.is_discarded_by_paws(&segment)
    };
    assert!(of(4998, Some(5000)));
    assert!(!of(4999, Some(5000)) && !of(6000, Some(5000)) && !of(1, None));
    assert!(of(u32::MAX, Some(2)), "timestamps wrap around");
}

#[test]
fn of_a_flight_that_is_too_large_the_older_half_is_discarded() {
    let mut end = sending(1);
    for number in 0..=MAX_OUTSTANDING as u32 {
        let segment = Segment::new(Seq::FIRST + number, 1, Flags::ACK);
        let frame = Frame { number: number.into(), at: Instant::START, ip_id: 0, raw_seq: number };
        end.on_sent(&segment, &frame, || View::AT_SENDER);
    }
    assert_eq!(end.flight().outstanding(), MAX_OUTSTANDING / 2 + 1);
    assert_eq!(end.memory_items(), MAX_OUTSTANDING / 2 + 1);
}

#[test]
fn a_sender_waits_while_data_is_outstanding() {
    let mut end = sending(1000);
    assert!(!end.is_waiting());
    let segment = Segment::new(Seq::FIRST, 1000, Flags::ACK);
    let frame = Frame { number: 1, at: Instant::START, ip_id: 0, raw_seq: 1 };
    end.on_sent(&segment, &frame, || View::AT_SENDER);
    assert!(end.is_waiting());
    let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
    (ack.ack, ack.window) = (Seq::FIRST + 1000, 60_000);
    end.on_ack(&ack, &frame);
    assert!(!end.is_waiting());
}

/// The segment with this number, of 1000 bytes, or the FIN after it.
fn send(end: &mut HalfConnection, number: u32, flags: Flags) {
    let segment = Segment::new(Seq::FIRST + 1000 * number, 1000, flags | Flags::ACK);
    let at = Instant::START + millis(10 * u64::from(number));
    let frame = Frame { number: number.into(), at, ip_id: 0, raw_seq: number };
    end.on_sent(&segment, &frame, || View::AT_SENDER);
}

/// The server in FIN-WAIT repeats the SACK block of the FIN in the ACK of all.
#[test]
fn the_sack_block_of_a_fin_in_the_ack_of_all_is_no_duplicate() {
    let duplicates = |start: u32, is_retransmitted: bool| {
        let mut end = sending(1000);
        let ack = |end: &mut HalfConnection, number: u32, block: (u32, u32)| {
            let seq = |number: u32| Seq::FIRST + 1000 * number + u32::from(number == 4);
            let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
            (ack.ack, ack.window) = (seq(number), 60_000);
            ack.push_sack(seq(block.0)..seq(block.1));
            let at = Instant::START + millis(100 + u64::from(number));
            end.on_ack(&ack, &Frame { number: 10, at, ip_id: 0, raw_seq: 7 });
        };
        for number in 0..=3 {
            send(&mut end, number, if number == 3 { Flags::FIN } else { Flags::NONE });
        }
        ack(&mut end, 1, (2, 4));
        if is_retransmitted {
            send(&mut end, 2, Flags::NONE);
        }
        ack(&mut end, 4, (start, 4));
        (end.dsack_seen, end.network_duplicates.not_captured)
    };
    assert_eq!(duplicates(2, false), (false, 0));
    assert_eq!(duplicates(3, false), (true, 1), "a part of the block");
    assert_eq!(duplicates(2, true), (true, 0));
}

#[test]
fn ranges_beyond_the_limit_are_counted_but_not_kept() {
    let mut end = sending(1000);
    let ranges = |count| vec![RetransmittedRange::new(Seq::FIRST, Seq::FIRST + 1, vec![]); count];
    end.settle(ranges(MAX_SETTLED - 1));
    assert_eq!((end.settled.len(), end.unreported), (MAX_SETTLED - 1, 0));
    for unreported in [2, 5] {
        end.settle(ranges(3));
        assert_eq!((end.settled.len(), end.unreported), (MAX_SETTLED, unreported));
    }
}
