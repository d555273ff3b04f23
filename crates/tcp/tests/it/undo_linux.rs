//! Current Linux: F-RTO, and undo by timestamps and D-SACK, in the order of
//! `tcp_fastretrans_alert`.

use crate::acting::three_undone_episodes;
use crate::script::{Script, Setup};
use rtolab_tcp::config::{RackRules, RepeatedTimeout};
use rtolab_tcp::spurious::Verdict;

const SPURIOUS: Verdict = Verdict::Spurious;
const KERNEL: &str = "sack+frto:linux+undo:linux";
/// Without F-RTO, go-back-N retransmits everything.
const WITHOUT_FRTO: &str = "sack+undo:linux";

fn setup(spec: &str, cwnd: u32) -> Setup {
    let setup = Script::sender(spec).cwnd(cwnd).ssthresh(cwnd).at_millis(10);
    setup.set(|config| config.window.repeated_timeout = RepeatedTimeout::OncePerWindow)
}

/// As many segments outstanding, sent 10 ms after the start, with timestamps.
fn stamped(spec: &str, cwnd: u32) -> Script {
    setup(spec, cwnd).set(|config| config.timestamps = true).sent(1..=cwnd)
}

fn plain(spec: &str, cwnd: u32) -> Script {
    setup(spec, cwnd).sent(1..=cwnd)
}

/// Three others overtake segment 1, which is retransmitted after 40 ms.
fn reordered(s: &mut Script) -> &mut Script {
    s.at(50).echoing(10).sacks(0, [2..=2]).expect_nothing();
    s.echoing(10).sacks(0, [2..=3]).expect_nothing();
    s.echoing(10).sacks(0, [2..=4]).expect([1]).cwnd(3.0).ssthresh(3).fast_retransmits(1)
}

#[test]
fn t_ds_1_a_fast_retransmit_for_reordering_is_undone_by_its_report() {
    // The report comes in Recovery, or after its end.
    let mut s = plain(KERNEL, 6);
    reordered(&mut s);
    s.ack(4).expect([7]).undecided();
    s.sacks(4, [1..=1]).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).expect(8..=10);
    let mut s = plain(KERNEL, 6);
    reordered(&mut s);
    s.ack(6).expect(7..=9).undecided();
    s.sacks(6, [1..=1]).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).expect(10..=12);
}

#[test]
fn a_report_undoes_until_the_next_episode() {
    // The retransmission took longer than a segment that was sent after it.
    let mut s = plain(KERNEL, 6);
    reordered(&mut s);
    s.ack(6).expect(7..=9).undecided();
    s.ack(9).expect(10..=12).undecided().ssthresh(3);
    s.sacks(9, [1..=1]).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).take();
    // The next episode has its own reports.
    let mut s = plain(WITHOUT_FRTO, 6);
    reordered(&mut s);
    s.ack(6).expect(7..=9);
    s.ack(9).take();
    s.timeout().take();
    let before = s.connection.sender().window().ssthresh();
    s.sacks(9, [1..=1]).take();
    assert_eq!(s.connection.sender().window().ssthresh(), before);
}

/// A timeout and go-back-N: five of the six retransmissions are reported as duplicates.
fn five_reports() -> Script {
    let mut s = plain(WITHOUT_FRTO, 6);
    s.timeout().expect([1]).ssthresh(3);
    s.ack(1).expect([2, 3]);
    s.ack(2).expect([4, 5]);
    s.ack(3).expect([6]);
    s.ack(6).expect([7, 8, 9]);
    for number in 1..=5 {
        s.sacks(6, [number..=number]).expect_nothing().undecided();
    }
    s
}

#[test]
fn t_ds_2_the_sixth_report_undoes() {
    let mut s = five_reports();
    s.sacks(6, [6..=6]).expect([10, 11, 12]).verdict(SPURIOUS).cwnd(6.0).ssthresh(6);
}

#[test]
fn t_ds_3_five_of_six_do_not() {
    let mut s = five_reports();
    s.ack(7).undecided().ssthresh(3).take();
}

