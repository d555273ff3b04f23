//! Linux has one timer for timeout, loss probe and reordering, where RFC 8985 has two or three.

use crate::script::{Script, Setup};
use rtolab_tcp::config::{RackRules, Restarts};
use rtolab_time::{Duration, Instant};

/// A round trip of 100 ms is known; the first segment leaves at 100 ms.
fn restarting(spec: &str, restarts: Restarts) -> Setup {
    let setup = Script::sender(spec).cwnd(10).handshake_takes(100);
    setup.set(|config| {
        config.recovery.rack.rules = RackRules::Linux;
        config.rto.restarts = restarts;
    })
}

fn next_timer(s: &Script) -> Instant {
    s.connection.next_timer().expect("no timer is armed")
}

/// `tcp_rearm_rto`: the probe timer expires as the oldest segment times out, and a probe is in
/// flight. The timeout follows a microsecond later.
#[test]
fn a_timeout_that_is_past_is_due_in_a_microsecond() {
    let setup = restarting("rack", Restarts::Linux).handshake_takes(200).rto_of(350).cwnd(2);
    let mut s = setup.sent(1..=2);
    s.early_timer().expect([3]);
    s.at(650).ack(1).expect([4]);
    let due = next_timer(&s);
    s.early_timer().expect_nothing();
    assert_eq!(next_timer(&s) - due, Duration::from_micros(1));
    s.timeout().expect([2]);
}

/// `tcp_write_xmit` sets the timer for a probe when new data leaves outside of a recovery. Until
/// then it was set for reordering, by the acknowledgment that ended the recovery. Later
/// acknowledgments do not detect losses in `TCP_CA_Open` (`tcp_ack_is_dubious`).
#[test]
fn new_data_replaces_the_reordering_timer_by_that_of_a_probe() {
    for (restarts, replaces) in [(Restarts::Linux, true), (Restarts::NewAcks, false)] {
        let mut s = restarting("rack", restarts).segments(40).sent(1..=10);
        s.at(200).sacks(0, [2..=4]).expect([1]);
        s.at(290).sacks(0, [2..=9]).expect(11..=13);
        s.at(300).ack(9).expect([10, 14]);
        s.at(400).ack(10).take();
        let reordering = Instant::START + Duration::from_millis(290 + 100 + 25);
        assert_eq!(next_timer(&s) > reordering, replaces, "{restarts:?}");
        s.at(405).ack(11).take();
        assert!(next_timer(&s) > reordering + Duration::from_millis(50), "{restarts:?}");
    }
}

/// `tcp_rack_mark_lost`: while the timer is set for reordering there is no timeout. After F-RTO's
/// undo it waits for segments 2 to 9.
#[test]
fn the_reordering_timer_takes_the_place_of_the_timeout() {
    for (restarts, later) in [(Restarts::Linux, 15), (Restarts::NewAcks, 0)] {
        let setup = restarting("rack+frto:linux", restarts).segments(10);
        let mut s = setup.set(|config| config.recovery.rack.tail_loss_probe = false).sent(1..=10);
        s.timeout().expect([1]);
        let timeout = next_timer(&s);
        let at = (timeout.nanos() / 1_000_000) - 10;
        s.at(at).sacks(0, [10..=10]).expect_nothing();
        assert_eq!(next_timer(&s), timeout + Duration::from_millis(later), "{restarts:?}");
    }
}

/// An acknowledgment that sets the timer for nothing else leaves it set for a probe. Here it SACKs
/// the original of the last probe, from which RACK learns nothing.
#[test]
fn a_sack_from_which_no_loss_follows_leaves_the_probe_timer() {
    for (restarts, stays) in [(Restarts::Linux, true), (Restarts::NewAcks, false)] {
        let mut s = restarting("rack", restarts).segments(4).sent(1..=4);
        s.at(200).ack(1).expect_nothing().deadline(400);
        s.early_timer().expect([4]);
        s.at(410).ack(2).expect_nothing();
        let probe = next_timer(&s);
        s.at(450).sacks(2, [4..=4]).expect_nothing();
        assert_eq!(next_timer(&s) == probe, stays, "{restarts:?}");
    }
}
