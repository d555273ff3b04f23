//! The responses to a spurious timeout, alone and combined.

use crate::script::{Script, base, end_of, start_of};
use rtolab_tcp::config::{InitialWindow, RecoverOnUndo, Response};
use rtolab_tcp::specification::Question;
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Flags, specification};
use rtolab_time::Duration;

pub const SPURIOUS: Verdict = Verdict::Spurious;

/// Ten segments outstanding since 10 ms, as many as the window; ssthresh is twenty, and the initial
/// window of RFC 4015's step 9 is four by RFC 3390's rule for such segments.
pub fn ten_outstanding(sender: &str) -> Script {
    Script::sender(sender).cwnd(10).ssthresh(20).rto_of(40).at_millis(10).sent(1..=10)
}

/// They time out, and the original of the first is acknowledged: the timeout is found spurious.
pub fn found_at_the_first(response: &str) -> Script {
    let mut s = ten_outstanding(&format!("newreno+eifel+{response}"));
    s.timeout().expect([1]).cwnd(1.0).ssthresh(5);
    s.echoing(10).ack(1).verdict(SPURIOUS);
    s
}

#[test]
fn none_continues_go_back_n() {
    found_at_the_first("none").expect([2, 3]).cwnd(2.0).ssthresh(5);
}

#[test]
fn stop_gbn_keeps_the_reduction() {
    let mut s = found_at_the_first("stop-gbn");
    s.expect_nothing().cwnd(2.0).ssthresh(5);
    s.echoing(10).ack(9).expect([11, 12]).cwnd(3.0);
}

#[test]
fn half_continues_with_half_the_window() {
    let mut s = found_at_the_first("half");
    s.expect_nothing().cwnd(5.2).ssthresh(5);
    s.echoing(10).ack(5).expect_nothing();
    s.echoing(10).ack(6).expect([11]);
}

#[test]
fn full_restores_the_windows() {
    found_at_the_first("full").expect([11]).cwnd(10.0).ssthresh(20);
}

#[test]
fn ns2_full_restores_the_flight_size() {
    // cwnd is FlightSize before the acknowledgment plus a segment; ssthresh is the larger of window
    // and ssthresh.
    found_at_the_first("ns2:full").expect([11, 12]).cwnd(11.0).ssthresh(20);
    let mut s = ten_outstanding("newreno+eifel:ns2:full");
    s.timeout().expect([1]);
    s.echoing(10).ack(8).expect(11..=19).cwnd(11.0);
}

#[test]
fn ns2_half_slow_starts_to_half_the_window() {
    let mut s = ten_outstanding("newreno+eifel:ns2:half");
    s.timeout().expect([1]).ssthresh(5);
    s.echoing(10).ack(6).expect([11]).cwnd(5.0).ssthresh(20).verdict(SPURIOUS);
    s.echoing(10).ack(7).expect([12, 13]).cwnd(6.0);
}

#[test]
fn ns2_slow_start_retransmits_nothing() {
    let mut s = found_at_the_first("ns2:slow-start");
    s.expect_nothing().cwnd(1.0).ssthresh(20);
    s.echoing(10).ack(9).expect([11]).cwnd(2.0);
    s.echoing(10).ack(10).expect([12, 13]).cwnd(3.0);
}

#[test]
fn t_er4_1_the_window_is_the_flight_size_and_the_acknowledged_data() {
    found_at_the_first("rfc4015").expect([11]).cwnd(10.0).ssthresh(20);
}

#[test]
fn t_er4_2_it_is_at_most_the_initial_window() {
    let mut config = base();
    config.window.initial = InitialWindow::Rfc3390;
    // Four segments of 1,000 bytes. They grow to ten in slow start.
    let setup = Script::sender("newreno+eifel:rfc4015").rto_of(40).at_millis(10);
    let mut s = setup.set(|c| c.window.initial = config.window.initial).sent(1..=4);
    s.echoing(10).ack(1).expect([5, 6]);
    s.echoing(10).ack(2).expect([7, 8]);
    s.echoing(10).ack(3).expect([9, 10]);
    s.echoing(10).ack(4).expect([11, 12]);
    s.echoing(10).ack(5).expect([13, 14]).cwnd(9.0);
    s.timeout().expect([6]).cwnd(1.0).ssthresh(4);
    // Eight of nine are acknowledged: one is outstanding, and four more may be.
    s.echoing(10).ack(13).expect(15..=18).verdict(SPURIOUS).cwnd(5.0);
}

