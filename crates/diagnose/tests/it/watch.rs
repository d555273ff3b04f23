//! A watch of packets has the same verdicts as a diagnosis of their capture.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rtolab_capture::{Captured, Reader, unpacked};
use rtolab_diagnose::{ConnectionReport, SettledRow, Watch, WatchLimits, diagnose};
use rtolab_tcp::Flags;
use rtolab_time::{Duration, Instant};

use crate::packets::{packet, reversed};

fn captures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let mut found: Vec<PathBuf> = [root.clone(), root.join("kernel")]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains(".pcap"))
        .collect();
    found.sort();
    found
}

fn packets(path: &Path) -> Vec<Captured> {
    let input = unpacked(File::open(path).expect("a capture")).expect("a capture");
    let reader = Reader::new(input).expect("a capture").without_checksums().in_order();
    reader.map(|captured| captured.expect("a packet")).collect()
}

/// The reports of a watch of these packets. Time advances after the last packet.
fn watch_reports(packets: &[Captured]) -> Vec<ConnectionReport> {
    let mut watch = Watch::new(WatchLimits::default());
    let mut reports = Vec::new();
    for (captured, number) in packets.iter().zip(1..) {
        watch.packet(&Captured { number, ..captured.clone() });
        reports.extend(std::iter::from_fn(|| watch.poll()));
    }
    if let Some(last) = packets.last() {
        watch.advance(last.packet.at + Duration::from_secs(30));
    }
    watch.finish();
    reports.extend(std::iter::from_fn(|| watch.poll()));
    reports
}

/// The verdicts on each retransmission, by frame.
type Verdicts = BTreeMap<u64, (String, String, Option<String>)>;

fn verdicts<'a>(reports: impl Iterator<Item = &'a ConnectionReport>) -> Verdicts {
    let mut verdicts = Verdicts::new();
    for report in reports {
        for one in &report.retransmissions {
            let said = (one.trigger.name().into(), one.verdict.name().into(), None);
            let before = verdicts.insert(one.frame, said);
            assert!(before.is_none(), "{} is reported twice", one.frame);
        }
        for timeout in &report.timeouts {
            let said = verdicts.get_mut(&timeout.frame).expect("the retransmission");
            said.2 = Some(timeout.class.name().into());
        }
    }
    verdicts
}

#[test]
fn verdicts_are_those_of_the_capture() {
    let (mut all, mut different) = (0, 0);
    for path in captures() {
        let input = unpacked(File::open(&path).expect("a capture")).expect("a capture");
        let Ok(document) = diagnose::<_, Infallible>(input, |_| Ok(()));
        let of_file = verdicts(document.connections.iter());
        let packets = packets(&path);
        let numbers: Vec<u64> = packets.iter().map(|one| one.number).collect();
        let reports = watch_reports(&packets);
        let live: Verdicts = verdicts(reports.iter())
            .into_iter()
            .map(|(frame, said)| (numbers[frame as usize - 1], said))
            .collect();
        assert_eq!(live.len(), of_file.len(), "{}", path.display());
        all += live.len();
        for (frame, said) in &live {
            if of_file[frame] != *said {
                different += 1;
                println!("{} {frame}: {said:?}, not {:?}", path.display(), of_file[frame]);
            }
        }
    }
    println!("{different} of {all} differ");
    assert!(all > 100);
    assert_eq!(different, 0);
}

/// The watch's clock runs 200 ms behind the packets; the reported times are those of the packets.
#[test]
fn times_are_those_of_the_packets() {
    let late = Duration::from_millis(200);
    for path in captures().iter().take(3) {
        let packets = packets(path);
        let mut watch = Watch::new(WatchLimits::default());
        for (captured, number) in packets.iter().zip(1..) {
            watch.packet(&Captured { number, ..captured.clone() });
            let at = captured.packet.at;
            watch.advance(Instant::from_nanos(at.nanos() - late.nanos()));
        }
        watch.finish();
        let began = packets[0].packet.at.secs_f64();
        let found: Vec<_> = std::iter::from_fn(|| watch.poll()).collect();
        for line in found.iter().flat_map(|report| report.lines(began)) {
            let SettledRow::Retransmission(row) = &line.row else { continue };
            let captured = &packets[row.frame as usize - 1];
            let away = line.at - captured.packet.at.secs_f64();
            assert!(away.abs() < 1e-5, "{} {}: {away} s", path.display(), row.frame);
        }
    }
}

/// The packets of a connection that both ends close, or that a RST ends.
fn closed(client: u32, has_reset: bool) -> Vec<Captured> {
    let at = u64::from(client) * 10;
    let fin = Flags::FIN | Flags::ACK;
    let mut packets = vec![packet(at, client, Flags::SYN, (0, 0))];
    if has_reset {
        packets.push(packet(at + 1, client, Flags::RST, (1, 0)));
    } else {
        packets.push(packet(at + 1, client, fin, (1, 0)));
        let last = packet(at + 2, client, fin, (1, 0));
        packets.push(Captured { packet: reversed(last.packet.clone()), ..last });
    }
    packets
}

#[test]
fn closed_connections_are_not_open_and_leave_first() {
    let limits = WatchLimits { connections: 100, ..WatchLimits::default() };
    let mut watch = Watch::new(limits);
    for client in 0..50 {
        watch.packet(&packet(u64::from(client), client, Flags::SYN, (0, 0)));
    }
    assert_eq!(watch.totals().open, 50);
    for client in 50..5000 {
        for captured in closed(client, client % 2 == 0) {
            watch.packet(&captured);
        }
        let totals = watch.totals();
        assert_eq!((totals.open, totals.evicted), (50, 0), "after {client}");
    }
    // Only now open ones are too many.
    for client in 5000..5051 {
        watch.packet(&packet(u64::from(client) * 10, client, Flags::SYN, (0, 0)));
    }
    let totals = watch.totals();
    assert_eq!((totals.open + totals.evicted, totals.evicted), (101, 25));
}

#[test]
fn ports_that_are_used_again_count_as_open_once() {
    let mut watch = Watch::new(WatchLimits::default());
    for round in 0..3000 {
        for captured in closed(1, true) {
            let number = captured.number + round * 10;
            watch.packet(&packet(number, 1, captured.packet.segment.flags, (round as u32, 0)));
        }
        assert_eq!(watch.totals().open, 0);
    }
    watch.packet(&packet(40_000, 1, Flags::SYN, (0, 0)));
    let totals = watch.totals();
    assert_eq!((totals.connections, totals.open, totals.evicted), (3001, 1, 0));
}

#[test]
fn a_connection_without_incidents_has_no_report() {
    let data = |number: u64, seq| packet(number, 7, Flags::ACK, (seq, 100));
    let mut packets = vec![packet(1, 7, Flags::SYN, (0, 0)), data(2, 1), data(3, 101)];
    assert!(watch_reports(&packets).is_empty());
    packets.push(data(4, 101));
    assert_eq!(watch_reports(&packets).len(), 1, "a retransmission");
}
