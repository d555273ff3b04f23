//! NewReno: RFC 6582, with the "bugfix" variants of RFC 2582 section 3.

use crate::script::{Script, Setup, start_of};
use rtolab_tcp::Seq;
use rtolab_tcp::config::{Bugfix, PartialAck, Reduction};

#[test]
fn t_nr_1_three_losses_of_eight() {
    let mut s = Script::sender("newreno").cwnd(8).sent(1..=8);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]).ssthresh(4).cwnd(7.0);
    s.ack(0).expect_nothing().cwnd(8.0);
    s.ack(0).expect([9]).cwnd(9.0);
    // R1 causes a partial acknowledgment, which releases the next hole and, after window deflation,
    // one new segment.
    s.ack(2).expect([3, 10]).cwnd(8.0);
    s.ack(2).expect([11]).cwnd(9.0);
    s.ack(4).expect([5, 12]).cwnd(8.0);
    s.ack(4).expect([13]);
    s.ack(4).expect([14]).cwnd(10.0);
    // R5 fills the last hole: three outstanding, so four by min(ssthresh, FlightSize + SMSS).
    s.ack(11).expect([15]).cwnd(4.0).ssthresh(4).fast_retransmits(1);
}

#[test]
fn t_cc_7_divided_acknowledgments_gain_nothing() {
    let mut s = Script::sender("newreno").cwnd(2).sent(1..=2);
    // The window grows, and segments are sent, as for one acknowledgment of the whole segment.
    for (quarter, left) in [(1, None), (2, Some(3)), (3, None), (4, Some(4))] {
        let part = s.pure_ack(start_of(1) + 250 * quarter);
        s.arrives(&part).expect(left).cwnd(2.0 + 0.25 * f64::from(quarter));
    }
}

/// A spurious timeout: the acknowledgments of six originals release six retransmissions and four
/// new segments.
fn gone_back_n(spec: &str) -> Script {
    going_back_n(Script::sender(spec))
}

fn going_back_n(setup: Setup) -> Script {
    let mut s = setup.cwnd(6).sent(1..=6);
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]);
    s.ack(2).expect([4, 5]);
    s.ack(3).expect([6]);
    s.ack(4).expect([7]);
    s.ack(5).expect([8]);
    s.ack(6).expect([9, 10]).cwnd(4.16);
    s
}

#[test]
fn t_nr_2_careful_ignores_the_duplicates_of_what_it_retransmitted() {
    let mut s = gone_back_n("newreno:careful");
    for _ in 0..6 {
        s.ack(6).expect_nothing();
    }
    s.ack(7).expect([11]).fast_retransmits(0).ssthresh(3);
}

#[test]
fn t_gl_1_careful_ignores_the_duplicates_of_the_oldest_segment_too() {
    let mut s = Script::sender("newreno:careful").cwnd(6).sent(1..=6);
    s.timeout().expect([1]);
    for _ in 0..6 {
        s.ack(0).expect_nothing();
    }
    s.fast_retransmits(0);
    // As in T-NR-2, they are ignored until all data sent before the timeout is acknowledged.
    let mut s = gone_back_n("newreno:careful");
    for _ in 0..6 {
        s.ack(6).expect_nothing();
    }
    s.fast_retransmits(0).ack(7).expect([11]);
}

#[test]
fn t_nr_2_less_careful_and_without_bugfix_they_start_a_fast_retransmit() {
    for spec in ["newreno:less-careful", "newreno:no-bugfix"] {
        let mut s = gone_back_n(spec);
        s.ack(6).expect_nothing();
        s.ack(6).expect_nothing();
        s.ack(6).expect([7, 11]).fast_retransmits(1).ssthresh(2).cwnd(5.0);
        s.ack(6).expect([12]);
        s.ack(6).expect([13]);
        s.ack(6).expect([14]).cwnd(8.0);
        // The original arrives: partial acknowledgments, each with a retransmission.
        s.ack(7).expect([8, 15]);
        s.ack(8).expect([9, 16]);
    }
}

#[test]
fn t_nr_2_only_without_bugfix_is_it_retransmitted() {
    // Duplicates below send_high, while go-back-N is under way.
    for (spec, count) in
        [("newreno:careful", 0), ("newreno:less-careful", 0), ("newreno:no-bugfix", 1)]
    {
        let mut s = Script::sender(spec).cwnd(6).sent(1..=6);
        s.timeout().expect([1]);
        s.ack(1).expect([2, 3]);
        s.ack(1).expect_nothing();
        s.ack(1).expect_nothing();
        s.ack(1).fast_retransmits(count);
        if count == 0 {
            s.expect_nothing();
        } else {
            s.expect([2]).ssthresh(2).cwnd(5.0);
        }
    }
}

#[test]
fn t_nr_3_careful_waits_for_the_timer_if_the_loss_is_real() {
    // 7 is lost; 8, 9 and 10 cause duplicates.
    for (spec, retransmitted) in [("newreno:careful", None), ("newreno:less-careful", Some(7))] {
        let mut s = gone_back_n(spec);
        s.ack(6).expect_nothing();
        s.ack(6).expect_nothing();
        match retransmitted {
            Some(number) => s.ack(6).expect([number, 11]),
            None => s.ack(6).expect_nothing().timeout().expect([7]).cwnd(1.0),
        };
    }
}

