//! Senders in forks of a run: without retransmissions, or with another configuration.

use std::sync::Arc;

use crate::script;
use crate::script::{Script, base};
use rtolab_tcp::config::{Arithmetic, InitialWindow, RackRules};
use rtolab_tcp::sender::ReconfigureError;
use rtolab_tcp::{Config, Connection, specification};
use rtolab_time::{Duration, Instant};

#[test]
fn a_suppressed_sender_waits_for_the_acknowledgment() {
    let mut s = Script::sender("newreno").cwnd(6).sent(1..=6);
    s.connection.suppress_retransmission();
    s.deadline(None);
    // No recovery, however many duplicates.
    for _ in 0..8 {
        s.at(5000).ack(0).expect_nothing().fast_retransmits(0).cwnd(6.0);
    }
    // An acknowledgment arrives, and the sender continues as usual.
    s.at(9000).ack(1).expect([7, 8]).cwnd(7.0);
    let timer = s.connection.next_timer();
    assert!(timer.is_some());
    s.timeout().expect([2]).cwnd(1.0);
    s.ack(2).expect([3, 4]);
}

#[test]
fn a_suppressed_sender_after_a_timeout_does_not_retransmit_for_it() {
    let mut s = Script::sender("sack").cwnd(6).sent(1..=6);
    let deadline = s.connection.next_timer().unwrap();
    s.connection.on_timer(deadline);
    s.connection.suppress_retransmission();
    assert_eq!(s.connection.poll_transmit(deadline), None);
    assert_eq!(s.connection.next_timer(), None);
}

#[test]
fn a_suppressed_sender_after_a_fast_retransmit_does_not_retransmit_for_it() {
    for spec in ["reno", "newreno", "sack"] {
        let mut s = Script::sender(spec).cwnd(6).segments(6).sent(1..=6);
        s.sacks(0, [2..=2]).sacks(0, [2..=3]);
        let mut third = s.pure_ack(script::end_of(0));
        third.push_sack(script::start_of(2)..script::end_of(4));
        let at = s.connection.next_timer().unwrap();
        s.connection.on_segment(&third, Instant::START);
        s.connection.suppress_retransmission();
        assert_eq!(s.connection.poll_transmit(at), None, "{spec}");
    }
}

fn reconfigures(s: &mut Script, spec: &str) -> Result<(), ReconfigureError> {
    s.connection.reconfigure(Arc::new(specification::sender(spec, &base()).unwrap()))
}

#[test]
fn another_sender_continues_with_the_segments_in_flight() {
    // The timer expires at the same time, and the sender then performs F-RTO.
    let mut s = Script::sender("newreno").cwnd(6).sent(1..=6);
    assert_eq!(reconfigures(&mut s, "newreno+frto"), Ok(()));
    s.timeout().expect([1]).cwnd(6.0).ssthresh(3);
    s.ack(1).expect([7, 8]).cwnd(3.0);

    // The first configuration returns before F-RTO has ended: the timeout has rolled SND.NXT back,
    // and the windows limit the sender.
    assert_eq!(reconfigures(&mut s, "newreno"), Ok(()));
    s.ack(2).expect([3, 4, 5]).undecided().cwnd(3.33);
}

#[test]
fn another_recovery_ends_the_current_one() {
    let mut s = Script::sender("sack").cwnd(8).sent(1..=8);
    s.sacks(0, [2..=2]).expect_nothing();
    s.sacks(0, [2..=3]).expect_nothing();
    s.sacks(0, [2..=4]).expect([1]).ssthresh(4).cwnd(4.0);
    assert_eq!(reconfigures(&mut s, "reno:no-bugfix"), Ok(()));
    // A sender without SACK ignores blocks: it takes three more duplicates, and window inflation.
    s.sacks(0, [2..=5]).expect_nothing();
    s.sacks(0, [2..=6]).expect_nothing().outstanding(8);
    s.sacks(0, [2..=7]).expect([1]).fast_retransmits(2).cwnd(7.0);
}

#[test]
fn another_rto_rule_applies_from_the_next_sample_on() {
    let mut s = Script::sender("newreno").cwnd(1).rto_of(0).sent(1..=1);
    let mut config = specification::sender("newreno", &base()).unwrap();
    config.rto.arithmetic = Arithmetic::Ns2;
    config.rto.granularity = Duration::from_millis(500);
    s.write(1);
    assert_eq!(s.connection.reconfigure(Arc::new(config)), Ok(()));
    s.ack(1).expect([2, 3]).rto(1500);
}

