//! The causes of duplicates that the receiver reports by D-SACK: Pan, Mark and Shen, section 5.3.

use crate::script;
use crate::script::Script;
use rtolab_tcp::spurious::DuplicateCause::{AckLoss, Network, PrematureTimeout, Reordering};
use rtolab_tcp::spurious::{Duplicates, Verdict};

const SPURIOUS: Verdict = Verdict::Spurious;

/// Six segments outstanding, as many as the window and ssthresh.
fn six_outstanding(sender: &str) -> Script {
    Script::sender(sender).cwnd(6).ssthresh(6).sent(1..=6)
}

#[test]
fn t_ds_1_a_duplicate_of_a_fast_retransmit_shows_reordering() {
    let mut s = six_outstanding("sack+dsack:causes");
    s.sacks(0, [2..=2]).sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]).ssthresh(3).fast_retransmits(1);
    s.ack(4).expect([7]);
    s.sacks(4, [1..=1]).duplicate(Reordering).verdict(SPURIOUS).expect(8..=10).ssthresh(6);
}

#[test]
fn t_ds_2_an_acknowledged_duplicate_of_a_timeout_shows_a_premature_timeout() {
    let mut s = six_outstanding("sack+dsack:causes");
    s.timeout().expect([1]).ssthresh(3);
    s.ack(1).expect([2, 3]);
    s.sacks(3, [1..=1]).duplicate(PrematureTimeout).undecided().expect([4, 5, 6]);
    s.sacks(6, [2..=2]).duplicate(PrematureTimeout).undecided().take();
    for number in 3..=5 {
        s.sacks(6, [number..=number]).duplicate(PrematureTimeout).undecided();
    }
    s.sacks(6, [6..=6]).duplicate(PrematureTimeout).verdict(SPURIOUS).ssthresh(6).take();
    let premature_timeout = 6;
    let expected = Duplicates { premature_timeout, ..Duplicates::default() };
    assert_eq!(s.connection.sender().duplicates(), expected);
}

#[test]
fn t_ds_7_an_unacknowledged_duplicate_of_a_timeout_shows_ack_loss() {
    let mut s = six_outstanding("sack+dsack:causes");
    s.timeout().expect([1]);
    s.sacks(6, [1..=1]).duplicate(AckLoss).verdict(Verdict::Genuine);
    // The reduction stands.
    s.expect([7, 8]).cwnd(2.0).ssthresh(3);
}

#[test]
fn a_report_may_equal_the_block_that_it_lies_in() {
    // RFC 2883 section 4: a duplicate of the only segment above the gap.
    let mut s = six_outstanding("sack+dsack:causes");
    s.sacks(0, [3..=3]).expect_nothing();
    s.sacks(0, [3..=3, 3..=3]).duplicate(Network);
    // The same with a part of the block.
    s.sacks(0, [3..=4]).take();
    s.sacks(0, [4..=4, 3..=4]).duplicate(Network);
}

#[test]
fn t_ds_5_a_duplicate_without_retransmission_comes_from_the_network() {
    let mut s = six_outstanding("sack+dsack:causes");
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]);
    s.sacks(5, [4..=4]).duplicate(Network).undecided().expect([6, 7, 8]);
    // That says nothing about the retransmissions, which the other reports cover.
    s.sacks(6, [1..=1]).duplicate(PrematureTimeout).take();
    s.sacks(6, [2..=2]).duplicate(PrematureTimeout).undecided().take();
    s.sacks(6, [3..=3]).duplicate(PrematureTimeout).undecided().take();
    s.sacks(6, [6..=6]).duplicate(PrematureTimeout).verdict(SPURIOUS).take();
    // RFC 3708 stops at the first.
    s.passive_verdict(
        "dsack",
        Verdict::Inconclusive(rtolab_tcp::spurious::Reason::NetworkDuplicates),
    );
}

#[test]
fn a_second_report_of_one_retransmission_comes_from_the_network() {
    let mut s = six_outstanding("sack");
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]);
    s.sacks(3, [1..=1]).duplicate(PrematureTimeout).take();
    s.sacks(3, [1..=1]).duplicate(Network).take();
    let expected = Duplicates { network: 1, premature_timeout: 1, ..Duplicates::default() };
    assert_eq!(s.connection.sender().duplicates(), expected);
}

#[test]
fn a_segment_retransmitted_for_two_causes_is_reported_for_each() {
    let mut s = six_outstanding("sack");
    s.sacks(0, [2..=2]).sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]);
    s.timeout().expect([1]);
    s.ack(6).take();
    s.sacks(6, [1..=1]).duplicate(Reordering).take();
    s.sacks(6, [1..=1]).duplicate(PrematureTimeout).take();
}

#[test]
fn a_report_may_come_two_windows_later() {
    for (acked, cause) in [(6, PrematureTimeout), (7, Network)] {
        let mut s = Script::sender("sack").cwnd(2).ssthresh(2).sent(1..=2);
        s.timeout().expect([1]);
        for number in 1..=acked {
            s.ack(number).take();
        }
        s.sacks(acked, [1..=1]).duplicate(cause);
    }
}

#[test]
fn a_reconfigured_sender_keeps_the_earlier_reports() {
    let mut s = six_outstanding("sack+dsack");
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]);
    s.sacks(3, [1..=1]).duplicate(PrematureTimeout).take();
    let config = rtolab_tcp::specification::sender("sack+dsack:causes", &script::base()).unwrap();
    s.connection.reconfigure(std::sync::Arc::new(config)).unwrap();
    s.sacks(3, [2..=2]).duplicate(PrematureTimeout).take();
    assert_eq!(s.connection.sender().duplicates().premature_timeout, 2);
}
