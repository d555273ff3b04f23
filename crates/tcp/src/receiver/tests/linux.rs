//! When a Linux receiver acknowledges.

use super::*;
use crate::config::{AckCounts, AckDelay, AckRules, TimerClock};

/// A receiver of segments of 1,000 bytes.
fn linux(change: impl FnOnce(&mut ReceiverConfig)) -> Script {
    Script::configured(linux_config(change))
}

fn linux_config(change: impl FnOnce(&mut ReceiverConfig)) -> Config {
    let mut config = Config::default();
    let receiver = &mut config.receiver;
    (receiver.ack_rules, receiver.ack_delay) = (AckRules::Linux, AckDelay::Adaptive);
    (receiver.ack_counts, receiver.quick_acks) = (AckCounts::Bytes, 16);
    change(receiver);
    config
}

/// The number of the next segments, each 10 ms after the last, that are acknowledged at once. The
/// first has the number `first`.
fn quick(s: &mut Script, first: u32) -> u32 {
    let mut number = first;
    while s.arrives(number, 10 * u64::from(number)).receiver.ack_due() == AckDue::Now {
        s.ack();
        number += 1;
        assert!(number < 1_000_000, "it acknowledges each segment");
    }
    number - first
}

#[test]
fn the_first_sixteen_segments_are_acknowledged_at_once() {
    assert_eq!(quick(&mut linux(|_| {}), 1), 16);
    // `tcp_incr_quickack`: half as many as segments fit into the window.
    assert_eq!(quick(&mut linux(|config| config.buffer = 10_000), 1), 5);
}

/// Of 200 kB 117 / 256 are data of segments of 1,000 bytes, which occupy 2,176 bytes each. The
/// window grows from 65,000 to 90,411 bytes in 13 steps of 2,000.
#[test]
fn each_segment_is_acknowledged_while_the_window_grows() {
    assert_eq!(quick(&mut linux(|config| config.memory = Some(200_000)), 1), 13 + 16);
}

/// Each segment makes an even count odd, so that the first of 16 is not used up. After a duplicate
/// the count is odd before.
#[test]
fn a_duplicate_shortens_the_growth_by_two() {
    for (duplicate, fewer) in [(3, 2), (2, 0)] {
        let mut s = linux(|config| config.memory = Some(200_000));
        for number in 1..=3 {
            s.arrives(number, 10 * u64::from(number)).ack();
        }
        // One below the last acknowledgment is not scheduled (`tcp_send_dupack`).
        s.arrives(duplicate, 30).expect_ack(3, &[(duplicate.into(), duplicate.into())]);
        assert_eq!(quick(&mut s, 4), 10 + 16 - fewer);
    }
}

/// The copy of a segment above a gap is dropped (`tcp_data_queue_ofo`): the window does not grow.
/// The acknowledgments of three copies leave 13 of 16, and each later step leaves the count at 12.
#[test]
fn a_copy_of_a_segment_above_a_gap_does_not_let_the_window_grow() {
    for (copies, left) in [(0, 16), (3, 12)] {
        let mut s = linux(|config| config.memory = Some(200_000));
        s.arrives(1, 10).ack();
        s.arrives(3, 20).ack();
        for _ in 0..copies {
            s.arrives(3, 30).expect_ack(1, &[(3, 3), (3, 3)]);
        }
        s.arrives(2, 40).ack();
        assert_eq!(quick(&mut s, 4), 10 + left, "{copies} copies");
    }
}

#[test]
fn sixteen_acknowledgments_follow_a_duplicate() {
    let mut s = linux(|_| {});
    let next = 1 + quick(&mut s, 1);
    s.ack();
    s.arrives(1, 200).expect_ack(next.into(), &[(1, 1)]);
    assert_eq!(quick(&mut s, next + 1), 16);
}

#[test]
fn a_silence_of_more_than_the_timeout_makes_acknowledgments_quick() {
    for (silence, expected) in [(900, false), (1_100, true)] {
        let mut s = linux(|_| {});
        let next = 1 + quick(&mut s, 1);
        s.ack();
        s.receiver.note_established(Instant::START, None, Duration::from_secs(1));
        s.arrives(next + 1, 10 * u64::from(next) + silence);
        assert_eq!(s.receiver.ack_due() == AckDue::Now, expected);
    }
}

