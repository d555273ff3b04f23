//! Tests with damaged, truncated and hostile captures. The packets before the damage are diagnosed,
//! and nothing panics.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use proptest::prelude::*;
use rtolab_capture::{Captured, CapturedPacket, Interface, RUN_START, Writer};
use rtolab_diagnose::{Diagnosis, Document, diagnose};
use rtolab_tcp::wire::{Addresses, Ports, SackBlock, WireSegment};
use rtolab_tcp::{Flags, SynOptions, Timestamps};
use rtolab_time::{Duration, Instant};

fn read(file: &[u8]) -> Document {
    let Ok(document) = diagnose::<_, Infallible>(file, |_| Ok(()));
    document
}

/// A segment of one of two connections. Its numbers are small, large or close to each other.
fn segment() -> impl Strategy<Value = (bool, WireSegment)> {
    let number = prop_oneof![0_u32..20_000, any::<u32>(), 0xffff_f000..=u32::MAX];
    let numbers = (number.clone(), number.clone(), prop_oneof![0_u32..3000, Just(1), Just(0)]);
    let bits = prop_oneof![Just(0x10_u16), Just(0x18), Just(0x02), Just(0x12), 0_u16..0x40];
    let sack = prop::collection::vec((number.clone(), number), 0..4);
    let stamps = prop::option::of((any::<u32>(), any::<u32>()));
    (any::<bool>(), any::<bool>(), numbers, bits, sack, stamps, any::<u16>()).prop_map(
        |(forward, other, (seq, ack, len), bits, sack, stamps, window)| {
            let ports = Ports { from: 1000 + u16::from(other), to: 80 };
            let segment = WireSegment {
                ports: if forward { ports } else { ports.reversed() },
                seq,
                ack,
                len,
                window,
                flags: Flags::from_bits(bits),
                syn: SynOptions {
                    mss: Some(1460),
                    window_scale: Some(14),
                    sack_permitted: true,
                    ..SynOptions::default()
                },
                timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                sack: sack.into_iter().map(|(start, end)| SackBlock { start, end }).collect(),
            };
            (forward, segment)
        },
    )
}

fn captured(number: u64, at: Instant, (forward, segment): (bool, WireSegment)) -> Captured {
    let addresses =
        Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 0, 2) };
    let packet = CapturedPacket {
        at,
        addresses: if forward { addresses } else { addresses.reversed() },
        identification: number as u16,
        segment,
        comment: None,
        codepoint: rtolab_tcp::Codepoint::default(),
    };
    Captured { number, packet, ..Captured::empty() }
}

/// A small capture of one connection.
fn capture() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Interface::named("x")).expect("a vector");
    for number in 0..50_u64 {
        let segment = WireSegment {
            ports: Ports { from: 1000, to: 80 },
            seq: 1 + 100 * (number as u32 % 40),
            ack: 1,
            len: 100,
            window: 1000,
            flags: Flags::ACK,
            syn: SynOptions::default(),
            timestamps: None,
            sack: ArrayVec::new(),
        };
        let at = RUN_START + Duration::from_millis(number * 20);
        writer.packet(&captured(number, at, (true, segment)).packet).expect("a vector");
    }
    writer.finish().expect("a vector")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_segments_at_any_times_are_diagnosed(
        segments in prop::collection::vec((segment(), prop_oneof![0_u64..1_000_000_000, any::<u64>()]), 1..200)
    ) {
        let mut diagnosis = Diagnosis::new();
        let mut at = 0_u64;
        for (number, (segment, later)) in segments.into_iter().enumerate() {
            at = at.wrapping_add(later);
            diagnosis.packet(&captured(number as u64 + 1, Instant::from_nanos(at), segment));
        }
        let summary = diagnosis.finish();
        let reports: Vec<_> = std::iter::from_fn(|| diagnosis.poll()).collect();
        prop_assert_eq!(summary.connections, reports.len() as u64);
        for resent in reports.iter().flat_map(|report| &report.retransmissions) {
            prop_assert!((0.0..=1.0).contains(&resent.confidence));
        }
    }

    #[test]
    fn packets_before_the_damage_are_diagnosed(at in 0_usize..4000, byte in any::<u8>()) {
        let mut file = capture();
        let at = at % file.len();
        file[at] = byte;
        let document = read(&file);
        prop_assert!(document.error.is_some() || document.summary.packets <= 50);
    }

    #[test]
    fn a_truncated_capture_is_diagnosed_with_an_error(length in 0_usize..4000) {
        let file = capture();
        let whole = read(&file);
        prop_assert!(whole.error.is_none());
        let length = length % file.len();
        let cut = read(&file[..length]);
        prop_assert!(cut.summary.packets < whole.summary.packets);
        if let Some(error) = &cut.error {
            prop_assert!(length == 0 || error.contains("byte") || error.contains("pcap"), "{}", error);
        }
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        read(&bytes);
    }
}

/// The capture has only the data of the flow. The test takes too long if the time is not bounded.
#[test]
fn a_flow_without_acknowledgments_needs_bounded_memory_and_time() {
    let mut diagnosis = Diagnosis::new();
    for number in 0..300_000_u64 {
        let segment = WireSegment {
            ports: Ports { from: 1000, to: 80 },
            seq: (number as u32).wrapping_mul(1000),
            ack: 1,
            len: 1000,
            window: 1000,
            flags: Flags::ACK,
            syn: SynOptions::default(),
            timestamps: None,
            sack: ArrayVec::new(),
        };
        let at = RUN_START + Duration::from_micros(number * 100);
        diagnosis.packet(&captured(number + 1, at, (true, segment)));
    }
    assert_eq!(diagnosis.finish().retransmissions, 0);
}