#[test]
fn t_er4_3_a_reduction_for_ece_is_kept() {
    for response in ["rfc4015", "full", "linux", "bsd", "ns2:full"] {
        let mut s = ten_outstanding(&format!("newreno+eifel+{response}"));
        s.timeout().expect([1]);
        let mut ack = s.echoing(10).pure_ack(end_of(1));
        ack.flags |= Flags::ECE;
        s.arrives(&ack).expect_nothing().verdict(SPURIOUS).cwnd(1.0).ssthresh(5);
        // Nothing is retransmitted.
        s.echoing(10).ack(10).expect([11, 12]);
    }
}

#[test]
fn t_er4_4_a_shorter_round_trip_does_not_reduce_the_rto_at_once() {
    let setup = Script::sender("newreno+eifel:rfc4015").cwnd(2).ssthresh(2).rto_of(3000);
    let mut s = setup.set(|config| config.rto.sample_handshake = false).sent(1..=2);
    s.at(1200).echoing(0).ack(1).expect([3]).rto(3600);
    let before = s.connection.sender().rtt().estimate().unwrap();
    assert_eq!(before.srtt, Duration::from_millis(1200));
    s.timeout().expect([2]);
    // The ACK of the original gives a normal sample, and so do those of data sent before the
    // timeout.
    s.at(6000).echoing(0).ack(2).verdict(SPURIOUS).expect([4]);
    s.at(6100).echoing(1200).ack(3).expect([5]);
    assert!(s.connection.sender().rtt().estimate().unwrap().srtt > before.srtt);
    // 4 was sent after it: the first round trip that counts is one of 0.3 s.
    s.at(6300).echoing(6000).ack(4).expect([6]);
    let adapted = s.connection.sender().rtt().estimate().unwrap();
    assert_eq!((adapted.srtt, adapted.rttvar), (before.srtt, before.rttvar));
    s.rto(3600);
    // From then on round trips are smoothed as usual.
    s.at(6400).echoing(6100).ack(5).expect([7, 8]);
    assert!(s.connection.sender().rtt().estimate().unwrap().srtt < before.srtt);
}

#[test]
fn t_er4_5_the_second_timeout_saves_nothing() {
    for response in ["rfc4015", "full", "linux", "bsd"] {
        let mut s = ten_outstanding(&format!("newreno+eifel+{response}"));
        s.timeout().expect([1]).ssthresh(5);
        s.timeout().expect([1]).cwnd(1.0).ssthresh(5);
        s.echoing(10).ack(1).expect([11]).verdict(SPURIOUS).cwnd(10.0).ssthresh(20);
    }
}

#[test]
fn only_ns2_half_saves_state_at_the_second_timeout() {
    let mut s = ten_outstanding("newreno+frto:ns2");
    s.timeout().expect([1]).ssthresh(5);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(5);
    s.ack(1).expect([11, 12]);
    s.ack(7).verdict(SPURIOUS).cwnd(5.0).ssthresh(5);
}

#[test]
fn f_rto_of_a_timeout_in_fast_recovery_restores_nothing() {
    // RFC 5682 section 6, also with a response that restores.
    for response in ["", ":full", ":rfc4015", "+linux"] {
        let mut s = ten_outstanding(&format!("newreno+frto:rfc5682{response}"));
        s.ack(0).ack(0).ack(0).expect([1]).fast_retransmits(1);
        s.timeout().expect([1]);
        s.ack(1).expect([11, 12]).undecided();
        s.ack(2).expect_nothing().verdict(SPURIOUS).cwnd(1.0);
    }
}

#[test]
fn bsd_continues_the_interrupted_recovery() {
    let mut s = Script::sender("newreno+badrexmit").cwnd(8).ssthresh(8).sent(1..=8);
    s.at(400).ack(1).expect([9]);
    s.ack(1).ack(1).expect_nothing();
    s.ack(1).expect([2]).fast_retransmits(1).ssthresh(4).cwnd(7.0);
    s.timeout().expect([2]).cwnd(1.0);
    // Within half a round trip. The partial acknowledgment now belongs to go-back-N.
    s.ack(3).verdict(SPURIOUS).cwnd(7.0).ssthresh(4).expect([10]);
    // In fast recovery again: the next partial acknowledgment sends the next hole.
    s.ack(4).expect([5, 11]).fast_retransmits(1);
}

