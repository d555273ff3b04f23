//! The retransmission timer: RFC 6298 sections 3 and 5. The tests of the estimator's arithmetic are
//! next to the estimator.

use crate::script;
use crate::script::{Script, Setup};
use rtolab_tcp::Config;
use rtolab_tcp::config::{
    History, IdleRestart, RestartFrom, RestartOnDuplicate, Sampling, TimerClock,
};
use rtolab_time::Duration;

/// The timeout is 1 s whatever the samples are.
fn held_at_one_second(setup: Setup) -> Setup {
    setup.set(|config| config.rto.max = Duration::from_secs(1))
}

#[test]
fn t_rto_3_the_timer_backs_off_up_to_the_maximum() {
    let mut s = Script::sender("newreno").cwnd(1).sent(1..=1);
    for seconds in [1, 3, 7, 15, 31, 63, 123, 183] {
        s.deadline(1000 * seconds).timeout().expect([1]);
    }
}

#[test]
fn t_rto_4_a_retransmitted_segment_gives_no_sample() {
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
    for spec in ["newreno", "sack"] {
        let mut s = held_at_one_second(Script::sender(spec).cwnd(6)).sent(1..=6);
        s.at(800).ack(0).expect_nothing().deadline(1000);
        s.offering(50).ack(0).expect_nothing().deadline(1000);
    }
}

