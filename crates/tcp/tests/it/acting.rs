//! Detectors that a sender acts on: their verdicts and its responses. In each case a passive
//! detector must have the same verdict at the same time.

use crate::script::{Script, Setup};
use rtolab_tcp::config::{FirstAck, RecoverOnUndo, Response, Threshold};
use rtolab_tcp::spurious::{Reason, Verdict};

const SPURIOUS: Verdict = Verdict::Spurious;

/// DualRTT on a path whose smallest round trip is 100 ms: segments 1 to 4 leave at 0.1 s and time
/// out at 1.1 s.
fn held(change: impl FnOnce(Setup) -> Setup) -> Script {
    let setup = Script::sender("newreno+dualrtt").cwnd(4).ssthresh(4);
    let first = |setup: Setup| setup.set(|config| config.rto.sample_handshake = false);
    let mut s = change(first(setup)).handshake_takes(100).sent(1..=4);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(2);
    s
}

#[test]
fn t_dr_1_the_second_acknowledgment_restores_the_windows() {
    let mut s = held(|setup| setup);
    s.at(1500).ack(1).expect([2, 3]).undecided();
    s.at(1509).ack(2).expect([5, 6]).verdict(SPURIOUS).cwnd(4.0).ssthresh(4);
    s.at(1518).ack(3).expect([7]).undecided().cwnd(4.25);
}

#[test]
fn t_dr_2_a_smaller_threshold_misses_it() {
    let mut s = held(|setup| setup.set(|config| config.dualrtt.threshold = Threshold::Fixed(25)));
    s.at(1500).ack(1).expect([2, 3]);
    s.at(1509).ack(2).expect([4]).undecided();
}

#[test]
fn t_dr_3_a_loss_takes_a_round_trip_to_repair() {
    let mut s = held(|setup| setup);
    s.at(1200).ack(1).expect([2, 3]).undecided();
    s.at(1310).ack(2).expect([4]).undecided();
}

#[test]
fn t_dr_4_and_5_a_cumulative_ack_hides_it() {
    let mut s = held(|setup| setup);
    s.at(1101).ack(4).expect([5, 6]).undecided();
    let mut s = held(|setup| setup);
    s.at(1101).ack(2).expect([3, 4]).undecided();
}

#[test]
fn t_dr_6_the_first_acknowledgment_after_a_late_timeout() {
    for (first, verdict) in [
        (FirstAck::Definition, Some(SPURIOUS)),
        // A second since the original.
        (FirstAck::Original, None),
        (FirstAck::Skip, None),
    ] {
        let mut s = held(|setup| setup.set(|config| config.dualrtt.first = first));
        s.at(1105).allow_disagreement().ack(1);
        match verdict {
            Some(verdict) => s.expect([5]).verdict(verdict).cwnd(4.0),
            None => s.expect([2, 3]).undecided().cwnd(2.0),
        };
    }
}

#[test]
fn t_dr_6_later_acknowledgments_do_not_differ() {
    for first in [FirstAck::Original, FirstAck::Skip] {
        let mut s = held(|setup| setup.set(|config| config.dualrtt.first = first));
        s.at(1105).allow_disagreement().ack(1).expect([2, 3]);
        s.at(1114).ack(2).expect([5, 6]).verdict(SPURIOUS);
    }
}

#[test]
fn t_dr_1_with_the_spacing_of_acknowledgments() {
    let physical =
        |setup: Setup| setup.set(|config| config.dualrtt.threshold = Threshold::Physical);
    let mut s = Script::sender("newreno+dualrtt").cwnd(4).ssthresh(4);
    s = physical(s).set(|config| config.rto.sample_handshake = false).handshake_takes(100);
    let mut s = s.sent(1..=4);
    // 10 ms apart: the threshold is 15 ms.
    s.at(200).ack(1).expect([5]);
    s.at(210).ack(2).expect([6]);
    s.at(220).ack(3).expect([7]);
    s.timeout().expect([4]);
    let millis = s.millis();
    s.at(millis + 500).allow_disagreement().ack(4).expect([5, 6]).undecided();
    s.at(millis + 514).allow_disagreement().ack(5).expect([8, 9]).verdict(SPURIOUS);
}

#[test]
fn t_br_1_an_acknowledgment_within_half_a_round_trip() {
    for (millis, verdict) in [(199, SPURIOUS), (200, Verdict::Genuine), (250, Verdict::Genuine)] {
        let setup = Script::sender("newreno+badrexmit").cwnd(4).ssthresh(4).handshake_takes(400);
        let mut s = setup.sent(1..=4);
        s.timeout().expect([1]).cwnd(1.0);
        let expired = s.millis();
        s.at(expired + millis).ack(1).verdict(verdict);
        match verdict {
            SPURIOUS => s.expect([5]).cwnd(4.0).ssthresh(4),
            _ => s.expect([2, 3]).cwnd(2.0).ssthresh(2),
        };
    }
}

