//! Packets of many connections.

use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use rtolab_capture::{Captured, CapturedPacket, RUN_START};
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions};
use rtolab_time::Duration;

/// The time from one packet to the next, in microseconds.
const PACKET_INTERVAL_US: u64 = 10;

/// The packet with this number, which a client sends to a server.
pub fn packet(number: u64, client: u32, flags: Flags, (seq, len): (u32, u32)) -> Captured {
    let from = Ipv4Addr::from(0x0a00_0000 + client);
    let segment = WireSegment {
        ports: Ports { from: 1000, to: 80 },
        seq,
        ack: 1,
        len,
        window: 1000,
        flags,
        syn: SynOptions::default(),
        timestamps: None,
        sack: ArrayVec::new(),
    };
    let packet = CapturedPacket {
        at: RUN_START + Duration::from_micros(number * PACKET_INTERVAL_US),
        addresses: Addresses::V4 { from, to: Ipv4Addr::new(192, 0, 2, 1) },
        identification: number as u16,
        codepoint: Codepoint::default(),
        segment,
        comment: None,
    };
    Captured { number, packet, ..Captured::empty() }
}
