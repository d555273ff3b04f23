//! F-RTO of the RFCs, of Linux and of ns-2, where it differs from the report's in `frto.rs`: six
//! segments outstanding, plenty of new data. A passive detector of the same variant must agree.

use crate::script::{Script, start_of};
use rtolab_tcp::spurious::{Reason, Verdict};

const INCONCLUSIVE: Verdict = Verdict::Inconclusive(Reason::NothingNewToSend);
const RECOVERING: Verdict = Verdict::Inconclusive(Reason::AlreadyRecovering);

const RFC4138: &str = "newreno+frto:rfc4138";
const RFC5682: &str = "newreno+frto:rfc5682";
const SACK: &str = "sack+frto:rfc5682-sack";
const LINUX: &str = "newreno+frto:linux";
const LINUX_SACK: &str = "sack+frto:linux";
const NS2: &str = "newreno+frto:ns2";
const NS2_SACK: &str = "sack+frto:ns2";

/// All variants, two of them with and without SACK.
const ALL: [&str; 7] = [RFC4138, RFC5682, SACK, LINUX, LINUX_SACK, NS2, NS2_SACK];

/// Six segments outstanding, in congestion avoidance.
fn six(spec: &str) -> Script {
    Script::sender(spec).cwnd(6).ssthresh(6).sent(1..=6)
}

/// The first of them is retransmitted after a timeout.
fn timed_out(spec: &str) -> Script {
    let mut s = six(spec);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    s
}

/// The retransmission is acknowledged, and two new segments are in flight.
fn two_new_sent(spec: &str) -> Script {
    let mut s = timed_out(spec);
    s.ack(1).expect([7, 8]).cwnd(2.0).undecided();
    s
}

#[test]
fn t_fr_1_a_spurious_timeout_costs_one_retransmission() {
    // The windows afterwards: half; slow start from half to the former one; the former one.
    let halved: &[(f64, &[u32])] = &[(3.33, &[]), (3.63, &[]), (3.91, &[]), (4.16, &[9])];
    let towards_pipe: &[(f64, &[u32])] = &[(3.0, &[]), (4.0, &[]), (5.0, &[9]), (6.0, &[10, 11])];
    let undone: &[(f64, &[u32])] = &[(6.0, &[]), (6.17, &[9]), (6.33, &[10]), (6.49, &[11])];
    for (spec, then) in [
        (RFC4138, halved),
        (RFC5682, halved),
        (SACK, halved),
        (NS2, towards_pipe),
        (NS2_SACK, towards_pipe),
        (LINUX, undone),
        (LINUX_SACK, undone),
    ] {
        let mut s = two_new_sent(spec);
        for (number, (cwnd, left)) in (2..).zip(then) {
            s.ack(number).expect(left.iter().copied()).cwnd(*cwnd);
            if number == 2 {
                s.verdict(Verdict::Spurious);
            }
        }
        s.fast_retransmits(0);
    }
}

#[test]
fn t_fr_2_a_duplicate_first_falls_back_to_go_back_n() {
    for spec in [RFC4138, RFC5682, NS2] {
        let mut s = timed_out(spec);
        s.ack(0).expect_nothing().verdict(Verdict::Genuine).cwnd(1.0);
        s.ack(6).expect([7, 8]).cwnd(2.0);
    }
}

#[test]
fn t_fr_2_a_first_duplicate_is_inconclusive_with_sack() {
    for spec in [SACK, LINUX, NS2_SACK] {
        let mut s = timed_out(spec);
        s.ack(0).expect_nothing().undecided().cwnd(1.0);
        s.ack(6).expect([7, 8]).verdict(Verdict::Genuine).cwnd(2.0);
    }
}

#[test]
fn t_fr_3_a_duplicate_second_falls_back_to_go_back_n() {
    for (spec, cwnd, left) in [
        (RFC4138, 3.0, 2..=4),
        (RFC5682, 3.0, 2..=4),
        // Two segments leave; in the report and the RFCs it is three.
        (NS2, 2.0, 2..=3),
        // This is the window of a conventional sender.
        (LINUX, 2.0, 2..=3),
    ] {
        let mut s = two_new_sent(spec);
        s.ack(1).expect(left).verdict(Verdict::Genuine).cwnd(cwnd);
        for _ in 0..4 {
            s.ack(1).expect_nothing().fast_retransmits(0);
        }
    }
    for (spec, cwnd, left) in [(SACK, 3.0, 2..=4), (LINUX_SACK, 2.0, 2..=3), (NS2_SACK, 2.0, 2..=3)]
    {
        let mut s = two_new_sent(spec);
        s.sacks(1, [7..=7]).expect(left).verdict(Verdict::Genuine).cwnd(cwnd);
        s.sacks(1, [7..=8]).expect_nothing().fast_retransmits(0);
    }
}