#[test]
fn t_br_2_after_a_second_timeout_it_is_inconclusive() {
    let setup = Script::sender("newreno+badrexmit").cwnd(4).ssthresh(4).handshake_takes(400);
    let mut s = setup.sent(1..=4);
    s.timeout().expect([1]);
    s.timeout().expect([1]);
    let expired = s.millis();
    s.at(expired + 10).ack(1).expect([2, 3]);
    s.verdict(Verdict::Inconclusive(Reason::RetransmittedTwice)).cwnd(2.0);
}

/// Six segments sent at 10 ms, and the first times out at 50 ms.
fn eifel(variant: &str) -> Script {
    let spec = format!("newreno+{variant}");
    let setup = Script::sender(&spec).cwnd(6).ssthresh(8).rto_of(40).at_millis(10);
    let mut s = setup.sent(1..=6);
    s.timeout().expect([1]);
    s
}

#[test]
fn t_ei_1_to_3_by_rfc_3522_and_its_safe_variant() {
    for variant in ["eifel:rfc3522", "eifel:safe"] {
        eifel(variant).echoing(10).ack(1).expect([7]).verdict(SPURIOUS).cwnd(6.0).ssthresh(8);
        eifel(variant).echoing(50).ack(1).expect([2, 3]).verdict(Verdict::Genuine).cwnd(2.0);
        let mut s = eifel(variant);
        s.timeout().expect([1]);
        s.echoing(50).ack(1).expect([2, 3]).verdict(Verdict::Genuine);
    }
}

#[test]
fn t_ei_1_the_safe_variant_requires_the_timestamp_of_the_original() {
    let mut s = eifel("eifel:safe");
    s.echoing(9).ack(1).expect([2, 3]).verdict(Verdict::Genuine);
    s.passive_verdict("eifel:rfc3522", SPURIOUS);
}

#[test]
fn t_ei_4_a_cumulative_ack_of_everything_is_not_trusted() {
    for variant in ["eifel:rfc3522", "eifel:safe"] {
        eifel(variant).echoing(10).ack(6).expect([7, 8]).verdict(Verdict::Genuine).cwnd(2.0);
    }
}

#[test]
fn t_ei_5_the_guard_fails_if_some_data_stays_unacknowledged() {
    eifel("eifel:rfc3522").echoing(10).ack(5).expect(7..=11).verdict(SPURIOUS);
}

#[test]
fn t_ei_7_a_spurious_fast_retransmit_is_undone() {
    let setup = Script::sender("newreno+eifel:rfc3522").cwnd(6).ssthresh(8).at_millis(10);
    let mut s = setup.sent(1..=6);
    s.at(20).echoing(9).ack(0).echoing(9).ack(0).expect_nothing();
    s.echoing(9).ack(0).expect([1]).cwnd(6.0).ssthresh(3).fast_retransmits(1);
    s.echoing(10).ack(4).expect([7, 8, 9, 10]).verdict(SPURIOUS).cwnd(6.0).ssthresh(8);
    s.echoing(10).ack(5).expect([11, 12]).cwnd(7.0).fast_retransmits(1);
}

#[test]
fn t_ei_7_rfc_4015_is_not_for_fast_retransmits() {
    let spec = "newreno+eifel:rfc3522:rfc4015";
    let mut s = Script::sender(spec).cwnd(6).ssthresh(8).at_millis(10).sent(1..=6);
    s.at(20).echoing(9).ack(0).echoing(9).ack(0).echoing(9).ack(0).expect([1]);
    // It acts like any partial acknowledgment.
    s.echoing(10).ack(4).verdict(SPURIOUS).ssthresh(3).expect([5, 7]).cwnd(3.0);
}

/// Six segments. The first arrives after the fourth, and has been retransmitted meanwhile.
fn reordered(detector: &str) -> Script {
    let mut s = Script::sender(&format!("sack+{detector}")).cwnd(6).ssthresh(6).sent(1..=6);
    s.sacks(0, [2..=2]).sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]).cwnd(3.0).ssthresh(3).fast_retransmits(1);
    s.ack(4).expect([7]).undecided();
    s
}

