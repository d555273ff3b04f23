//! SACK-based loss recovery: RFC 6675, and RFC 3517 before it.

use crate::script::Script;
use rtolab_tcp::config::{Reduction, SackOnTimeout, Sampling};

const BOTH: [&str; 2] = ["sack:rfc3517", "sack:rfc6675"];

fn ten_outstanding(spec: &str) -> Script {
    Script::sender(spec).cwnd(10).sent(1..=10)
}

#[test]
fn t_sk_1_one_loss_of_ten() {
    for spec in BOTH {
        let mut s = ten_outstanding(spec);
        s.sacks(0, [2..=2]).expect_nothing();
        s.sacks(0, [2..=3]).expect_nothing().fast_retransmits(0);
        s.sacks(0, [2..=4]).expect([1]).ssthresh(5).cwnd(5.0).outstanding(7);
        s.sacks(0, [2..=5]).expect_nothing().outstanding(6);
        s.sacks(0, [2..=6]).expect_nothing().outstanding(5);
        s.sacks(0, [2..=7]).expect([11]).outstanding(5);
        s.sacks(0, [2..=8]).expect([12]);
        s.sacks(0, [2..=9]).take();
        s.sacks(0, [2..=10]).expect([14]).outstanding(5);
        // The full acknowledgment ends recovery with the halved window.
        s.sacks(10, []).expect([15]).cwnd(5.0).fast_retransmits(1);
        s.ack(11).expect([16]).cwnd(5.2);
    }
}

#[test]
fn t_sk_1b_ssthresh_does_not_count_what_limited_transmit_sent() {
    for spec in BOTH {
        let setup = Script::sender(spec).cwnd(10);
        let mut s = setup.set(|config| config.recovery.limited_transmit = true).sent(1..=10);
        s.sacks(0, [2..=2]).expect([11]).cwnd(10.0);
        s.sacks(0, [2..=3]).expect([12]).cwnd(10.0);
        s.sacks(0, [2..=4]).expect([1]).ssthresh(5).cwnd(5.0).outstanding(9);
        for (last, outstanding) in [(5, 8), (6, 7), (7, 6), (8, 5)] {
            s.sacks(0, [2..=last]).expect_nothing().outstanding(outstanding);
        }
        s.sacks(0, [2..=9]).expect([13]).outstanding(5);
    }
}

#[test]
fn t_sk_2_three_losses_of_ten() {
    for spec in BOTH {
        let mut s = ten_outstanding(spec);
        s.sacks(0, [3..=3]).expect_nothing();
        s.sacks(0, [3..=4]).expect_nothing();
        // 1 and 2 have three SACKed segments above them and are lost; 5 has one.
        s.sacks(0, [6..=6, 3..=4]).expect([1]).cwnd(5.0).outstanding(6);
        s.sacks(0, [6..=7, 3..=4]).expect_nothing().outstanding(5);
        // Now 5 is lost too, and the pipe has room for two.
        s.sacks(0, [6..=8, 3..=4]).expect([2, 5]).outstanding(5);
        s.sacks(0, [6..=9, 3..=4]).expect([11]).outstanding(5);
        s.sacks(0, [6..=10, 3..=4]).expect([12]);
        // Partial acknowledgments of R1 and R2 remove the data that they cover from the pipe.
        s.sacks(1, [6..=10, 3..=4]).expect([13]).outstanding(5);
        s.sacks(4, [6..=10]).expect([14]);
        s.sacks(10, []).expect([15]).cwnd(5.0).fast_retransmits(1);
    }
}

#[test]
fn t_sk_3_one_duplicate_with_three_runs_is_enough_for_rfc_6675() {
    let mut s = ten_outstanding("sack:rfc6675");
    s.sacks(0, [6..=6, 4..=4, 2..=2]).expect([1]).cwnd(5.0).outstanding(7);

    let mut s = ten_outstanding("sack:rfc3517");
    s.sacks(0, [6..=6, 4..=4, 2..=2]).expect_nothing().fast_retransmits(0);
    s.sacks(0, [6..=7, 4..=4, 2..=2]).expect_nothing();
    // The third duplicate: 1, 3 and 5 all have three SACKed segments above them, 9 and 10 are in
    // flight.
    s.sacks(0, [6..=8, 4..=4, 2..=2]).expect([1, 3, 5]).fast_retransmits(1).outstanding(5);
}

/// Segments 1, 9 and 10 of ten are lost, and there is no more data. Returns the sender after R1 has
/// arrived.
fn tail_lost(spec: &str) -> Script {
    let mut s = Script::sender(spec).cwnd(10).segments(10).sent(1..=10);
    s.sacks(0, [2..=2]).expect_nothing();
    s.sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]).cwnd(5.0);
    for last in 5..=8 {
        s.sacks(0, [2..=last]).expect_nothing();
    }
    s.outstanding(3).ack(8);
    s
}

#[test]
fn t_sk_4_the_tail_is_rescued_once() {
    let mut s = tail_lost("sack:rfc6675");
    s.expect([10]);
    s.ack(8).expect_nothing();
    // The SACK of the rescue retransmission shows that 9 is missing.
    s.sacks(8, [10..=10]).expect([9]);
    s.ack(10).expect_nothing().deadline(None).cwnd(5.0);
}

#[test]
fn t_sk_4_rfc_3517_rescues_nothing() {
    let mut s = tail_lost("sack:rfc3517");
    s.expect_nothing().timeout().expect([9]);
}

