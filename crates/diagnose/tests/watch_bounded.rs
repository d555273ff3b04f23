//! A watch stays within its limits for any traffic.

mod memory;
#[path = "it/packets/mod.rs"]
mod packets;

use memory::resident_memory;
use packets::packet;
use rtolab_capture::Captured;
use rtolab_diagnose::{Watch, WatchLimits, WatchTotals};
use rtolab_tcp::Flags;

/// Optimized builds try millions of connections and packets.
const CONNECTIONS: u32 = if cfg!(debug_assertions) { 100_000 } else { 4_000_000 };
const SEGMENTS: u64 = if cfg!(debug_assertions) { 200_000 } else { 10_000_000 };

/// The resident memory in MB, 0 if it is unknown.
fn memory() -> u64 {
    resident_memory().unwrap_or(0) / 1000
}

/// Watches these packets. Returns the totals and the growth of the memory in MB.
fn watch(limits: WatchLimits, packets: impl Iterator<Item = Captured>) -> (WatchTotals, u64) {
    let (mut watch, before) = (Watch::new(limits), memory());
    let mut peak = 0;
    for (captured, number) in packets.zip(0_u64..) {
        watch.packet(&captured);
        while watch.poll().is_some() {}
        if number % 10_000 == 0 {
            assert!(watch.totals().open <= limits.connections as u64);
            peak = peak.max(memory());
        }
    }
    (watch.totals(), peak.saturating_sub(before))
}

/// The tests run one after the other, because they measure the memory of the process.
#[test]
fn memory_is_bounded() {
    many_connections();
    many_segments_without_acks();
    reports_that_are_not_polled();
}

fn many_connections() {
    let limits = WatchLimits { connections: 2000, ..WatchLimits::default() };
    let syns =
        (0..CONNECTIONS).map(|client| packet(u64::from(client) + 1, client, Flags::SYN, (1, 0)));
    let (totals, grown) = watch(limits, syns);
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
    let (totals, grown) = watch(limits, segments);
    assert_eq!(totals.packets, SEGMENTS);
    assert!(totals.evicted > 0, "{totals:?}");
    let count: u64 = totals.retransmissions.values().flat_map(|of| of.values()).sum();
    assert!(count > SEGMENTS / 20, "{totals:?}");
    assert!(grown < 64, "{grown} MB");
}

fn reports_that_are_not_polled() {
    let limits = WatchLimits { connections: 10, ..WatchLimits::default() };
    let (mut watch, before) = (Watch::new(limits), memory());
    // Each connection retransmits once, and the limit ends it.
    for client in 0..40_000_u32 {
        for part in 0..2 {
            let number = u64::from(2 * client + part + 1);
            watch.packet(&packet(number, client, Flags::ACK, (1, 100)));
        }
    }
    let totals = watch.totals();
    assert!(totals.unreported > 20_000, "{totals:?}");
    let count: u64 = totals.retransmissions.values().flat_map(|of| of.values()).sum();
    let reported = std::iter::from_fn(|| watch.poll()).map(|one| one.retransmissions.len() as u64);
    assert_eq!(reported.sum::<u64>() + totals.unreported, count);
    let grown = memory().saturating_sub(before);
    assert!(grown < 128, "{grown} MB");
}
