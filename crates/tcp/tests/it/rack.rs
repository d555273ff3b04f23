//! Loss detection by time: RACK of RFC 8985 section 6.

use std::sync::Arc;

use crate::script;
use crate::script::pair::End;
use crate::script::{Script, Setup, base};
use rtolab_tcp::config::{RackThreshold, ReorderingWindow};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Flags, Segment, Seq, specification};

/// A round trip of 100 ms is known; the first segment leaves at 100 ms.
fn setup(spec: &str) -> Setup {
    Script::sender(spec).cwnd(10).handshake_takes(100)
}

/// Segments that leave a millisecond apart, the first one at 100 ms.
fn a_millisecond_apart(spec: &str, count: u32) -> Script {
    let mut s = setup(spec).segments(1).sent(1..=1);
    for number in 2..=count {
        s.at(99 + u64::from(number)).write(1).expect([number]);
    }
    s
}

#[test]
fn t_rk_1_an_overtaken_segment_has_a_quarter_round_trip_left() {
    let mut s = a_millisecond_apart("rack", 5);
    s.at(201).sacks(0, [2..=2]).expect_nothing().deadline(225).fast_retransmits(0);
    s.early_timer().expect([1]).fast_retransmits(1).ssthresh(2);
    assert_eq!(s.millis(), 225);
}

#[test]
fn t_rk_1_a_late_segment_shows_reordering() {
    let mut s = a_millisecond_apart("rack", 8);
    s.at(201).sacks(0, [2..=2]).expect_nothing().deadline(225);
    s.at(210).ack(2).expect_nothing().fast_retransmits(0);
    // From now on three SACKed segments do not mark a loss; only time does.
    s.at(211).sacks(2, [4..=6]).expect_nothing().fast_retransmits(0);
    s.early_timer().expect([3]).fast_retransmits(1);
    // Segment 6 left at 105 ms and took 106; the smallest round trip is 100 ms.
    assert_eq!(s.millis(), 102 + 106 + 25);
}

#[test]
fn segments_of_one_acknowledgment_are_not_reordered() {
    // The newest block comes first (RFC 2018 section 4), and three SACKed segments are enough.
    let mut s = a_millisecond_apart("rack", 5);
    s.at(204).sacks(0, [5..=5, 2..=3]).fast_retransmits(1).take();
}

#[test]
fn without_reordering_three_sacked_segments_are_enough() {
    let mut s = a_millisecond_apart("rack", 5);
    s.at(201).sacks(0, [2..=2]).expect_nothing();
    s.at(202).sacks(0, [2..=3]).expect_nothing();
    s.at(203).sacks(0, [2..=4]).expect([1]).fast_retransmits(1);
}

#[test]
fn segments_are_counted_whatever_their_length() {
    let config = specification::sender("rack", &base()).unwrap();
    let mut a = End::open(&config);
    let syn = a.sends_one(0);
    a.gets(&End::accept(&base(), &syn).sends_one(0), 100);
    a.sends(100);
    let sent: Vec<_> = (0..4)
        .map(|number| {
            a.connection.write(100);
            a.sends_one(100 + number)
        })
        .collect();
    let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    (ack.ack, ack.window) = (sent[0].seq, 60_000);
    for (above, again) in [(1, vec![]), (2, vec![]), (3, vec![sent[0].seq])] {
        let mut ack = ack;
        ack.push_sack(sent[1].seq..sent[above].end());
        let answer = a.answers(&ack, 201 + above as u64);
        assert_eq!(answer.iter().map(|segment| segment.seq).collect::<Vec<_>>(), again);
    }
}

#[test]
fn dupthresh_can_be_disabled() {
    let setup = setup("rack").segments(1);
    let setup = setup.set(|config| config.recovery.rack.threshold = RackThreshold::TimeOnly);
    let mut s = setup.sent(1..=1);
    for number in 2..=5 {
        s.at(99 + u64::from(number)).write(1).expect([number]);
    }
    s.at(203).sacks(0, [2..=5]).expect_nothing().fast_retransmits(0);
    s.early_timer().expect([1]);
}

#[test]
fn t_rk_2_a_lost_retransmission_is_retransmitted_without_a_timeout() {
    let mut s = setup("rack").sent(1..=10);
    s.at(200).sacks(0, [2..=4]).expect([1]).outstanding(7);
    // PRR sends half a segment for each that arrives until five are outstanding; segment 11 leaves
    // after R1.
    for (last, new) in [(5, Some(11)), (6, None), (7, None), (8, Some(12)), (9, Some(13))] {
        s.at(200 + u64::from(last)).sacks(0, [2..=last]).expect(new);
    }
    s.at(210).sacks(0, [2..=10]).expect([14]).outstanding(5);
    // Segment 11 is SACKed a round trip later. R1 left before it and is not acknowledged, so it is
    // lost.
    s.at(310).sacks(0, [2..=11]).expect([1, 15]).outstanding(5);
}

#[test]
fn t_rk_3_two_dsacks_of_one_round_count_once() {
    let mut s = a_millisecond_apart("rack", 8);
    s.allow_disagreement();
    // Reordering is seen, and then a D-SACK.
    s.at(202).sacks(0, [2..=2]).expect_nothing();
    s.at(203).sacks(2, []).expect_nothing();
    s.at(204).sacks(3, [1..=1]).expect_nothing();
    s.at(205).sacks(4, [2..=2]).expect_nothing();
    // Two quarters of the smallest round trip, 100 ms: segment 5 left at 104 ms, 6 took 101.
    s.at(206).sacks(4, [6..=6]).expect_nothing().deadline(104 + 101 + 50);
}

