//! Limited transmit: RFC 3042.

use crate::script::{Script, Setup};

fn limited(spec: &str) -> Setup {
    Script::sender(spec).cwnd(3).set(|config| config.recovery.limited_transmit = true)
}

#[test]
fn t_lt_1_the_first_two_duplicates_send_new_segments() {
    let mut s = limited("newreno").sent(1..=3);
    s.ack(0).expect([4]).cwnd(3.0);
    s.ack(0).expect([5]).cwnd(3.0);
    // Three were outstanding, without the segments of limited transmit; the minimum is two
    // segments.
    s.ack(0).expect([1]).ssthresh(2).cwnd(5.0);
}

#[test]
fn t_lt_1_with_sack_only_new_information_counts() {
    for spec in ["sack:rfc3517", "sack:rfc6675"] {
        let mut s = limited(spec).sent(1..=3);
        s.sacks(0, [2..=2]).expect([4]).cwnd(3.0);
        s.sacks(0, [2..=3]).expect([5]).cwnd(3.0);
        s.sacks(0, [2..=4]).expect([1]).ssthresh(2).cwnd(2.0);

        let mut s = limited(spec).sent(1..=3);
        s.ack(0).expect_nothing();
        s.sacks(0, [2..=2]).expect([4]);
        s.sacks(0, [2..=2]);
        assert_eq!(s.connection.sender().flight().sacked(), 1000);
        match spec {
            // This is the third duplicate as RFC 2581 counts them.
            "sack:rfc3517" => s.expect([1]),
            _ => s.expect_nothing(),
        };
    }
}

#[test]
fn t_lt_1_the_advertised_window_holds() {
    let mut s = limited("newreno").offered(4).sent(1..=3);
    s.ack(0).expect([4]);
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]);
}

#[test]
fn ssthresh_does_not_count_what_limited_transmit_sent() {
    let mut s = limited("newreno").cwnd(10).sent(1..=10);
    s.ack(0).expect([11]);
    s.ack(0).expect([12]);
    s.ack(0).expect([1]).ssthresh(5).cwnd(8.0);
}
