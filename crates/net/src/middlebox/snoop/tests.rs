//! Packet scripts of Snoop, with times in milliseconds.

use rtolab_scenario::MiddleboxKind;
use rtolab_tcp::{Flags, Seq};

use super::super::Middlebox;
use super::super::script::{Script, ack, data, packet, start_of};
use super::*;

fn script(dupthresh: u32, cache: u32) -> Script {
    Script::new(Middlebox::new(MiddleboxKind::Snoop { link: 0, dupthresh, cache }))
}

/// The script after segments 1 to 6 have passed at 0 ms, and the ACK of the first two at 40 ms.
fn six_sent(dupthresh: u32) -> Script {
    let mut script = script(dupthresh, 100);
    script.at(0).pass((1..=6).map(data));
    script.at(40).pass([ack(2)]);
    script
}

#[test]
fn t_sn_1_a_loss_on_the_wireless_link_is_retransmitted_and_its_duplicates_dropped() {
    let mut script = six_sent(1);
    assert_eq!(script.on_packet(ack(2)), ["local S3"]);
    assert_eq!(script.on_packet(ack(2)), [""; 0]);
    assert_eq!(script.on_packet(ack(2)), [""; 0]);
    assert_eq!(script.on_packet(ack(6)), ["A6"]);
    assert_eq!(script.timer_after(10_000), None);
}

#[test]
fn t_sn_2_duplicates_for_a_segment_lost_before_the_agent_pass() {
    let mut script = script(1, 100);
    script.at(0).pass([1, 2, 4, 5, 6].map(data));
    script.at(40).pass([ack(2), ack(2), ack(2), ack(2)]);
    // The sender has retransmitted the segment, so it needs the duplicates.
    script.at(80).pass([data(3), ack(2), ack(2)]);
    script.at(120).pass([ack(6)]);
}

#[test]
fn t_sn_3_a_retransmission_by_the_sender_passes_and_resets_the_local_recovery() {
    let mut script = six_sent(1);
    assert_eq!(script.on_packet(ack(2)), ["local S3"]);
    script.at(50).pass([data(3)]);
    // Two more duplicates were expected. They pass, because the sender in recovery counts them.
    script.pass([ack(2), ack(2)]);
    script.at(60).pass([ack(6)]);
}

#[test]
fn at_a_threshold_of_two_the_first_duplicate_passes() {
    let mut script = six_sent(2);
    assert_eq!(script.on_packet(ack(2)), ["A2"]);
    assert_eq!(script.on_packet(ack(2)), ["local S3"]);
    assert_eq!(script.on_packet(ack(2)), [""; 0]);
}

#[test]
fn a_duplicate_beyond_the_expected_ones_repeats_the_local_retransmission() {
    let mut script = six_sent(1);
    assert_eq!(script.on_packet(ack(2)), ["local S3"]);
    script.pass([data(7), data(8)]);
    assert_eq!(script.on_packet(ack(2)), [""; 0]);
    assert_eq!(script.on_packet(ack(2)), [""; 0]);
    assert_eq!(script.on_packet(ack(2)), ["local S3"], "segment 7 overtook the first one");
    assert_eq!(script.on_packet(ack(2)), [""; 0], "segment 8");
}

#[test]
fn the_timer_covers_losses_without_duplicates() {
    // The local round trip is 40 ms; twice that is below the floor.
    let mut script = six_sent(1);
    assert_eq!(script.timer_after(140), Some(140));
    assert_eq!(script.at(140).on_timer(), ["local S3"]);
    assert_eq!(script.at(240).on_timer(), ["local S3"]);
    // Its ACK may acknowledge either copy, so it gives no sample.
    script.at(1000).pass([ack(3)]);
    assert_eq!(script.timer_after(1100), Some(1100));
    script.at(1010).pass([ack(6)]);
    assert_eq!(script.at(1100).on_timer(), [""; 0]);
    assert_eq!(script.timer(), None);
}

