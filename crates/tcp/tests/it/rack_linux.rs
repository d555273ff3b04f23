//! Linux's RACK, timers and proportional rate reduction where they differ from the RFCs, each
//! beside the rule of RFC 8985.

use crate::script::{Script, Setup};
use rtolab_tcp::config::{
    FullAck, LossWindow, PrrBound, RackRules, RackThreshold, Reduction, Restarts, Sampling,
    SlowStart, SlowStartExit,
};
use rtolab_tcp::spurious::Verdict;
use rtolab_time::Duration;

/// A round trip of 100 ms is known; the first segment leaves at 100 ms.
fn setup(rules: RackRules) -> Setup {
    let setup = Script::sender("rack").cwnd(10).handshake_takes(100);
    setup.set(|config| {
        let linux = rules == RackRules::Linux;
        config.recovery.rack.rules = rules;
        (config.window.grows_when_recovered, config.window.counts_dsacked) = (linux, linux);
    })
}

fn restarting(restarts: Restarts) -> Setup {
    setup(RackRules::Linux).set(|config| config.rto.restarts = restarts)
}

/// `tcp_sacktag_one` calls `tcp_rack_advance` without regard to the timestamp echo, which is that
/// of the last in-order segment.
#[test]
fn a_sack_of_a_probe_shows_a_loss_with_any_timestamp() {
    for (rules, retransmitted) in [(RackRules::Linux, Some(2)), (RackRules::Rfc8985, None)] {
        let setup = setup(rules).segments(3).set(|config| {
            (config.timestamps, config.rto.sampling) = (true, Sampling::Linux);
        });
        let mut s = setup.sent(1..=3);
        let echo = s.clock();
        s.at(200).ack(1).expect_nothing().deadline(400);
        s.early_timer().expect([3]);
        s.at(500).echoing(echo).sacks(1, [3..=3]).expect(retransmitted);
    }
}

/// `FLAG_LOST_RETRANS`: `tcp_fastretrans_alert` changes from `TCP_CA_Loss` to recovery.
#[test]
fn a_retransmission_that_is_lost_again_after_a_timeout_begins_recovery() {
    for (rules, recoveries) in [(RackRules::Linux, 1), (RackRules::Rfc8985, 0)] {
        let mut s = setup(rules).segments(10).sent(1..=10);
        s.early_timer().expect([10]);
        s.timeout().expect([1]);
        let at = s.millis();
        s.at(at + 100).ack(1).expect([2, 3]);
        // Of the two segments that left together, the second arrives.
        s.at(at + 200).sacks(1, [3..=3]).fast_retransmits(recoveries);
        assert_eq!(s.take()[0], 2, "{rules:?}");
    }
}

/// `tcp_enter_loss`: the window is one segment more than the data in flight.
#[test]
fn the_window_of_a_timeout_counts_what_is_in_flight() {
    for (loss_window, cwnd) in [(LossWindow::BeyondPipe, 2.0), (LossWindow::OneSegment, 1.0)] {
        let setup = setup(RackRules::Linux).cwnd(4).rto_of(300).segments(4);
        let setup = setup.set(|config| {
            config.window.loss_window = loss_window;
            config.recovery.rack.tail_loss_probe = false;
        });
        let mut s = setup.sent(1..=4);
        s.at(395).write(3).expect_nothing();
        // One more segment leaves in recovery, and is 4 ms old when the timer expires.
        s.at(396).sacks(0, [2..=4]).expect([1, 5]);
        s.timeout().expect([1]).cwnd(cwnd);
    }
}

/// `tcp_rto_delta_us`: after new data has left, a probe waits no longer than until the oldest
/// segment times out, counted from its sending.
#[test]
fn a_probe_leaves_as_the_oldest_segment_times_out() {
    for (restarts, probe) in [(Restarts::Linux, 700), (Restarts::NewAcks, 800)] {
        let setup = restarting(restarts).handshake_takes(200).rto_of(350).cwnd(2);
        let mut s = setup.sent(1..=2);
        // SRTT is 200 ms, and the timeout 500; segment 2 left at 200 ms.
        s.at(400).ack(1).expect([3, 4]).deadline(probe);
    }
}

/// `tcp_xmit_retransmit_queue`: the timer restarts with the oldest segment.
#[test]
fn the_retransmission_of_the_oldest_segment_restarts_the_timer() {
    for (restarts, due) in [(Restarts::Linux, 1200), (Restarts::NewAcks, 1100)] {
        let mut s = restarting(restarts).segments(8).sent(1..=8);
        s.at(200).sacks(0, [2..=4]).expect([1]).deadline(due);
    }
}