#[test]
fn bsd_restores_recover_under_any_setting() {
    for (response, fast_retransmits) in [("bsd", 1), ("full", 0)] {
        let setup = Script::sender(&format!("newreno+badrexmit:{response}")).cwnd(4).ssthresh(4);
        let setup = setup.set(|config| config.recover_on_undo = RecoverOnUndo::Keep);
        let mut s = setup.handshake_takes(400).sent(1..=4);
        s.timeout().expect([1]);
        s.ack(1).verdict(SPURIOUS).expect([5]).cwnd(4.0);
        s.ack(1).ack(1).expect_nothing();
        s.ack(1).take();
        s.fast_retransmits(fast_retransmits);
    }
}

#[test]
fn one_undo_per_episode() {
    // Eifel first, then D-SACK of the same timeout, when the window has been halved in between.
    let mut s = ten_outstanding("sack+eifel+dsack");
    s.timeout().expect([1]);
    s.echoing(10).ack(1).expect([11]).verdict(SPURIOUS).cwnd(10.0).ssthresh(20);
    s.echoing(10).ack(10).cwnd(11.0).expect(12..=21);
    s.echoing(10).sacks(10, [1..=1]).verdict(SPURIOUS).cwnd(11.0).expect_nothing();
}

#[test]
fn one_undo_per_episode_with_any_response() {
    for policy in specification::policies().filter(|policy| policy.question == Question::Response) {
        let mut s = ten_outstanding(&format!("sack+eifel+dsack+{}", policy.name));
        s.timeout().take();
        s.echoing(10).ack(1).verdict(SPURIOUS).take();
        s.echoing(10).ack(10).take();
        let window = *s.connection.sender().window();
        s.echoing(10).sacks(10, [1..=1]).take();
        let after = s.connection.sender().window();
        assert_eq!(
            (window.cwnd(), window.ssthresh()),
            (after.cwnd(), after.ssthresh()),
            "{}",
            policy.name
        );
    }
}

#[test]
fn duplicates_are_discounted_with_any_response() {
    let responses =
        specification::policies().filter(|policy| policy.question == Question::Response);
    // `none` retransmits everything, and those duplicates count.
    for policy in responses.filter(|policy| policy.name != "none") {
        for (recover, count) in [(RecoverOnUndo::Discount, 0), (RecoverOnUndo::Reset, 1)] {
            let spec = format!("newreno+eifel+{}", policy.name);
            let setup = Script::sender(&spec).cwnd(10).ssthresh(20).rto_of(40).at_millis(10);
            let mut s = setup.set(|config| config.recover_on_undo = recover).sent(1..=10);
            for _ in 0..3 {
                s.timeout().expect([1]);
            }
            s.echoing(10).ack(1).verdict(SPURIOUS).take();
            s.echoing(10).ack(10).take();
            // Three retransmissions, as many duplicates.
            (0..3).for_each(|_| _ = s.echoing(10).ack(10).take());
            s.fast_retransmits(count);
        }
    }
}

#[test]
fn f_rto_ends_go_back_n_and_d_sack_restores() {
    let mut s = ten_outstanding("sack+frto+dsack");
    s.timeout().expect([1]).ssthresh(5);
    s.ack(1).expect([11, 12]).cwnd(5.0);
    s.ack(2).expect_nothing().verdict(SPURIOUS).cwnd(5.2).ssthresh(5);
    s.ack(3).ack(4).ack(5).ack(6).expect_nothing();
    s.ack(7).expect([13]);
    s.ack(8).expect([14]);
    s.ack(9).expect([15]);
    s.ack(10).expect([16]).cwnd(6.58).ssthresh(5);
    s.sacks(10, [1..=1]).expect(17..=20).verdict(SPURIOUS).cwnd(10.0).ssthresh(20);
}

#[test]
fn t_fr_17_three_timeouts_of_one_segment() {
    for (recover, fast_retransmits) in
        [(RecoverOnUndo::Reset, 1), (RecoverOnUndo::Keep, 0), (RecoverOnUndo::Discount, 0)]
    {
        let setup = Script::sender("newreno+frto").cwnd(6);
        let mut s = setup.set(|config| config.recover_on_undo = recover).sent(1..=6);
        s.timeout().expect([1]);
        s.timeout().expect([1]);
        s.timeout().expect([1]);
        s.ack(1).expect([7, 8]);
        s.ack(2).expect_nothing().verdict(SPURIOUS);
        s.ack(6).expect([9]);
        s.ack(6).expect_nothing();
        s.ack(6).expect_nothing();
        s.ack(6).fast_retransmits(fast_retransmits);
    }
}

