//! A capture of parallel transfers, each data segment acknowledged, one in a hundred retransmitted.

use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use rtolab_capture::{CapturedPacket, Interface, RUN_START, Writer};
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Flags, SynOptions, Timestamps};
use rtolab_time::Duration;

const FLOWS: u32 = 100;
const ROUNDS: u32 = 500;
const WINDOW: u32 = 10;

fn packet(flow: u32, segment: (u32, u32, u32), tick: u64) -> CapturedPacket {
    let (seq, ack, len) = segment;
    let back = len == 0;
    let addresses =
        Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 0, 2) };
    let ports = Ports { from: 10_000 + flow as u16, to: 80 };
    let now = tick as u32 / 1000;
    CapturedPacket {
        at: RUN_START + Duration::from_micros(tick),
        addresses: if back { addresses.reversed() } else { addresses },
        identification: tick as u16,
        segment: WireSegment {
            ports: if back { ports.reversed() } else { ports },
            seq,
            ack,
            len,
            window: 65_535,
            flags: Flags::ACK,
            syn: SynOptions::default(),
            timestamps: Some(Timestamps { value: now, echo: now }),
            sack: ArrayVec::new(),
        },
        comment: None,
        codepoint: rtolab_tcp::Codepoint::default(),
    }
}

/// The capture, and how many packets it has.
pub fn capture() -> (Vec<u8>, u64) {
    let interface = Interface { snaplen: Some(96), ..Interface::named("bench") };
    let mut writer = Writer::new(Vec::new(), &interface).expect("a vector");
    let (mut tick, mut count) = (0_u64, 0_u64);
    let mut put = |packet: &CapturedPacket| {
        count += 1;
        writer.packet(packet).expect("a vector");
    };
    for round in 0..ROUNDS {
        for flow in 0..FLOWS {
            for number in 0..WINDOW {
                tick += 1;
                let seq = 1 + (round * WINDOW + number) * 1448;
                put(&packet(flow, (seq, 1, 1448), tick));
                if (round * WINDOW + number) % 100 == 99 {
                    put(&packet(flow, (seq, 1, 1448), tick + 300));
                }
            }
        }
        for flow in 0..FLOWS {
            for number in 1..=WINDOW {
                tick += 1;
                put(&packet(flow, (1, 1 + (round * WINDOW + number) * 1448, 0), tick));
            }
        }
    }
    (writer.finish().expect("a vector"), count)
}