#[test]
fn t_ds_4_one_of_two_was_lost() {
    let mut s = plain(WITHOUT_FRTO, 6);
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]);
    s.ack(6).expect([7, 8, 9]);
    s.sacks(6, [2..=2]).sacks(6, [3..=3]).undecided().expect_nothing();
    s.ack(7).undecided().ssthresh(3).take();
}

#[test]
fn t_ds_5_a_dsack_for_a_segment_sent_once_counts_too() {
    // Linux checks the range only, and lacks step A.4 of RFC 3708.
    let mut s = plain(WITHOUT_FRTO, 6);
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]);
    s.sacks(6, [2..=2]).undecided().take();
    s.sacks(6, [4..=4]).undecided().take();
    s.sacks(6, [3..=3]).verdict(SPURIOUS).take();
}

#[test]
fn t_ds_6_a_segment_retransmitted_twice_needs_two_reports() {
    let mut s = plain(WITHOUT_FRTO, 2);
    s.timeout().expect([1]);
    s.timeout().expect([1]).ssthresh(2);
    s.ack(2).expect([3, 4]).undecided();
    s.sacks(2, [1..=1]).expect_nothing().undecided();
    s.sacks(2, [1..=1]).expect_nothing().verdict(SPURIOUS);
}

#[test]
fn t_ds_7_lost_acknowledgments_are_not_considered() {
    // Linux lacks step A.1 of RFC 3708: one report of one retransmission undoes.
    let mut s = plain(WITHOUT_FRTO, 6);
    s.timeout().expect([1]);
    s.sacks(6, [1..=1]).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).take();
}

#[test]
fn t_ds_8_each_episode_is_undone() {
    three_undone_episodes(plain(KERNEL, 6));
}

#[test]
fn in_loss_an_older_echo_comes_before_f_rto() {
    // F-RTO would send two new segments and wait; `frto:linux` alone does.
    let mut s = stamped(KERNEL, 6);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    s.echoing(10).ack(1).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).expect([7]);
    s.passive_verdict("undo:linux", SPURIOUS).passive_verdict("frto:linux", None);
    let mut s = stamped("sack+frto:linux", 6);
    s.timeout().expect([1]);
    s.echoing(10).ack(1).undecided().expect([7, 8]);
}

#[test]
fn in_loss_every_advance_checks_the_echo() {
    // The first ACK answers the retransmission, the next one an original. Eifel has already
    // decided.
    let mut s = stamped(WITHOUT_FRTO, 6);
    s.timeout().expect([1]).ssthresh(3);
    s.ack(1).undecided().expect([2, 3]);
    s.echoing(10).ack(4).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).take();
}

#[test]
fn in_loss_an_ack_that_does_not_advance_checks_nothing() {
    let mut s = stamped(WITHOUT_FRTO, 6);
    s.timeout().expect([1]).ssthresh(3);
    s.echoing(10).sacks(0, [3..=3]).undecided().ssthresh(3).expect_nothing();
    s.echoing(10).ack(1).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).take();
}

#[test]
fn f_rto_decides_if_timestamps_and_dsacks_do_not() {
    let mut s = plain(KERNEL, 6);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    s.ack(1).expect([7, 8]).undecided();
    s.ack(2).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).expect_nothing();
    s.passive_verdict("undo:linux", None);
}

#[test]
fn at_the_end_of_recovery_an_older_echo_undoes() {
    let mut s = stamped(KERNEL, 6);
    reordered(&mut s);
    s.echoing(10).ack(6).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).expect(7..=12);
}