#[test]
fn t_ds_1_a_fast_retransmit_for_reordering() {
    // RFC 3708 waits for the end of the window; Linux does not.
    let mut s = reordered("dsack");
    s.sacks(4, [1..=1]).expect_nothing().undecided();
    s.ack(6).expect(8..=12).verdict(SPURIOUS).cwnd(6.0).ssthresh(6);
    let mut s = reordered("dsack:linux");
    s.sacks(4, [1..=1]).expect(8..=10).verdict(SPURIOUS).cwnd(6.0).ssthresh(6);
}

/// Six segments, a spurious timeout, and go-back-N retransmits all of them.
fn gone_back_n(detector: &str) -> Script {
    let mut s = Script::sender(&format!("sack+{detector}")).cwnd(6).ssthresh(6).sent(1..=6);
    s.timeout().expect([1]).ssthresh(3);
    s.ack(1).expect([2, 3]);
    s.ack(2).expect([4, 5]);
    s.ack(3).expect([6]);
    s.ack(6).expect([7, 8, 9]);
    s
}

#[test]
fn t_ds_2_the_sixth_report_restores() {
    for detector in ["dsack", "dsack:linux", "dsack:causes"] {
        let mut s = gone_back_n(detector);
        for number in 1..=5 {
            s.sacks(6, [number..=number]).expect_nothing().undecided();
        }
        s.sacks(6, [6..=6]).expect([10, 11, 12]).verdict(SPURIOUS).cwnd(6.0).ssthresh(6);
    }
}

#[test]
fn t_ds_3_five_of_six_do_not() {
    for detector in ["dsack", "dsack:linux", "dsack:causes"] {
        let mut s = gone_back_n(detector);
        for number in 1..=5 {
            s.sacks(6, [number..=number]).expect_nothing().undecided();
        }
        s.ack(7).undecided().ssthresh(3).expect([10]);
    }
}

#[test]
fn t_ds_4_one_of_three_was_lost() {
    for detector in ["dsack", "dsack:linux", "dsack:causes"] {
        let mut s = Script::sender(&format!("sack+{detector}")).cwnd(6).ssthresh(6).sent(1..=6);
        s.timeout().expect([1]);
        s.ack(1).expect([2, 3]);
        s.ack(6).expect([7, 8, 9]);
        s.sacks(6, [2..=2]).sacks(6, [3..=3]).undecided().expect_nothing();
        s.ack(7).undecided().ssthresh(3).expect([10]);
    }
}

#[test]
fn t_ds_5_a_duplicate_that_was_never_retransmitted() {
    let mut s = Script::sender("sack+dsack").cwnd(6).ssthresh(6).sent(1..=6);
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]);
    s.sacks(5, [4..=4]).verdict(Verdict::Inconclusive(Reason::NetworkDuplicates)).expect([6, 7, 8]);
}

#[test]
fn t_ds_6_a_segment_retransmitted_twice() {
    for (detector, reports) in [("dsack", 0), ("dsack:linux", 2), ("dsack:causes", 2)] {
        let mut s = Script::sender(&format!("sack+{detector}")).cwnd(2).ssthresh(6).sent(1..=2);
        s.timeout().expect([1]);
        s.timeout().expect([1]);
        s.ack(2).expect([3, 4]).undecided();
        s.sacks(2, [1..=1]).expect_nothing();
        match reports {
            2 => s.undecided().cwnd(2.0).ssthresh(2),
            _ => s.verdict(Verdict::Inconclusive(Reason::RetransmittedTwice)),
        };
        s.sacks(2, [1..=1]).expect_nothing();
        match reports {
            2 => s.verdict(SPURIOUS).cwnd(2.0).ssthresh(6),
            _ => s.undecided().ssthresh(2),
        };
    }
}

#[test]
fn t_ds_7_a_window_of_acknowledgments_was_lost() {
    let mut s = Script::sender("sack+dsack").cwnd(6).ssthresh(6).sent(1..=6);
    s.timeout().expect([1]);
    s.sacks(6, [1..=1]).verdict(Verdict::Genuine).expect([7, 8]).cwnd(2.0).ssthresh(3);
}

/// Three times, the first of six segments is reordered: each fast retransmit is undone.
pub fn three_undone_episodes(mut s: Script) {
    for first in [1, 7, 13] {
        let before = first - 1;
        s.sacks(before, [first + 1..=first + 1]);
        s.sacks(before, [first + 1..=first + 2]).expect_nothing();
        s.sacks(before, [first + 1..=first + 3]).expect([first]).ssthresh(3);
        s.ack(first + 3).expect([first + 6]);
        s.sacks(first + 3, [first..=first]).verdict(SPURIOUS).ssthresh(6);
        s.expect(first + 7..=first + 9);
        s.ack(first + 5).expect(first + 10..=first + 11);
    }
    s.fast_retransmits(3);
}

