//! Loss detection and recovery of QUIC (RFC 9002), by its sections. Packet 0 is the SYN; the others
//! have the number of their segment until one is retransmitted.

use std::sync::Arc;

use crate::script::{Script, Setup, base};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Connection, Event, specification};
use rtolab_time::{Duration, Instant};

/// A round trip of 100 ms is known; the first segment leaves at 100 ms.
fn setup(spec: &str) -> Setup {
    Script::sender(spec).cwnd(10).handshake_takes(100)
}

/// Segments that leave a millisecond apart, the first one at 100 ms.
fn a_millisecond_apart(spec: &str, count: u32) -> Script {
    let mut s = setup(spec).segments(1).sent(1..=1);
    for number in 2..=count {
        s.at(99 + u64::from(number)).write(1).expect([number]);
    }
    s
}

#[test]
fn section_6_1_1_an_acknowledgment_three_packets_later_declares_a_loss() {
    // One SACKed segment is enough: its number counts, not how many arrived.
    let mut s = a_millisecond_apart("rfc9002", 5);
    s.at(203).sacks(0, [4..=4]).expect([1]).fast_retransmits(1).cwnd(5.0).ssthresh(5);
    // Packet 6 is the retransmission of 1, and not acknowledged.
    s.at(204).sacks(0, [4..=5]).expect([2]).fast_retransmits(1);
}

#[test]
fn section_6_1_1_two_packets_later_is_not_enough() {
    let mut s = a_millisecond_apart("rfc9002", 3);
    s.at(202).sacks(0, [2..=3]).expect_nothing().fast_retransmits(0);
}

#[test]
fn section_6_1_1_the_threshold_can_be_set() {
    let setup = setup("rfc9002").set(|config| config.recovery.rfc9002.packet_threshold = 8);
    let mut s = setup.sent(1..=10);
    s.at(200).sacks(0, [2..=8]).take();
    s.fast_retransmits(0).at(201).sacks(0, [2..=9]).fast_retransmits(1).take();
}

#[test]
fn section_6_1_2_a_packet_is_lost_9_8_of_a_round_trip_after_it_was_sent() {
    let mut s = a_millisecond_apart("rfc9002", 3);
    // Packet 2 left at 101 ms and took 102 ms, more than the smoothed 100.25 ms.
    s.at(203).sacks(0, [2..=2]).expect_nothing().fast_retransmits(0);
    s.early_timer().expect([1]).fast_retransmits(1).cwnd(5.0);
    // 100 ms + 102 ms * 9 / 8 = 214.75 ms
    assert_eq!(s.millis(), 214);
}

#[test]
fn section_6_1_2_a_packet_that_is_older_is_lost_at_once() {
    let mut s = setup("rfc9002").segments(1).sent(1..=1);
    s.at(120).write(1).expect([2]);
    s.at(220).sacks(0, [2..=2]).expect([1]).fast_retransmits(1);
}

#[test]
fn section_6_1_2_only_packets_before_an_acknowledged_one_are_lost() {
    let mut s = a_millisecond_apart("rfc9002", 3);
    s.at(201).ack(1).expect_nothing();
    // PTO: 100.125 + 4 * 37.75 + 25 ms after the last transmission at 102 ms.
    s.early_timer().fast_retransmits(0).probes(1).expect([2, 3]);
}

#[test]
fn section_6_1_2_the_granularity_is_the_least_time() {
    let setup = Script::sender("rfc9002").cwnd(10).segments(2);
    let mut s = setup.sent(1..=2);
    s.at(0).sacks(0, [2..=2]).expect_nothing().deadline(1);
    s.early_timer().expect([1]);
}

#[test]
fn section_6_2_a_probe_timeout_changes_nothing_but_its_back_off() {
    let mut s = setup("rfc9002").segments(4).sent(1..=4);
    // smoothed_rtt + 4 * rttvar + max_ack_delay, from the last transmission on
    s.rto(100 + 200 + 25).deadline(100 + 325);
    s.early_timer().expect([1, 2]).probes(1).cwnd(10.0).outstanding(6).fast_retransmits(0);
    s.rto(650).deadline(425 + 650).early_timer().expect([1, 2]).cwnd(10.0).outstanding(8);
    s.rto(1300).deadline(1075 + 1300);
    // An acknowledgment ends the back-off (section 6.2.1).
    s.at(1200).ack(4).cwnd(14.0).deadline(None).outstanding(0);
    s.at(1300).write(1).expect([5]);
    assert!(s.connection.sender().rto().nanos() < 650_000_000);
}

