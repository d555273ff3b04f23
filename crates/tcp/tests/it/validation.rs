//! Congestion window validation: RFC 2861 and RFC 7661.

use crate::script::{Script, Setup};
use rtolab_tcp::config::{Response, RestartOnDuplicate, Validation};
use rtolab_tcp::spurious::Verdict;

/// A window of eight segments in congestion avoidance, and a timeout of 1 s.
fn window_of_eight(validation: Validation) -> Setup {
    let setup = Script::sender("newreno").cwnd(8).ssthresh(4).rto_of(1000);
    setup.set(|config| config.window.validation = validation)
}

/// Eight segments fill it at the start, and are acknowledged at 0.1 s.
fn a_window_filled_once(validation: Validation) -> Script {
    let mut s = window_of_eight(validation).segments(8).sent(1..=8);
    s.at(100).ack(8).expect_nothing().cwnd(8.13);
    s
}

#[test]
fn without_validation_the_window_is_kept() {
    let mut s = a_window_filled_once(Validation::Off);
    s.at(3_200).write(20).expect(9..=16).cwnd(8.13).ssthresh(4);
}

#[test]
fn rfc2861_halves_the_window_for_each_timeout_of_idle_time() {
    for (millis, cwnd, sent) in
        [(900, 8.13, 9..=16), (1_000, 4.06, 9..=12), (2_999, 2.03, 9..=10), (3_200, 1.02, 9..=9)]
    {
        let mut s = a_window_filled_once(Validation::Rfc2861);
        s.at(millis).write(20).expect(sent).cwnd(cwnd);
        // ssthresh keeps three quarters of it.
        let ssthresh = s.connection.sender().window().ssthresh();
        assert_eq!(ssthresh, if millis < 1_000 { 4_000 } else { 6_093 });
    }
}

#[test]
fn rfc2861_leaves_at_least_a_segment() {
    let mut s = a_window_filled_once(Validation::Rfc2861);
    s.at(1_000_000_000).write(20).expect([9]).cwnd(1.0);
}

#[test]
fn rfc2861_halves_the_distance_to_the_used_window() {
    let mut s = a_window_filled_once(Validation::Rfc2861);
    s.at(600).write(2).expect([9, 10]).cwnd(8.13);
    // The window was not full, so it does not grow.
    s.at(700).ack(10).expect_nothing().cwnd(8.13);
    // The window was last full one timeout ago; since then at most two segments were in flight.
    s.at(1_100).write(2).expect([11, 12]).cwnd(5.06);
    assert_eq!(s.connection.sender().window().ssthresh(), 6_093);
    // The next timeout counts from there.
    s.at(1_200).ack(12).expect_nothing();
    s.at(2_050).write(1).expect([13]).cwnd(5.06);
    s.at(2_060).ack(13).expect_nothing();
    s.at(2_100).write(1).expect([14]).cwnd(3.03);
}

#[test]
fn rfc2861_lets_a_full_window_grow() {
    let mut s = window_of_eight(Validation::Rfc2861).sent(1..=8);
    s.at(100).ack(1).expect([9]).cwnd(8.13);
    s.ack(2).expect([10]).cwnd(8.25);
}

#[test]
fn rfc2861_does_not_reduce_in_recovery() {
    let setup = window_of_eight(Validation::Rfc2861).segments(8);
    let always = RestartOnDuplicate::Always;
    let mut s = setup.set(|config| config.rto.restart_on_duplicate = always).sent(1..=8);
    s.at(500).ack(0).ack(0).ack(0).expect([1]).fast_retransmits(1).ssthresh(4).cwnd(7.0);
    s.at(1_400).ack(0).ack(0).ack(0).expect_nothing().cwnd(10.0);
    // Neither an idle time nor an application-limited time of a timeout reduces it.
    s.at(1_600).write(1).expect([9]).ssthresh(4).cwnd(10.0);
}

/// Ten segments at 10 ms that time out twice, and the original of the first is acknowledged 150 ms
/// after its second retransmission; by then the timeout is 40 ms again.
fn late(response: Response) -> Script {
    let setup = Script::sender("newreno+eifel").cwnd(10).ssthresh(20).rto_of(40).at_millis(10);
    let mut s = setup
        .set(|config| {
            config.window.validation = Validation::Rfc2861;
            config.response = Some(response);
            config.rto.k = 0;
        })
        .sent(1..=10);
    s.timeout().expect([1]);
    s.timeout().expect([1]);
    assert_eq!(s.millis(), 130);
    s.at(280).echoing(10).ack(1).verdict(Verdict::Spurious).rto(40).expect([11]);
    s
}

#[test]
fn rfc4015_step_10_does_not_count_a_timeout_as_idle_time() {
    late(Response::Rfc4015).cwnd(10.0).ssthresh(20);
    // Without it the window is halved three times.
    late(Response::Full).cwnd(1.25).ssthresh(20);
}

#[test]
fn rfc4015_step_10_does_not_count_a_timeout_as_application_limited() {
    let setup = Script::sender("newreno+eifel:rfc4015").cwnd(10).ssthresh(20).rto_of(40);
    let setup = setup.at_millis(10).segments(11).set(|config| {
        config.window.validation = Validation::Rfc2861;
        config.rto.k = 0;
    });
    let mut s = setup.sent(1..=10);
    s.timeout().expect([1]);
    s.timeout().expect([1]);
    // Six are outstanding and four were acknowledged; the last segment does not fill that window.
    s.at(280).echoing(10).ack(4).verdict(Verdict::Spurious).expect([11]).cwnd(10.0);
    s.at(290).echoing(280).ack(11).expect_nothing();
    s.at(300).write(1).expect([12]).cwnd(10.0);
    s.at(310).echoing(300).ack(12).expect_nothing();
    // A timeout after the response it has not been full again: seven segments were the maximum.
    s.at(321).write(1).expect([13]).cwnd(8.5);
}

