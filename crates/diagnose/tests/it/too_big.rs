//! Tests of paths whose routers say by ICMP that packets are too big.

use std::convert::Infallible;

use rtolab_capture::Captured;
use rtolab_diagnose::diagnose;
use rtolab_tcp::Flags;
use rtolab_tcp::wire::Payload;

use crate::failures::{MSS, RTT, Script, text};

/// An IPv4 packet with this protocol, addresses and payload.
fn ip(protocol: u8, [from, to]: [[u8; 4]; 2], payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let mut packet = vec![0x45, 0, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    packet.extend(from.into_iter().chain(to));
    packet.extend(payload);
    packet
}

fn octets(captured: &Captured) -> [[u8; 4]; 2] {
    let addresses = captured.packet.addresses;
    [addresses.from(), addresses.to()].map(|one| match one {
        std::net::IpAddr::V4(address) => address.octets(),
        std::net::IpAddr::V6(_) => panic!("IPv4"),
    })
}

/// A pcap file of raw IP with these packets.
fn pcap(packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(u32::to_le_bytes(word));
    }
    for (micros, packet) in packets {
        let length = packet.len() as u32;
        let [seconds, rest] = [micros / 1_000_000, micros % 1_000_000].map(|part| part as u32);
        for word in [seconds, rest, length, length] {
            file.extend(u32::to_le_bytes(word));
        }
        file.extend(packet);
    }
    file
}

/// No full segment gets through, and a router answers each with the MTU of its next link, or with
/// that of a packet from another port.
fn discarded(port_offset: u8) -> String {
    let mut script = Script::opened(1);
    for at in [0, 300, 900, 2100, 4500] {
        script.data(RTT + at, 1, MSS);
    }
    let mut packets = Vec::new();
    for captured in &script.packets {
        let (at, addresses) = (captured.packet.at.nanos() / 1000, octets(captured));
        let segment = &captured.packet.segment;
        let tcp = segment.emit(captured.packet.addresses, Payload::Zeros).to_vec();
        let mut payload = tcp.clone();
        payload.resize(tcp.len() + segment.len as usize, 0);
        packets.push((at, ip(6, addresses, &payload)));
        if segment.len > 0 && !segment.flags.has(Flags::SYN) {
            let mut icmp = vec![3, 4, 0, 0, 0, 0, 0x02, 0x58];
            icmp.extend(ip(6, addresses, &tcp[..8]));
            icmp[8 + 20 + 1] += port_offset;
            packets.push((at + 100, ip(1, [[10, 0, 0, 254], addresses[0]], &icmp)));
        }
    }
    let Ok(document) = diagnose::<_, Infallible>(&pcap(&packets)[..], |_| Ok(()));
    assert_eq!(document.error, None);
    text(&document)
}

#[test]
fn a_sender_that_ignores_the_mtu_of_a_router_is_named() {
    let text = discarded(0);
    assert!(text.contains("10.0.0.254 says that its MTU is 600 (ICMP), and the sender"), "{text}");
    assert!(!text.contains("no ICMP message"), "{text}");
}

#[test]
fn a_message_about_another_connection_says_nothing() {
    let text = discarded(1);
    assert!(text.contains("looks like that, if no ICMP message about it arrives"), "{text}");
    assert!(!text.contains("10.0.0.254"), "{text}");
}
