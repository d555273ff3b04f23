//! Explicit loss notification (Balakrishnan, Padmanabhan, Seshan and Katz 1997): a base station
//! marks the duplicate acknowledgments for a segment that its wireless link lost.

use crate::script::{Script, Setup};

fn ten(sender: &str) -> Setup {
    Script::sender(sender).cwnd(10).ssthresh(10)
}

#[test]
fn a_loss_of_the_link_is_retransmitted_and_keeps_the_window() {
    let mut s = ten("sack+eln").sent(1..=10);
    s.sacks(0, [2..=2]).sacks(0, [2..=3]).expect_nothing();
    // Three of ten segments are SACKed, and one is lost and retransmitted: pipe is 7.
    s.loses_on_link(0, [2..=4]).expect([1, 11, 12, 13]).fast_retransmits(1).cwnd(10.0);
    s.loses_on_link(0, [2..=5]).expect([14]);
    s.ack(10).expect(15..=20).cwnd(10.0).ssthresh(10);
}

#[test]
fn reno_and_newreno_keep_the_window_too() {
    for (recovery, last) in [("reno", 23), ("newreno", 15)] {
        let mut s = ten(&format!("{recovery}+eln")).sent(1..=10);
        s.loses_on_link(0, []).loses_on_link(0, []).expect_nothing();
        // Three duplicates inflate the window.
        s.loses_on_link(0, []).expect([1, 11, 12, 13]).ssthresh(10);
        // With FlightSize 0 NewReno continues with a cwnd of two segments:
        // min(ssthresh, max(FlightSize, SMSS) + SMSS) (RFC 6582 section 3.2 step 3).
        s.ack(13).expect(14..=last).ssthresh(10);
    }
}

#[test]
fn reductions_that_take_several_acks_keep_the_window() {
    for reduction in ["prr", "prr:crb", "prr:ssrb"] {
        let mut s = ten(&format!("sack+eln+{reduction}")).sent(1..=10);
        s.sacks(0, [2..=2]).sacks(0, [2..=3]);
        assert!(s.loses_on_link(0, [2..=4]).ssthresh(10).take().contains(&1));
        assert!(!s.ack(10).cwnd(10.0).take().is_empty());
    }
}

#[test]
fn an_unmarked_loss_halves_the_window() {
    let mut s = ten("sack+eln").sent(1..=10);
    // The mark counts at the acknowledgment that starts the fast retransmit.
    s.loses_on_link(0, [2..=2]).sacks(0, [2..=3]);
    s.sacks(0, [2..=4]).expect([1]).cwnd(5.0).ssthresh(5);
}

#[test]
fn a_sender_without_the_policy_ignores_the_mark() {
    let mut s = ten("sack").sent(1..=10);
    s.loses_on_link(0, [2..=2]).loses_on_link(0, [2..=3]);
    s.loses_on_link(0, [2..=4]).expect([1]).cwnd(5.0).ssthresh(5);
}

#[test]
fn a_timeout_reduces_the_window_whatever_is_marked() {
    let mut s = ten("sack+eln").sent(1..=10);
    s.loses_on_link(0, [2..=2]).expect_nothing();
    s.timeout().expect([1]).cwnd(1.0);
}