/// Segments 1 to 8 of 16 are lost, there is no more data, and a round trip takes 200 ms. Returns
/// the sender after the acknowledgment of the fifth retransmission.
fn eight_losses(spec: &str) -> Script {
    let mut s = Script::sender(spec).cwnd(16).segments(16).sent(1..=16);
    s.at(200).ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]).ssthresh(8);
    for _ in 0..5 {
        s.ack(0).expect_nothing();
    }
    s.deadline(1000);
    for number in 1..=5 {
        s.at(200 + 200 * u64::from(number)).ack(number).expect([number + 1]);
    }
    s
}

#[test]
fn t_nr_4_impatient_the_timer_expires_amid_a_long_recovery() {
    let mut s = eight_losses("newreno:impatient");
    // Restarted at the first partial acknowledgment, at 400 ms, and not since.
    s.deadline(1400).timeout().expect([6]).cwnd(1.0);
}

#[test]
fn t_nr_4_slow_but_steady_it_does_not() {
    let mut s = eight_losses("newreno:steady");
    s.deadline(2200);
    s.at(1400).ack(6).expect([7]);
    s.at(1600).ack(7).expect([8]).deadline(2600);
    s.at(1800).ack(16).expect_nothing().deadline(None).fast_retransmits(1);
}

#[test]
fn t_nr_5_an_acknowledgment_number_that_wrapped_is_beyond_recover() {
    // Inside the engine numbers do not wrap: the wire format is widened on arrival.
    for first in [0xffff_0000, 0xffff_fff0] {
        let recover = Seq::widen(0xffff_fff0, first, Seq::FIRST);
        let ack = Seq::widen(0x10, first, recover);
        assert!(ack > recover && ack.since(recover) == 0x20);
    }
}

fn with_bugfix(bugfix: Bugfix) -> Setup {
    Script::sender("newreno").set(|config| config.recovery.bugfix = bugfix)
}

#[test]
fn t_nr_3_a_small_advance_lets_the_ack_heuristic_retransmit() {
    let mut s = going_back_n(with_bugfix(Bugfix::AckHeuristic));
    s.ack(6).expect_nothing();
    s.ack(6).expect_nothing();
    s.ack(6).expect([7, 11]).fast_retransmits(1);
}

#[test]
fn t_nr_3_a_jump_over_retransmitted_data_does_not() {
    for (jump, count) in [(6, 0), (4, 1)] {
        let mut s = with_bugfix(Bugfix::AckHeuristic).cwnd(6).sent(1..=6);
        s.timeout().expect([1]);
        s.ack(jump).take();
        for _ in 0..3 {
            s.ack(jump).take();
        }
        s.fast_retransmits(count);
    }
    // Nor do duplicates while the window is one segment.
    let mut s = with_bugfix(Bugfix::AckHeuristic).cwnd(6).sent(1..=6);
    s.timeout().expect([1]);
    for _ in 0..3 {
        s.ack(0).expect_nothing();
    }
}

#[test]
fn t_nr_3_the_timestamp_heuristic_shows_which_transmission_was_answered() {
    let timestamps = || with_bugfix(Bugfix::TimestampHeuristic).set(|c| c.timestamps = true);
    // The acknowledgment is for the retransmission at 1 s.
    let mut s = going_back_n(timestamps());
    s.ack(6).expect_nothing();
    s.ack(6).expect_nothing();
    s.ack(6).expect([7, 11]).fast_retransmits(1);

    // It is for the originals of 0 s.
    let mut s = timestamps().cwnd(6).sent(1..=6);
    s.timeout().expect([1]);
    for number in 1..=6 {
        s.echoing(0).ack(number).take();
    }
    for _ in 0..6 {
        s.echoing(0).ack(6).expect_nothing();
    }
    s.fast_retransmits(0);
}

#[test]
fn a_partial_ack_can_be_set_to_retransmit_the_hole_alone() {
    let setup = Script::sender("newreno").cwnd(8);
    let only = PartialAck::RetransmissionOnly;
    let mut s = setup.set(|config| config.recovery.newreno.partial_ack = only).sent(1..=8);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]).cwnd(7.0);
    s.ack(0).expect_nothing();
    s.ack(0).expect([9]).cwnd(9.0);
    s.ack(2).expect([3]).cwnd(8.0);
    // The next acknowledgment releases the segments that the window allows.
    s.ack(2).expect([10, 11]).cwnd(9.0);
}

#[test]
fn rate_halving_sends_a_segment_for_every_second_acknowledgment() {
    // Two are outstanding at the end, and NewReno sets its window to one more.
    for (spec, cwnd) in [("reno", 4), ("newreno", 3)] {
        let setup = Script::sender(spec).cwnd(8);
        let mut s =
            setup.set(|config| config.recovery.reduction = Reduction::RateHalving).sent(1..=8);
        s.ack(0).expect_nothing();
        s.ack(0).expect_nothing();
        s.ack(0).expect([1]).ssthresh(4);
        s.ack(0).expect([9]);
        s.ack(0).expect_nothing();
        s.ack(0).expect([10]);
        s.ack(0).expect_nothing();
        s.ack(8).expect(11..9 + cwnd).cwnd(f64::from(cwnd));
    }
}
