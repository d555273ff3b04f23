//! Tests that the memory of a diagnosis is bounded for every capture.

use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use rtolab_capture::{Captured, CapturedPacket, Checksum, RUN_START};
use rtolab_diagnose::Diagnosis;
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions};
use rtolab_time::Duration;

fn packet(number: u64, client: u32, flags: Flags, (seq, len): (u32, u32)) -> Captured {
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
        at: RUN_START + Duration::from_micros(number * 100),
        addresses: Addresses::V4 { from, to: Ipv4Addr::new(192, 0, 2, 1) },
        identification: number as u16,
        codepoint: Codepoint::default(),
        segment,
        comment: None,
    };
    Captured { number, packet, checksum: Checksum::Cut, syn_fingerprint: None }
}

/// The resident memory of the process in kB; `None` if the system does not report it.
fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The tests run one after the other, because they measure the memory of the process.
#[test]
fn memory_is_bounded() {
    connections_beyond_the_limit_are_given_up();
    the_memory_of_a_segment_sent_many_times_is_bounded();
}

fn connections_beyond_the_limit_are_given_up() {
    let mut diagnosis = Diagnosis::new();
    for client in 0..160_000_u32 {
        diagnosis.packet(&packet(u64::from(client) + 1, client, Flags::SYN, (1, 0)));
        while diagnosis.poll().is_some() {}
    }
    let used = resident_memory();
    let summary = diagnosis.finish();
    assert_eq!(summary.connections, 160_000);
    assert!(summary.given_up >= 160_000 - (1 << 17), "{summary:?}");
    assert!(used.is_none_or(|used| used < 1_500_000), "{used:?} kB");
}

fn the_memory_of_a_segment_sent_many_times_is_bounded() {
    let mut diagnosis = Diagnosis::new();
    diagnosis.packet(&packet(1, 1, Flags::ACK, (1, 1000)));
    let mut early = None;
    for number in 2..80_000_u64 {
        diagnosis.packet(&packet(number, 1, Flags::ACK, (1, 1000)));
        if number == 20_000 {
            early = resident_memory();
        }
    }
    let grown = resident_memory().zip(early).map(|(late, early)| late.saturating_sub(early));
    let report = (diagnosis.finish(), diagnosis.poll().expect("a connection"));
    assert_eq!(report.0.packets, 79_999);
    assert!(!report.1.retransmissions.is_empty());
    assert!(grown.is_none_or(|grown| grown < 200_000), "{grown:?} kB");
}
