//! Go-back-N after a timeout: RFC 5681 section 3.1, RFC 6298 sections 5.4 to 5.7.

use crate::script::Script;

fn six_outstanding(spec: &str) -> Script {
    Script::sender(spec).cwnd(6).sent(1..=6)
}

#[test]
fn t_gbn_1_a_spurious_timeout_retransmits_the_window() {
    let mut s = six_outstanding("newreno");
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    s.ack(1).expect([2, 3]).cwnd(2.0);
    s.ack(2).expect([4, 5]).cwnd(3.0);
    s.ack(3).expect([6]).cwnd(3.33);
    s.ack(4).expect([7]);
    s.ack(5).expect([8]);
    s.ack(6).expect([9, 10]);
    for _ in 0..6 {
        s.ack(6).expect_nothing();
    }
    s.ack(7).expect([11]).fast_retransmits(0);
}

#[test]
fn t_gbn_2_acknowledged_data_is_not_retransmitted() {
    let mut s = six_outstanding("newreno");
    s.timeout().expect([1]);
    s.ack(4).expect([5, 6]).cwnd(2.0);
}

#[test]
fn t_gbn_2_an_ack_of_everything_leaves_nothing_to_retransmit() {
    let mut s = six_outstanding("newreno");
    s.timeout().expect([1]);
    s.ack(6).expect([7, 8]).cwnd(2.0);
}

#[test]
fn t_gbn_3_an_ack_beyond_the_retransmitted_data_counts() {
    let mut s = six_outstanding("newreno");
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]);
    // SND.NXT is at 4, SND.MAX at 7.
    s.ack(5).expect([6, 7, 8]).cwnd(3.0);
}

#[test]
fn t_gbn_4_a_second_timeout_of_the_segment() {
    let mut s = six_outstanding("newreno");
    s.timeout().expect([1]).ssthresh(3).rto(2000).deadline(3000);
    s.timeout().expect([1]).ssthresh(3).rto(4000).deadline(7000).cwnd(1.0);
}

#[test]
fn t_cc_3_half_the_flight_size_once_per_segment() {
    let mut s = Script::sender("newreno").cwnd(10).sent(1..=10);
    s.timeout().expect([1]).ssthresh(5).cwnd(1.0);
    s.timeout().expect([1]).ssthresh(5).cwnd(1.0);
    // Another segment's timeout halves again: nine are outstanding.
    s.ack(1).expect([2, 3]);
    s.timeout().expect([2]).ssthresh(4).cwnd(1.0);
}

#[test]
fn data_sacked_since_the_timeout_is_skipped() {
    let mut s = six_outstanding("sack");
    s.timeout().expect([1]);
    s.sacks(0, [3..=4]).expect_nothing();
    s.sacks(1, [3..=4]).expect([2, 5]).cwnd(2.0).outstanding(2);
    s.sacks(4, []).expect([6, 7]).cwnd(3.0);
}
