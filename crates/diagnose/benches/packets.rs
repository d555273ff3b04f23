//! Packets diagnosed per second: parallel transfers, each data segment acknowledged, one in a
//! hundred retransmitted.
//!
//! `cargo bench -p rtolab-diagnose --bench packets -- write FILE` writes the capture, and
//! `... -- read FILE` diagnoses it once and prints `0 run_s packets 0`.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Instant;

use arrayvec::ArrayVec;
use criterion::{Criterion, Throughput};
use rtolab_capture::{CapturedPacket, Interface, RUN_START, Writer};
use rtolab_diagnose::diagnose;
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
fn capture() -> (Vec<u8>, u64) {
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

/// Diagnoses a file once; how many packets it has.
fn read(path: &Path) -> u64 {
    let file = std::fs::File::open(path).expect("a capture");
    let Ok(document) = diagnose::<_, Infallible>(file, |_| Ok(()));
    document.summary.packets
}

fn main() {
    // Cargo adds `--bench`.
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    match &words[..] {
        [command, path] if command == "write" => {
            std::fs::write(path, capture().0).expect("a file that can be written");
        }
        [command, path] if command == "read" => {
            let begin = Instant::now();
            let packets = read(Path::new(path));
            println!("0 {:.6} {packets} 0", begin.elapsed().as_secs_f64());
        }
        _ => measure(),
    }
}

fn measure() {
    let mut criterion = Criterion::default().configure_from_args();
    let (file, count) = capture();
    let mut group = criterion.benchmark_group("diagnose");
    group.throughput(Throughput::Elements(count)).sample_size(10);
    group.bench_function("packets", |bencher| {
        bencher.iter(|| {
            let Ok(document) = diagnose::<_, Infallible>(&file[..], |_| Ok(()));
            assert_eq!(document.summary.packets, count);
            document
        });
    });
    group.finish();
    criterion.final_summary();
}
