//! Tests that tshark and tcptrace read the written capture of a small transfer correctly.

mod tool;

use std::fs;
use std::path::PathBuf;

use rtolab_capture::{CapturedPacket, Conversation, End, Interface, RUN_START, Writer};
use rtolab_tcp::wire::{Addresses, Ports};
use rtolab_tcp::{Flags, Segment, Seq, SynOptions, Timestamps};
use rtolab_time::Duration;

const MSS: u32 = 1000;
const UNNEEDED: &str = "unneeded retransmission";
/// The initial sequence numbers of client and server. The first pair does not wrap. In the second
/// pair the client's wraps within its third segment, the server's at its first byte.
const ISNS: [[u32; 2]; 2] = [[1000, 2_000_000_000], [0xffff_f600, 0xffff_ffff]];

/// A transfer, captured at the client.
struct Transfer {
    timestamps: bool,
    isn: [u32; 2],
    packets: Vec<CapturedPacket>,
    conversation: Conversation,
}

impl Transfer {
    /// With and without timestamps, with and without wraps.
    fn all() -> impl Iterator<Item = Self> {
        ISNS.into_iter().flat_map(|isn| [false, true].map(|timestamps| Self::new(timestamps, isn)))
    }

    /// Ten segments, each acknowledged. The second is lost and retransmitted on the third duplicate
    /// ACK; the ninth and tenth are late, so a timeout retransmits the ninth unnecessarily. Then
    /// both sides close the connection.
    fn new(timestamps: bool, isn: [u32; 2]) -> Self {
        let addresses = Addresses::V4 { from: [10, 0, 0, 1].into(), to: [10, 0, 1, 2].into() };
        let ports = Ports { from: 49_152, to: 5001 };
        let conversation = Conversation::new(addresses, ports, isn);
        let mut transfer = Self { timestamps, isn, packets: Vec::new(), conversation };
        transfer.open();
        for n in 1..=8 {
            transfer.data(100 + u64::from(n), n);
        }
        transfer.ack(201, 1, &[]);
        for n in 3..=8 {
            transfer.ack(200 + u64::from(n), 1, &[(3, n)]);
            if n == 5 {
                transfer.data(205, 2);
            }
        }
        transfer.ack(305, 8, &[]);
        transfer.data(305, 9);
        transfer.data(305, 10);
        transfer.data(1305, 9);
        transfer.packets.last_mut().expect("just sent").comment = Some(UNNEEDED.into());
        transfer.ack(1400, 9, &[]);
        transfer.ack(1401, 10, &[]);
        transfer.ack(1405, 10, &[(9, 9)]);
        transfer.close();
        transfer
    }

    fn open(&mut self) {
        let options = SynOptions {
            mss: Some(MSS as u16),
            window_scale: Some(7),
            sack_permitted: true,
            ..SynOptions::default()
        };
        for (at, from, flags) in
            [(0, End::Client, Flags::SYN), (100, End::Server, Flags::SYN | Flags::ACK)]
        {
            let mut segment = Segment::new(Seq::FIRST, 0, flags);
            segment.ack = Seq::FIRST + u32::from(from == End::Server);
            segment.set_syn_options(options);
            self.add_packet(at, from, segment);
        }
        self.add_packet(100, End::Client, answer(first_byte(1), first_byte(1)));
    }

    fn data(&mut self, at: u64, n: u32) {
        let mut segment = answer(first_byte(n), Seq::FIRST + 1);
        segment.len = MSS;
        self.add_packet(at, End::Client, segment);
    }

    /// Adds the ACK of all segments up to `n`, with SACK blocks of `blocks`.
    fn ack(&mut self, at: u64, n: u32, blocks: &[(u32, u32)]) {
        let mut segment = answer(Seq::FIRST + 1, first_byte(n + 1));
        if self.timestamps {
            segment.set_timestamps(stamps(at, segment.flags));
        }
        for &(first, last) in blocks {
            segment.push_sack(first_byte(first)..first_byte(last + 1));
        }
        self.add_packet(at, End::Server, segment);
    }

    fn close(&mut self) {
        let mut fin = answer(first_byte(11), Seq::FIRST + 1);
        fin.flags |= Flags::FIN;
        self.add_packet(1500, End::Client, fin);
        let mut fin_ack = answer(Seq::FIRST + 1, fin.end());
        fin_ack.flags |= Flags::FIN;
        self.add_packet(1600, End::Server, fin_ack);
        self.add_packet(1600, End::Client, answer(fin.end(), fin_ack.end()));
    }

    fn add_packet(&mut self, at: u64, from: End, mut segment: Segment) {
        segment.window = if segment.flags.has(Flags::SYN) { 60_000 } else { 1000 << 7 };
        if self.timestamps && segment.timestamps().is_none() {
            segment.set_timestamps(stamps(at, segment.flags));
        }
        let packet = self.conversation.packet(from, &segment);
        let at = RUN_START + Duration::from_nanos(at * 1_000_000);
        let identification = self.packets.len() as u16 + 1;
        self.packets.push(CapturedPacket { at, identification, ..packet });
    }

    /// Writes the capture for the tool `reader` into the folder of the tests.
    fn file(&self, reader: &str) -> PathBuf {
        let kind = if self.timestamps { "timestamps" } else { "plain" };
        let name = format!("{reader}-{kind}-{}.pcapng", self.isn[0]);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let interface = Interface {
            comment: Some("seen at the sending host".into()),
            ..Interface::named("client")
        };
        let mut writer = Writer::new(Vec::new(), &interface).expect("a vector");
        self.packets.iter().try_for_each(|packet| writer.packet(packet)).expect("a vector");
        fs::write(&path, writer.finish().expect("a vector")).expect("a folder to write to");
        path
    }
}

