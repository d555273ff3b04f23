//! Early retransmit: RFC 5827.

use crate::script::{Script, Setup, end_of, start_of};
use rtolab_tcp::config::SackRules;

/// Segments are outstanding, of which the last one carries the FIN.
fn closed(setup: Setup, segments: u32) -> Script {
    let mut s = setup.cwnd(segments).segments(1).sent(1..=1);
    s.connection.write(u64::from(segments - 1) * 1000);
    s.connection.close();
    s.write(0).expect(2..=segments);
    assert_eq!(s.connection.sender().flight().size(), u64::from(segments) * 1000 + 1);
    s
}

fn early(spec: &str) -> Setup {
    Script::sender(spec).set(|config| config.recovery.early_retransmit = true)
}

#[test]
fn t_er_1_two_outstanding_segments_need_one_duplicate_ack() {
    for spec in ["reno", "newreno"] {
        let mut s = early(spec).cwnd(2).segments(2).sent(1..=2);
        s.ack(0).expect([1]).ssthresh(2).fast_retransmits(1);
    }
    let mut s = early("sack").cwnd(2).segments(2).sent(1..=2);
    s.sacks(0, [2..=2]).expect([1]).fast_retransmits(1);
}

#[test]
fn t_er_1_three_outstanding_segments_need_two() {
    let mut s = early("newreno").cwnd(3).segments(3).sent(1..=3);
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]);

    let mut s = early("sack").cwnd(3).segments(3).sent(1..=3);
    s.sacks(0, [2..=2]).expect_nothing();
    s.sacks(0, [2..=3]).expect([1]);
}

#[test]
fn t_er_1_four_outstanding_segments_need_three() {
    let mut s = early("newreno").cwnd(4).segments(4).sent(1..=4);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]);
}

/// RFC 5827 section 3.1 counts the bytes of data; a FIN takes a sequence number, and is none.
#[test]
fn t_er_1_a_fin_is_not_counted_as_data() {
    for spec in ["reno", "newreno", "tahoe"] {
        closed(early(spec), 2).ack(0).expect([1]).fast_retransmits(1);

        let mut s = closed(early(spec), 3);
        s.ack(0).expect_nothing();
        s.ack(0).expect([1]).fast_retransmits(1);

        let mut s = closed(early(spec), 4);
        s.ack(0).expect_nothing();
        s.ack(0).expect_nothing();
        s.ack(0).expect([1]).fast_retransmits(1);
    }
}

#[test]
fn t_er_1_a_sacked_fin_is_not_counted_as_data() {
    for rules in [SackRules::Rfc6675, SackRules::Rfc3517, SackRules::Ns2] {
        let setup = early("sack").set(|config| config.recovery.sack.rules = rules);
        let mut s = closed(setup, 3);
        s.sacks(0, [2..=2]).expect_nothing();
        let mut ack = s.pure_ack(start_of(1));
        ack.push_sack(start_of(2)..end_of(3) + 1);
        s.arrives(&ack).expect([1]).fast_retransmits(1);
    }
}

/// RFC 5827 section 3.1: with SACK it depends on the SACKed bytes, because the acknowledgment that
/// reported the first of them may have been lost.
#[test]
fn t_er_1_with_sack_one_duplicate_ack_may_report_all_but_one_segment() {
    for rules in [SackRules::Rfc6675, SackRules::Rfc3517, SackRules::Ns2] {
        let setup = early("sack").set(|config| config.recovery.sack.rules = rules);
        let mut s = setup.cwnd(3).segments(3).sent(1..=3);
        s.sacks(0, [2..=3]).expect([1]).fast_retransmits(1);
    }
}

#[test]
fn t_er_2_new_data_leaves_it_to_limited_transmit() {
    let setup = early("newreno").cwnd(3);
    let mut s = setup.set(|config| config.recovery.limited_transmit = true).sent(1..=3);
    s.ack(0).expect([4]);
    s.ack(0).expect([5]);
    s.ack(0).expect([1]);
}

#[test]
fn t_er_2_unless_the_advertised_window_is_full() {
    let setup = early("newreno").cwnd(3).offered(3);
    let mut s = setup.set(|config| config.recovery.limited_transmit = true).sent(1..=3);
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]);
}

#[test]
fn a_single_segment_waits_for_the_timer() {
    let mut s = early("newreno").cwnd(2).segments(1).sent(1..=1);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing().fast_retransmits(0);
}
