//! Events of a QUIC log diagnosed per second: a transfer in one direction, an acknowledgment for
//! every two packets, one packet in a hundred declared lost and acknowledged later.

use std::convert::Infallible;
use std::fmt::Write;

use criterion::{Criterion, Throughput};
use rtolab_qlog::diagnose;

const PACKETS: u64 = 100_000;

/// Packets from the declared loss of one to the acknowledgment that names it.
const LATE: u64 = 20;

/// Packets from a packet to its acknowledgment.
const IN_FLIGHT: u64 = 40;

fn event(log: &mut String, at_ms: f64, name: &str, data: &str) {
    let _ = writeln!(log, "\u{1e}{{\"time\":{at_ms},\"name\":\"{name}\",\"data\":{{{data}}}}}");
}

fn ranges(upto: u64) -> String {
    let missing = upto / 100 * 100;
    if missing > 0 && upto > missing && upto - missing < LATE {
        format!("[[{},{}],[{},{upto}]]", missing.saturating_sub(200), missing - 1, missing + 1)
    } else {
        format!("[[{},{upto}]]", upto.saturating_sub(200))
    }
}

/// The log, and how many events it has.
fn log() -> (String, u64) {
    let mut log = String::from(
        "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{\"vantage_point\":\
         {\"type\":\"server\"},\"common_fields\":{\"ODCID\":\"ab\"}}}\n",
    );
    let mut events = 0;
    for number in 0..PACKETS {
        let at_ms = number as f64 / 4.0;
        let header = format!("\"packet_type\":\"1RTT\",\"packet_number\":{number}");
        let frame = format!(
            "\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":{},\"length\":1000",
            number * 1000
        );
        let data =
            format!("\"header\":{{{header}}},\"raw\":{{\"length\":1040}},\"frames\":[{{{frame}}}]");
        event(&mut log, at_ms, "transport:packet_sent", &data);
        events += 1;
        let Some(acked) = number.checked_sub(IN_FLIGHT) else { continue };
        if acked % 2 == 1 {
            let data = format!(
                "\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{acked}}},\"raw\":\
                 {{\"length\":40}},\"frames\":[{{\"frame_type\":\"ack\",\"acked_ranges\":{}}}]",
                ranges(acked)
            );
            event(&mut log, at_ms, "transport:packet_received", &data);
            let data = format!(
                "\"congestion_window\":{},\"bytes_in_flight\":41600,\"smoothed_rtt\":10.125,\
                 \"latest_rtt\":10.25",
                60_000 + number
            );
            event(&mut log, at_ms, "recovery:metrics_updated", &data);
            events += 2;
        }
        if acked % 100 == 3 && acked > 100 {
            let data = format!(
                "\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{}}},\
                 \"trigger\":\"reordering_threshold\"",
                acked - 3
            );
            event(&mut log, at_ms, "recovery:packet_lost", &data);
            events += 1;
        }
    }
    (log, events)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let (log, events) = log();
    let mut group = criterion.benchmark_group("qlog");
    group.throughput(Throughput::Elements(events)).sample_size(10);
    group.bench_function("events", |bencher| {
        bencher.iter(|| {
            let Ok(document) = diagnose::<_, Infallible>(log.as_bytes(), |_| Ok(()));
            assert_eq!(document.summary.events, events);
            document
        });
    });
    group.finish();
    criterion.final_summary();
}