#[test]
fn a_static_window_does_not_adapt() {
    let setup = setup("rack").segments(1);
    let setup =
        setup.set(|config| config.recovery.rack.reordering_window = ReorderingWindow::Static);
    let mut s = setup.sent(1..=1);
    for number in 2..=8 {
        s.at(99 + u64::from(number)).write(1).expect([number]);
    }
    s.allow_disagreement();
    s.at(202).sacks(0, [2..=2]).expect_nothing();
    s.at(203).sacks(2, []).expect_nothing();
    s.at(204).sacks(3, [1..=1]).expect_nothing();
    s.at(206).sacks(4, [6..=6]).expect_nothing().deadline(104 + 101 + 25);
}

#[test]
fn t_rk_4_after_sixteen_recoveries_reo_wnd_is_reset() {
    for (recoveries, quarters) in [(15, 2), (16, 1)] {
        let mut s = setup("rack").segments(4).sent(1..=4);
        s.allow_disagreement();
        // Reordering is seen, and a D-SACK.
        s.at(200).sacks(0, [2..=2]).expect_nothing();
        s.at(201).sacks(2, []).expect_nothing();
        s.at(202).sacks(4, [1..=1]).expect_nothing();
        let (mut at, mut last) = (1000, 4);
        for _ in 0..recoveries {
            s.at(at).write(2).expect([last + 1, last + 2]);
            s.at(at + 100).sacks(last, [last + 2..=last + 2]).expect_nothing();
            s.early_timer().expect([last + 1]);
            s.at(at + 300).ack(last + 2).expect_nothing();
            (at, last) = (at + 1000, last + 2);
        }
        s.at(at).write(2).expect([last + 1, last + 2]);
        s.at(at + 100).sacks(last, [last + 2..=last + 2]).expect_nothing();
        s.deadline(at + 100 + 25 * quarters);
    }
}

#[test]
fn t_rk_7_a_segment_sent_just_before_a_timeout_is_not_lost() {
    let mut s = setup("rack:no-tlp").segments(4).rto_of(1000).sent(1..=4);
    s.at(1099).write(1).expect([5]);
    s.timeout().expect([1]);
    assert_eq!(s.millis(), 1100);
    // All but the last are lost, and are retransmitted as slow start permits while the last is in
    // flight.
    s.at(1160).ack(1).expect([2]).cwnd(2.0).outstanding(2);
    s.at(1260).ack(2).expect([3, 4]);
    s.at(1360).ack(5).expect_nothing().fast_retransmits(0);
}

#[test]
fn after_a_timeout_with_sack_only_holes_are_retransmitted() {
    let mut s = setup("rack:no-tlp").rto_of(1000).segments(8).sent(1..=8);
    // R1 is lost, and so is the acknowledgment of everything after the hole at 5.
    s.at(200).sacks(0, [2..=4]).expect([1]);
    s.at(201).sacks(0, [6..=8, 2..=4]).expect([5]);
    s.timeout().expect([1]);
    s.at(1300).sacks(4, [6..=8]).expect([5]);
    s.at(1400).ack(8).expect_nothing().deadline(None);
}

#[test]
fn a_head_that_was_sacked_shows_that_the_receiver_reneged() {
    let mut s = setup("rack:no-tlp").rto_of(1000).segments(4).sent(1..=4);
    s.at(200).sacks(0, [1..=1]).timeout().expect([1]);
    s.at(1300).ack(1).expect([2, 3]);
    s.at(1400).ack(4).expect_nothing().deadline(None);
}

#[test]
fn new_data_lost_in_recovery_begins_another_recovery() {
    let mut s = setup("rack").sent(1..=10);
    s.at(200).sacks(0, [2..=10]).expect([1, 11, 12, 13, 14]).fast_retransmits(1);
    // Segment 11 of the next window is lost.
    s.at(300).sacks(10, [12..=14]).expect([11, 15]).fast_retransmits(2);
}

#[test]
fn after_an_undo_real_losses_are_detected_again() {
    // A timeout during a delay, in which segment 3 is lost as well.
    let mut s = setup("rack:no-tlp+eifel").rto_of(300).segments(8).sent(1..=8);
    s.timeout().expect([1]).cwnd(1.0);
    // The timestamp shows the original: the timeout is undone, and nothing stays marked lost.
    s.at(500).echoing(100).ack(1).verdict(Verdict::Spurious).cwnd(10.0).expect_nothing();
    assert_eq!(s.connection.sender().flight().lost(), 0);
    s.at(501).echoing(100).ack(2).expect_nothing();
    s.at(502).echoing(100).sacks(2, [4..=4]).expect_nothing();
    s.early_timer().expect([3]).fast_retransmits(1);
}

#[test]
fn rack_and_other_recoveries_can_replace_each_other() {
    let rack = |spec: &str| Arc::new(specification::sender(spec, &script::base()).unwrap());
    // Go-back-N has retransmitted 2 and 3; RACK marks the others lost by time, too.
    let mut s = setup("sack").rto_of(1000).segments(8).sent(1..=8);
    s.timeout().expect([1]);
    s.at(1200).ack(1).expect([2, 3]);
    s.connection.reconfigure(rack("rack")).unwrap();
    s.allow_disagreement().at(1300).ack(3).expect([4, 5, 6]);
    // The first recovery replaces it again.
    s.connection.reconfigure(rack("newreno")).unwrap();
    s.at(1400).ack(6).expect([7, 8]);
    s.at(1500).ack(8).expect_nothing().deadline(None);
}

#[test]
fn a_suppressed_sender_ignores_the_reordering_timer_too() {
    let mut s = setup("rack").segments(6).sent(1..=6);
    s.connection.suppress_retransmission();
    s.deadline(None);
    s.at(200).sacks(0, [2..=6]).expect_nothing().deadline(None).fast_retransmits(0);
    s.at(400).ack(1).expect_nothing();
}
