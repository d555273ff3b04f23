//! The retransmission timer at work: RFC 6298 sections 3 and 5. The arithmetic is tested beside
//! the estimator.

mod script;

use rtolab_tcp::config::Sampling;
use rtolab_time::Duration;
use script::{Script, Setup};

/// The timeout is 1 s whatever is measured.
fn held_at_one_second(setup: Setup) -> Setup {
    setup.set(|config| config.rto.max = Duration::from_secs(1))
}

#[test]
fn t_rto_4_what_was_retransmitted_gives_no_sample() {
    let mut s = Script::sender("newreno").cwnd(1).sent(1..=1);
    s.deadline(1000).timeout().expect([1]).rto(2000).deadline(3000);
    s.at(1500).ack(1).expect([2, 3]).rto(2000).deadline(3500);
    // A sample of 500 ms from segment 2, after the handshake's of zero: SRTT 62.5 ms, RTTVAR
    // 125 ms, and the floor.
    s.at(2000).ack(2).expect([4]).rto(1000).deadline(3000);
}

#[test]
fn t_rto_4_but_its_timestamp_does() {
    let mut s = Script::sender("newreno").set(|c| c.timestamps = true).cwnd(1).sent(1..=1);
    s.timeout().expect([1]).rto(2000);
    s.at(1500).echoing(1000).ack(1).expect([2, 3]).rto(1000).deadline(2500);
}

#[test]
fn t_rto_5_each_new_acknowledgment_restarts_the_timer() {
    let mut s = held_at_one_second(Script::sender("newreno").cwnd(6).segments(1)).sent(1..=1);
    s.at(500).write(1).expect([2]).deadline(1000);
    s.at(900).ack(1).expect_nothing().deadline(1900);
}

#[test]
fn t_rto_5_a_duplicate_does_not() {
    for sum in ["newreno", "sack"] {
        let mut s = held_at_one_second(Script::sender(sum).cwnd(6)).sent(1..=6);
        s.at(800).ack(0).expect_nothing().deadline(1000);
        s.offering(50).ack(0).expect_nothing().deadline(1000);
    }
}

#[test]
fn t_rto_5_nor_does_a_fast_retransmit_unless_told() {
    for (restart, deadline) in [(false, 1000), (true, 1800)] {
        let setup = Script::sender("newreno").cwnd(6);
        let mut s = setup.set(|c| c.rto.restart_on_retransmit = restart).sent(1..=6);
        s.at(800).ack(0).expect_nothing();
        s.ack(0).expect_nothing();
        s.ack(0).expect([1]).deadline(deadline);
    }
}

#[test]
fn t_rto_6_the_last_acknowledgment_stops_the_timer() {
    let mut s = Script::sender("newreno").cwnd(6).segments(2).sent(1..=2);
    s.ack(1).expect_nothing().deadline(1000);
    s.ack(2).expect_nothing().deadline(None);
    s.at(5000).write(1).expect([3]).deadline(6000);
}

#[test]
fn every_acknowledgment_gives_a_sample_from_the_oldest_segment_it_covers() {
    // The handshake took no time, which is one tick: SRTT 400 ms, RTTVAR 200 ms.
    let setup = Script::sender("newreno").rto_of(0).cwnd(6).segments(1);
    let tick = Duration::from_millis(400);
    let mut s = setup.set(|config| config.rto.granularity = tick).sent(1..=1);
    s.rto(1200);
    s.at(400).write(1).expect([2]);
    // Two whole ticks since segment 1: RTTVAR 200 + (400 - 200) / 4, SRTT 400 + 400 / 8.
    s.at(1199).ack(2).expect_nothing().rto(450 + 4 * 250);
}

#[test]
fn one_segment_at_a_time_is_timed_where_told() {
    let setup = Script::sender("newreno").cwnd(2).ssthresh(2);
    let mut s = setup.set(|config| config.rto.sampling = Sampling::OncePerWindow).sent(1..=2);
    let srtt = |s: &Script| s.connection.sender().rtt().estimate().unwrap().srtt;
    // Segment 1 is timed: one eighth of 800 ms.
    s.at(800).ack(1).expect([3]);
    assert_eq!(srtt(&s), Duration::from_millis(100));
    // Segment 3 is, from now on; segment 2 is not.
    s.at(900).ack(2).expect([4]);
    assert_eq!(srtt(&s), Duration::from_millis(100));
    // A retransmission gives the sample up.
    s.timeout().expect([3]);
    s.ack(3);
    s.expect([4, 5]);
    assert_eq!(srtt(&s), Duration::from_millis(100));
}