#[test]
fn a_cap_ends_the_doubling_of_the_probe_timeout() {
    let mut s = setup("rfc9002+backoff:2s").segments(4).sent(1..=4);
    s.rto(325).early_timer().expect([1, 2]).rto(650);
    s.early_timer().expect([1, 2]).rto(1300);
    s.early_timer().expect([1, 2]).rto(2000);
    s.early_timer().expect([1, 2]).rto(2000);
}

#[test]
fn section_6_2_1_each_transmission_restarts_the_timer() {
    let mut s = setup("rfc9002").segments(1).sent(1..=1);
    s.deadline(425).at(300).write(1).expect([2]).deadline(300 + 325);
}

#[test]
fn section_6_2_1_the_probe_timer_waits_for_the_time_threshold() {
    let setup = setup("rfc9002").set(|config| {
        (config.recovery.rfc9002.time_threshold, config.recovery.rfc9002.packet_threshold) =
            (40, 9);
    });
    let mut s = setup.segments(2).sent(1..=2);
    s.at(200).sacks(0, [2..=2]).expect_nothing().deadline(100 + 500);
    s.early_timer().expect([1]).fast_retransmits(1).probes(0);
}

#[test]
fn section_6_2_2_the_syn_has_the_timer_of_tcp() {
    let config = specification::sender("rfc9002", &base()).unwrap();
    let mut connection = Connection::open(Arc::new(config));
    assert!(connection.poll_transmit(Instant::START).is_some());
    let at = connection.next_timer().unwrap();
    assert_eq!(at, Instant::START + Duration::from_secs(1));
    connection.on_timer(at);
    assert!(matches!(connection.poll_event(), Some(Event::Timeout(_))));
}

#[test]
fn section_6_2_4_a_probe_is_new_data_if_there_is_any() {
    let mut s = setup("rfc9002").cwnd(2).sent(1..=2);
    s.early_timer().expect([3, 4]).probes(0).cwnd(2.0).outstanding(4);
    // The probe shows which packets are lost: 1 by packets, 2 by time.
    s.at(525).sacks(0, [4..=4]).fast_retransmits(1).take();
    assert!(s.connection.sender().flight().lost() >= 2000);
}

#[test]
fn section_6_2_4_a_window_that_is_full_does_not_hold_a_probe_back() {
    let mut s = setup("rfc9002").offered(4).sent(1..=4);
    s.early_timer().expect([1, 2]).probes(1);
    s.early_timer().expect([1, 2]);
}

#[test]
fn section_5_1_only_the_largest_packet_gives_a_round_trip() {
    let mut s = a_millisecond_apart("rfc9002", 3);
    let before = |s: &Script| s.connection.sender().rto();
    s.at(203).sacks(0, [3..=3]).expect_nothing();
    let pto = before(&s);
    s.at(210).sacks(0, [2..=3]).expect_nothing();
    assert_eq!(before(&s), pto, "packet 2 is not the largest");
}

#[test]
fn section_7_3_2_a_recovery_period_reduces_the_window_once() {
    let mut s = setup("rfc9002").sent(1..=10);
    s.at(200).sacks(0, [4..=4]).expect([1]).cwnd(5.0).fast_retransmits(1);
    s.at(201).sacks(0, [4..=7]).expect([2]).cwnd(5.0).fast_retransmits(1).outstanding(5);
    // The retransmission of 1 is acknowledged: the period is over.
    s.at(300).sacks(1, [4..=7]).take();
    s.cwnd(5.0).fast_retransmits(1);
}

#[test]
fn section_7_3_2_a_lost_packet_of_the_period_begins_another() {
    let mut s = setup("rfc9002").sent(1..=10);
    // Packet 11 is the retransmission of 1; 12 to 15 are new.
    s.at(200).sacks(0, [2..=10]).expect([1, 11, 12, 13, 14]).cwnd(5.0);
    s.at(300).sacks(0, [2..=13]).fast_retransmits(2).cwnd(2.0).take();
}

