//! Small rules of Linux with a large effect, each compared with the RFC's rule or with the
//! behaviour without the rule.

use crate::script;
use crate::script::{Script, Setup};
use rtolab_tcp::config::{
    CongestionAlgorithm, CongestionAvoidance, CubicGrowth, HalvedQuantity, PrrBound, RackRules,
    RackThreshold, Reduction, Restarts, Sampling, SlowStart,
};
use rtolab_tcp::sender::CaState;
use rtolab_tcp::spurious::Verdict;

const BOTH: [RackRules; 2] = [RackRules::Linux, RackRules::Rfc8985];

/// A round trip of 100 ms is known; the first segment leaves at 100 ms.
fn rack(rules: RackRules) -> Setup {
    let setup = Script::sender("rack").cwnd(10).handshake_takes(100);
    setup.set(|config| {
        let linux = rules == RackRules::Linux;
        config.recovery.rack.rules = rules;
        (config.window.grows_when_recovered, config.window.counts_dsacked) = (linux, linux);
    })
}

fn in_proportion(rules: RackRules) -> Setup {
    rack(rules).cwnd(20).set(|config| {
        config.recovery.reduction = Reduction::Prr(PrrBound::Linux);
        config.recovery.rack.tail_loss_probe = false;
    })
}

/// `tcp_try_undo_partial`: in fast recovery an echo older than the retransmission shows that a late
/// original filled the hole. The path reorders, so RACK waits before it marks the next hole.
#[test]
fn a_hole_that_is_filled_late_shows_reordering() {
    for rules in BOTH {
        let ten_sent = || {
            let setup = rack(rules).segments(10).set(|config| {
                (config.timestamps, config.rto.sampling) = (true, Sampling::Linux);
            });
            setup.sent(1..=10)
        };
        let mut s = ten_sent();
        let first = s.clock();
        s.at(200).sacks(0, [2..=4]).expect([1]);
        s.at(210).echoing(first).ack(4).expect_nothing();
        s.at(220).echoing(first).sacks(4, [6..=6]);
        match rules {
            RackRules::Linux => s.expect_nothing().deadline(220 + 25),
            RackRules::Rfc8985 => s.expect([5]),
        };
        // If the retransmission filled the hole, data that left before it gets no reordering
        // window.
        let mut s = ten_sent();
        s.at(200).sacks(0, [2..=4]).expect([1]);
        s.at(300).ack(4).expect([5, 6, 7]);
    }
}

/// `tcp_packet_delayed`: the echo must be older than the first retransmission since none was
/// outstanding, which may be that of the recovery before (`retrans_stamp`).
#[test]
fn a_late_original_sent_after_the_first_retransmission_shows_no_reordering() {
    let setup = rack(RackRules::Linux).cwnd(20).segments(30).set(|config| {
        (config.timestamps, config.rto.sampling) = (true, Sampling::Linux);
    });
    let mut s = setup.sent(1..=20);
    s.at(200).sacks(0, [2..=8]).expect([1, 21, 22]);
    s.at(210).sacks(0, [2..=20]).expect(23..=29);
    let new = s.clock();
    s.at(310).sacks(0, [2..=20, 22..=24]).take();
    // The retransmission of 21 is in flight when one recovery ends and the next begins.
    s.at(311).sacks(20, [22..=24, 26..=26]).expect([25]);
    s.at(312).echoing(new).sacks(24, [26..=26]).expect_nothing();
    s.at(313).sacks(24, [26..=26, 28..=28]).expect([27]);
}

/// `tcp_dsack_seen`: a segment that arrived twice counts as delivered, so PRR may send for it.
#[test]
fn a_dsack_lets_a_proportional_reduction_send_a_segment() {
    for (rules, left) in [(RackRules::Linux, 1), (RackRules::Rfc8985, 0)] {
        let mut s = in_proportion(rules).segments(20).sent(1..=20);
        s.at(200).sacks(0, [2..=4]).expect([1]);
        // PRR allows half of the four delivered segments, and one has left.
        s.at(201).sacks(0, [2..=5]).expect_nothing();
        s.write(20).take();
        s.at(202).sacks(0, [3..=3, 2..=5]);
        assert_eq!(s.take().len(), left, "{rules:?}");
    }
}

