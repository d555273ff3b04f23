//! Senders with CUBIC (RFC 9438), and with `HyStart`.

use crate::script::Script;
use rtolab_tcp::config::CubicUndo;
use rtolab_tcp::spurious::Verdict;

const SPURIOUS: Verdict = Verdict::Spurious;

/// A hundred segments outstanding, in congestion avoidance.
fn hundred(spec: &str, undo: CubicUndo) -> Script {
    let setup = Script::sender(spec).cwnd(100).ssthresh(100).offered(300);
    let setup = setup.set(|config| config.congestion.cubic.undo = undo);
    setup.handshake_takes(100).sent(1..=100)
}

/// Three others overtake segment 1, which is marked lost and retransmitted.
fn overtake_segment_1(s: &mut Script) -> &mut Script {
    s.sacks(0, [2..=2]).expect_nothing();
    s.sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]).cwnd(70.0).ssthresh(70)
}

#[test]
fn a_fast_retransmit_reduces_cwnd_to_seven_tenths() {
    let mut s = hundred("sack+cubic", CubicUndo::Rfc9438);
    overtake_segment_1(&mut s);
    s.ack(100).expect(101..=170).cwnd(70.0);
}

#[test]
fn a_timeout_sets_ssthresh_to_seven_tenths_and_cwnd_to_one_segment() {
    let mut s = hundred("sack+cubic", CubicUndo::Rfc9438);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(70);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(70);
}

#[test]
fn t_cu_1_a_spurious_fast_retransmit_is_undone() {
    for undo in [CubicUndo::Rfc9438, CubicUndo::Linux] {
        let mut s = hundred("sack+cubic+dsack:linux", undo);
        overtake_segment_1(&mut s);
        s.sacks(4, [1..=1]).verdict(SPURIOUS).cwnd(100.0).ssthresh(100).take();
    }
}

#[test]
fn t_cu_2_an_outgrown_reduction_is_not_undone() {
    // RFC 9438 section 4.9.2 changes nothing; Linux keeps cwnd as well, but raises ssthresh.
    for (undo, restores) in [(CubicUndo::Rfc9438, false), (CubicUndo::Linux, true)] {
        let setup = Script::sender("sack+cubic+dsack:linux").cwnd(2);
        let mut s = setup.set(|config| config.congestion.cubic.undo = undo).sent(1..=2);
        s.timeout().expect([1]).cwnd(1.0).ssthresh(2);
        s.ack(1).expect([2, 3]).cwnd(2.0);
        s.ack(2).expect([4]);
        let grown = s.connection.sender().window().cwnd();
        assert!(grown > 2_000);
        s.sacks(2, [1..=1]).undecided().take();
        s.sacks(2, [2..=2]).verdict(SPURIOUS).take();
        let window = s.connection.sender().window();
        assert_eq!((window.cwnd(), window.ssthresh() > 2_000), (grown, restores));
    }
}

#[test]
fn an_undone_reduction_continues_the_old_curve() {
    // The first loss is real, and the window grows back along its curve. A reduction that is then
    // undone leaves it on that curve. Linux takes the window at the reduction as a new maximum, and
    // begins a new curve.
    let grown = |undo, reduced: bool| {
        let mut s = hundred("sack+cubic+dsack:linux", undo);
        overtake_segment_1(&mut s);
        s.ack(100).expect(101..=170);
        s.at(1_000).ack(101).take();
        s.at(2_000).ack(102).take();
        if reduced {
            for top in 104..=106 {
                s.sacks(102, [104..=top]).take();
            }
            s.sacks(106, [103..=103]).verdict(SPURIOUS).take();
        } else {
            s.ack(106).take();
        }
        let before = s.connection.sender().window().cwnd();
        s.at(3_000).ack(107).take();
        s.connection.sender().window().cwnd() - before
    };
    let curve = grown(CubicUndo::Rfc9438, false);
    assert!(grown(CubicUndo::Rfc9438, true).abs_diff(curve) <= 20, "of {curve}");
    assert!(grown(CubicUndo::Linux, true) < curve / 2, "of {curve}");
}

#[test]
fn a_spurious_timeout_restores_the_window() {
    let mut s = hundred("sack+cubic+frto:linux", CubicUndo::Rfc9438);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(70);
    s.ack(1).expect([101, 102]);
    s.ack(2).verdict(SPURIOUS).cwnd(100.0).ssthresh(100).take();
}

#[test]
fn hystart_needs_no_cubic() {
    let specs = ["sack+hystart", "newreno+hystart:linux", "sack+cubic+hystart"];
    let ended = specs.map(|spec| {
        let mut s = Script::sender(spec).cwnd(20).offered(1000).handshake_takes(50).sent(1..=20);
        let (mut number, mut sent) = (0, 20);
        // Each round trip is 20 ms longer than the one before.
        for round in 1..=8 {
            let now = s.millis();
            s.at(now + 50 + 20 * round);
            let outstanding = number + 1..=sent;
            number = sent;
            for acked in outstanding {
                sent = s.ack(acked).take().last().copied().unwrap_or(sent);
            }
        }
        s.connection.sender().window().ssthresh() < u64::MAX
    });
    assert_eq!(ended, [true; 3]);
}