#[test]
fn t_fr_3_what_left_after_the_timeout_is_not_retransmitted() {
    let senders = [(RFC4138, false), (RFC5682, false), (LINUX, false), (SACK, false), (NS2, true)];
    for (spec, goes_back_to_it) in senders {
        let mut s = two_new_sent(spec);
        let mut left = match spec {
            SACK => s.sacks(1, [7..=7]).take(),
            _ => s.ack(1).take(),
        };
        for number in 2..=6 {
            left.extend(s.ack(number).take());
        }
        assert!(left.starts_with(&[2, 3]) && left.contains(&6), "{spec}: {left:?}");
        assert_eq!(left.contains(&7), goes_back_to_it, "{spec}: {left:?}");
    }
}

#[test]
fn t_fr_4_a_retransmission_that_fills_the_only_hole_is_no_evidence() {
    for spec in [RFC4138, RFC5682, SACK, LINUX, NS2, NS2_SACK] {
        let mut s = timed_out(spec);
        s.ack(6).expect([7, 8]).verdict(Verdict::Genuine).cwnd(2.0);
    }
}

#[test]
fn t_fr_4_linux_ignores_what_was_sacked_before_the_timeout() {
    let mut s = Script::sender(LINUX_SACK).cwnd(3).sent(1..=3);
    s.sacks(0, [2..=2]).expect_nothing();
    s.sacks(0, [2..=3]).expect_nothing();
    s.timeout().expect([1]);
    s.ack(3)
        .expect([4, 5])
        .verdict(Verdict::Genuine)
        .passive_verdict("originals", Verdict::Genuine);
    // Without a SACK report, Linux attributes the acknowledgment to an original.
    let mut s = timed_out(LINUX_SACK);
    s.ack(6).expect([7, 8, 9, 10, 11, 12]).verdict(Verdict::Spurious).cwnd(6.0);
}

#[test]
fn t_fr_5_without_new_data_it_falls_back_to_go_back_n() {
    for spec in ALL {
        let mut s = Script::sender(spec).cwnd(6).segments(6).sent(1..=6);
        s.timeout().expect([1]);
        s.ack(1).expect([2, 3]).verdict(INCONCLUSIVE).cwnd(2.0);
    }
}

#[test]
fn t_fr_5_with_a_full_advertised_window_it_falls_back_to_go_back_n() {
    for spec in ALL {
        let mut s = Script::sender(spec).cwnd(6).offered(6).sent(1..=6);
        s.timeout().expect([1]);
        s.offering(5).ack(1).expect([2, 3]).verdict(INCONCLUSIVE).cwnd(2.0);
    }
}

#[test]
fn t_fr_5_one_new_segment_is_enough() {
    for spec in ALL {
        let mut s = Script::sender(spec).cwnd(6).segments(7).sent(1..=6);
        s.timeout().expect([1]);
        s.ack(1).expect([7]).undecided();
        s.ack(2).expect_nothing().verdict(Verdict::Spurious);
    }
}

#[test]
fn t_fr_5_room_for_one_new_segment_is_not_enough_for_ns_2() {
    for spec in ALL {
        let mut s = Script::sender(spec).cwnd(6).offered(6).sent(1..=6);
        s.timeout().expect([1]);
        s.offering(6).ack(1);
        match spec {
            NS2 | NS2_SACK => s.expect([2, 3]).verdict(INCONCLUSIVE),
            _ => s.expect([7]).undecided(),
        };
    }
}