/// `tcp_rack_reo_timeout`: when the reordering timer starts a recovery, one segment counts as
/// delivered. So the second segment that arrives afterwards reaches PRR's half of three.
#[test]
fn a_recovery_of_the_reordering_timer_begins_with_a_segment_delivered() {
    let setup = in_proportion(RackRules::Linux).segments(20);
    let setup = setup.set(|config| config.recovery.rack.threshold = RackThreshold::TimeOnly);
    let mut s = setup.sent(1..=20);
    s.at(200).sacks(0, [2..=2]).expect_nothing();
    s.early_timer().expect([1]);
    s.write(20).take();
    s.at(230).sacks(0, [2..=3]).expect_nothing();
    s.at(231).sacks(0, [2..=4]).expect([21]);
    s.at(232).sacks(0, [2..=5]).expect_nothing();
}

/// `tcp_end_cwnd_reduction`: when an ACK ends one recovery and begins the next, the window is
/// `ssthresh` in between, although PRR has not reached it, and the second reduction starts there.
#[test]
fn a_recovery_right_after_another_starts_from_ssthresh() {
    let setup = in_proportion(RackRules::Linux).segments(40).set(|config| {
        config.window.halves = HalvedQuantity::CongestionWindow;
    });
    let mut s = setup.sent(1..=20);
    s.at(200).sacks(0, [18..=20]).expect([1, 2, 3]).ssthresh(10);
    s.at(300).sacks(3, [18..=20]).expect(4..=7);
    s.at(400).sacks(7, [18..=20]).expect(8..=12);
    s.at(500).sacks(12, [18..=20]).expect((13..=17).chain([21]));
    s.at(600).sacks(16, [18..=20]).expect(22..=26).cwnd(7.0);
    s.at(700).sacks(20, [22..=24]).ssthresh(5).fast_retransmits(2);
    s.take();
}

/// `FLAG_DSACKING_ACK`: an ACK that only reports a duplicate is not a duplicate acknowledgment, and
/// F-RTO ignores it. F-RTO still finds an original that arrives later.
#[test]
fn a_dsack_alone_leaves_the_timeout_undecided() {
    let two_new_sent = || {
        let mut s = Script::sender("sack+frto:linux").cwnd(6).ssthresh(6).sent(1..=6);
        s.timeout().expect([1]);
        s.ack(1).expect([7, 8]).undecided();
        s
    };
    let mut s = two_new_sent();
    s.sacks(1, [1..=1]).undecided().take();
    s.sacks(1, [4..=4]).verdict(Verdict::Spurious).take();
    // A duplicate without a D-SACK shows that the loss was real.
    let mut s = two_new_sent();
    s.ack(1).verdict(Verdict::Genuine).take();
}

/// `cubictcp_acked`: for a second after CUBIC begins, no RTT sample counts. The first sample was
/// six seconds, and until another one counts, the target is the curve six seconds ahead.
#[test]
fn cubic_ignores_round_trips_in_its_first_second() {
    let setup = Script::sender("sack").cwnd(20).ssthresh(20).offered(1000).handshake_takes(3000);
    let setup = setup.set(|config| {
        config.congestion.control = CongestionAlgorithm::Cubic;
        config.congestion.cubic.growth = CubicGrowth::Linux;
        config.window.slow_start = SlowStart::Delivered;
    });
    let mut s = setup.sent(1..=20);
    s.at(9000).ack(1).take();
    let grown_by = |rounds: std::ops::Range<u64>, s: &mut Script| {
        let before = s.connection.sender().window().cwnd();
        let mut acked = 0;
        for round in rounds {
            let una = s.connection.sender().flight().una();
            let (first, max) = (script::number_of(una), s.connection.sender().flight().max());
            for number in first..script::number_of(max) {
                s.at(9000 + 100 * round).ack(number).take();
                acked += 1;
            }
        }
        let grown = s.connection.sender().window().cwnd() - before;
        (grown as f64 / 1000.0) / f64::from(acked)
    };
    // First the initial flight is acknowledged. Then the window grows by one for every second
    // segment, which is CUBIC's fastest growth, and after a second it stops.
    grown_by(1..2, &mut s);
    let first = grown_by(2..4, &mut s);
    let then = grown_by(12..14, &mut s);
    assert!(first > 0.45, "{first}");
    assert!(then < 0.1, "{then}");
}

