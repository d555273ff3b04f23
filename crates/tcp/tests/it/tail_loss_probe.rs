//! Tail loss probes: RFC 8985 section 7.

use crate::script::pair::{End, at};
use crate::script::{Script, Setup, base, start_of};
use rtolab_tcp::config::RackRules;
use rtolab_tcp::spurious::{DuplicateCause, Verdict};
use rtolab_tcp::{Event, specification};
use rtolab_time::{Duration, Instant};

/// A round trip of 100 ms is known; the first segment leaves at 100 ms.
fn setup(spec: &str) -> Setup {
    Script::sender(spec).cwnd(10).handshake_takes(100)
}

#[test]
fn t_rk_5_a_probe_for_a_lost_tail_reduces_the_window_once() {
    let mut s = setup("rack").segments(2).sent(1..=2);
    // The probe waits two round trips and the maximum ACK delay; the timeout would come at 1.2 s.
    s.at(200).ack(1).deadline(200 + 200 + 200).cwnd(11.0);
    s.early_timer().expect([2]).probes(1).cwnd(11.0).deadline(600 + 1000);
    s.at(700).ack(2).expect_nothing().deadline(None).cwnd(12.0);
    // An acknowledgment beyond the probe shows that the probe filled a loss.
    s.at(800).write(2).expect([3, 4]).cwnd(12.0);
    s.at(900).ack(3).cwnd(2.5).ssthresh(2).fast_retransmits(0);
    s.at(901).ack(4).cwnd(2.9);
}

#[test]
fn t_rk_6_an_unneeded_probe_costs_nothing() {
    for dsack in [true, false] {
        let mut s = setup("rack").segments(2).sent(1..=2);
        // A delay of 250 ms.
        s.early_timer().expect([2]).probes(1);
        s.at(450).ack(2).expect_nothing().cwnd(11.0);
        match dsack {
            true => s.at(500).sacks(2, [2..=2]).expect_nothing(),
            false => s.at(500).ack(2).expect_nothing(),
        };
        s.at(800).write(2).expect([3, 4]);
        s.at(900).ack(4).cwnd(12.0);
    }
}

#[test]
fn a_probe_sends_new_data_if_there_is_any() {
    let mut s = setup("rack").cwnd(2).sent(1..=2);
    s.deadline(300).early_timer().expect([3]).probes(0).deadline(1300);
    // The acknowledgment of the probe shows which segments are lost.
    s.at(400).sacks(0, [3..=3]).expect([1]).fast_retransmits(1);
    s.at(500).ack(1).expect([2, 4]);
}

#[test]
fn a_sacked_probe_shows_that_earlier_segments_are_lost() {
    let mut s = setup("rack").segments(5).sent(1..=5);
    s.at(200).ack(1).expect_nothing().deadline(400);
    s.early_timer().expect([5]);
    s.at(500).sacks(1, [5..=5]).expect([2]).fast_retransmits(1);
    s.at(600).ack(2).expect([3, 4]);
    s.at(700).ack(5).expect_nothing().deadline(None);
}

#[test]
fn there_is_one_probe_at_a_time() {
    let mut s = setup("rack").cwnd(2).rto_of(3000).sent(1..=2);
    s.early_timer().expect([3]);
    // Only a window update arrives: the retransmission timer is next.
    assert_eq!(s.millis(), 300);
    s.deadline(3300).timeout().expect([1]);
}

#[test]
fn a_probe_waits_for_another_round_trip_sample() {
    let setup = setup("rack").segments(1).rto_of(2000);
    let mut s = setup.set(|config| config.timestamps = false).sent(1..=1);
    s.early_timer().expect([1]).probes(1);
    // The acknowledgment of a probe gives no sample.
    s.at(700).ack(1).expect_nothing();
    s.at(800).sacks(1, [1..=1]);
    s.at(900).write(1).expect([2]).deadline(1300);
    // Without a sample the retransmission timer is armed instead (section 7.3).
    s.early_timer().expect_nothing().probes(1).deadline(1300 + 2000);
}

#[test]
fn without_any_sample_no_probe_leaves() {
    // The probe timer waits for a second (section 7.2). By then the connection has no sample yet,
    // so no probe leaves (section 7.3). Linux sends its probe.
    for (rules, sent) in [(RackRules::Rfc8985, None), (RackRules::Linux, Some(2))] {
        let setup = setup("rack").segments(2).rto_of(3000);
        let setup = setup.set(|config| {
            (config.rto.sample_handshake, config.recovery.rack.rules) = (false, rules);
        });
        let mut s = setup.sent(1..=2);
        s.deadline(1100).early_timer().expect(sent).deadline(1100 + 3000);
    }
}

#[test]
fn two_small_segments_do_not_count_as_one() {
    let config = specification::sender("rack", &base()).unwrap();
    let mut a = End::open(&config);
    let syn = a.sends_one(0);
    a.gets(&End::accept(&base(), &syn).sends_one(0), 100);
    a.sends(100);
    // The acknowledgment of a single segment only may be delayed.
    for wait in [200 + 200, 200] {
        a.connection.write(300);
        a.sends_one(100);
        assert_eq!(a.connection.next_timer(), Some(at(100 + wait)));
    }
}

