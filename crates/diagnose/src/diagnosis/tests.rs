//! Tests of when connections end, and of which are reported.

use std::net::Ipv4Addr;

use rtolab_tcp::Flags;
use rtolab_tcp::wire::{Addresses, Ports};

use super::*;

/// A segment of 100 bytes from a port of the client, at a time in seconds.
fn packet(port: u16, seconds: u64, flags: Flags) -> Captured {
    let mut captured = Captured::empty();
    let packet = &mut captured.packet;
    packet.at = Instant::START + Duration::from_secs(seconds);
    packet.addresses =
        Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(192, 0, 2, 1) };
    packet.segment.ports = Ports { from: port, to: 80 };
    (packet.segment.flags, packet.segment.len) = (flags, 100);
    captured
}

/// The numbers of the connections that a search at this time, in seconds, finds closed.
fn closed(packets: &[Captured], now: u64) -> Vec<u64> {
    let mut diagnosis = Diagnosis::new();
    for one in packets {
        diagnosis.packet(one);
    }
    diagnosis.packet(&packet(9, now, Flags::ACK));
    diagnosis.sweep();
    std::iter::from_fn(|| diagnosis.poll()).map(|report| report.number).collect()
}

/// Keep-alives begin after two hours.
#[test]
fn a_connection_is_over_after_three_hours_without_a_packet() {
    let packets = [packet(1, 0, Flags::ACK), packet(2, 1, Flags::ACK)];
    assert_eq!(closed(&packets, 3 * 3600), Vec::<u64>::new());
    assert_eq!(closed(&packets, 3 * 3600 + 1), [1]);
    assert_eq!(closed(&packets, 3 * 3600 + 2), [1, 2]);
}

#[test]
fn a_closed_connection_is_over_after_a_minute() {
    let packets = [packet(1, 0, Flags::RST), packet(2, 0, Flags::ACK)];
    assert_eq!(closed(&packets, 60), Vec::<u64>::new());
    assert_eq!(closed(&packets, 61), [1]);
}

#[test]
fn a_search_for_closed_connections_comes_with_the_packets() {
    let mut diagnosis = Diagnosis::new();
    diagnosis.packet(&packet(1, 0, Flags::RST));
    let later = packet(2, 100, Flags::ACK);
    (2..SWEEP).for_each(|_| _ = diagnosis.packet(&later));
    assert!(diagnosis.poll().is_none());
    diagnosis.packet(&later);
    assert_eq!(diagnosis.poll().map(|report| report.number), Some(1));
}

/// Reports of connections without a retransmission, and with one if `retransmits`.
fn reported(mut diagnosis: Diagnosis, retransmits: bool) -> (usize, u64) {
    diagnosis.packet(&packet(1, 0, Flags::ACK));
    if retransmits {
        let mut copy = packet(1, 1, Flags::ACK);
        copy.packet.identification = 1;
        diagnosis.packet(&copy);
    }
    let left_out = diagnosis.finish().left_out;
    (std::iter::from_fn(|| diagnosis.poll()).count(), left_out)
}

#[test]
fn ten_thousand_connections_without_a_retransmission_are_reported() {
    let after = |clean| Diagnosis { clean, ..Diagnosis::new() };
    assert_eq!(reported(after(9_999), false), (1, 0));
    assert_eq!(reported(after(10_000), false), (0, 1));
    assert_eq!(reported(after(10_000), true), (1, 0));
}

#[test]
fn no_connections_are_reported_after_two_million_retransmissions() {
    for retransmits in [false, true] {
        for (retransmissions, expected) in [(2_000_000, (1, 0)), (2_000_001, (0, 1))] {
            let summary = Summary { retransmissions, ..Summary::default() };
            let diagnosis = Diagnosis { summary, ..Diagnosis::new() };
            assert_eq!(reported(diagnosis, retransmits), expected);
        }
    }
}

#[test]
fn times_count_from_the_first_packet() {
    let mut diagnosis = Diagnosis::new();
    for seconds in [1000, 1007, 1003] {
        diagnosis.packet(&packet(1, seconds, Flags::ACK));
    }
    let summary = diagnosis.finish();
    assert_eq!((summary.began, summary.ended), (1000.0, 1007.0));
    assert_eq!((summary.packets, summary.connections), (3, 1));
}
