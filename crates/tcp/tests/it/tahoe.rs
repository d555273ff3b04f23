//! Tahoe: fast retransmit without fast recovery.

use crate::script::Script;

#[test]
fn t_cc_5_one_loss_of_eight() {
    for spec in ["tahoe:careful", "tahoe:no-bugfix"] {
        let mut s = Script::sender(spec).cwnd(8).sent(1..=8);
        s.ack(0).expect_nothing();
        s.ack(0).expect_nothing();
        s.ack(0).expect([1]).ssthresh(4).cwnd(1.0);
        // Further duplicates change nothing.
        for _ in 0..4 {
            s.ack(0).expect_nothing().cwnd(1.0);
        }
        s.ack(8).expect([9, 10]).cwnd(2.0).fast_retransmits(1);
    }
}

#[test]
fn after_a_filled_hole_transmission_continues() {
    // 1 and 3 are lost. Go-back-N retransmits 3 as well, and the receiver has 4 to 8.
    let mut s = Script::sender("tahoe").cwnd(8).sent(1..=8);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]);
    s.ack(2).expect([3, 4]).cwnd(2.0);
    s.ack(8).expect([9, 10, 11]).cwnd(3.0).fast_retransmits(1);
}

#[test]
fn the_timer_is_not_backed_off() {
    let mut s =
        Script::sender("tahoe").cwnd(8).set(|c| c.rto.restart_on_retransmit = true).sent(1..=8);
    s.at(800).ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]).rto(1000).deadline(1800);
}

/// RFC 5681 section 3.2: FlightSize does not include what limited transmit has sent.
#[test]
fn limited_transmit_does_not_raise_ssthresh() {
    for (limited, new) in [(false, [None, None]), (true, [Some(9), Some(10)])] {
        let setup = Script::sender("tahoe").cwnd(8);
        let setup = setup.set(|config| config.recovery.limited_transmit = limited);
        let mut s = setup.sent(1..=8);
        s.ack(0).expect(new[0]).ack(0).expect(new[1]);
        s.ack(0).expect([1]).fast_retransmits(1).cwnd(1.0).ssthresh(4);
    }
}