#[test]
fn a_loss_after_discounted_duplicates_is_retransmitted() {
    let setup = Script::sender("newreno+frto").cwnd(6);
    let discount = |config: &mut rtolab_tcp::Config| {
        config.recover_on_undo = RecoverOnUndo::Discount;
    };
    let mut s = setup.set(discount).sent(1..=6);
    s.timeout().expect([1]);
    s.ack(1).expect([7, 8]);
    s.ack(2).expect_nothing().verdict(SPURIOUS);
    s.ack(6).expect([9]);
    // One duplicate is that of the retransmission; three more mean that 7 is lost.
    s.ack(6).ack(6).ack(6).expect_nothing().fast_retransmits(0);
    s.ack(6).expect([7, 10, 11]).fast_retransmits(1);
}

#[test]
fn an_acknowledgment_of_new_data_ends_the_discount() {
    let setup = Script::sender("newreno+eifel").cwnd(6).ssthresh(8).rto_of(40).at_millis(10);
    let discount = |config: &mut rtolab_tcp::Config| {
        config.recover_on_undo = RecoverOnUndo::Discount;
    };
    let mut s = setup.set(discount).sent(1..=6);
    s.timeout().expect([1]);
    s.echoing(10).ack(1).expect([7]).verdict(SPURIOUS);
    // 7 was sent after the retransmission; once it is acknowledged, no duplicate of that follows.
    s.echoing(50).ack(7).expect(8..=14);
    s.echoing(50).ack(7).echoing(50).ack(7).expect_nothing();
    s.echoing(50).ack(7).expect([8]).fast_retransmits(1);
}

#[test]
fn an_inconsistent_specification_is_refused() {
    let message = |name| specification::sender(name, &base()).unwrap_err().to_string();
    assert!(message("sack+frto+dualrtt").contains("names both `frto` and `dualrtt`"));
    assert!(message("sack+dualrtt+frto").contains("names both `dualrtt` and `frto`"));
    assert!(message("sack+eifel+eifel:safe").contains("names both `eifel` and `eifel:safe`"));
    assert!(message("sack+frto:half+full").contains("names both `half` and `full`"));
    assert!(message("newreno+dsack").contains("names `dsack`, which needs `sack`"));
    assert!(message("newreno+half").contains("names `half`, which needs a detector"));
    assert!(message("newreno:rfc4015").contains("unknown policy `newreno:rfc4015`"));
    assert!(message("sack+eifel:rfc4016").contains("unknown policy `eifel:rfc4016`"));
}

#[test]
fn a_response_is_a_term_or_follows_a_detector() {
    let joined = specification::sender("sack+eifel:rfc3522:rfc4015", &base()).unwrap();
    assert_eq!(joined, specification::sender("sack+eifel:rfc3522+rfc4015", &base()).unwrap());
    assert_eq!(joined.response, Some(Response::Rfc4015));
    assert!(joined.timestamps);
    let scenario = rtolab_tcp::Config { response: Some(Response::Half), ..base() };
    assert_eq!(
        specification::sender("sack+eifel", &scenario).unwrap().response,
        Some(Response::Half)
    );
}

#[test]
fn the_window_is_never_less_than_a_segment() {
    for response in ["rfc4015", "ns2:full"] {
        let spec = format!("newreno+eifel+{response}");
        let setup = Script::sender(&spec).cwnd(1).segments(1).rto_of(40).at_millis(10);
        let mut s = setup.sent(1..=1);
        // Everything but one byte is acknowledged, and then this byte.
        let ack = s.echoing(10).pure_ack(start_of(1) + 999);
        s.arrives(&ack).expect_nothing();
        s.timeout().expect([1]);
        s.echoing(10).ack(1).verdict(SPURIOUS).cwnd(1.0);
    }
}

#[test]
fn a_recovery_that_the_acknowledgment_completes_does_not_continue() {
    let setup = Script::sender("sack+eifel+bsd").cwnd(8).ssthresh(8).segments(10);
    let mut s = setup.sent(1..=8);
    let first = s.clock();
    s.at(100).sacks(0, [2..=2]).expect_nothing().sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]).sacks(0, [2..=5]).expect_nothing();
    s.sacks(0, [2..=6]).expect([9]).sacks(0, [2..=7]).expect([10]);
    s.timeout().expect([1]);
    s.echoing(first).ack(8).expect_nothing().verdict(SPURIOUS);
    s.ack(9).expect_nothing().fast_retransmits(1);
}