#[test]
fn an_expired_delay_doubles() {
    let mut s = linux(|config| config.quick_acks = 0);
    s.arrives(1, 0).ack();
    s.arrives(2, 0).ack();
    for (number, begins, delay) in
        [(3, 1_000, 40), (4, 2_000, 80), (5, 3_000, 160), (6, 4_000, 200)]
    {
        s.receiver.note_established(Instant::START, None, Duration::from_secs(10));
        s.arrives(number, begins).expect_wait(begins + delay);
        s.receiver.on_timer(at(begins + delay));
        s.expect_ack(number.into(), &[]);
    }
    // A long delay is at most a round trip.
    s.receiver.note_established(
        Instant::START,
        Some(Duration::from_millis(70)),
        Duration::from_secs(10),
    );
    s.arrives(7, 5_000).expect_wait(5_070);
}

/// `tcp_send_delayed_ack`: a delay that is shorter by now replaces the one that runs.
#[test]
fn a_shorter_delay_replaces_a_longer_one() {
    let mut s = linux(|config| (config.quick_acks, config.ack_every) = (0, 4));
    s.arrives(1, 0).ack();
    s.arrives(2, 0).ack();
    s.receiver.note_established(Instant::START, None, Duration::from_secs(10));
    s.arrives(3, 1_000).expect_wait(1_040);
    s.receiver.on_timer(at(1_040));
    s.expect_ack(3, &[]);
    s.arrives(4, 2_000).expect_wait(2_080);
    // Half of 80 ms and 20 ms more.
    s.arrives(5, 2_001).expect_wait(2_061);
}

/// Estimates are whole ticks: half of 41 ms are 20 (`tcp_event_data_recv`). A timer on the wheel
/// expires a tick later, but that tick is no part of what is left (`tcp_send_delayed_ack`).
#[test]
fn delays_are_whole_ticks() {
    let mut config = linux_config(|config| config.quick_acks = 0);
    config.rto.timer = TimerClock::Wheel(Duration::from_millis(1));
    let mut s = Script::configured(config);
    s.arrives(1, 0).ack();
    s.arrives(2, 0).ack();
    // The estimates are 40, then 20 + 21, then 20 + 24.
    s.arrives(3, 21).expect_wait(21 + 41 + 1).ack();
    // Small segments wait at an interactive end.
    s.receiver.note_data_sent(at(21));
    let small = |from| Segment::new(start_of(4) + from, 100, Flags::ACK | Flags::PSH);
    s.receiver.take(&small(0), at(45));
    s.expect_wait(45 + 44 + 1);
    // A quarter of the next estimate, 22 + 30 or 22 + 31, is 13. Of 89 ms 14 or 13 are left.
    for (arrives, due) in [(75, AckDue::At(at(90))), (76, AckDue::Now)] {
        let mut receiver = s.receiver.clone();
        receiver.take(&small(100), at(arrives));
        assert_eq!(receiver.ack_due(), due, "{arrives}");
    }
}

/// A FIN makes an end interactive (`tcp_fin`): the application may answer it. With a full segment
/// its sequence number is one more than the segment.
#[test]
fn a_fin_waits_for_the_application_unless_more_than_a_segment_is_due() {
    for (len, due) in [(0, AckDue::At(at(140))), (999, AckDue::At(at(140))), (1000, AckDue::Now)] {
        let mut s = linux(|_| {});
        s.arrives(1, 0).ack();
        s.receiver.take(&Segment::new(start_of(2), len, Flags::ACK | Flags::FIN), at(100));
        assert_eq!(s.receiver.ack_due(), due, "{len} bytes");
    }
}

/// Before the first data there is no estimate to wait for (`icsk_ack.ato`).
#[test]
fn a_fin_without_any_data_is_acknowledged_soon() {
    let mut s = linux(|_| {});
    s.receiver.take(&Segment::new(start_of(1), 0, Flags::ACK | Flags::FIN), at(100));
    assert_eq!(s.receiver.ack_due(), AckDue::At(at(100)));
}

#[test]
fn a_small_segment_is_acknowledged_when_it_is_read_and_so_is_one_with_psh() {
    for (len, flags, due) in [
        (999, Flags::ACK, AckDue::Now),
        (1000, Flags::ACK | Flags::PSH, AckDue::Now),
        (1000, Flags::ACK, AckDue::At(at(1_040))),
    ] {
        let mut s = linux(|config| config.quick_acks = 0);
        s.arrives(1, 0).ack();
        s.arrives(2, 0).ack();
        s.receiver.take(&Segment::new(start_of(3), len, flags), at(1_000));
        assert_eq!(s.receiver.ack_due(), due);
    }
}