#[test]
fn rfc7661_keeps_a_window_but_does_not_let_it_grow() {
    let mut s = a_window_filled_once(Validation::Rfc7661);
    // Two segments in a round trip are less than half of it.
    s.at(1_500).write(2).expect([9, 10]).ssthresh(4);
    s.at(1_600).ack(10).expect_nothing().cwnd(8.13);
    s.at(200_000).write(8).expect(11..=18).cwnd(8.13);
    // A full window grows by the acknowledged data.
    s.at(200_100).ack(11).expect_nothing().cwnd(8.25);
}

#[test]
fn rfc7661_pipe_ack_is_the_maximum_of_three_round_trips() {
    let mut s = a_window_filled_once(Validation::Rfc7661);
    // Eight segments 0.9 s ago still count.
    s.at(900).write(2).expect([9, 10]);
    s.at(1_000).ack(10).expect_nothing().cwnd(8.25);
    s.at(1_001).write(2).expect([11, 12]);
    s.at(1_101).ack(12).expect_nothing().cwnd(8.25);
}

#[test]
fn rfc7661_halves_a_window_after_five_minutes() {
    let validation = |c: &mut rtolab_tcp::Config| c.window.validation = Validation::Rfc7661;
    for (millis, sent, cwnd) in [(300_100, 15..=23, 9.0), (300_200, 15..=18, 4.5)] {
        let setup = Script::sender("newreno").cwnd(2).segments(14).rto_of(1000).set(validation);
        let mut s = setup.sent(1..=2);
        s.at(100).ack(1).expect([3, 4]);
        s.ack(2).expect([5, 6]);
        s.ack(3).expect([7, 8]);
        s.ack(4).expect([9, 10]);
        s.ack(5).expect([11, 12]);
        s.ack(6).expect([13, 14]).cwnd(8.0);
        s.at(200).ack(14).expect_nothing().cwnd(9.0);
        s.at(millis).write(20).expect(sent).cwnd(cwnd);
    }
}

#[test]
fn rfc7661_uses_at_least_the_initial_window() {
    let mut s = a_window_filled_once(Validation::Rfc7661);
    s.at(3_000_000).write(20).expect(9..=16).cwnd(8.0);
}

#[test]
fn rfc7661_keeps_a_window_up_to_the_initial_one() {
    let mut s = window_of_eight(Validation::Rfc7661).segments(1).sent(1..=1);
    s.timeout().expect([1]).cwnd(1.0);
    s.at(1_100).ack(1).expect_nothing().cwnd(2.0).ssthresh(2);
    s.write(2).expect([2, 3]);
    s.at(1_200).ack(2).ack(3).expect_nothing().cwnd(2.9);
    s.at(400_000).write(1).expect([4]).cwnd(2.9);
    assert_eq!(s.connection.sender().window().ssthresh(), 2_175);
}

#[test]
fn rfc7661_counts_once_what_was_retransmitted_twice() {
    let setup = Script::sender("rack").cwnd(16).ssthresh(4).rto_of(1000).segments(6);
    let setup = setup.handshake_takes(100);
    let mut s = setup.set(|c| c.window.validation = Validation::Rfc7661).sent(1..=6);
    s.at(200).ack(6).expect_nothing();
    s.at(300).write(4).expect(7..=10);
    s.at(400).sacks(6, [8..=10]).expect([7]);
    s.at(410).write(1).expect([11]);
    // Data that left later has arrived, the retransmission has not.
    s.at(511).sacks(6, [8..=11]).expect([7]);
    s.at(611).ack(11).expect_nothing().cwnd(2.5);
}

#[test]
fn rfc7661_halves_the_used_window_at_a_loss() {
    // Six of sixteen segments are used, then four are outstanding.
    for (validation, ssthresh, after) in
        [(Validation::Rfc7661, 3, 2.5), (Validation::Rfc2861, 2, 2.0), (Validation::Off, 2, 2.0)]
    {
        let setup = Script::sender("newreno").cwnd(16).ssthresh(4).rto_of(1000).segments(6);
        let mut s = setup.set(|config| config.window.validation = validation).sent(1..=6);
        s.at(100).ack(6).expect_nothing();
        s.at(200).write(4).expect(7..=10);
        s.at(300).ack(6).ack(6).ack(6).expect([7]).ssthresh(ssthresh);
        // One segment was retransmitted: (6 - 1) / 2.
        s.at(400).ack(10).expect_nothing().cwnd(after);
    }
}

#[test]
fn rfc7661_forgets_pipe_ack_after_a_timeout() {
    let mut s = a_window_filled_once(Validation::Rfc7661);
    s.at(1_500).write(2).expect([9, 10]);
    s.at(1_600).ack(10).expect_nothing().cwnd(8.13);
    s.at(1_700).write(2).expect([11, 12]);
    s.timeout().expect([11]).cwnd(1.0);
    // Slow start continues, although less than half of the former window was used.
    s.ack(11).expect([12]).cwnd(2.0);
    s.ack(12).expect_nothing().cwnd(2.5);
}