#[test]
fn t_fr_6_only_retransmitted_data_counts() {
    // As in the report's variant, although Linux itself counts segment 8.
    for (spec, cwnd) in [(SACK, 3), (LINUX_SACK, 2), (NS2_SACK, 2)] {
        let mut s = two_new_sent(spec);
        s.sacks(1, [7..=7]).expect(2..2 + cwnd).outstanding(cwnd).cwnd(f64::from(cwnd));
        s.sacks(1, [7..=8]).expect_nothing().outstanding(cwnd);
    }
}

#[test]
fn t_fr_7_a_jump_of_the_second_acknowledgment() {
    for (spec, left) in [(RFC4138, 0), (RFC5682, 0), (SACK, 0), (LINUX, 3), (NS2, 0)] {
        let mut s = two_new_sent(spec);
        s.ack(5).expect(9..9 + left).verdict(Verdict::Spurious);
    }
}

#[test]
fn t_fr_8_a_window_update_decides_nothing() {
    for spec in ALL {
        let mut s = timed_out(spec);
        s.offering(55).ack(0).expect_nothing().undecided().cwnd(1.0);
        s.ack(1).expect([7, 8]).undecided();
        s.offering(50).ack(1).expect_nothing().undecided().cwnd(2.0);
        s.ack(2).expect_nothing().verdict(Verdict::Spurious);
    }
}

#[test]
fn t_fr_9_another_timeout_before_the_first_acknowledgment() {
    for spec in ALL {
        let mut s = timed_out(spec);
        s.timeout().expect([1]).ssthresh(3).rto(4000).cwnd(1.0);
        s.ack(1).expect([7, 8]).cwnd(2.0).undecided();
        s.ack(2).expect_nothing().verdict(Verdict::Spurious);
    }
}

#[test]
fn t_fr_9_the_windows_that_remain_after_the_second_timeout() {
    // ns-2 saves the windows again; Linux restores those from before the first timeout.
    for (spec, cwnd, ssthresh) in [(NS2, 3.0, 3), (LINUX, 6.0, 6)] {
        let mut s = timed_out(spec);
        s.timeout().expect([1]);
        s.ack(1).expect([7, 8]);
        s.ack(2).expect_nothing().cwnd(cwnd).ssthresh(ssthresh);
    }
}

#[test]
fn t_fr_10_another_timeout_before_the_second_acknowledgment_begins_again() {
    for spec in [RFC4138, NS2, NS2_SACK] {
        let mut s = two_new_sent(spec);
        s.timeout().expect([2]).ssthresh(3).cwnd(1.0);
        s.ack(2).expect([9, 10]).undecided().cwnd(2.0);
        s.ack(3).expect_nothing().verdict(Verdict::Spurious);
    }
}

#[test]
fn t_fr_9_linux_undoes_another_timeout_of_the_same_segment() {
    // A SACK block shows that the first timeout was spurious, and SND.UNA stays.
    let mut s = timed_out(LINUX_SACK);
    s.sacks(0, [2..=2]).expect_nothing().verdict(Verdict::Spurious).cwnd(6.0).ssthresh(6);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    s.sacks(0, [2..=3]).expect_nothing().verdict(Verdict::Spurious).cwnd(6.0).ssthresh(6);
    // An earlier report is no evidence about the next timeout.
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    s.sacks(0, [2..=3]).expect_nothing().undecided().cwnd(1.0);
    s.ack(3).expect([7, 8]).undecided().cwnd(2.0);
}

#[test]
fn t_fr_10_or_it_belongs_to_the_current_recovery() {
    for spec in [RFC5682, SACK, LINUX, LINUX_SACK] {
        let mut s = two_new_sent(spec);
        s.timeout().expect([2]).ssthresh(3).cwnd(1.0);
        s.ack(2).expect([3, 4]).verdict(RECOVERING).cwnd(2.0);
        // Once all data of that window is acknowledged, the next timeout enters F-RTO as usual.
        s.ack(8).expect([9, 10, 11]).cwnd(3.0);
        s.timeout().expect([9]);
        s.ack(9).expect([12, 13]).undecided();
    }
}

#[test]
fn t_fr_10_a_timeout_after_a_spurious_one_is_independent() {
    for spec in [RFC5682, SACK, LINUX] {
        let mut s = two_new_sent(spec);
        s.ack(2).expect_nothing().verdict(Verdict::Spurious);
        s.timeout().expect([3]);
        s.ack(3).expect([9, 10]).undecided();
        s.ack(4).expect_nothing().verdict(Verdict::Spurious);
    }
}

