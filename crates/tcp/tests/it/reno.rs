//! Reno: RFC 5681 section 3.2, with the "bugfix" variants of RFC 2582 section 3.

use crate::script::Script;
use rtolab_tcp::config::{FullAck, HalvedQuantity, RepeatedTimeout};

/// Segment 1 of 8 is lost, and six duplicates arrive.
fn six_duplicates(spec: &str) -> Script {
    let mut s = Script::sender(spec).cwnd(8).sent(1..=8);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]).ssthresh(4).cwnd(7.0);
    s.ack(0).expect_nothing();
    s.ack(0).expect([9]);
    s.ack(0).expect([10]).cwnd(10.0);
    s
}

#[test]
fn t_cc_4_one_loss_of_eight() {
    for spec in ["reno", "newreno"] {
        let mut s = six_duplicates(spec);
        s.ack(0).expect([11]).cwnd(11.0);
        s.ack(8).expect([12]).cwnd(4.0).fast_retransmits(1);
    }
}

/// Segments 1 and 3 of 8 are lost: the retransmission of 1 has ended fast recovery.
fn two_losses(spec: &str) -> Script {
    let mut s = six_duplicates(spec);
    // A new acknowledgment, although a hole is left: six are outstanding, four allowed.
    s.ack(2).expect_nothing().cwnd(4.0);
    s
}

#[test]
fn t_cc_6_the_second_loss_takes_three_more_duplicates() {
    let mut s = two_losses("reno:no-bugfix");
    // Segments 9 and 10 cause two duplicates. No third one comes, so the timer expires.
    s.ack(2).expect_nothing();
    s.ack(2).expect_nothing().fast_retransmits(1);
    s.timeout().expect([3]).cwnd(1.0).ssthresh(4);

    let mut s = two_losses("reno:no-bugfix");
    s.ack(2).expect_nothing();
    s.ack(2).expect_nothing();
    s.ack(2).expect([3]).fast_retransmits(2).ssthresh(4).cwnd(7.0);
}

#[test]
fn t_cc_6_with_bugfix_it_needs_the_timer() {
    for spec in ["reno:careful", "reno:less-careful"] {
        let mut s = two_losses(spec);
        for _ in 0..4 {
            s.ack(2).expect_nothing().fast_retransmits(1);
        }
        s.timeout().expect([3]);
    }
}

#[test]
fn t_cc_3_a_second_timeout_keeps_ssthresh_by_default() {
    for (rule, ssthresh) in [(RepeatedTimeout::Keeps, 5), (RepeatedTimeout::Halves, 2)] {
        let setup = Script::sender("reno").cwnd(10).set(|config| {
            config.window.halves = HalvedQuantity::Window;
            config.window.repeated_timeout = rule;
        });
        let mut s = setup.sent(1..=10);
        s.timeout().expect([1]).ssthresh(5).cwnd(1.0);
        s.timeout().expect([1]).ssthresh(ssthresh).cwnd(1.0);
    }
}

#[test]
fn the_smaller_of_cwnd_and_flight_can_be_halved() {
    // cwnd allows ten and the peer twenty, but the application has written five.
    let halved = |halves, offered| {
        let setup = Script::sender("reno").cwnd(10).offered(offered).segments(5);
        let mut s = setup.set(|config| config.window.halves = halves).sent(1..=5);
        s.timeout().expect([1]);
        s.connection.sender().window().ssthresh() / 1000
    };
    assert_eq!(halved(HalvedQuantity::FlightSize, 20), 2);
    assert_eq!(halved(HalvedQuantity::Window, 20), 5);
    assert_eq!(halved(HalvedQuantity::Window, 6), 3);
    assert_eq!(halved(HalvedQuantity::CongestionWindow, 6), 5);
}

#[test]
fn the_window_after_recovery_as_in_ns_2() {
    // Seven outstanding: ssthresh is three whole segments, the window three and a half.
    let setup = Script::sender("reno").cwnd(7);
    let mut s = setup.set(|config| config.window.full_ack = FullAck::Halved).sent(1..=7);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]).ssthresh(3).cwnd(6.5);
    s.ack(7).expect([8, 9, 10]).cwnd(3.5 + 1.0 / 3.5);
}

#[test]
fn a_fast_retransmit_in_go_back_n_can_restart_it() {
    for (again, retransmitted) in [(false, vec![1]), (true, vec![1, 2, 3, 4, 5, 6])] {
        let setup = Script::sender("reno:no-bugfix").cwnd(6);
        let mut s = setup.set(|config| config.recovery.go_back_n_on_duplicates = again).sent(1..=6);
        s.timeout().expect([1]);
        s.ack(0).expect_nothing();
        s.ack(0).expect_nothing();
        // The window is three segments and three more.
        s.ack(0).expect(retransmitted).ssthresh(3).cwnd(6.0);
    }
}
