//! Captures that contain packets twice: a mirrored port, or two capture points on the path.

use rtolab_capture::{Captured, CapturedPacket, RUN_START};
use rtolab_diagnose::{ConnectionReport, Diagnosis};
use rtolab_tcp::{Flags, SynOptions};
use rtolab_time::Duration;

/// The number of segments that the client sends.
const SEGMENTS: u32 = 40;

/// A packet at a time in microseconds. The client's are numbered, the server's, too, if `numbered`.
fn packet(
    micros: u64,
    (forward, identification): (bool, u16),
    flags: Flags,
    numbers: (u32, u32, u32),
) -> CapturedPacket {
    let (seq, ack, len) = numbers;
    let mut packet = crate::packets::packet(0, 1, flags, (seq, len)).packet;
    packet.at = RUN_START + Duration::from_micros(micros);
    packet.identification = identification;
    (packet.segment.ack, packet.segment.window) = (ack, 60_000);
    packet.segment.syn = SynOptions { mss: Some(1000), ..SynOptions::default() };
    if !forward {
        packet.addresses = packet.addresses.reversed();
        packet.segment.ports = packet.segment.ports.reversed();
    }
    packet
}

/// A transfer with a round trip of 100 ms, a segment each 10 ms.
fn transfer(identifies: bool) -> Vec<CapturedPacket> {
    let mut number = 0;
    let mut id = || {
        number += u16::from(identifies);
        number
    };
    let (syn, ack) = (Flags::SYN, Flags::ACK);
    let mut packets = vec![
        packet(0, (true, id()), syn, (99, 0, 0)),
        packet(100_000, (false, id()), syn | ack, (499, 100, 0)),
        packet(100_100, (true, id()), ack, (100, 500, 0)),
    ];
    for index in 0..SEGMENTS {
        let (at, seq) = (200_000 + 10_000 * u64::from(index), 100 + 1000 * index);
        packets.push(packet(at, (true, id()), ack, (seq, 500, 1000)));
        packets.push(packet(at + 100_000, (false, id()), ack, (500, seq + 1000, 0)));
    }
    packets.sort_by_key(|packet| packet.at);
    packets
}

/// The report about a capture in which each packet is followed by a copy after `lag` microseconds.
fn report(packets: &[CapturedPacket], lag: Option<u64>) -> ConnectionReport {
    let copies = lag.into_iter().flat_map(|lag| {
        packets.iter().map(move |packet| CapturedPacket {
            at: packet.at + Duration::from_micros(lag),
            ..packet.clone()
        })
    });
    let mut all: Vec<_> = packets.iter().cloned().chain(copies).collect();
    all.sort_by_key(|packet| packet.at);
    let mut diagnosis = Diagnosis::new();
    for (index, packet) in all.into_iter().enumerate() {
        diagnosis.packet(&Captured { number: index as u64 + 1, packet, ..Captured::empty() });
    }
    diagnosis.finish();
    diagnosis.poll().expect("a connection")
}

#[test]
fn a_packet_from_a_mirrored_port_is_no_retransmission() {
    let packets = transfer(true);
    let count = packets.len() as u64;
    for lag in [1, 50, 900] {
        let report = report(&packets, Some(lag));
        assert_eq!((report.packets, report.captured_twice), (count, count), "{lag} us");
        assert!(report.retransmissions.is_empty(), "{lag} us: {:?}", report.retransmissions);
        assert_eq!(report.segments, [u64::from(SEGMENTS), 0]);
    }
    let once = report(&packets, None);
    assert_eq!((once.packets, once.captured_twice), (count, 0));
}

/// Copies that come later are those of a second capture point. The report has one of the two.
#[test]
fn a_packet_from_a_second_capture_point_is_no_retransmission() {
    let packets = transfer(true);
    for lag in [5_000, 40_000] {
        let report = report(&packets, Some(lag));
        assert!(report.retransmissions.is_empty(), "{lag} us: {:?}", report.retransmissions);
        assert_eq!(report.bytes, [u64::from(1000 * SEGMENTS), 0], "{lag} us");
        let count = packets.len() as u64;
        assert_eq!((report.packets, report.captured_twice), (count, count), "{lag} us");
    }
}

/// Equal packets with the same IP identification are copies for 50 ms, without one for 100 us.
#[test]
fn an_equal_packet_after_a_while_is_a_retransmission() {
    for (identifies, lag, is_copy) in
        [(true, 49_000, true), (true, 51_000, false), (false, 90, true), (false, 110, false)]
    {
        let mut packets = transfer(identifies);
        let count = packets.len() as u64;
        let last = packets.iter().rposition(|packet| packet.segment.len > 0).unwrap();
        let mut again = packets[last].clone();
        again.at += Duration::from_micros(lag);
        packets.push(again);
        packets.sort_by_key(|packet| packet.at);
        let report = report(&packets, None);
        let expected = if is_copy { (count, 1, 0) } else { (count + 1, 0, 1) };
        let found = (report.packets, report.captured_twice, report.retransmissions.len());
        assert_eq!(found, expected, "{lag} us, identification: {identifies}");
    }
}

/// Hosts set no IP identification in a SYN-ACK. A second SYN causes a second SYN-ACK, too.
#[test]
fn a_duplicated_syn_ack_is_no_retransmission() {
    for (syns, copies) in [(1, 1), (2, 0)] {
        let mut packets = transfer(false);
        let retransmitted =
            CapturedPacket { at: RUN_START + Duration::from_micros(90_000), ..packets[0].clone() };
        packets.splice(1..1, (1..syns).map(|_| retransmitted.clone()));
        let syn_ack = packets[syns].clone();
        packets.insert(
            syns + 1,
            CapturedPacket { at: syn_ack.at + Duration::from_micros(50), ..syn_ack },
        );
        let report = report(&packets, None);
        assert_eq!(report.captured_twice, copies, "{syns}");
        let from_server = report.retransmissions.iter().filter(|one| one.from == "server");
        assert_eq!(from_server.count() as u64, 1 - copies, "{syns}");
    }
}
