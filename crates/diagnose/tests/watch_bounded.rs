//! A watch holds its limits, whatever passes.

use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use rtolab_capture::{Captured, CapturedPacket, Checksum, RUN_START};
use rtolab_diagnose::{Watch, WatchLimits, WatchTotals};
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions};
use rtolab_time::Duration;

/// Optimized code tries millions of connections and of packets.
const CONNECTIONS: u32 = if cfg!(debug_assertions) { 100_000 } else { 4_000_000 };
const SEGMENTS: u64 = if cfg!(debug_assertions) { 200_000 } else { 10_000_000 };
/// In microseconds.
const BETWEEN: u64 = 10;

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
        at: RUN_START + Duration::from_micros(number * BETWEEN),
        addresses: Addresses::V4 { from, to: Ipv4Addr::new(192, 0, 2, 1) },
        identification: number as u16,
        codepoint: Codepoint::default(),
        segment,
        comment: None,
    };
    Captured { number, packet, checksum: Checksum::Cut, syn_fingerprint: None }
}

/// The resident memory of the process in MB; `None` where no file says it.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1000)
}

/// Watches these packets; returns the totals, and by how many MB the memory grew.
fn watched(limits: WatchLimits, packets: impl Iterator<Item = Captured>) -> (WatchTotals, u64) {
    let (mut watch, before) = (Watch::new(limits), memory().unwrap_or(0));
    let mut most = 0;
    for (captured, number) in packets.zip(0_u64..) {
        watch.packet(&captured);
        while watch.poll().is_some() {}
        if number % 10_000 == 0 {
            assert!(watch.totals().open <= limits.connections as u64);
            most = most.max(memory().unwrap_or(0));
        }
    }
    (watch.totals(), most.saturating_sub(before))
}

/// One after the other, because they measure the memory of the process.
#[test]
fn memory_is_bounded() {
    many_connections();
    many_segments_without_acks();
    reports_that_nobody_takes();
}

fn many_connections() {
    let limits = WatchLimits { connections: 2000, ..WatchLimits::default() };
    let syns =
        (0..CONNECTIONS).map(|client| packet(u64::from(client) + 1, client, Flags::SYN, (1, 0)));
    let (totals, grown) = watched(limits, syns);
    assert_eq!([totals.packets, totals.connections], [u64::from(CONNECTIONS); 2]);
    assert_eq!(totals.evicted, totals.connections - totals.open);
    assert!(grown < 64, "{grown} MB");
}

/// Twenty connections send without an answer, and every tenth segment is a retransmission.
fn many_segments_without_acks() {
    let limits = WatchLimits { memory: 8 << 20, ..WatchLimits::default() };
    let segments = (0..SEGMENTS).map(|number| {
        let (client, sent) = (number % 20, (number / 20) as u32);
        let seq = 1 + 100 * if sent % 10 == 9 { sent - 5 } else { sent };
        packet(number + 1, client as u32, Flags::ACK, (seq, 100))
    });
    let (totals, grown) = watched(limits, segments);
    assert_eq!(totals.packets, SEGMENTS);
    assert!(totals.evicted > 0, "{totals:?}");
    let count: u64 = totals.retransmissions.values().flat_map(|of| of.values()).sum();
    assert!(count > SEGMENTS / 20, "{totals:?}");
    assert!(grown < 64, "{grown} MB");
}

fn reports_that_nobody_takes() {
    let limits = WatchLimits { connections: 10, ..WatchLimits::default() };
    let (mut watch, before) = (Watch::new(limits), memory().unwrap_or(0));
    // Each connection retransmits once, and ends by the limit.
    for client in 0..40_000_u32 {
        for part in 0..2 {
            let number = u64::from(2 * client + part + 1);
            watch.packet(&packet(number, client, Flags::ACK, (1, 100)));
        }
    }
    let totals = watch.totals();
    assert!(totals.untold > 20_000, "{totals:?}");
    let count: u64 = totals.retransmissions.values().flat_map(|of| of.values()).sum();
    let told = std::iter::from_fn(|| watch.poll()).map(|one| one.retransmissions.len() as u64);
    assert_eq!(told.sum::<u64>() + totals.untold, count);
    let grown = memory().unwrap_or(0).saturating_sub(before);
    assert!(grown < 128, "{grown} MB");
}