/// `tcp_clean_rtx_queue`: the SACKed data left before the last transmission of the oldest segment,
/// whose ACK cannot be expected yet. A SACK of data that left after it does not restart the timer.
#[test]
fn a_sack_of_data_sent_before_the_oldest_segment_restarts_the_timer() {
    for (restarts, due) in [(Restarts::Linux, 1250), (Restarts::NewAcks, 1100)] {
        let mut s = restarting(restarts).segments(8).sent(1..=8);
        s.at(200).sacks(0, [2..=4]).expect([1]);
        s.at(250).sacks(0, [2..=5]).expect_nothing().deadline(due);
    }
    let mut s = restarting(Restarts::Linux).segments(12).sent(1..=10);
    s.at(200).sacks(0, [2..=10]).expect([1, 11, 12]).deadline(1200);
    s.at(300).sacks(0, [2..=11]);
    s.take();
    s.deadline(1300);
}

/// `tcp_ack_update_rtt`: a SACK of data that was sent once gives a sample, and ends a back-off.
#[test]
fn sacked_data_gives_an_rtt_sample() {
    for (sampling, srtt) in [(Sampling::Linux, 106_250), (Sampling::EveryAck, 100_000)] {
        let setup = setup(RackRules::Linux).set(|config| config.rto.sampling = sampling);
        let mut s = setup.segments(8).sent(1..=8);
        s.at(250).sacks(0, [2..=2]).take();
        let estimate = s.connection.sender().rtt().estimate().unwrap();
        assert_eq!(estimate.srtt, Duration::from_micros(srtt), "{sampling:?}");
    }
}

/// `tcp_cwnd_reduction` uses `prior_cwnd`, even if less was in flight.
#[test]
fn linux_prr_divides_by_cwnd_instead_of_the_flight_size() {
    let sent = |bound| {
        let setup = setup(RackRules::Linux).cwnd(40).segments(24).set(|config| {
            config.recovery.reduction = Reduction::Prr(bound);
        });
        let mut s = setup.sent(1..=24);
        s.at(200).sacks(0, [2..=4]).take();
        s.write(40).take();
        let counts = (5..=20).map(|last| {
            s.at(200).sacks(0, [2..=last]);
            s.take().len()
        });
        counts.sum::<usize>()
    };
    assert!(sent(PrrBound::Linux) < sent(PrrBound::Rfc9937));
}

/// `tcp_cong_control` runs after `tcp_fastretrans_alert`: for the ACK that ends a recovery, the
/// recovery is over.
#[test]
fn the_window_grows_for_the_acknowledgment_that_ends_a_recovery() {
    for (slow_start, cwnd) in [(SlowStart::Delivered, 5.2), (SlowStart::OneSegment, 5.0)] {
        let setup = setup(RackRules::Linux).segments(10).set(|config| {
            (config.window.slow_start, config.window.full_ack) = (slow_start, FullAck::Ssthresh);
        });
        let mut s = setup.sent(1..=10);
        s.at(200).sacks(0, [2..=10]).expect([1]).ssthresh(5);
        s.at(300).ack(10).expect_nothing().cwnd(cwnd);
    }
}

/// Segment 1 was retransmitted as a probe. Segments 2 to 9 left a millisecond apart.
fn reordered(rules: RackRules) -> Script {
    let mut s = setup(rules).segments(1).sent(1..=1);
    s.early_timer().expect([1]);
    s.at(600).ack(1).expect_nothing();
    for number in 2..=9 {
        s.at(598 + u64::from(number)).write(1).expect([number]);
    }
    s.allow_disagreement();
    s.at(702).sacks(1, [3..=3]).expect_nothing();
    s.at(703).sacks(3, []).expect_nothing();
    s
}

/// `tcp_rack_mark_lost` and `tcp_rack_update_reo_wnd`: an ACK that delivers nothing changes nothing
/// yet.
#[test]
fn a_dsack_widens_reo_wnd_with_the_next_delivery() {
    for (rules, due) in [(RackRules::Linux, 25), (RackRules::Rfc8985, 50)] {
        let mut s = reordered(rules);
        s.at(704).sacks(3, [5..=5]).expect_nothing().deadline(602 + 101 + 25);
        s.at(705).sacks(3, [2..=2, 5..=5]).expect_nothing().deadline(602 + 101 + due);
        s.at(706).sacks(3, [5..=6]).expect_nothing().deadline(602 + 102 + 50);
    }
}

/// `tcp_may_raise_cwnd`: if segments overtake more than three others, the window also grows for
/// out-of-order arrivals.
#[test]
fn with_much_reordering_the_window_grows_on_sacks() {
    for (rules, grown) in [(RackRules::Linux, 12.0), (RackRules::Rfc8985, 10.0)] {
        let setup = setup(rules).segments(10);
        let setup = setup.set(|config| config.window.slow_start = SlowStart::Delivered);
        let mut s = setup.sent(1..=10);
        s.at(200).sacks(0, [9..=10]).expect_nothing().cwnd(10.0);
        s.at(201).sacks(0, [2..=2, 9..=10]).expect_nothing();
        s.at(202).sacks(0, [2..=3, 9..=10]).expect_nothing().cwnd(grown);
    }
    // Three are not enough.
    let setup = setup(RackRules::Linux).segments(10);
    let mut s = setup.set(|config| config.window.slow_start = SlowStart::Delivered).sent(1..=10);
    s.at(200).sacks(0, [4..=4]).expect_nothing();
    s.at(201).sacks(0, [2..=2, 4..=4]).expect_nothing().cwnd(10.0);
}