#[test]
fn t_fr_11_part_of_the_segment_is_not_enough_for_the_rfcs() {
    for spec in [RFC4138, RFC5682] {
        let mut s = timed_out(spec);
        let half = s.pure_ack(start_of(1) + 500);
        s.arrives(&half).expect([2]).verdict(Verdict::Genuine).cwnd(2.0);
    }
    for spec in [SACK, LINUX, NS2] {
        let mut s = timed_out(spec);
        let half = s.pure_ack(start_of(1) + 500);
        s.arrives(&half).expect([7, 8]).undecided().cwnd(2.0);
    }
}

#[test]
fn t_fr_11_linux_starts_go_back_n_and_still_waits_for_an_original() {
    let mut s = timed_out(LINUX);
    let half = s.pure_ack(start_of(1) + 500);
    s.arrives(&half).expect([7, 8]);
    s.ack(1).expect([2, 3]).undecided().cwnd(2.5);
    // Without SACK neither the retransmitted segments nor others with them prove anything.
    s.ack(2).expect([4, 5]).undecided().cwnd(3.5);
    s.ack(3).expect([6]).undecided().cwnd(3.79);
    s.ack(6).expect([9, 10]).verdict(Verdict::Genuine).cwnd(4.05);
}

#[test]
fn t_fr_12_a_loss_and_a_delay() {
    // Segment 1 was lost, and the retransmission arrives after the other segments, which were late.
    for spec in [RFC4138, RFC5682, NS2] {
        let mut s = timed_out(spec);
        s.ack(0).expect_nothing().verdict(Verdict::Genuine);
    }
    // With SACK the duplicates decide nothing yet. The retransmission arrives before the last three
    // segments: these were not lost, so nothing else is retransmitted, although the timeout was
    // needed.
    let mut s = timed_out(SACK);
    s.sacks(0, [2..=2]).expect_nothing().undecided();
    s.sacks(0, [2..=3]).expect_nothing().undecided();
    s.ack(3).expect([7, 8]).undecided();
    s.ack(4).expect_nothing().verdict(Verdict::Spurious).cwnd(3.33);
    // Linux believes the first block.
    let mut s = timed_out(LINUX_SACK);
    s.sacks(0, [2..=2]).expect_nothing().verdict(Verdict::Spurious).cwnd(6.0);
}

#[test]
fn t_fr_13_sack_distinguishes_reordering() {
    let mut s = timed_out(SACK);
    s.sacks(0, [3..=3]).expect_nothing().undecided();
    s.ack(3).expect([7, 8]).undecided().cwnd(2.0);
    s.sacks(3, [5..=5]).expect_nothing().verdict(Verdict::Spurious).cwnd(3.0);
    // The hole at 4 is treated like any other.
    s.sacks(3, [5..=6]).expect_nothing().fast_retransmits(0);
    s.sacks(3, [5..=7]).expect([4]).fast_retransmits(1);

    let mut s = timed_out(NS2_SACK);
    s.ack(3).expect([7, 8]);
    s.sacks(3, [5..=5]).verdict(Verdict::Spurious).cwnd(3.0).expect_nothing();

    // Without SACK, the first duplicate ends F-RTO.
    let mut s = timed_out(RFC5682);
    s.ack(0).expect_nothing().verdict(Verdict::Genuine);
}

#[test]
fn t_fr_13_a_block_above_the_recovery_point_is_a_new_segment() {
    let mut s = timed_out(SACK);
    s.ack(3).expect([7, 8]);
    // Segment 8 left after the timeout, like segment 7, and is not retransmitted.
    s.sacks(3, [5..=5, 7..=7]).expect([4, 6]).verdict(Verdict::Genuine).cwnd(3.0);
    // A block that reports nothing new below it may be due to the retransmission.
    let mut s = two_new_sent(SACK);
    s.ack(1).expect([2, 3, 4]).verdict(Verdict::Genuine).cwnd(3.0);
}

