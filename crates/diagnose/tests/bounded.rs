//! Tests that the memory of a diagnosis is bounded for every capture.

mod memory;
#[path = "it/packets/mod.rs"]
mod packets;

use memory::resident_memory;
use packets::packet;
use rtolab_diagnose::Diagnosis;
use rtolab_tcp::Flags;

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