#[test]
fn an_option_that_was_not_negotiated_cannot_be_used() {
    let mut s = Script::sender("newreno").cwnd(6).sent(1..=6);
    let error = reconfigures(&mut s, "newreno+eifel").unwrap_err();
    assert_eq!(error, ReconfigureError::NoTimestamps);
    assert!(error.to_string().contains("timestamps, which were not negotiated"));
    assert_eq!(reconfigures(&mut s, "newreno+eifel:forward"), Err(ReconfigureError::NoTimestamps));
    assert_eq!(reconfigures(&mut s, "sack"), Err(ReconfigureError::NoSack));
    // The sender continues unchanged.
    s.timeout().expect([1]).cwnd(1.0);

    let initial = InitialWindow::Segments(6);
    let mut config = Config { timestamps: true, ..specification::sender("sack", &base()).unwrap() };
    config.window.initial = initial;
    let mut opening = Connection::open(Arc::new(config.clone()));
    assert_eq!(opening.reconfigure(Arc::new(config)), Err(ReconfigureError::NotConnected));
}

#[test]
fn with_negotiated_timestamps_eifel_can_be_used() {
    let setup = Script::sender("newreno").set(|config| config.timestamps = true);
    let mut s = setup.cwnd(6).ssthresh(8).sent(1..=6);
    let mut config = base();
    config.window.initial_ssthresh = Some(8);
    let eifel = specification::sender("newreno+eifel", &config).unwrap();
    assert_eq!(s.connection.reconfigure(Arc::new(eifel)), Ok(()));
    s.timeout().expect([1]).cwnd(1.0);
    s.echoing(0).ack(1).expect([7]).cwnd(6.0);
}

#[test]
fn no_recovery_retransmits_while_suppressed() {
    for spec in ["tahoe", "reno", "newreno", "sack", "sack:ns2", "rack", "rfc9002"] {
        for linux_rules in [false, true] {
            let setup = Script::sender(spec).cwnd(6).handshake_takes(100);
            let setup = setup.set(|config| {
                if linux_rules {
                    config.recovery.rack.rules = RackRules::Linux;
                }
            });
            let mut s = setup.segments(40).sent(1..=6);
            s.connection.suppress_retransmission();
            for last in 2..=6 {
                let sent = s.at(200).sacks(0, [2..=last]).take();
                assert!(sent.iter().all(|segment| *segment > 6), "{spec}: {sent:?}");
            }
            s.fast_retransmits(0);
        }
    }
}

#[test]
fn rack_retransmits_what_go_back_n_has_left() {
    let mut s = Script::sender("sack").cwnd(6).segments(6).sent(1..=6);
    s.timeout().expect([1]);
    let at = s.millis();
    s.at(at + 100).ack(1).expect([2, 3]);
    // Segments 2 and 3 are in flight again, 4 to 6 are lost.
    assert_eq!(reconfigures(&mut s, "rack"), Ok(()));
    s.outstanding(2);
    s.at(at + 200).ack(3).expect([4, 5, 6]);
}

#[test]
fn data_is_not_acknowledged_because_no_timer_runs() {
    let mut opener = Connection::open(Arc::new(base()));
    opener.write(1000);
    assert!(!opener.sender().has_sent_all());
    let mut s = Script::sender("newreno").cwnd(6).segments(6).sent(1..=6);
    assert!(!s.connection.sender().has_sent_all());
    s.connection.suppress_retransmission();
    s.deadline(None);
    assert!(!s.connection.sender().has_sent_all());
    s.ack(6).expect_nothing();
    assert!(s.connection.sender().has_sent_all());
}

/// The same congestion control keeps what it knows of the path; another one begins anew.
#[test]
fn only_another_congestion_control_begins_anew() {
    let rounds = |s: &Script| s.connection.sender().path_model().map(|model| model.round_count);
    let mut s = Script::sender("rack+bbr").cwnd(10).handshake_takes(100).sent(1..=10);
    s.at(200).ack(4).take();
    assert_eq!(rounds(&s), Some(1));
    assert_eq!(reconfigures(&mut s, "rack+bbr"), Ok(()));
    assert_eq!(rounds(&s), Some(1));
    assert_eq!(reconfigures(&mut s, "rack+cubic"), Ok(()));
    assert_eq!(rounds(&s), None);
    assert_eq!(reconfigures(&mut s, "rack+bbr"), Ok(()));
    assert_eq!(rounds(&s), Some(0));
}

/// RFC 9002's loss detection knows the packets that RACK sent: three packets later, the first one
/// is lost (section 6.1.1).
#[test]
fn rfc9002_takes_over_the_packets_in_flight() {
    let mut s = Script::sender("rack").cwnd(10).handshake_takes(100).sent(1..=10);
    s.allow_disagreement();
    assert_eq!(reconfigures(&mut s, "rfc9002"), Ok(()));
    s.at(200).sacks(0, [4..=4]);
    assert_eq!(s.take()[0], 1);
}