#[test]
fn section_7_6_losses_over_three_probe_timeouts_collapse_the_window() {
    for (ends, cwnd) in [(900, 5.0), (1076, 3.0)] {
        let mut s = setup("rfc9002").segments(1).sent(1..=1);
        // Packet 1 left before the first round trip was known and does not count. The losses from
        // packet 2 on last longer than three probe timeouts, 3 * 275 ms, or not. The window grows
        // for the packet that is acknowledged.
        s.at(200).write(1).expect([2]);
        s.at(300).write(1).expect([3]);
        while s.connection.sender().deadline().is_some_and(|at| at.nanos() < ends * 1_000_000) {
            s.early_timer().take();
        }
        s.at(ends).write(4).expect([4, 5, 6, 7]);
        s.at(ends + 100).sacks(0, [7..=7]).cwnd(cwnd).ssthresh(5).fast_retransmits(1).take();
    }
}

#[test]
fn section_7_6_an_acknowledged_packet_in_between_shows_that_it_was_not_persistent() {
    let mut s = setup("rfc9002").segments(1).sent(1..=1);
    s.at(200).write(1).expect([2]);
    s.at(300).write(1).expect([3]);
    s.early_timer().take();
    s.at(700).sacks(0, [2..=2]).take();
    s.early_timer().take();
    s.at(1400).write(4).take();
    s.at(1500).sacks(0, [2..=2, 7..=7]).take();
    assert!(s.connection.sender().window().cwnd() > 2000);
}

/// Packet 1 is declared lost, retransmitted at 203 ms, and arrives 2 ms later.
fn late(spec: &str) -> Script {
    let mut s = a_millisecond_apart(spec, 8);
    s.at(203).sacks(0, [2..=4]).expect([1]).fast_retransmits(1).cwnd(5.0);
    s.at(205).ack(4);
    s.take();
    s
}

#[test]
fn without_undo_a_spurious_loss_costs_half_of_the_window() {
    late("rfc9002").cwnd(5.0).ssthresh(5);
}

/// The mark was not spurious.
#[test]
fn a_reduction_with_a_congestion_mark_is_not_undone() {
    let mut s = a_millisecond_apart("rfc9002+undo+ecn", 8);
    s.at(203).sacks(0, [2..=4]).expect([1]).cwnd(5.0);
    s.at(204).echoes_mark(0);
    s.at(205).ack(4).cwnd(5.0);
}

#[test]
fn an_undo_needs_all_losses_to_be_spurious() {
    late("rfc9002+undo").cwnd(10.0);
    // Packets 1 and 2 are lost, and 1 is late.
    let mut s = a_millisecond_apart("rfc9002+undo", 8);
    s.at(203).sacks(0, [4..=5]).expect([1]).fast_retransmits(1).cwnd(5.0);
    s.at(205).sacks(1, [4..=5]).cwnd(5.0).take();
    s.at(206).sacks(2, [4..=5]).take();
    assert!(s.connection.sender().window().cwnd() >= 10_000);
}

#[test]
fn an_undo_by_any_packet_does_not_restore_slow_start() {
    late("rfc9002+undo:any").cwnd(5.0);
    let mut s = setup("rfc9002+undo:any").ssthresh(10).sent(1..=10);
    s.at(203).sacks(0, [5..=5]).fast_retransmits(1).cwnd(5.0).take();
    s.at(205).sacks(1, [5..=5]).take();
    assert!(s.connection.sender().window().cwnd() >= 10_000);
}

#[test]
fn a_retransmission_that_is_answered_undoes_nothing() {
    let mut s = a_millisecond_apart("rfc9002+undo", 8);
    s.at(203).sacks(0, [2..=4]).expect([1]);
    s.at(303).ack(8).take();
    assert!(s.connection.sender().window().cwnd() < 10_000);
}

#[test]
fn an_old_echo_names_the_original() {
    // It arrives a round trip after the retransmission, so that only the echo tells.
    for (echo, undone) in [(100, true), (203, false)] {
        let mut s = a_millisecond_apart("rfc9002+undo", 4);
        s.at(203).sacks(0, [2..=4]).expect([1]);
        s.at(310).echoing(echo).ack(4).take();
        assert_eq!(s.connection.sender().window().cwnd() >= 10_000, undone, "{echo}");
    }
}

#[test]
fn a_dsack_shows_that_the_lost_copy_arrived() {
    let mut s = a_millisecond_apart("rfc9002+undo", 4);
    s.at(203).sacks(0, [2..=4]).expect([1]);
    s.at(310).ack(4).expect_nothing().cwnd(5.0);
    s.allow_disagreement().at(311).sacks(4, [1..=1]).cwnd(10.0);
}

