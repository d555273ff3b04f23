//! Tests of ACKs that report a gap, and of timeouts during recovery.

use super::*;
use crate::half_connection::{HalfConnection, View};
use crate::history::Frame;

/// The ACK of this number of segments, with this window, and a SACK block of one segment.
type OneAck = (u32, u32, Option<u32>);

/// Whether the last of these ACKs of five segments reports a gap, and whether it may.
fn gaps(acks: &[OneAck]) -> (bool, bool) {
    let mut end = HalfConnection::new(Seq::FIRST);
    let seq = |number: u32| Seq::FIRST + 1000 * number;
    let frame = |number: u32| {
        let at = Instant::START + Duration::from_millis(number.into());
        Frame { number: number.into(), at, ip_id: 0, raw_seq: number }
    };
    for number in 0..5 {
        let segment = Segment::new(seq(number), 1000, Flags::ACK);
        end.on_sent(&segment, &frame(1), || View::AT_SENDER);
    }
    let mut last = frame(100);
    for (&(acked, window, block), number) in acks.iter().zip(100..) {
        let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
        (ack.ack, ack.window) = (seq(acked), window);
        if let Some(block) = block {
            ack.push_sack(seq(block)..seq(block + 1));
        }
        last = frame(number);
        end.on_ack(&ack, &last);
    }
    let is_last = |gap| gap == Some(last.at);
    (is_last(end.sender_state.gap()), is_last(end.sender_state.possible_gap()))
}

#[test]
fn a_sack_block_reports_a_gap_in_the_ack_of_new_data_too() {
    assert_eq!(gaps(&[(1, 60_000, None)]), (false, false));
    assert_eq!(gaps(&[(1, 60_000, Some(3))]), (true, true));
    assert_eq!(gaps(&[(1, 60_000, None), (1, 60_000, Some(3))]), (true, true));
}

/// RFC 5681: a duplicate ACK has the same window. Receivers change it nevertheless.
#[test]
fn an_ack_with_another_window_may_be_a_duplicate_while_data_is_outstanding() {
    assert_eq!(gaps(&[(1, 60_000, None), (1, 60_000, None)]), (true, true));
    assert_eq!(gaps(&[(1, 60_000, None), (1, 50_000, None)]), (false, true));
    assert_eq!(gaps(&[(5, 60_000, None), (5, 50_000, None)]), (false, false));
}

/// The trigger of the second retransmission of the first segment, 50 ms after the ACK of two
/// segments that has this SACK block, and this many milliseconds after the first retransmission.
fn retransmitted_twice(block: Option<u32>, millis: u32) -> Trigger {
    let mut end = HalfConnection::new(Seq::FIRST);
    let seq = |number: u32| Seq::FIRST + 1000 * number;
    let frame = |millis: u32| {
        let at = Instant::START + Duration::from_millis(millis.into());
        Frame { number: millis.into(), at, ip_id: 0, raw_seq: millis }
    };
    let segment = |number| Segment::new(seq(number), 1000, Flags::ACK);
    let vantage = || View::AT_SENDER;
    let ack = |acked, block: Option<u32>| {
        let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
        (ack.ack, ack.window) = (seq(acked), 60_000);
        if let Some(block) = block {
            ack.push_sack(seq(block)..seq(block + 1));
        }
        ack
    };
    (0..6).for_each(|number| end.on_sent(&segment(number), &frame(1), vantage));
    end.on_ack(&ack(2, None), &frame(101));
    for number in 3..6 {
        end.on_ack(&ack(2, Some(number)), &frame(99 + number));
    }
    end.on_sent(&segment(2), &frame(104), vantage);
    end.on_sent(&segment(6), &frame(105), vantage);
    end.on_ack(&ack(2, block), &frame(104 + millis - 50));
    let (mut state, at) = (end.sender_state, frame(104 + millis).at);
    assert_eq!(state.recovery, Recovery::Fast(seq(6)));
    state.on_retransmission(&segment(2), at, (end.flight(), &end.rtt), Duration::ZERO)
}

/// RFC 6675 retransmits a segment once in a recovery, and RFC 8985 again only if an ACK SACKs what
/// was sent later. A duplicate ACK shortly before the timer expires does not make a timeout part of
/// the recovery.
#[test]
fn the_timer_expires_in_recovery_although_duplicate_acks_arrive() {
    assert_eq!(retransmitted_twice(None, 5000), Trigger::Timeout(0));
    // The RACK reordering timer.
    assert_eq!(retransmitted_twice(Some(6), 5000), Trigger::Recovery);
    // The timer is not due.
    assert_eq!(retransmitted_twice(None, 100), Trigger::Recovery);
}

/// The sender answers the first ACK after a timeout with this segment, and then sends new data.
fn has_frto(answer: u32) -> bool {
    let mut end = HalfConnection::new(Seq::FIRST);
    let segment = |number: u32| Segment::new(Seq::FIRST + 1000 * number, 1000, Flags::ACK);
    let frame = |number: u64| {
        let at = Instant::START + Duration::from_millis(number);
        Frame { number, at, ip_id: 0, raw_seq: 0 }
    };
    let at_sender = || View::AT_SENDER;
    for number in 0..5 {
        end.on_sent(&segment(number), &frame(1), at_sender);
    }
    end.on_sent(&segment(0), &frame(1001), at_sender);
    let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
    (ack.ack, ack.window) = (segment(1).seq, 60_000);
    end.on_ack(&ack, &frame(1051));
    end.on_sent(&segment(answer), &frame(1052), at_sender);
    end.on_sent(&segment(5), &frame(1053), at_sender);
    end.sender_state.has_frto()
}

#[test]
fn new_data_after_a_timeout_shows_frto() {
    assert!(has_frto(5));
    assert!(!has_frto(1));
}