#[test]
fn the_timer_is_twice_the_smoothed_round_trip_time() {
    let mut script = script(1, 100);
    script.at(0).pass([data(1)]);
    assert_eq!(script.timer(), None, "no sample yet");
    script.at(400).pass([ack(1), data(2), data(3)]);
    assert_eq!(script.timer(), Some(1200));
    // 400 ms less a quarter of the difference to 200 ms is 350 ms.
    script.at(600).pass([ack(2)]);
    assert_eq!(script.timer_after(1300), Some(1300));
}

#[test]
fn a_segment_is_retransmitted_locally_at_most_ten_times() {
    let mut script = six_sent(1);
    let mut times = 0;
    while let Some(at) = script.timer() {
        times += script.at(at).on_timer().len();
    }
    assert_eq!(times, 10);
    script.pass([ack(2), ack(2)]);
    // A retransmission by the sender resets the count.
    script.at(5000).pass([data(3)]);
    assert_eq!(script.at(5100).on_timer(), ["local S3"]);
}

#[test]
fn a_duplicate_passes_if_the_sender_missed_the_ack() {
    let mut script = six_sent(1);
    // The sender retransmits segment 2, which is acknowledged, so its ACK was lost.
    script.at(300).pass([data(2), ack(2)]);
    assert_eq!(script.on_packet(ack(2)), ["local S3"]);
    // The same with a keep-alive probe below snd_una.
    let mut probe = data(2);
    probe.segment.len = 0;
    script.pass([probe, ack(2)]);
    assert_eq!(script.on_packet(ack(2)), [""; 0]);
}

#[test]
fn an_ack_with_news_passes() {
    let mut script = six_sent(1);
    let mut window = ack(2);
    window.segment.window += 1;
    let mut question = window;
    question.segment.len = 10;
    let mut damaged = window;
    damaged.condition = crate::Condition::Damaged;
    script.pass([window, question, damaged, ack(1)]);
    assert_eq!(script.on_packet(window), ["local S3"]);
}

#[test]
fn a_full_cache_accepts_no_segment_and_packets_still_pass() {
    let mut script = script(1, 3);
    script.at(0).pass((1..=6).map(data));
    script.at(40).pass([ack(2)]);
    assert_eq!(script.on_packet(ack(2)), ["local S3"]);
    // The duplicates of uncached segments are expected as well.
    assert_eq!(script.on_packet(ack(2)), [""; 0]);
    assert_eq!(script.on_packet(ack(2)), [""; 0]);
    script.at(80).pass([ack(3), ack(3), ack(3), data(7)]);
}

#[test]
fn flows_handshakes_resets_and_datagrams() {
    let syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
    let mut answer = Segment::new(Seq::FIRST, 0, Flags::SYN | Flags::ACK);
    answer.ack = Seq::FIRST + 1;
    let datagram = packet(Segment::new(start_of(1), 100, Flags::NONE), true);
    let mut script = script(1, 100);
    script.at(0).pass([packet(syn, true), packet(answer, false)]).pass((1..=6).map(data));
    let mut other = ack(0);
    other.flow = 7;
    script.at(40).pass([other, other, datagram]);
    assert_eq!(script.on_packet(ack(0)), ["local S1"]);
    script.pass([packet(Segment::new(start_of(7), 0, Flags::RST), true), ack(0), ack(0)]);
}

#[test]
fn the_last_segment_is_retransmitted_with_its_fin() {
    let mut last = data(2);
    last.segment.flags |= Flags::FIN;
    let mut script = script(1, 100);
    script.at(0).pass([data(1)]);
    script.at(40).pass([ack(1), last]);
    script.at(45).pass([ack(0)]);
    assert_eq!(script.at(140).on_timer(), ["local S2"]);
    let mut end = ack(2);
    end.segment.ack += 1;
    script.at(180).pass([end]);
    assert_eq!(script.at(400).on_timer(), [""; 0]);
}