/// `cubictcp_acked`: `HyStart` takes the RTT samples of SACKs, although the window does not grow
/// for them.
#[test]
fn hystart_uses_rtt_samples_of_sacked_data() {
    let setup = setup(RackRules::Linux).cwnd(20).segments(20).set(|config| {
        config.congestion.slow_start_exit = SlowStartExit::HyStart;
        config.window.slow_start = SlowStart::Delivered;
        config.recovery.rack.threshold = RackThreshold::TimeOnly;
        config.rto.sampling = Sampling::Linux;
    });
    let mut s = setup.sent(1..=20);
    s.at(200).ack(20).cwnd(40.0);
    s.write(30).take();
    // A round trip of 130 ms, and eight slightly longer ones: the next sample is too long.
    s.at(330).ack(21).cwnd(41.0);
    for last in 23..=29 {
        s.at(308 + u64::from(last)).sacks(21, [23..=last]);
    }
    assert_eq!(s.connection.sender().window().ssthresh(), u64::MAX);
    s.at(338).sacks(21, [23..=30]).ssthresh(41);
}

/// `tcp_dsack_seen`: duplicates beyond the retransmissions were not caused by this end.
#[test]
fn more_dsacks_than_retransmissions_are_ignored() {
    for (rules, quarters) in [(RackRules::Linux, 1), (RackRules::Rfc8985, 2)] {
        let mut s = reordered(rules);
        // Two segments at once, after one was retransmitted.
        s.at(705).sacks(3, [2..=3]).expect_nothing();
        s.at(706).sacks(3, [5..=5]).expect_nothing().deadline(602 + 103 + quarters * 25);
    }
}

/// `tcp_sacktag_one`: the original of a retransmitted segment had arrived late. RFC 8985 takes no
/// sample of the order from a segment that was retransmitted.
#[test]
fn a_dsack_for_a_sacked_segment_shows_reordering() {
    for (rules, retransmitted) in [(RackRules::Linux, None), (RackRules::Rfc8985, Some(11))] {
        let mut s = setup(rules).segments(20).sent(1..=10);
        s.at(200).sacks(0, [2..=2, 4..=10]);
        assert_eq!(s.take()[..2], [1, 3], "{rules:?}");
        s.sacks(0, [2..=10]).take();
        s.sacks(0, [3..=3, 2..=10]).take();
        s.at(300).ack(10).take();
        s.at(400).sacks(10, [12..=14]);
        assert_eq!(s.take().into_iter().find(|seq| *seq == 11), retransmitted, "{rules:?}");
    }
}

/// `tcp_xmit_retransmit_queue`: after F-RTO's undo segment 7 is not lost, but its retransmission
/// counts in `retrans_out`. The last of the lost segments therefore waits until it is acknowledged.
#[test]
fn a_retransmission_before_an_undo_replaces_one_after_it() {
    let setup = Script::sender("rack+frto:linux+undo:linux").cwnd(10).handshake_takes(100);
    let setup = setup.set(|config| config.recovery.rack.rules = RackRules::Linux);
    let mut s = setup.segments(60).sent(1..=10);
    s.at(200);
    for number in 1..=6 {
        s.ack(number).take();
    }
    s.early_timer().take();
    s.timeout().expect([7]);
    let at = s.millis();
    let mut retransmitted = Vec::new();
    for last in 11..=22 {
        s.at(at + u64::from(last)).sacks(6, [11..=last]);
        retransmitted.extend(s.take().into_iter().filter(|number| *number <= 10));
    }
    assert_eq!(retransmitted, [8, 9]);
    s.sacks(7, [11..=22]);
    assert_eq!(s.take()[0], 10);
}

/// `tcp_rack_reo_timeout` calls `tcp_xmit_retransmit_queue` and nothing else.
#[test]
fn the_reordering_timer_releases_no_new_data() {
    let mut s = Script::sender("linux").handshake_takes(100).sent(1..=10);
    let echo = s.clock();
    s.early_timer().expect([11]);
    s.timeout().expect([1]);
    // An original is SACKed, so the timeout was spurious. Segment 2 may be lost.
    let at = s.millis();
    s.at(at + 50).echoing(echo).sacks(0, [3..=3]).cwnd(10.0).expect_nothing();
    // Now it is. One retransmission is in flight, so it is not retransmitted yet.
    s.early_timer().fast_retransmits(1).expect_nothing();
    s.at(at + 100).echoing(echo).sacks(0, [3..=4]).expect([12, 13]);
}

