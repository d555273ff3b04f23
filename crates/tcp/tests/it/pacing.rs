//! Pacing: when the segments leave that the windows allow.

use crate::script::Script;
use rtolab_tcp::config::PacingQuantum;
use rtolab_time::{Duration, Instant};

/// A round trip of 100 ms is known, and ten segments left after it.
fn paced(spec: &str) -> Script {
    Script::sender(spec).cwnd(10).handshake_takes(100).sent(1..=10)
}

fn micros(s: &Script) -> u64 {
    let next = s.connection.next_timer().unwrap();
    next.since(Instant::START).nanos() / 1_000
}

#[test]
fn the_tenth_segment_delays_the_next() {
    // 200 % of ten segments each 100 ms are 200 segments a second.
    let mut s = paced("sack+pacing");
    assert_eq!(s.connection.sender().pacing_rate(), Some(200_000));
    // The window has room for a second one, but the first must be 1/220 s ahead, because the rate
    // grows with the window. It left 100 ms after the tenth, a credit of which half of that counts.
    s.at(200).ack(2).expect([11]).cwnd(11.0);
    assert_eq!(s.connection.sender().pacing_rate(), Some(220_000));
    assert_eq!(micros(&s), 200_000 + 4_545 / 2);
    s.early_timer().expect([12]);
    assert_eq!(micros(&s), 200_000 + 4_545 * 3 / 2 + 1);
    s.early_timer().expect([13]);
}

/// A caller may report any time: the segment waits until its departure time all the same.
#[test]
fn an_earlier_timer_keeps_the_departure_time() {
    let mut s = paced("sack+pacing");
    s.at(200).ack(2).expect([11]);
    let departs = micros(&s);
    s.at(201).connection.on_timer(Instant::START + Duration::from_millis(201));
    assert_eq!(micros(&s), departs);
    s.early_timer().expect([12]);
}

#[test]
fn above_half_of_ssthresh_the_rate_is_120_percent() {
    let setup = Script::sender("sack+pacing").cwnd(10).ssthresh(20).handshake_takes(100);
    let s = setup.sent(1..=10);
    assert_eq!(s.connection.sender().pacing_rate(), Some(120_000));
}

#[test]
fn an_autosized_quantum_leaves_at_once() {
    let setup = Script::sender("sack+pacing").cwnd(20).handshake_takes(100);
    let setup = setup.set(|config| config.pacing.quantum = PacingQuantum::Autosized);
    // What leaves in a millisecond at 400 segments a second is less than the least, two segments.
    // The tenth segment delays what follows its quantum.
    let mut s = setup.sent(1..=10);
    assert_eq!(micros(&s), 100_000 + 2_500);
    s.early_timer().expect([11, 12]);
    assert_eq!(micros(&s), 102_500 + 5_000);
    s.early_timer().expect([13, 14]);
}

#[test]
fn a_timeout_retransmits_without_delay() {
    let mut s = paced("sack+pacing");
    s.at(200).ack(2).expect([11]);
    s.early_timer().expect([12]);
    while s.connection.sender().flight().max() < crate::script::end_of(13) {
        s.early_timer();
        s.take();
    }
    s.timeout().expect([3]);
}

#[test]
fn without_pacing_there_is_no_rate() {
    let s = paced("sack");
    assert_eq!(s.connection.sender().pacing_rate(), None);
}

#[test]
fn a_suppressed_sender_is_still_paced() {
    let mut s = paced("sack+pacing");
    s.at(200).ack(2).expect([11]);
    s.connection.suppress_retransmission();
    assert_eq!(micros(&s), 200_000 + 4_545 / 2);
    s.early_timer().expect([12]);
}