#[test]
fn t_ds_8_each_episode_is_undone_one_round_trip_later() {
    three_undone_episodes(Script::sender("sack+dsack:linux").cwnd(6).ssthresh(6).sent(1..=6));
}

#[test]
fn linux_does_not_lower_a_window_that_has_grown_since() {
    for (response, cwnd) in [("linux", 2.5), ("full", 2.0)] {
        let spec = format!("sack+dsack:linux+{response}");
        let mut s = Script::sender(&spec).cwnd(2).ssthresh(6).sent(1..=2);
        s.timeout().expect([1]).cwnd(1.0).ssthresh(2);
        s.ack(1).expect([2, 3]).cwnd(2.0);
        s.ack(2).expect([4]).cwnd(2.5);
        s.sacks(2, [1..=1]).expect_nothing().undecided();
        s.sacks(2, [2..=2]).expect_nothing().verdict(SPURIOUS).cwnd(cwnd).ssthresh(6);
    }
}

#[test]
fn eifel_comes_before_f_rto() {
    let setup = Script::sender("newreno+frto+eifel").cwnd(6).ssthresh(8).rto_of(40);
    let mut s = setup.at_millis(10).sent(1..=6);
    s.timeout().expect([1]).cwnd(6.0);
    s.echoing(10).allow_disagreement().ack(1).expect([7]).verdict(SPURIOUS).cwnd(6.0).ssthresh(8);
    s.echoing(10).allow_disagreement().ack(2).expect([8, 9]).undecided().cwnd(7.0);
}

#[test]
fn f_rto_finds_what_eifel_does_not() {
    // The receiver echoes the retransmission; all acknowledgments of the originals are late.
    let setup = Script::sender("newreno+frto+eifel").cwnd(6).ssthresh(8).rto_of(40);
    let mut s = setup.at_millis(10).sent(1..=6);
    s.timeout().expect([1]);
    s.echoing(50).ack(1).expect([7, 8]).verdict(Verdict::Genuine).cwnd(3.0);
    s.echoing(50).ack(2).verdict(SPURIOUS).cwnd(3.33).expect_nothing();
}

#[test]
fn t_fr_14_f_rto_does_not_undo_a_timeout_in_fast_recovery() {
    let responses = [(Response::Full, 1.0), (Response::Rfc4015, 1.0), (Response::Half, 3.33)];
    for (response, cwnd) in responses {
        let setup = Script::sender("newreno:no-bugfix+frto").cwnd(6);
        let mut s = setup.set(|config| config.response = Some(response)).sent(1..=6);
        s.ack(0).ack(0).expect_nothing();
        s.ack(0).expect([1]).ssthresh(3).fast_retransmits(1);
        s.timeout().expect([1]).ssthresh(3);
        s.ack(1).expect([7, 8]).cwnd(3.0);
        s.ack(2).verdict(SPURIOUS).expect_nothing().cwnd(cwnd).ssthresh(3);
    }
}

#[test]
fn keep_forbids_what_reset_allows() {
    for (recover, fast_retransmits) in [(RecoverOnUndo::Reset, 1), (RecoverOnUndo::Keep, 0)] {
        let mut s = held(|setup| setup.set(|config| config.recover_on_undo = recover));
        s.at(1500).ack(1).expect([2, 3]);
        s.at(1509).ack(2).expect([5, 6]).verdict(SPURIOUS);
        s.at(1518).ack(4).expect([7, 8]);
        // The duplicates of 1, 2 and 3.
        s.ack(4).ack(4).expect_nothing();
        s.ack(4).fast_retransmits(fast_retransmits);
    }
}

/// `tcp_check_dsack`: a report of data below `undo_marker`, which was acknowledged before the
/// episode, is not one of its retransmissions.
#[test]
fn a_dsack_from_before_the_episode_does_not_count() {
    let setup = Script::sender("sack+dsack:linux").cwnd(10).segments(10);
    let mut s = setup.sent(1..=10);
    s.allow_disagreement().at(100).ack(4).take();
    s.timeout().expect([5]);
    let at = s.millis();
    s.at(at + 10).sacks(4, [2..=2]).undecided().ssthresh(3).take();
    // The original of the retransmitted segment arrives, and then the retransmission.
    s.at(at + 20).ack(10).undecided().take();
    s.at(at + 30).sacks(10, [5..=5]).verdict(Verdict::Spurious);
}