#[test]
fn t_sk_5_a_lost_retransmission_waits_for_the_timer() {
    for spec in BOTH {
        let mut s = ten_outstanding(spec);
        s.at(300).sacks(0, [2..=2]).expect_nothing();
        s.sacks(0, [2..=3]).expect_nothing();
        s.sacks(0, [2..=4]).expect([1]);
        s.sacks(0, [2..=5]).expect_nothing();
        s.sacks(0, [2..=6]).expect_nothing();
        for last in 7..=20 {
            s.at(300 + 40 * u64::from(last - 6)).sacks(0, [2..=last]).expect([last + 4]);
        }
        // Duplicates did not restart it; 24 are outstanding.
        s.deadline(1000).timeout().expect([1]).cwnd(1.0).ssthresh(12).fast_retransmits(1);
    }
}

#[test]
fn t_sk_6_a_timeout_forgets_the_scoreboard() {
    // The receiver had SACKed the first unacknowledged segment, so it has reneged (RFC 2018 section
    // 8). The engine clears the scoreboard at every timeout.
    let mut s = Script::sender("sack").cwnd(6).sent(1..=6);
    s.sacks(0, [1..=3]).expect_nothing();
    assert_eq!(s.connection.sender().flight().sacked(), 3000);
    s.timeout().expect([1]);
    assert_eq!(s.connection.sender().flight().sacked(), 0);
    s.ack(1).expect([2, 3]);
}

#[test]
fn t_sk_7_a_duplicate_that_only_reports_a_duplicate_does_not_count() {
    let mut s = Script::sender("sack:rfc6675").cwnd(6).sent(1..=6);
    s.ack(2).expect([7, 8, 9]);
    for _ in 0..4 {
        s.sacks(2, [1..=1]).expect_nothing();
    }
    s.fast_retransmits(0);

    // RFC 3517 counts the duplicate acknowledgments of RFC 2581, whatever they report.
    let mut s = Script::sender("sack:rfc3517").cwnd(6).sent(1..=6);
    s.ack(2).expect([7, 8, 9]);
    s.sacks(2, [1..=1]).expect_nothing();
    s.sacks(2, [1..=1]).expect_nothing();
    s.sacks(2, [1..=1]).expect([3]).fast_retransmits(1);
}

#[test]
fn no_fast_recovery_until_the_flight_of_a_timeout_is_acknowledged() {
    for spec in BOTH {
        let mut s = Script::sender(spec).cwnd(6).sent(1..=6);
        s.timeout().expect([1]);
        for last in 3..=6 {
            s.sacks(0, [3..=last]).expect_nothing();
        }
        // R1 arrived, and 2 is the only hole; then new data as the pipe allows.
        s.sacks(1, [3..=6]).expect([2, 7]).fast_retransmits(0);
        s.sacks(1, [3..=7]).expect([8]).fast_retransmits(0);
    }
}

#[test]
fn t_sk_6_a_timeout_can_keep_the_scoreboard_unless_the_receiver_reneged() {
    let keeps = || {
        let setup = Script::sender("sack").cwnd(6);
        setup.set(|config| config.recovery.sack.on_timeout = SackOnTimeout::Keep)
    };
    let mut s = keeps().sent(1..=6);
    s.sacks(0, [3..=4]).expect_nothing();
    s.timeout().expect([1]);
    s.ack(1).expect([2, 5]).outstanding(2);

    // Segment 1 was SACKed, but is the first unacknowledged one.
    let mut s = keeps().sent(1..=6);
    s.sacks(0, [1..=1, 3..=3]).expect_nothing();
    s.timeout().expect([1]);
    assert_eq!(s.connection.sender().flight().sacked(), 0);
}

#[test]
fn rate_halving_in_sack_recovery() {
    let setup = Script::sender("sack").cwnd(10);
    let mut s = setup.set(|config| config.recovery.reduction = Reduction::RateHalving).sent(1..=10);
    s.sacks(0, [2..=2]).expect_nothing();
    s.sacks(0, [2..=3]).expect_nothing();
    // Six outstanding and the retransmission.
    s.sacks(0, [2..=4]).expect([1]).ssthresh(5).outstanding(7).cwnd(7.0);
    s.sacks(0, [2..=5]).expect([11]).outstanding(7);
    s.sacks(0, [2..=6]).expect_nothing().outstanding(6).cwnd(6.0);
    s.sacks(0, [2..=7]).expect([12]).outstanding(6);
    s.sacks(0, [2..=8]).expect_nothing().outstanding(5).cwnd(5.0);
}

/// In ns-2 a retransmission in recovery affects neither the timer nor the timed segment. By Karn's
/// rule (RFC 6298 section 3) other senders do not time a segment across a retransmission.
#[test]
fn only_ns_2_times_a_segment_across_a_retransmission_in_recovery() {
    for (spec, is_sampled) in [("sack:ns2", true), ("sack", false)] {
        let setup = Script::sender(spec).cwnd(12).rto_of(100).handshake_takes(100);
        let setup = setup.set(|config| config.rto.sampling = Sampling::OncePerWindow);
        let mut s = setup.segments(40).sent(1..=12);
        s.at(200).sacks(0, [2..=2]).sacks(0, [2..=3]).sacks(0, [2..=4]).fast_retransmits(1);
        s.take();
        // New data leaves once half of the window is delivered, and is timed.
        for last in 5..=8 {
            s.sacks(0, [2..=last]).take();
        }
        s.sacks(0, [2..=9]).take();
        let rto = s.connection.sender().rto();
        // Segment 10 is a hole.
        let mut sent = Vec::new();
        for last in 11..=13 {
            sent.append(&mut s.at(210).sacks(0, [2..=9, 11..=last]).take());
        }
        assert!(sent.contains(&10), "{spec}: {sent:?}");
        s.at(390).ack(14).take();
        assert_eq!(s.connection.sender().rto() > rto, is_sampled, "{spec}");
    }
}
