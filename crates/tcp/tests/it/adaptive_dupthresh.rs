//! Blanton and Allman, "On Making TCP More Robust to Packet Reordering" (2002): each fast
//! retransmit that D-SACK shows to be spurious raises `dupthresh` by one; a timeout resets it.

use rtolab_tcp::spurious::Verdict;

use crate::script::Script;

const SPURIOUS: Verdict = Verdict::Spurious;

/// Eight segments. The first arrives after the fourth, has been retransmitted meanwhile, and a
/// D-SACK reports that. Then twelve are sent and four acknowledged.
fn one_spurious(sender: &str) -> Script {
    let mut s = Script::sender(sender).cwnd(8).ssthresh(8).sent(1..=8);
    s.sacks(0, [2..=2]).sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]).fast_retransmits(1);
    s.ack(4).expect_nothing();
    s.sacks(4, [1..=1]).verdict(SPURIOUS).cwnd(8.0).expect(9..=12);
    s
}

#[test]
fn the_next_fast_retransmit_needs_one_more_dupack() {
    for recovery in ["sack", "sack:rfc3517"] {
        let mut s = one_spurious(&format!("{recovery}+dsack:linux+adaptive-dupthresh"));
        s.sacks(4, [6..=6]).sacks(4, [6..=7]).sacks(4, [6..=8]).expect_nothing();
        s.sacks(4, [6..=9]).expect([5]).fast_retransmits(2);
    }
}

#[test]
fn without_the_policy_three_are_enough() {
    let mut s = one_spurious("sack+dsack:linux");
    s.sacks(4, [6..=6]).sacks(4, [6..=7]).expect_nothing();
    s.sacks(4, [6..=8]).expect([5]).fast_retransmits(2);
}

#[test]
fn dupthresh_rises_with_each_and_holds_in_between() {
    let mut s = one_spurious("sack+dsack:linux+adaptive-dupthresh");
    s.sacks(4, [6..=6]).sacks(4, [6..=7]).sacks(4, [6..=8]).sacks(4, [6..=9]).expect([5]);
    s.ack(9).expect([13]);
    s.sacks(9, [5..=5]).verdict(SPURIOUS).cwnd(8.0).expect(14..=17);
    s.sacks(9, [11..=11]).sacks(9, [11..=12]).sacks(9, [11..=13]).sacks(9, [11..=14]);
    s.expect_nothing();
    s.sacks(9, [11..=15]).expect([10, 18]).fast_retransmits(3);
}

#[test]
fn a_timeout_resets_dupthresh() {
    let mut s = one_spurious("sack+dsack:linux+adaptive-dupthresh");
    s.timeout().expect([5]);
    s.ack(12).expect([13, 14]);
    s.ack(14).expect(15..=17);
    s.ack(17).expect(18..=21);
    s.sacks(17, [19..=19]).sacks(17, [19..=20]).expect_nothing();
    s.sacks(17, [19..=21]).expect([18, 22]).fast_retransmits(2);
}

#[test]
fn a_real_loss_leaves_dupthresh_alone() {
    let spec = "sack+dsack:linux+adaptive-dupthresh";
    let mut s = Script::sender(spec).cwnd(8).ssthresh(8).sent(1..=8);
    s.sacks(0, [2..=2]).sacks(0, [2..=3]).sacks(0, [2..=4]).expect([1]);
    s.ack(8).undecided().expect(9..=12);
    s.sacks(8, [10..=10]).sacks(8, [10..=11]).expect_nothing();
    s.sacks(8, [10..=12]).expect([9, 13]).fast_retransmits(2);
}

#[test]
fn reno_needs_more_dupacks_too() {
    let spec = "reno+eifel:rfc3522+full+adaptive-dupthresh";
    let mut s = Script::sender(spec).cwnd(8).ssthresh(8).at_millis(10).sent(1..=8);
    s.at(20).echoing(9).ack(0).echoing(9).ack(0).echoing(9).ack(0).expect([1]);
    s.echoing(10).ack(4).verdict(SPURIOUS).cwnd(8.0).expect(9..=12);
    s.at(30).echoing(10).ack(4).echoing(10).ack(4).echoing(10).ack(4).expect_nothing();
    s.echoing(10).ack(4).expect([5]).fast_retransmits(2);
}