#[test]
fn during_recovery_an_older_echo_undoes_if_no_retransmission_is_in_flight() {
    let mut s = stamped(KERNEL, 10);
    s.at(50).echoing(10).sacks(0, [2..=2]).echoing(10).sacks(0, [2..=3]).expect_nothing();
    s.echoing(10).sacks(0, [2..=4]).expect([1]).ssthresh(5);
    s.echoing(10).ack(4).verdict(SPURIOUS).cwnd(10.0).ssthresh(10).take();
    // Two holes are retransmitted; the original of the first arrives while the retransmission of
    // the second is in flight.
    let mut s = stamped(KERNEL, 10);
    s.at(50).echoing(10).sacks(0, [3..=3]).echoing(10).sacks(0, [3..=4]).expect_nothing();
    s.echoing(10).sacks(0, [3..=5]).expect([1]).ssthresh(5);
    for number in 6..=10 {
        s.echoing(10).sacks(0, [3..=number]).take();
    }
    s.echoing(10).ack(1).undecided().ssthresh(5).take();
    s.echoing(10).ack(10).verdict(SPURIOUS).ssthresh(10).take();
}

#[test]
fn an_echo_of_the_retransmission_or_of_zero_undoes_nothing() {
    let mut s = stamped(KERNEL, 6);
    reordered(&mut s);
    s.ack(6).undecided().ssthresh(3).take();
    let mut s = stamped(KERNEL, 6);
    s.timeout().expect([1]);
    s.echoing(0).ack(1).undecided().ssthresh(3).take();
}

#[test]
fn a_timeout_in_recovery_keeps_the_undo_state() {
    // `tcp_enter_loss`: ssthresh is reduced once, and an undo restores the windows from before
    // Recovery.
    let mut s = stamped(WITHOUT_FRTO, 6);
    reordered(&mut s);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    s.echoing(10).ack(1).verdict(SPURIOUS).cwnd(6.0).ssthresh(6).take();
    // Both retransmissions must be reported.
    let mut s = plain(WITHOUT_FRTO, 6);
    reordered(&mut s);
    s.timeout().expect([1]).ssthresh(3);
    s.ack(6).undecided().take();
    s.sacks(6, [1..=1]).undecided().ssthresh(3).take();
    s.sacks(6, [1..=1]).verdict(SPURIOUS).ssthresh(6).take();
    // By RFC 5681 a timeout reduces again.
    let mut s = Script::sender("sack").cwnd(8).ssthresh(8).sent(1..=8);
    s.sacks(0, [2..=2]).sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]).ssthresh(4);
    s.ack(4).take();
    s.timeout().ssthresh(2).take();
}

#[test]
fn nothing_is_undone_after_ece() {
    let mut s = stamped("sack+ecn+frto:linux+undo:linux", 8);
    s.echoing(10).echoes_mark(1).expect_nothing().cwnd(4.0).ssthresh(4);
    s.timeout().expect([2]).cwnd(1.0).ssthresh(4);
    s.echoing(10).ack(2).verdict(SPURIOUS).cwnd(1.0).ssthresh(4).take();
}

#[test]
fn one_undo_per_episode() {
    let mut s = stamped(WITHOUT_FRTO, 6);
    s.timeout().expect([1]);
    s.echoing(10).ack(1).verdict(SPURIOUS).take();
    let before = s.connection.sender().window().ssthresh();
    s.echoing(10).sacks(6, [1..=1]).undecided().take();
    assert_eq!(s.connection.sender().window().ssthresh(), before);
}

/// `tcp_current_ssthresh`: the ssthresh before a reduction is at least three quarters of cwnd, in
/// whole segments: half of 11 and a quarter of 11.
#[test]
fn an_undo_restores_at_least_three_quarters_of_the_window_as_ssthresh() {
    for (cwnd, ssthresh) in [(11, 7), (8, 6)] {
        let setup = setup("rack+frto:linux+undo:linux", cwnd).ssthresh(2).set(|config| {
            config.timestamps = true;
            config.recovery.rack.rules = RackRules::Linux;
            config.recovery.rack.tail_loss_probe = false;
        });
        let mut s = setup.sent(1..=cwnd);
        s.timeout().expect([1]).ssthresh(cwnd / 2);
        let late = s.millis() + 20;
        s.at(late).echoing(10).ack(1).verdict(SPURIOUS).ssthresh(ssthresh).take();
    }
}
