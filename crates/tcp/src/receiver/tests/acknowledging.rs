//! The settings that decide when acknowledgments leave and how many blocks they carry.

use super::*;
use crate::config::{AckCounts, AckDelay, GapFill};

#[test]
fn t_dack_6_a_pushed_segment_waits_unless_pushes_are_acknowledged_at_once() {
    let mut pushed = Segment::new(start_of(1), 100, Flags::ACK | Flags::PSH);
    pushed.window = 60_000;
    for (at_once, due) in [(false, AckDue::At(at(200))), (true, AckDue::Now)] {
        let mut s = Script::with(|config| config.ack_pushed_at_once = at_once);
        s.receiver.take(&pushed, at(0));
        assert_eq!(s.receiver.ack_due(), due);
    }
}

#[test]
fn a_heartbeat_sends_the_waiting_acknowledgment_at_its_next_beat() {
    let mut s = Script::with(|config| {
        config.ack_delay = AckDelay::Heartbeat;
        config.heartbeat_phase = Duration::from_millis(50);
    });
    s.arrives(1, 0).expect_wait(50).ack();
    s.arrives(2, 49).expect_wait(50).ack();
    s.arrives(3, 50).expect_wait(250).ack();
    s.arrives(4, 249).expect_wait(250);
    s.receiver.on_timer(at(250));
    s.expect_ack(4, &[]);
    s.arrives(5, 1_000).expect_wait(1_050).arrives(6, 1_001).expect_ack(6, &[]);
}

#[test]
fn a_heartbeat_without_a_phase_beats_from_the_start_on() {
    let mut s = Script::with(|config| config.ack_delay = AckDelay::Heartbeat);
    s.arrives(1, 0).expect_wait(200).ack();
    s.arrives(2, 399).expect_wait(400);
}

#[test]
fn an_adaptive_delay_follows_the_pace_of_segments() {
    let mut s = Script::with(|config| config.ack_delay = AckDelay::Adaptive);
    s.arrives(1, 0).expect_wait(40);
    // 40/2 + 30 = 50 ms.
    s.arrives(2, 30).expect_ack(2, &[]);
    // A gap that is longer than the estimate does not count.
    s.arrives(3, 100).expect_wait(150);
    // Less than 20 ms counts as 20: 50/2 + 20 = 45 ms; then 45/2 + 44 = 66.5 ms.
    s.arrives(4, 110).expect_ack(4, &[]);
    s.arrives(5, 154);
    let due = at(154) + Duration::from_nanos(66_500_000);
    assert_eq!(s.receiver.ack_due(), AckDue::At(due));
}

#[test]
fn an_adaptive_delay_stays_between_40_ms_and_the_longest() {
    for (longest, expected) in [(200, 45), (42, 42)] {
        let mut s = Script::with(|config| {
            config.ack_delay = AckDelay::Adaptive;
            config.delayed_ack = Duration::from_millis(longest);
        });
        // 40/2 + 25 = 45 ms.
        s.arrives(1, 0).ack();
        s.arrives(2, 25).expect_wait(25 + expected);
    }
    let mut s = Script::with(|config| config.ack_delay = AckDelay::Adaptive);
    // Back to back, the estimate stays at 40/2 + 20 = 40 ms.
    for segment in 1..=20 {
        s.arrives(segment, 0).expect_wait(40).ack();
    }
}

#[test]
fn the_first_acknowledgments_are_quick() {
    let mut s = Script::with(|config| config.quick_acks = 2);
    s.arrives(1, 0).expect_ack(1, &[]);
    // An ACK of no new data does not count.
    s.ack();
    s.arrives(2, 0).expect_ack(2, &[]);
    s.arrives(3, 0).expect_wait(200).arrives(4, 0).expect_ack(4, &[]);
}

