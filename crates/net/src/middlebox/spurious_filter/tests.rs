//! Packet scripts of the filter.

use rtolab_tcp::Flags;

use super::super::Middlebox;
use super::super::script::{Script, ack, data, packet, start_of};
use super::*;

const NOTHING: [&str; 0] = [];

fn script() -> Script {
    Script::new(Middlebox::Filter(SpuriousFilter::default()))
}

/// The script after segments 1 to 6 have passed and 1 and 2 are acknowledged.
fn six_sent() -> Script {
    let mut script = script();
    script.pass((1..=6).map(data)).pass([ack(2)]);
    script
}

#[test]
fn after_a_spurious_timeout_neither_copies_nor_their_duplicates_pass() {
    let mut script = six_sent();
    // After two timeouts the originals arrive and are acknowledged one by one.
    script.pass([data(3), data(3), ack(3), ack(4)]);
    // In go-back-N the retransmission of 4 follows its ACK, and that of 5 precedes its ACK.
    assert_eq!(script.on_packet(data(4)), ["local A4"]);
    script.pass([data(5), ack(5), ack(6), data(7), data(8), data(9)]);
    // Both copies of 3 and that of 5 arrive after the originals.
    for _ in 0..3 {
        assert_eq!(script.on_packet(ack(6)), NOTHING);
    }
    // The cause of three more duplicates is the loss of 7.
    script.pass([ack(6), ack(6), ack(6)]);
}

#[test]
fn duplicates_after_genuine_retransmissions_pass() {
    let mut script = six_sent();
    // The whole window was lost, so each ACK acknowledges a retransmission.
    script.pass([data(3), ack(3), data(4), data(5), ack(5), data(6), ack(6)]);
    script.pass([data(7), data(8), data(9), ack(6), ack(6), ack(6), data(7), ack(9)]);
}

#[test]
fn duplicates_that_signal_a_loss_pass() {
    let mut script = six_sent();
    script.pass([ack(2), ack(2), ack(2), data(3), ack(4)]);
    // 5 was lost as well, as the partial ACK shows.
    script.pass([data(7), ack(4), data(5), ack(7), data(8), data(9), data(10)]);
    script.pass([ack(7), ack(7), ack(7)]);
}

#[test]
fn a_duplicate_after_all_data_is_acknowledged_is_dropped_once_per_copy() {
    let mut script = six_sent();
    script.pass([ack(5), data(6), ack(6)]);
    assert_eq!(script.on_packet(ack(6)), NOTHING);
    // Only one copy passed, so this duplicate has another cause.
    script.pass([ack(6)]);
}

#[test]
fn an_ack_lost_after_the_proxy_is_retransmitted_for_each_timeout() {
    let mut script = six_sent();
    script.pass([ack(6)]);
    // Each timeout retransmits the oldest segment first.
    for _ in 0..3 {
        assert_eq!(script.on_packet(data(3)), ["local A6"]);
        assert_eq!(script.on_packet(data(4)), NOTHING);
        assert_eq!(script.on_packet(data(5)), NOTHING);
    }
    // After new data another ACK may be lost.
    script.pass([data(7), ack(7)]);
    assert_eq!(script.on_packet(data(7)), ["local A7"]);
}

#[test]
fn the_reply_is_a_pure_ack() {
    let mut question = ack(6);
    question.segment.len = 30;
    question.segment.flags |= Flags::PSH;
    question.bytes += 30;
    let mut script = six_sent();
    script.pass([question]);
    let mut outgoing = Vec::new();
    script.middlebox.on_packet(data(3), rtolab_time::Instant::START, &mut outgoing);
    let [OutgoingPacket { packet, is_generated: true }] = outgoing[..] else {
        panic!("{outgoing:?}")
    };
    let segment = &packet.segment;
    assert_eq!((segment.seq, segment.ack, segment.len), (Seq::FIRST + 31, start_of(7), 0));
    assert_eq!((segment.flags, segment.window), (Flags::ACK, 10_000));
    assert_eq!((packet.bytes, packet.to_receiver, packet.step), (40, false, 1));
}

#[test]
fn sack_blocks_above_the_ack_number_signal_a_loss() {
    let mut script = six_sent();
    script.pass([data(3), ack(5), data(7)]);
    let mut hole = ack(5);
    hole.segment.push_sack(start_of(7)..start_of(8));
    script.pass([hole]);
    let mut copy = ack(5);
    copy.segment.push_sack(start_of(3)..start_of(4));
    assert_eq!(script.on_packet(copy), NOTHING);
}

#[test]
fn an_unneeded_retransmission_with_news_passes() {
    let mut script = six_sent();
    script.pass([ack(6)]);
    let mut news = data(3);
    news.segment.ack += 10;
    script.pass([news]);
    assert_eq!(script.on_packet(news), ["local A6"], "an equal ACK is not new");
    // The receive window is updated.
    let mut window = ack(6);
    window.segment.window += 1;
    script.pass([window]);
}

#[test]
fn datagrams_damaged_packets_and_resets_pass() {
    let mut script = six_sent();
    script.pass([ack(6)]);
    let mut damaged = data(3);
    damaged.condition = crate::Condition::Damaged;
    let mut other = data(3);
    other.flow = 4;
    let datagram = packet(Segment::new(start_of(3), 100, Flags::NONE), true);
    let syn = packet(Segment::new(Seq::FIRST, 0, Flags::SYN), true);
    let reset = packet(Segment::new(start_of(3), 0, Flags::RST | Flags::ACK), true);
    script.pass([damaged, other, datagram, datagram, syn, reset, ack(4)]);
}

#[test]
fn requests_of_the_receiver_are_data_too() {
    let question = |number: u32| {
        let mut packet = data(number);
        packet.to_receiver = false;
        packet
    };
    let answer = |number: u32| {
        let mut packet = ack(number);
        packet.to_receiver = true;
        packet
    };
    let mut script = script();
    script.pass([question(1), question(2), answer(2)]);
    assert_eq!(script.on_packet(question(1)), ["local S1"]);
    assert_eq!(script.on_packet(question(2)), NOTHING);
}
