//! Early retransmit: RFC 5827.

use crate::script::{Script, Setup};

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
