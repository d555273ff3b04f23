//! Packets of the tests.

use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use rtolab_capture::{Captured, CapturedPacket, RUN_START};
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions};
use rtolab_time::{Duration, Instant};

/// The time from one packet to the next, in microseconds.
const PACKET_INTERVAL_US: u64 = 10;

/// A segment with these flags and its SEQ, ACK and payload length, from port 1000 to port 80.
pub fn segment(flags: Flags, (seq, ack, len): (u32, u32, u32)) -> WireSegment {
    WireSegment {
        ports: Ports { from: 1000, to: 80 },
        seq,
        ack,
        len,
        window: 60_000,
        flags,
        syn: SynOptions::default(),
        timestamps: None,
        sack: ArrayVec::new(),
    }
}

/// The packet with this segment, which the client sends to the server, or the other way.
pub fn sent(is_of_client: bool, at: Instant, segment: WireSegment) -> CapturedPacket {
    let addresses =
        Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(192, 0, 2, 1) };
    let packet = CapturedPacket {
        at,
        addresses,
        identification: 0,
        codepoint: Codepoint::default(),
        segment,
        comment: None,
    };
    if is_of_client { packet } else { reversed(packet) }
}

/// The packet in the other direction.
pub fn reversed(mut packet: CapturedPacket) -> CapturedPacket {
    packet.addresses = packet.addresses.reversed();
    packet.segment.ports = packet.segment.ports.reversed();
    packet
}

/// The packet with this number, which a client sends to a server.
pub fn packet(number: u64, client: u32, flags: Flags, (seq, len): (u32, u32)) -> Captured {
    let at = RUN_START + Duration::from_micros(number * PACKET_INTERVAL_US);
    let from = Ipv4Addr::from(0x0a00_0000 + client);
    let packet = CapturedPacket {
        addresses: Addresses::V4 { from, to: Ipv4Addr::new(192, 0, 2, 1) },
        identification: number as u16,
        ..sent(true, at, WireSegment { window: 1000, ..segment(flags, (seq, 1, len)) })
    };
    Captured { number, packet, ..Captured::empty() }
}