#[test]
fn t_rto_5_a_fast_retransmit_does_not_by_default() {
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
fn timing_one_segment_at_a_time() {
    let setup = Script::sender("newreno").cwnd(2).ssthresh(2);
    let mut s = setup.set(|config| config.rto.sampling = Sampling::OncePerWindow).sent(1..=2);
    let srtt = |s: &Script| s.connection.sender().rtt().estimate().unwrap().srtt;
    // Segment 1 is timed: one eighth of 800 ms.
    s.at(800).ack(1).expect([3]);
    assert_eq!(srtt(&s), Duration::from_millis(100));
    // Segment 3 is, from now on; segment 2 is not.
    s.at(900).ack(2).expect([4]);
    assert_eq!(srtt(&s), Duration::from_millis(100));
    // A retransmission discards the sample.
    s.timeout().expect([3]);
    s.ack(3);
    s.expect([4, 5]);
    assert_eq!(srtt(&s), Duration::from_millis(100));
}

#[test]
fn t_rto_8_a_duplicate_can_restart_the_timer() {
    let rules = [
        (RestartOnDuplicate::Never, 1000, 1000),
        (RestartOnDuplicate::InRecovery, 1000, 1850),
        (RestartOnDuplicate::Always, 1800, 1850),
    ];
    for (rule, outside, inside) in rules {
        for spec in ["newreno", "sack"] {
            let setup = Script::sender(spec).cwnd(6);
            let setup = setup.set(|config| config.rto.restart_on_duplicate = rule);
            let mut s = held_at_one_second(setup).sent(1..=6);
            s.at(800).sacks(0, [2..=2]).expect_nothing().deadline(outside);
            s.sacks(0, [2..=3]).expect_nothing();
            s.at(850).sacks(0, [2..=4]).expect([1]).deadline(inside);
        }
    }
}

/// Fast recovery at 0.9 s, and then a duplicate every 100 ms. Returns how many of twenty arrive
/// before the timer expires.
fn duplicates_before_the_timer(rule: RestartOnDuplicate) -> u64 {
    let setup = Script::sender("reno").cwnd(24).segments(24);
    let setup = setup.set(|config| config.rto.restart_on_duplicate = rule);
    let mut s = held_at_one_second(setup).sent(1..=24);
    s.at(900).ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect([1]);
    let deadline = |s: &Script| s.connection.sender().deadline().unwrap();
    for duplicate in 0..20 {
        let at = 1000 + 100 * duplicate;
        if deadline(&s) <= script::pair::at(at) {
            s.timeout().expect([1]);
            return duplicate;
        }
        s.at(at).ack(0).expect_nothing();
    }
    20
}

#[test]
fn t_gl_2_duplicates_over_more_than_a_timeout() {
    assert_eq!(duplicates_before_the_timer(RestartOnDuplicate::Never), 0);
    assert_eq!(duplicates_before_the_timer(RestartOnDuplicate::InRecovery), 20);
    assert_eq!(duplicates_before_the_timer(RestartOnDuplicate::Always), 20);
}

#[test]
fn a_timer_of_two_ticks_expires_between_one_and_two() {
    for (at, deadline) in [(0, 1000), (1, 1000), (499, 1000), (500, 1500)] {
        let setup = Script::sender("newreno").cwnd(2).at_millis(at);
        let setup = setup.set(|config| {
            config.rto.granularity = Duration::from_millis(500);
            config.rto.sample_handshake = false;
            config.rto.timer = TimerClock::Ticks;
        });
        setup.sent(1..=2).deadline(deadline);
    }
}

#[test]
fn timing_every_segment() {
    let setup = Script::sender("newreno").rto_of(1000).cwnd(6).segments(1);
    let setup = setup.set(|config| {
        config.rto.sampling = Sampling::EverySegment;
        config.rto.sample_handshake = false;
    });
    let mut s = setup.sent(1..=1);
    s.at(400).write(1).expect([2]);
    // 800 ms from segment 1 is the first sample, 400 ms from segment 2 the second.
    s.at(800).ack(2).expect_nothing();
    let estimate = s.connection.sender().rtt().estimate().unwrap();
    assert_eq!(estimate.srtt, Duration::from_millis(750));
    assert_eq!(estimate.rttvar, Duration::from_millis(400));
}

#[test]
fn an_ack_that_covers_a_retransmission_gives_no_sample() {
    let setup = Script::sender("newreno").cwnd(2);
    let mut s = setup.set(|config| config.rto.sampling = Sampling::EverySegment).sent(1..=2);
    s.timeout().expect([1]).rto(2000);
    s.ack(2).expect([3, 4]).rto(2000);
}

#[test]
fn the_gains_can_depend_on_the_samples_per_window() {
    for (history, srtt) in [(History::Samples, 100), (History::Windows, 20)] {
        let setup = Script::sender("newreno").cwnd(10).segments(10);
        let mut s = setup.set(|config| config.rto.history = history).sent(1..=10);
        // Ten outstanding: five samples are expected in a window, so 1/8 becomes 1/40.
        s.at(800).ack(1).expect_nothing();
        let estimate = s.connection.sender().rtt().estimate().unwrap();
        assert_eq!(estimate.srtt, Duration::from_millis(srtt));
    }
}

#[test]
fn the_window_can_restart_after_an_idle_time() {
    // Sent at 0, acknowledged at 0.9 s, and more to send at 1.5 s, with a timeout of 1 s.
    let rules = [(IdleRestart::Off, 4), (IdleRestart::LastSent, 2), (IdleRestart::LastReceived, 4)];
    for (rule, sent) in rules {
        let setup = Script::sender("newreno").cwnd(2).segments(2);
        let setup = setup.set(|config| config.window.idle_restart = rule);
        let mut s = held_at_one_second(setup).sent(1..=2);
        s.at(900).ack(1).expect_nothing();
        s.ack(2).expect_nothing().cwnd(4.0);
        s.at(1500).write(10).expect(3..3 + sent).cwnd(f64::from(sent));
    }
    let setup = Script::sender("newreno").cwnd(2).segments(2);
    let setup = setup.set(|config| config.window.idle_restart = IdleRestart::LastReceived);
    let mut s = held_at_one_second(setup).sent(1..=2);
    s.at(900).ack(1).expect_nothing();
    s.ack(2).expect_nothing().cwnd(4.0);
    s.at(1901).write(10).expect([3, 4]).cwnd(2.0);
}

#[test]
fn a_timer_may_run_since_the_oldest_segment_was_sent() {
    // 1 leaves at 0, 2 at 0.5 s; 1 is acknowledged at 0.9 s; the timeout is 1 s.
    for (from, deadline) in [(RestartFrom::Ack, 1_900), (RestartFrom::OldestSegment, 1_500)] {
        let setup = Script::sender("newreno").segments(1);
        let setup = setup.set(|config| config.rto.restart_from = from);
        let mut s = held_at_one_second(setup).sent(1..=1);
        s.at(500).write(1).expect([2]).deadline(1_000);
        s.at(900).ack(1).expect_nothing().deadline(deadline);
    }
}

#[test]
fn the_age_of_a_retransmission_does_not_count() {
    let oldest = |config: &mut Config| config.rto.restart_from = RestartFrom::OldestSegment;
    // Go-back-N: 2 was sent at 0, and is retransmitted for the acknowledgment.
    let setup = Script::sender("newreno").cwnd(4).ssthresh(4).rto_of(1000).set(oldest);
    let mut s = setup.sent(1..=4);
    s.timeout().expect([1]);
    s.at(1_200).ack(1).expect([2, 3]).deadline(3_200);
    // From then on its own age counts: 3 has left at 1.2 s, too.
    s.at(1_300).ack(2).expect([4]).deadline(3_200);
    // A partial acknowledgment, which retransmits the next hole.
    let setup = Script::sender("newreno:steady").cwnd(8).ssthresh(4).rto_of(1000).set(oldest);
    let mut s = setup.sent(1..=8);
    s.at(600).ack(0).ack(0).ack(0).expect([1]);
    s.at(900).ack(2).take();
    s.deadline(1_900);
}

#[test]
fn an_expired_timer_restarts_at_the_acknowledgment() {
    let oldest = |config: &mut Config| config.rto.restart_from = RestartFrom::OldestSegment;
    let setup = Script::sender("newreno+eifel").cwnd(4).ssthresh(4).rto_of(40).at_millis(10);
    let mut s = setup.set(oldest).set(|config| config.rto.k = 0).sent(1..=4);
    s.timeout().expect([1]);
    // 2 left 100 ms ago, and the timeout is 40 ms again: SRTT is an eighth of the sample.
    s.at(110).echoing(10).ack(1).expect([5]).rto(40).deadline(150);
}

#[test]
fn an_explicit_bad_state_notification_restarts_the_running_timer() {
    let mut s = held_at_one_second(Script::sender("newreno").cwnd(2)).sent(1..=2);
    s.at(900).notified().expect_nothing().rto(1000).deadline(1900);
    s.at(1800).notified().expect_nothing().deadline(2800);
    // The back-off stays.
    let mut s = Script::sender("newreno").cwnd(1).sent(1..=1);
    s.timeout().expect([1]).rto(2000).at(1500).notified().rto(2000).deadline(3500);
}

#[test]
fn an_explicit_bad_state_notification_starts_no_timer() {
    let mut s = Script::sender("newreno").cwnd(1).segments(1).sent(1..=1);
    s.at(100).ack(1).deadline(None).at(200).notified().expect_nothing().deadline(None);
}

/// New SACK information restarts the timer as a duplicate acknowledgment does, also with another
/// window; a mere window update does not.
#[test]
fn sacked_data_restarts_the_timer_as_a_duplicate_does() {
    let setup = Script::sender("sack").cwnd(4).segments(4).rto_of(1000);
    let always = RestartOnDuplicate::Always;
    let mut s = setup.set(|config| config.rto.restart_on_duplicate = always).sent(1..=4);
    s.at(500).offering(50).sacks(0, [2..=2]).expect_nothing().deadline(1_500);
    s.at(600).offering(40).sacks(0, [2..=2]).expect_nothing().deadline(1_500);
    s.at(700).sacks(0, [2..=2]).expect_nothing().deadline(1_700);
}