#[test]
fn t_fr_14_a_receiver_that_withholds_acks_gains_nothing() {
    // Segment 1 was lost and so was its fast retransmission; the receiver has all the rest, and
    // acknowledges it one by one.
    for spec in [RFC4138, RFC5682] {
        let mut s = six(spec);
        s.ack(0).expect_nothing();
        s.ack(0).expect_nothing();
        s.ack(0).expect([1]).fast_retransmits(1);
        s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
        s.ack(1).expect([7, 8]).cwnd(2.0);
        s.ack(2).expect_nothing().verdict(Verdict::Spurious).cwnd(1.0);
        s.ack(6).expect_nothing().cwnd(2.0);
        s.ack(7).expect([9, 10]).cwnd(3.0).ssthresh(3);
    }
}

#[test]
fn t_fr_14_with_sack_it_stays_out_of_fast_recovery() {
    for spec in ["sack+frto:rfc4138", SACK, LINUX_SACK, NS2_SACK] {
        let mut s = six(spec);
        s.sacks(0, [2..=2]).expect_nothing();
        s.sacks(0, [2..=3]).expect_nothing();
        s.sacks(0, [2..=4]).expect([1]).fast_retransmits(1);
        s.timeout().expect([1]).cwnd(1.0);
        s.ack(1).expect([2, 3]).verdict(RECOVERING).cwnd(2.0);
    }
}

/// `tcp_try_undo_loss` clears `icsk_retransmits`, so that the timeout does not repeat the one that
/// was undone, although `SND.UNA` has not advanced since.
#[test]
fn t_fr_14_linux_does_not_enter_after_an_undone_timeout_and_fast_recovery() {
    let mut s = timed_out(LINUX_SACK);
    s.sacks(0, [2..=2]).expect_nothing().verdict(Verdict::Spurious);
    s.sacks(0, [2..=3]).take();
    s.sacks(0, [2..=4]).expect([1]).fast_retransmits(1);
    s.timeout().expect([1]);
    s.ack(4).verdict(RECOVERING).take();
}

#[test]
fn t_fr_14_linux_enters_if_a_timeout_in_fast_recovery_repeats() {
    let mut s = six(LINUX_SACK);
    s.sacks(0, [2..=2]).expect_nothing();
    s.sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]);
    s.timeout().expect([1]);
    s.timeout().expect([1]);
    // Segments 2 to 4 were SACKed before, 5 was not. The windows are those from before the timeout,
    // as fast recovery had left them.
    s.ack(4).expect([7, 8]).undecided();
    s.ack(5).expect_nothing().verdict(Verdict::Spurious).cwnd(3.0).ssthresh(3);
}

#[test]
fn t_fr_15_a_receiver_that_delays_acknowledgments() {
    for spec in [RFC4138, RFC5682, SACK, LINUX, NS2, NS2_SACK] {
        let mut s = timed_out(spec);
        s.ack(2).expect([7, 8]).undecided().cwnd(2.0);
        s.ack(4).verdict(Verdict::Spurious);
        // The window decides what leaves.
        s.expect(if spec == LINUX { vec![9, 10] } else { vec![] });
    }
    // With SACK Linux decides at the first ACK, because segment 2 was sent once.
    let mut s = timed_out(LINUX_SACK);
    s.ack(2).expect([7, 8]).verdict(Verdict::Spurious).cwnd(6.0);
}

#[test]
fn t_fr_17_three_timeouts_of_one_segment() {
    // Three duplicates of the retransmissions start a fast retransmit, as in the report's variant.
    for spec in [RFC4138, RFC5682] {
        let mut s = timed_out(spec);
        s.timeout().expect([1]);
        s.timeout().expect([1]);
        s.ack(1).expect([7, 8]);
        s.ack(2).expect_nothing().verdict(Verdict::Spurious);
        s.ack(5).expect_nothing();
        s.ack(6).expect([9]);
        s.ack(6).expect_nothing();
        s.ack(6).expect_nothing();
        s.ack(6).expect([7, 10, 11]).fast_retransmits(1).ssthresh(2).cwnd(5.0);
    }
    // With SACK they report nothing new, and start no fast retransmit.
    let mut s = timed_out(SACK);
    s.timeout().expect([1]);
    s.timeout().expect([1]);
    s.ack(1).expect([7, 8]);
    s.ack(2).expect_nothing().verdict(Verdict::Spurious);
    s.ack(6).expect([9]);
    for _ in 0..3 {
        s.ack(6).expect_nothing().fast_retransmits(0);
    }
}