/// Segment 1 is lost, then 11 to 15. The retransmission of 1 ends a recovery, with 11 and 12
/// retransmitted, and what is lost begins the next one. Also a timestamp between the two.
fn two_recoveries() -> (Script, u32) {
    let mut s = Script::sender("linux").handshake_takes(100).sent(1..=10);
    s.at(200).sacks(0, [2..=4]).expect([1]).ssthresh(7);
    for last in 5..=10 {
        s.at(200 + u64::from(last)).sacks(0, [2..=last]).expect([last + 6]);
    }
    s.at(340).sacks(0, [16..=16, 2..=10]).expect([1, 11, 12]).cwnd(3.0).ssthresh(7);
    let between = s.clock();
    s.at(440).sacks(10, [16..=16]).fast_retransmits(2).ssthresh(4);
    (s, between)
}

/// RFC 9937, with segments as in Linux (`tcp_cwnd_reduction`): in flight are the retransmissions of
/// 11 and 12. Two segments may leave, because one was delivered and nothing else was lost.
#[test]
fn a_recovery_that_follows_another_counts_its_retransmissions_in_flight() {
    let (mut s, _) = two_recoveries();
    s.expect([13, 14]).cwnd(4.0);
}

/// `tcp_retrans_stamp_cleanup`: the first retransmission of the first recovery counts as long as
/// retransmissions are in flight.
#[test]
fn an_echo_from_between_two_recoveries_undoes_nothing() {
    let (mut s, between) = two_recoveries();
    s.take();
    s.at(540).echoing(between).ack(16).ssthresh(4).undecided();
}

/// `tcp_init_undo` counts the retransmissions in flight. The undo restores the window with which
/// the second recovery began, and that is the last one of the first recovery.
#[test]
fn the_second_of_two_recoveries_is_undone_after_five_reports() {
    let (mut s, _) = two_recoveries();
    s.take();
    s.at(540).sacks(12, [16..=16]).take();
    s.at(560).ack(16).take();
    for number in 11..=14 {
        s.sacks(16, [number..=number]).undecided().cwnd(4.0).expect_nothing();
    }
    s.sacks(16, [15..=15]).cwnd(7.0).expect([21, 22, 23]);
}

/// `tcp_send_loss_probe` does not count in `undo_retrans`, but a report of its segment does.
#[test]
fn the_report_of_a_later_probe_undoes_a_recovery() {
    let mut s = Script::sender("linux").segments(10).handshake_takes(100).sent(1..=10);
    s.at(200).sacks(0, [2..=4]).expect([1]);
    s.at(300).ack(10).ssthresh(7).expect_nothing();
    s.write(2).expect([11, 12]);
    s.early_timer().expect([12]).probes(1);
    let at = s.millis();
    s.at(at + 50).ack(12).ssthresh(7);
    s.at(at + 100).sacks(12, [12..=12]).cwnd(10.0).verdict(Verdict::Spurious);
}

/// `tcp_init_cwnd_reduction` resets `tlp_high_seq`.
#[test]
fn a_probe_before_a_recovery_does_not_reduce_the_window_again() {
    let mut s = Script::sender("linux").segments(10).handshake_takes(100).sent(1..=10);
    s.early_timer().expect([10]).probes(1);
    let at = s.millis();
    s.at(at + 50).sacks(0, [2..=4]).expect([1]).ssthresh(7);
    s.at(at + 150).ack(10).write(2).expect([11, 12]).ssthresh(7);
    s.at(at + 250).ack(12).ssthresh(7);
}

/// `tcp_cong_control` runs after `tcp_fastretrans_alert`: after much reordering the window also
/// grows for the SACK of an original that undoes a timeout.
#[test]
fn the_window_grows_for_a_sack_that_undoes_a_timeout() {
    let setup = Script::sender("rack+frto:linux+undo:linux").cwnd(10).handshake_takes(100);
    let setup = setup.segments(10).set(|config| {
        config.recovery.rack.rules = RackRules::Linux;
        config.recovery.rack.tail_loss_probe = false;
        config.window.slow_start = SlowStart::Delivered;
    });
    let mut s = setup.sent(1..=10);
    s.at(200).sacks(0, [8..=8]).expect_nothing();
    s.at(201).sacks(0, [2..=2, 8..=8]).expect_nothing();
    s.at(202).ack(8).take();
    let cwnd = s.connection.sender().window().cwnd() as f64 / 1000.0;
    s.timeout().expect([9]);
    let late = s.millis() + 30;
    s.at(late).sacks(8, [10..=10]).verdict(Verdict::Spurious).cwnd(cwnd + 1.0);
}