#[test]
fn small_segments_count_as_segments_or_by_their_bytes() {
    for (counts, due) in
        [(AckCounts::Segments, AckDue::Now), (AckCounts::Bytes, AckDue::At(at(200)))]
    {
        let mut s = Script::with(|config| config.ack_counts = counts);
        s.arrives(1, 0);
        s.receiver.take(&Segment::new(start_of(2), 100, Flags::ACK), at(1));
        assert_eq!(s.receiver.ack_due(), due);
        s.receiver.take(&Segment::new(start_of(2) + 100, 1000, Flags::ACK), at(2));
        assert_eq!(s.receiver.ack_due(), AckDue::Now);
    }
}

#[test]
fn data_that_fills_a_gap_is_acknowledged_by_one_of_three_rules() {
    let (now, waits) = (AckDue::Now, AckDue::At(at(210)));
    for (rule, part, whole) in [
        (GapFill::AtOnce, now, now),
        (GapFill::WhereJoined, waits, now),
        (GapFill::Delayed, waits, waits),
    ] {
        let mut s = Script::with(|config| config.gap_fill = rule);
        s.arrives(3, 0).expect_ack(0, &[(3, 3)]);
        s.arrives(1, 10);
        assert_eq!(s.receiver.ack_due(), part, "{rule:?}");
        s.ack();
        s.arrives(2, 10);
        assert_eq!(s.receiver.ack_due(), whole, "{rule:?}");
        assert_eq!(s.ack(), (3, Vec::new()));
    }
}

#[test]
fn a_fin_after_a_gap_is_acknowledged_at_once_when_the_gap_is_filled() {
    let mut s = Script::with(|config| config.gap_fill = GapFill::Delayed);
    s.receiver.take(&Segment::new(start_of(2), 1000, Flags::ACK | Flags::FIN), at(0));
    s.ack();
    s.arrives(1, 10);
    assert_eq!(s.receiver.ack_due(), AckDue::Now);
    assert!(s.receiver.has_received_fin());
}

#[test]
fn fewer_blocks_than_fit() {
    let mut s = Script::with(|config| config.max_sack_blocks = 2);
    for segment in [2, 4, 6] {
        s.arrives(segment, 0);
    }
    s.expect_ack(0, &[(6, 6), (4, 4)]);
    // A D-SACK and the block that encloses it are two blocks.
    s.arrives(2, 0).expect_ack(0, &[(2, 2), (2, 2)]);
}

fn holding(millis: u64) -> Script {
    Script::with(|config| config.delayed_dupacks = Some(Duration::from_millis(millis)))
}

#[test]
fn delayed_duplicates_leave_together_and_later_ones_at_once() {
    let mut s = holding(100);
    s.arrives(2, 0).expect_ack(0, &[(2, 2)]);
    s.arrives(3, 10).expect_ack(0, &[(2, 3)]);
    s.arrives(4, 20).expect_wait(120).arrives(5, 30).expect_wait(120);
    s.receiver.on_timer(at(120));
    s.expect_ack(0, &[(2, 5)]).expect_ack(0, &[(2, 5)]);
    assert_eq!(s.receiver.ack_due(), AckDue::No);
    s.arrives(6, 130).expect_ack(0, &[(2, 6)]);
}

#[test]
fn the_delay_of_duplicates_starts_anew_with_the_next_gap() {
    let mut s = holding(100);
    for segment in [2, 3, 4] {
        s.arrives(segment, 0);
        if s.receiver.ack_due() == AckDue::Now {
            s.ack();
        }
    }
    s.expect_wait(100).arrives(1, 50).expect_ack(4, &[]);
    assert_eq!(s.receiver.ack_due(), AckDue::No);
    s.arrives(6, 60).expect_ack(4, &[(6, 6)]);
    s.arrives(7, 60).expect_ack(4, &[(6, 7)]);
    s.arrives(8, 60).expect_wait(160);
}

#[test]
fn a_heartbeat_without_a_period_delays_nothing() {
    let mut s = Script::with(|config| {
        config.ack_delay = AckDelay::Heartbeat;
        config.heartbeat_phase = Duration::from_millis(1);
        config.delayed_ack = Duration::ZERO;
    });
    s.arrives(1, 5).expect_wait(5);
    s.receiver.on_timer(at(5));
    s.expect_ack(1, &[]);
}