#[test]
fn quic_go_counts_no_packets_after_a_spurious_loss() {
    let mut s = late("rfc9002:quic-go");
    s.cwnd(5.0).at(206).sacks(4, [8..=8]).fast_retransmits(1).take();
    // Packet 5 left at 104 ms. The round trip is 103 ms, the time threshold 9/8 of it.
    s.early_timer().fast_retransmits(1).take();
    assert!(s.millis() >= 104 + 112, "{}", s.millis());
}

#[test]
fn quic_go_doubles_what_the_time_threshold_exceeds_a_round_trip_by() {
    let mut s = setup("rfc9002:quic-go").segments(1).sent(1..=1);
    s.at(101).write(1).expect([2]);
    s.at(201).sacks(0, [2..=2]).expect_nothing();
    s.early_timer().expect([1]).fast_retransmits(1);
    // Packet 1 is 120 ms late, longer than 9/8 of the round trip.
    s.at(220).ack(2).take();
    s.at(1000).write(2).expect([3, 4]);
    s.at(1100).sacks(2, [4..=4]).expect_nothing();
    s.early_timer().expect([3]);
    assert_eq!(s.millis(), 1000 + 125);
}

#[test]
fn quicly_adapts_if_the_acknowledgment_names_a_newer_packet() {
    // Alone, the late packet changes nothing: packet 5 is lost by the number of packet 8.
    let mut s = late("rfc9002:quicly");
    s.at(206).sacks(4, [8..=8]).take();
    assert!(s.connection.sender().flight().lost() > 0);
    // With packet 5, it ends the counting of packets.
    let mut s = a_millisecond_apart("rfc9002:quicly", 9);
    s.at(203).sacks(0, [2..=4]).expect([1]);
    s.at(205).ack(5).take();
    s.at(206).sacks(5, [9..=9]).take();
    assert_eq!(s.connection.sender().flight().lost(), 0);
}

#[test]
fn quiche_raises_the_packet_threshold_to_the_distance() {
    // Packet 1 is acknowledged with packet 4: the threshold is then 4 - 1 + 1.
    let mut s = a_millisecond_apart("rfc9002:quiche", 10);
    s.at(203).sacks(0, [2..=4]).expect([1]);
    s.at(205).ack(4).take();
    s.at(206).sacks(4, [8..=8]).take();
    assert_eq!(s.connection.sender().flight().lost(), 0, "packet 5 is three packets before 8");
    s.at(207).sacks(4, [8..=9]).take();
    assert_eq!(s.connection.sender().flight().lost(), 1000);
}

#[test]
fn a_sender_may_take_over_a_connection() {
    let specs = ["sack", "rack", "sack+frto", "linux"];
    for (from, to) in specs.iter().flat_map(|name| [(*name, "rfc9002"), ("rfc9002", *name)]) {
        let mut s = setup(from).segments(10).sent(1..=10);
        s.allow_disagreement();
        s.at(200).sacks(0, [3..=3]).take();
        let config = specification::sender(to, &base()).unwrap();
        s.connection.reconfigure(Arc::new(config)).unwrap();
        for _ in 0..20 {
            s.any_timer().take();
        }
        s.ack(10).deadline(None).take();
    }
}

#[test]
fn a_detector_may_undo_the_reduction_of_rfc_9002() {
    let mut s = a_millisecond_apart("rfc9002+eifel:rfc3522", 8);
    s.at(203).sacks(0, [2..=4]).expect([1]).cwnd(5.0);
    s.at(205).echoing(100).ack(4).verdict(Verdict::Spurious).cwnd(11.0).take();
}

#[test]
fn a_sender_without_a_retransmission_timeout_has_no_policy_about_it() {
    let message = |name: &str| specification::sender(name, &base()).unwrap_err().to_string();
    for name in ["frto", "minrto", "eifel-timer", "eifel"] {
        let error = message(&format!("rfc9002+{name}"));
        assert!(error.ends_with("a retransmission timeout, which `rfc9002` does not have"));
    }
    assert!(message("sack+undo").contains("`undo`, which needs `rfc9002`"));
    assert!(message("rfc9002+undo+undo:any").contains("one rules out the other"));
}