#[test]
fn a_probe_does_not_leave_later_than_a_timeout() {
    let mut s = setup("rack").segments(1).rto_of(300).sent(1..=1);
    s.deadline(400).early_timer().expect([1]).probes(1).deadline(700);
    s.timeout().expect([1]);
}

#[test]
fn no_probe_leaves_in_recovery_or_with_sacked_data() {
    let mut s = setup("rack").segments(8).sent(1..=8);
    s.at(200).sacks(0, [2..=4]).expect([1]).deadline(1100);
    let mut s = setup("rack").segments(8).sent(1..=8);
    s.early_timer().expect([8]).timeout().expect([1]).deadline(1300 + 2000);
    s.at(1400).ack(1).expect([2, 3]).deadline(3400);
}

#[test]
fn t_rk_7_probes_are_no_timeouts() {
    let mut s = setup("rack").segments(2).sent(1..=2);
    s.rto(1000).early_timer().expect([2]).rto(1000).cwnd(10.0);
}

#[test]
fn linux_adds_slack_to_the_probe_timeout() {
    let setup = setup("rack").segments(5);
    let slack = |millis| Duration::from_millis(millis);
    let mut s = setup.set(|config| config.recovery.rack.timer_slack = slack(2)).sent(1..=5);
    s.deadline(302).at(200).sacks(0, [2..=2]).expect_nothing().deadline(227);
}

#[test]
fn probes_can_be_disabled() {
    let mut s = setup("rack:no-tlp").segments(2).sent(1..=2);
    s.deadline(1100).timeout().expect([1]);
}

#[test]
fn an_unneeded_probe_does_not_count_as_a_network_duplicate() {
    let mut s = setup("rack").segments(2).sent(1..=2);
    s.early_timer().expect([2]);
    s.at(450).ack(2).expect_nothing();
    s.at(500).sacks(2, [2..=2]).duplicate(DuplicateCause::PrematureTimeout);
}

#[test]
fn an_undo_by_dsack_waits_for_the_probe_too() {
    for variant in ["dsack:linux", "dsack"] {
        // During a delay, a probe leaves and then the timer expires.
        let mut s = setup(&format!("rack+{variant}")).segments(3).sent(1..=3);
        s.early_timer().expect([3]);
        s.timeout().expect([1]).cwnd(1.0).ssthresh(2);
        s.at(1350).ack(3).expect_nothing();
        s.at(1360).sacks(3, [3..=3]).undecided();
        s.at(1400).write(1).expect([4]);
        s.at(1450).sacks(3, [1..=1]).verdict(Verdict::Spurious);
    }
}

#[test]
fn a_retransmitted_probe_is_no_evidence_for_f_rto() {
    for variant in ["frto:rfc5682-sack", "frto:linux"] {
        let probed = || {
            let mut s = setup(&format!("rack+{variant}")).segments(4).sent(1..=4);
            s.early_timer().expect([4]);
            s.timeout().expect([1]);
            s.at(1350).write(4).expect_nothing();
            s.at(1400).ack(1).expect([5, 6]);
            s
        };
        // The SACK may be of segment 4 or of the probe.
        let mut s = probed();
        s.at(1450).sacks(1, [4..=4]).not_spurious();
        let left = s.take();
        assert!(left.is_empty() || left == [2], "{variant}: {left:?}");
        // An original is evidence.
        let mut s = probed();
        s.at(1450).ack(4).verdict(Verdict::Spurious);
    }
}

#[test]
fn a_late_wakeup_runs_the_timers_in_order() {
    let mut s = setup("rack").segments(3).sent(1..=3);
    // The probe was due at 300 ms, and the timeout a second later.
    let late = Instant::START + Duration::from_millis(1299);
    let mut once = s.connection.clone();
    once.on_timer(late);
    let events: Vec<_> = std::iter::from_fn(|| once.poll_event()).collect();
    assert!(matches!(events[..], [Event::Connected, Event::Probe(_)] | [Event::Probe(_)]));
    assert_eq!(once.next_timer(), Some(late + Duration::from_millis(1)));

    let mut once = s.connection.clone();
    once.on_timer(late + Duration::from_millis(1));
    let events: Vec<_> = std::iter::from_fn(|| once.poll_event()).collect();
    assert!(matches!(events[..], [.., Event::Probe(_), Event::Timeout(_)]), "{events:?}");
    // The probe has not been sent: the timeout retransmits instead.
    let at = late + Duration::from_millis(1);
    let left: Vec<_> = std::iter::from_fn(|| once.poll_transmit(at)).collect();
    assert_eq!(left.iter().map(|left| left.seq).collect::<Vec<_>>(), [start_of(1)]);
    s.early_timer().expect([3]);
}