/// `__tcp_ack_snd_check`: after three the acknowledgments wait for 5 % of the round trip, or for a
/// millisecond, and the slack of a tenth of one.
/// As the kernel's `tcp_close_no_rst.pkt`. RFC 2883 reports the duplicate.
#[test]
fn a_fin_resets_the_duplicate_report() {
    let reported: [&[(u64, u64)]; 2] = [&[], &[(1, 1)]];
    for (mut s, blocks) in [linux(|_| {}), Script::with(|_| {})].into_iter().zip(reported) {
        s.arrives(1, 0);
        s.ack();
        let repeated = Segment::new(start_of(1), 1000, Flags::FIN | Flags::ACK);
        s.receiver.take(&repeated, at(1));
        assert!(s.receiver.has_received_fin());
        s.expect_ack(1, blocks);
    }
}

#[test]
fn duplicate_acknowledgments_are_compressed() {
    for (srtt, delay) in [(100_000, 1_100), (10_000, 600)] {
        let mut s = linux(|config| config.quick_acks = 0);
        s.receiver.note_established(
            Instant::START,
            Some(Duration::from_micros(srtt)),
            Duration::from_secs(1),
        );
        s.arrives(1, 0).ack();
        s.arrives(2, 0).ack();
        for last in [4, 5, 6] {
            s.arrives(last, 100).expect_ack(2, &[(4, last.into())]);
        }
        let due = at(100) + Duration::from_micros(delay);
        for last in [7, 8] {
            s.arrives(last, 100);
            assert_eq!(s.receiver.ack_due(), AckDue::At(due));
        }
        s.receiver.on_timer(due);
        s.expect_ack(2, &[(4, 8)]);
    }
}

/// `tcp_comp_sack_nr`: the timer waits for 44 of them at most.
#[test]
fn the_45th_compressed_acknowledgment_is_sent_at_once() {
    let mut s = linux(|config| config.quick_acks = 0);
    s.receiver.note_established(at(0), Some(Duration::from_millis(100)), Duration::from_secs(1));
    s.arrives(1, 0).ack();
    s.arrives(2, 0).ack();
    for last in 4..7 {
        s.arrives(last, 100).expect_ack(2, &[(4, last.into())]);
    }
    for last in 7..7 + 44 {
        s.arrives(last, 100);
        assert_ne!(s.receiver.ack_due(), AckDue::Now, "{last}");
    }
    s.arrives(7 + 44, 100).expect_ack(2, &[(4, 7 + 44)]);
}

#[test]
fn without_sack_no_acknowledgment_is_compressed() {
    let mut s = linux(|config| config.quick_acks = 0);
    let config = Config { sack: false, ..(*s.receiver.config).clone() };
    s.receiver.config = Arc::new(config);
    s.arrives(1, 0).ack();
    s.arrives(2, 0).ack();
    for last in 4..10 {
        assert_eq!(s.arrives(last, 100).receiver.ack_due(), AckDue::Now);
        s.ack();
    }
}

/// An end that answers data with data delays its acknowledgments (`icsk_ack.pingpong`), until a
/// delay expires.
#[test]
fn an_interactive_end_sends_no_quick_acknowledgments() {
    for (answers, due) in
        [(Some(39), AckDue::At(at(140))), (Some(40), AckDue::Now), (None, AckDue::Now)]
    {
        let mut s = linux(|_| {});
        s.arrives(1, 0).ack();
        if let Some(answers) = answers {
            s.receiver.note_data_sent(at(answers));
        }
        s.arrives(2, 100);
        assert_eq!(s.receiver.ack_due(), due);
        s.receiver.on_timer(at(140));
        s.ack();
        s.arrives(3, 200).expect_ack(3, &[]);
    }
}

/// `tcp_event_data_recv`: the first segment in order makes the next 16 acknowledgments quick, but
/// not if a segment above a gap was acknowledged before, which ended quick-ACK mode.
#[test]
fn a_first_segment_that_arrives_late_begins_no_quick_acknowledgments() {
    let mut s = linux(|config| config.memory = Some(200_000));
    s.receiver.note_established(at(0), None, Duration::from_secs(1));
    s.arrives(2, 10).expect_ack(0, &[(2, 2)]);
    s.arrives(1, 20).expect_ack(2, &[]);
    assert_eq!(quick(&mut s, 3), 13 - 2);
}
