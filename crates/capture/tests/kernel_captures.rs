//! Comparison of the reader with tshark on captures of a Linux kernel.

mod tool;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rtolab_capture::{Captured, Checksum, Reader, unpacked};
use rtolab_tcp::wire::Addresses;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures");

/// All compressed captures in and below a folder.
fn captures(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .flat_map(|path| if path.is_dir() { captures(&path) } else { vec![path] })
        .filter(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".pcap.gz") || name.ends_with(".pcapng.gz")
        })
        .collect();
    found.sort();
    found
}

/// tshark's fields of each packet.
const FIELDS: [&str; 20] = [
    "frame.number",
    "frame.time_epoch",
    "ip.src",
    "ipv6.src",
    "ip.dst",
    "ip.id",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.len",
    "tcp.window_size_value",
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "tcp.checksum.status",
];

/// The same fields from the reader.
fn fields(captured: &Captured) -> [String; FIELDS.len()] {
    let Captured { number, packet, checksum, .. } = captured;
    let segment = &packet.segment;
    let (from, to) = (packet.addresses.from(), packet.addresses.to());
    let at = packet.at.nanos();
    let is_v4 = matches!(packet.addresses, Addresses::V4 { .. });
    let only = |wanted: bool, text: String| if wanted { text } else { String::new() };
    [
        number.to_string(),
        format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000),
        only(is_v4, from.to_string()),
        only(!is_v4, from.to_string()),
        only(is_v4, to.to_string()),
        only(is_v4, format!("{:#06x}", packet.identification)),
        segment.ports.from.to_string(),
        segment.ports.to.to_string(),
        segment.seq.to_string(),
        segment.ack.to_string(),
        format!("{:#06x}", segment.flags.bits()),
        segment.len.to_string(),
        segment.window.to_string(),
        list(segment.syn.mss),
        list(segment.syn.window_scale),
        list(segment.timestamps.map(|timestamps| timestamps.value)),
        list(segment.timestamps.map(|timestamps| timestamps.echo)),
        list(segment.sack.iter().map(|block| block.start)),
        list(segment.sack.iter().map(|block| block.end)),
        match checksum {
            Checksum::Bad => "0".into(),
            Checksum::Good => "1".into(),
            Checksum::Cut | Checksum::Unverified => "2".into(),
        },
    ]
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(",")
}

#[test]
fn tshark_reads_the_same_packets() {
    let files = captures(Path::new(FOLDER));
    assert_eq!(files.len(), 26, "captures in {FOLDER}");
    for path in files {
        // An ICMP error quotes the beginning of a segment, and tshark dissects that too.
        let Some(rows) = tool::tshark(&path, "tcp && !icmp && !icmpv6", &FIELDS) else { return };
        let file = File::open(&path).expect("a file");
        let reader = Reader::new(unpacked(file).expect("gzip")).expect("a capture");
        let packets: Vec<Captured> = reader.map(|packet| packet.expect("whole")).collect();
        for (row, captured) in rows.iter().zip(&packets) {
            assert_eq!(row[..], fields(captured), "{path:?}");
        }
        assert_eq!(packets.len(), rows.len(), "TCP packets in {path:?}");
    }
}