fn first_byte(n: u32) -> Seq {
    Seq::FIRST + 1 + (n - 1) * MSS
}

fn answer(seq: Seq, ack: Seq) -> Segment {
    let mut segment = Segment::new(seq, 0, Flags::ACK);
    segment.ack = ack;
    segment
}

fn stamps(at: u64, flags: Flags) -> Timestamps {
    Timestamps { value: 5000 + at as u32, echo: if flags.has(Flags::ACK) { 7 } else { 0 } }
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(",")
}

/// tshark's fields of each packet.
const FIELDS: [&str; 18] = [
    "frame.time_epoch",
    "frame.interface_name",
    "frame.len",
    "frame.cap_len",
    "frame.comment",
    "ip.id",
    "ip.checksum.status",
    "tcp.checksum.status",
    "tcp.flags",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.len",
    "tcp.window_size",
    "tcp.options.mss_val",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
];

/// The same fields of the written packets.
fn fields(packet: &CapturedPacket) -> [String; FIELDS.len()] {
    let CapturedPacket { at, identification, segment, comment, .. } = packet;
    let has_syn = segment.flags.has(Flags::SYN);
    let options = if has_syn { 12 } else { 0 }
        + if segment.timestamps.is_some() { 12 } else { 0 }
        + if segment.sack.is_empty() { 0 } else { 12 };
    let length = (20 + 20 + options + segment.len).to_string();
    [
        format!("{}.{:09}", at.nanos() / 1_000_000_000, at.nanos() % 1_000_000_000),
        "client".into(),
        length.clone(),
        length,
        list(comment),
        format!("{identification:#06x}"),
        "1".into(),
        "1".into(),
        format!("{:#06x}", segment.flags.bits()),
        segment.seq.to_string(),
        segment.ack.to_string(),
        segment.len.to_string(),
        (u32::from(segment.window) << if has_syn { 0 } else { 7 }).to_string(),
        list(segment.syn.mss),
        list(segment.timestamps.map(|timestamps| timestamps.value)),
        list(segment.timestamps.map(|timestamps| timestamps.echo)),
        list(segment.sack.iter().map(|block| block.start)),
        list(segment.sack.iter().map(|block| block.end)),
    ]
}

/// tshark's observations, and the number of packets with each.
const NOTICES: [(&str, usize); 10] = [
    ("_ws.malformed", 0),
    ("tcp.analysis.lost_segment", 0),
    ("tcp.analysis.ack_lost_segment", 0),
    ("tcp.analysis.out_of_order", 0),
    ("tcp.analysis.retransmission", 2),
    ("tcp.analysis.fast_retransmission", 1),
    ("tcp.analysis.duplicate_ack", 7),
    ("tcp.options.sack", 7),
    ("tcp.options.sack.dsack", 1),
    ("tcp.options.sack_perm", 2),
];

#[test]
fn tshark_agrees_on_every_field_and_reports_no_error() {
    let columns: Vec<&str> = FIELDS.into_iter().chain(NOTICES.map(|(name, _)| name)).collect();
    for transfer in Transfer::all() {
        let file = transfer.file("tshark");
        let Some(rows) = tool::tshark(&file, "frame", &columns) else { return };
        assert_eq!(rows.len(), transfer.packets.len(), "{file:?}");
        for (row, packet) in rows.iter().zip(&transfer.packets) {
            assert_eq!(row[..FIELDS.len()], fields(packet), "{file:?}");
        }
        for (column, (name, count)) in (FIELDS.len()..).zip(NOTICES) {
            let found = rows.iter().filter(|row| !row[column].is_empty()).count();
            assert_eq!(found, count, "{name} in {file:?}");
        }
    }
}

#[test]
fn tcptrace_reads_pcapng_and_agrees() {
    for transfer in Transfer::all() {
        let Some(mut tcptrace) = tool::installed("tcptrace") else { return };
        let file = transfer.file("tcptrace");
        let options = ["-n", "-l", "--checksum", "--warn_printbadcsum"];
        let text = tool::output(tcptrace.args(options).arg(&file)).replace('\t', " ");
        // The value after a label: once, or of the client and of the server.
        let values_of = |label: &str| -> Vec<String> {
            let label = format!(" {label}:");
            let after_label = text.split(&label).skip(1);
            after_label.map(|rest| rest.split_whitespace().next().unwrap_or("").into()).collect()
        };
        assert!(text.contains("29 packets seen, 29 TCP packets traced"), "{text}");
        assert!(text.contains("bad IP checksums:  0\nbad TCP checksums: 0"), "{text}");
        let timestamps = if transfer.timestamps { "Y/Y" } else { "Y/N" };
        for (label, values) in [
            ("complete conn", &["yes"][..]),
            ("elapsed time", &["0:00:01.600000"; 2]), // of the file and of the connection
            ("total packets", &["29", "16", "13"]),
            ("unique bytes sent", &["10000", "0"]),
            ("actual data pkts", &["12", "0"]),
            ("rexmt data pkts", &["2", "0"]),
            ("outoforder pkts", &["0", "0"]),
            ("SYN/FIN pkts sent", &["1/1", "1/1"]),
            ("mss requested", &["1000", "1000"]),
            ("req 1323 ws/ts", &[timestamps, timestamps]),
            ("max win adv", &["128000", "128000"]),
            ("sack pkts sent", &["0", "7"]),
            ("max sack blks/ack", &["0", "1"]),
        ] {
            assert_eq!(values_of(label), values, "{label} in {file:?}");
        }
        // Its comparison with the acknowledgment number ignores wraps.
        if transfer.isn == ISNS[0] {
            assert_eq!(values_of("dsack pkts sent"), ["0", "1"], "{file:?}");
        }
    }
}
