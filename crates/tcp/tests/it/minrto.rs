//! A floor on the timeout for delayed acknowledgments only: Psaras and Tsaoussidis, "The TCP
//! Minimum RTO Revisited", 2007, section 4.

use crate::script::{Script, Setup};
use rtolab_tcp::config::RtoFloor;
use rtolab_time::Duration;

/// A clock of 10 ms, no sample from the handshake, a plain floor of 200 ms unless the spec has its
/// own.
fn setup(spec: &str) -> Setup {
    Script::sender(spec).set(|config| {
        config.rto.floor = RtoFloor::Total(Duration::from_millis(200));
        config.rto.granularity = Duration::from_millis(10);
        config.rto.initial = Duration::from_millis(100);
        config.rto.sample_handshake = false;
    })
}

/// A pair of segments every 100 ms with a round trip of 42 ms, which the clock shows as four ticks.
struct Pairs {
    script: Script,
    /// When the next segments are sent, in milliseconds.
    at: u64,
    /// The last segment sent.
    last: u32,
}

impl Pairs {
    fn of(spec: &str) -> Self {
        let script = setup(spec).cwnd(2).segments(2).sent(1..=2);
        let mut pairs = Self { script, at: 0, last: 2 };
        pairs.script.at(42).ack(2).expect_nothing();
        pairs.at = 100;
        pairs.send(20);
        pairs
    }

    /// Sends `count` pairs.
    fn send(&mut self, count: u32) {
        for _ in 0..count {
            let Self { script, at, last } = self;
            script.at(*at).write(2).expect([*last + 1, *last + 2]);
            *last += 2;
            script.at(*at + 42).ack(*last).expect_nothing();
            *at += 100;
        }
    }

    /// Sends a single segment, whose acknowledgment the receiver delays by 200 ms. Returns the time
    /// from its sending to the expiry of its timer.
    fn send_single(&mut self) -> u64 {
        let Self { script, at, last } = self;
        *last += 1;
        script.at(*at).write(1).expect([*last]);
        (script.connection.sender().deadline().unwrap().nanos() / 1_000_000) - *at
    }

    /// The delayed acknowledgment of the single segment arrives.
    fn ack_delayed(&mut self) {
        let Self { script, at, last } = self;
        script.at(*at + 242).ack(*last).expect_nothing();
        *at += 300;
    }
}

#[test]
fn t_mr_3_the_rto_of_a_lone_segment_covers_the_delayed_ack() {
    let mut plain = Pairs::of("sack");
    assert_eq!(plain.send_single(), 200);
    let single = plain.last;
    plain.script.timeout().expect([single]);
    // 42 ms later the original is acknowledged.
    plain.script.at(plain.at + 242).ack(single).expect_nothing();

    for spec in ["sack+minrto", "sack+minrto:resync", "newreno+minrto"] {
        let mut pairs = Pairs::of(spec);
        assert_eq!(pairs.send_single(), 500, "{spec}");
        pairs.ack_delayed();
    }
}

#[test]
fn t_mr_3_a_pair_has_no_floor() {
    let mut pairs = Pairs::of("sack+minrto");
    let (at, last) = (pairs.at, pairs.last);
    // SRTT is four ticks, and the variation has decayed to one tick.
    pairs.script.at(at).write(2).expect([last + 1, last + 2]).deadline(at + 50);
}

#[test]
fn t_mr_4_the_first_segment_of_slow_start_and_the_last_of_the_next_train() {
    let mut s = setup("newreno+minrto").cwnd(1).sent(1..=1);
    s.deadline(500);
    // A sample of 40 ms: RTO 40 + 4 * 20.
    s.at(42).ack(1).expect([2, 3]).deadline(42 + 120);
    // RTTVAR 15: now the timer runs for segment 3, the last of its train.
    s.at(84).ack(2).expect([4, 5]).deadline(84 + 500);
    // And for segment 4, which is not.
    s.ack(3).expect([6, 7]).deadline(84 + 85);
}

#[test]
fn t_mr_5_in_fast_recovery_every_segment_has_the_floor_and_then_parity_begins_anew() {
    let setup = setup("newreno+minrto").cwnd(7);
    let mut s = setup.set(|config| config.rto.restart_on_retransmit = true).sent(1..=7);
    // The first segment of slow start.
    s.deadline(500);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.at(50).ack(0).expect([1]).ssthresh(3).deadline(550);
    s.ack(0).expect_nothing();
    s.ack(0).expect([8]);
    s.ack(0).expect([9]);
    // Fast recovery ends: segment 8 has no floor. Seven segments were sent before. If that odd
    // number counted, segment 10 would be the second of a pair.
    s.ack(7).expect([10]).cwnd(3.0).deadline(150);
    s.ack(9).expect([11, 12]).deadline(550);
}

#[test]
fn t_mr_5_after_a_timeout_too() {
    let mut s = setup("newreno+minrto").cwnd(2).sent(1..=2);
    // The floor comes before the back-off.
    s.deadline(500).timeout().expect([1]).deadline(500 + 1000);
    // Segment 1 is not a train. The next two are an even train, so neither has a floor.
    s.at(510).ack(1).expect([2, 3]).deadline(510 + 200);
}

#[test]
fn t_mr_7_a_delayed_ack_by_timer_leaves_the_parity_wrong() {
    for (spec, second) in [("sack+minrto", 50), ("sack+minrto:resync", 500)] {
        let mut pairs = Pairs::of(spec);
        assert_eq!(pairs.send_single(), 500, "{spec}");
        pairs.ack_delayed();
        pairs.send(60);
        // The receiver counts from its delayed acknowledgment; the paper's sender does not start
        // again.
        assert_eq!(pairs.send_single(), second, "{spec}");
        let single = pairs.last;
        match second {
            50 => {
                pairs.script.timeout().expect([single]);
            }
            _ => pairs.ack_delayed(),
        }
    }
}