/// `cubictcp_cwnd_event`: two idle seconds move the start of CUBIC's stage, although the first
/// acknowledgments after them only SACK.
#[test]
fn sacks_after_an_idle_time_do_not_move_the_stage_of_cubic_back() {
    let setup = rack(RackRules::Linux).cwnd(20).ssthresh(20).segments(20).set(|config| {
        config.congestion.control = CongestionAlgorithm::Cubic;
        config.congestion.cubic.growth = CubicGrowth::Linux;
        config.window.slow_start = SlowStart::Delivered;
    });
    let mut s = setup.sent(1..=20);
    // More than three are overtaken, so that the window grows for SACKs, too.
    s.at(200).sacks(0, [18..=18]).expect_nothing();
    s.at(201).sacks(0, [2..=2, 18..=18]).expect_nothing();
    s.at(210).ack(20).expect_nothing();
    s.at(2210).write(20).expect(21..=40);
    let before = s.connection.sender().window().cwnd();
    for last in 22..=39 {
        s.at(2310).sacks(20, [22..=last]).expect_nothing();
    }
    let grown = (s.connection.sender().window().cwnd() - before) / 1000;
    assert!(grown < 3, "{grown}");
}

/// `tcp_slow_start` returns the part of an acknowledgment that slow start does not need. Congestion
/// avoidance counts it: here four of the eleven segments for which the window grows by one.
#[test]
fn the_rest_after_slow_start_counts_in_congestion_avoidance() {
    for (slow_start, cwnd) in [(SlowStart::Delivered, 12.0), (SlowStart::OneSegment, 11.0)] {
        let setup = Script::sender("sack").cwnd(10).ssthresh(11).set(|config| {
            config.window.slow_start = slow_start;
            config.window.avoidance = CongestionAvoidance::ByteCounting;
        });
        let mut s = setup.sent(1..=10);
        s.ack(5).cwnd(11.0).take();
        for number in 6..=11 {
            s.ack(number).cwnd(11.0).take();
        }
        s.ack(12).cwnd(cwnd).take();
    }
}

/// `tcp_enter_loss`: if enough was SACKed for a loss and the timeout came first, the path reorders
/// less than assumed. The window no longer grows for SACKs.
#[test]
fn a_timeout_resets_the_degree_of_reordering() {
    for rules in BOTH {
        let setup = rack(rules).rto_of(300).segments(12).set(|config| {
            config.recovery.rack.threshold = RackThreshold::TimeOnly;
            config.recovery.rack.tail_loss_probe = false;
            config.window.slow_start = SlowStart::Delivered;
            config.rto.restarts = Restarts::NewAcks;
        });
        let mut s = setup.cwnd(12).sent(1..=12);
        s.allow_disagreement();
        // Segment 2 arrives after segment 9.
        s.at(390).sacks(0, [9..=9]).expect_nothing();
        s.at(391).sacks(0, [2..=2, 9..=9]).expect_nothing();
        s.at(392).sacks(0, [2..=3, 9..=9]).take();
        let grows = if rules == RackRules::Linux { 14.0 } else { 12.0 };
        s.cwnd(grows);
        s.timeout().take();
        let before = s.connection.sender().window().cwnd();
        s.sacks(0, [2..=3, 9..=10]).take();
        assert_eq!(s.connection.sender().window().cwnd(), before, "{rules:?}");
    }
}

/// `TCP_CA_Disorder`: with SACK, data is SACKed; without, duplicate acknowledgments are counted
/// (`tcp_add_reno_sack`).
#[test]
fn duplicates_and_sacked_data_show_disorder() {
    for (spec, sacked) in [("newreno", false), ("sack", true), ("rack", true), ("linux", true)] {
        let setup = Script::sender(spec).cwnd(6).segments(6).handshake_takes(100);
        let mut s = setup.sent(1..=6);
        assert_eq!(s.connection.sender().ca_state(), CaState::Open, "{spec}");
        let s = s.at(150);
        if sacked {
            s.sacks(0, [3..=3])
        } else {
            s.ack(0)
        };
        s.take();
        assert_eq!(s.connection.sender().ca_state(), CaState::Disorder, "{spec}");
    }
}
