use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions, Timestamps};
use rtolab_time::Instant;

mod fast_path;
mod fragmented;
mod links;
mod long_files;
mod raw_files;
mod unsorted;

use raw_files::ByteOrder;

use super::*;
use crate::{CapturedPacket, Checksum, Interface, Writer};

const V4: Addresses =
    Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 0, 2) };
const V6: Addresses =
    Addresses::V6 { from: Ipv6Addr::LOCALHOST, to: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7) };
const AT: u64 = 1_700_000_000_123_456_789;

fn packet(at: u64, addresses: Addresses, len: u32) -> CapturedPacket {
    CapturedPacket {
        at: Instant::from_nanos(at),
        addresses,
        identification: if addresses == V6 { 0 } else { 0xbeef },
        codepoint: Codepoint::from_bits((len % 4) as u8),
        segment: WireSegment {
            ports: Ports { from: 49_152, to: 80 },
            seq: 0xffff_ff00,
            ack: 77,
            len,
            window: 1000,
            flags: Flags::ACK | Flags::PSH,
            syn: SynOptions::default(),
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            sack: [].into_iter().collect(),
        },
        comment: None,
    }
}

/// The complete IP packet of the writer.
fn ip(packet: &CapturedPacket) -> Vec<u8> {
    let mut bytes = frame::headers(packet).expect("not too long");
    bytes.resize(bytes.len() + packet.segment.len as usize, 0);
    bytes
}

fn read(file: &[u8]) -> (Vec<Captured>, Option<ReadError>, Skipped) {
    let mut reader = Reader::new(file).expect("a capture");
    let (mut packets, mut error) = (Vec::new(), None);
    for item in &mut reader {
        assert!(error.is_none(), "nothing follows an error");
        match item {
            Ok(packet) => packets.push(packet),
            Err(found) => error = Some(found),
        }
    }
    (packets, error, reader.skipped())
}

fn read_whole(file: &[u8]) -> Vec<CapturedPacket> {
    let (packets, error, skipped) = read(file);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(skipped, Skipped::default());
    packets.into_iter().map(|captured| captured.packet).collect()
}

fn write(packets: &[CapturedPacket]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Interface::named("test")).expect("a vector");
    packets.iter().try_for_each(|packet| writer.packet(packet)).expect("a vector");
    writer.finish().expect("a vector")
}

#[test]
fn written_packets_are_read() {
    let mut syn = packet(0, V4, 0);
    syn.segment.flags = Flags::SYN;
    syn.segment.syn = SynOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..SynOptions::default()
    };
    syn.comment = Some("the first one: \u{2192}".into());
    let packets = [syn, packet(AT, V4, 1448), packet(AT + 1, V6, 33), packet(u64::MAX, V4, 1)];
    let (captured, error, skipped) = read(&write(&packets));
    assert!(error.is_none());
    assert_eq!(skipped, Skipped::default());
    assert!(captured.iter().all(|captured| captured.checksum == Checksum::Good));
    assert!(captured.iter().map(|captured| captured.number).eq(1..=4));
    assert!(captured.into_iter().map(|captured| captured.packet).eq(packets));
}

#[test]
fn a_truncated_packet_keeps_its_length() {
    let interface = Interface { snaplen: Some(60), ..Interface::named("cut") };
    let mut writer = Writer::new(Vec::new(), &interface).expect("a vector");
    writer.packet(&packet(AT, V4, 1448)).expect("a vector");
    let file = writer.finish().expect("a vector");
    assert!(file.len() < 300);
    let (captured, error, _) = read(&file);
    assert!(error.is_none());
    assert_eq!(captured[0].packet, packet(AT, V4, 1448));
    assert_eq!(captured[0].checksum, Checksum::Cut);
}

/// The headers of IPv4 and TCP with timestamps take 52 bytes, and there is none of the link.
#[test]
fn a_packet_that_ends_within_its_tcp_options_says_where() {
    for (snaplen, cut_at) in [(44, Some(44)), (51, Some(51)), (52, None), (60, None)] {
        let interface = Interface { snaplen: Some(snaplen), ..Interface::named("cut") };
        let mut writer = Writer::new(Vec::new(), &interface).expect("a vector");
        writer.packet(&packet(AT, V4, 100)).expect("a vector");
        let file = writer.finish().expect("a vector");
        for reader in
            [Reader::new(&file[..]), Reader::new(&file[..]).map(Reader::without_checksums)]
        {
            let captured = reader.expect("a capture").next().expect("a packet").expect("no error");
            assert_eq!(captured.cut_at, cut_at, "{snaplen}");
        }
    }
}

#[test]
fn pcap_in_both_orders_and_resolutions() {
    let bytes = ip(&packet(0, V4, 10));
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for (magic, time, nanos) in [
            (0xa1b2_c3d4, [3, 999_999], 3_999_999_000),
            (0xa1b2_3c4d, [3, 999_999_999], 3_999_999_999),
            (0xa1b2_c3d4, [u32::MAX, 0], 4_294_967_295_000_000_000),
        ] {
            let file = order.pcap(magic, 101, time, &bytes);
            assert_eq!(read_whole(&file), [packet(nanos, V4, 10)], "{order:?} {magic:x}");
        }
    }
}

#[test]
fn pcapng_in_both_orders_resolutions_and_offsets() {
    let bytes = ip(&packet(0, V4, 10));
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let offset = |secs: i64| match order {
            ByteOrder::Little => secs.to_le_bytes(),
            ByteOrder::Big => secs.to_be_bytes(),
        };
        let (later, earlier) = (offset(5), offset(-5));
        for (options, ticks, nanos) in [
            (&[][..], 1_500_000, 1_500_000_000),
            (&[(9, &[9][..])], 1_500_000_001, 1_500_000_001),
            (&[(9, &[3])], u64::from(u32::MAX) + 1, 4_294_967_296_000_000),
            (&[(9, &[0x8a])], 1536, 1_500_000_000),
            (&[(14, &later)], 1_500_000, 6_500_000_000),
            (&[(14, &earlier)], 6_500_000, 1_500_000_000),
            (&[(14, &earlier)], 1_500_000, 0),
        ] {
            let file = [order.section(), order.interface(101, options)].concat();
            let file = [file, order.frame(0, ticks, &bytes)].concat();
            assert_eq!(read_whole(&file), [packet(nanos, V4, 10)], "{order:?} {options:?}");
        }
    }
}

#[test]
fn each_section_has_its_own_order_and_interfaces() {
    let bytes = ip(&packet(0, V4, 10));
    let ethernet = [&[0; 12][..], &[0x08, 0x00], &bytes].concat();
    let file = [
        ByteOrder::Little.section(),
        ByteOrder::Little.interface(101, &[]),
        ByteOrder::Little.interface(1, &[(9, &[9])]),
        ByteOrder::Little.frame(1, 8, &ethernet),
        ByteOrder::Little.frame(0, 7, &bytes),
        ByteOrder::Big.section(),
        ByteOrder::Big.interface(1, &[]),
        ByteOrder::Big.frame(0, 9, &ethernet),
    ]
    .concat();
    assert_eq!(read_whole(&file), [8, 7000, 9000].map(|at| packet(at, V4, 10)));
}

#[test]
fn without_an_ip_length_the_length_is_that_of_the_frame() {
    for (addresses, ether_type, length_at) in [(V4, [0x08, 0x00], 2), (V6, [0x86, 0xdd], 4)] {
        let mut bytes = ip(&packet(0, addresses, 5000));
        bytes[length_at..length_at + 2].fill(0);
        let frame = [&[0; 12][..], &ether_type, &bytes].concat();
        let file = ByteOrder::Little.pcap(0xa1b2_c3d4, 1, [0, 0], &frame);
        assert_eq!(read_whole(&file), [packet(0, addresses, 5000)]);
    }
}

#[test]
fn a_wrong_checksum_is_reported() {
    let mut bytes = ip(&packet(0, V4, 10));
    *bytes.last_mut().expect("a payload") = 1;
    let (captured, _, _) = read(&ByteOrder::Little.pcap(0xa1b2_c3d4, 101, [0, 0], &bytes));
    assert_eq!(captured[0].checksum, Checksum::Bad);
    assert_eq!(captured[0].packet, packet(0, V4, 10));
}

#[test]
fn packets_without_a_segment_are_counted() {
    let whole = ip(&packet(0, V4, 10));
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        bytes
    };
    let frames = [
        with(&|ip| ip[9] = 17),               // UDP
        with(&|ip| ip[0] = 0x55),             // not an IP version
        with(&|ip| ip.truncate(10)),          // half an IP header
        with(&|ip| ip[6] = 0x20),             // a fragment that is not a multiple of eight bytes
        with(&|ip| (ip[4], ip[7]) = (7, 9)),  // a fragment of another packet
        with(&|ip| ip.truncate(39)),          // half a TCP header
        with(&|ip| ip[32] = 0x40),            // a TCP header of 16 bytes
        with(&|ip| (ip[2], ip[3]) = (0, 39)), // an IP packet that ends in the TCP header
        whole.clone(),
    ];
    let mut file = [ByteOrder::Little.section(), ByteOrder::Little.interface(101, &[])].concat();
    file.extend(frames.iter().flat_map(|frame| ByteOrder::Little.frame(0, 0, frame)));
    file.extend(ByteOrder::Little.block(3, &[20, 0, 0, 0, 1, 2, 3, 4])); // a simple packet
    file.extend(ByteOrder::Little.block(2, &[0; 24])); // an obsolete one
    file.extend(ByteOrder::Little.block(5, &[0; 12])); // statistics
    file.extend(ByteOrder::Little.frame(0, 0, &whole));
    let (captured, error, skipped) = read(&file);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        skipped,
        Skipped {
            other: 3,
            fragments: 1,
            overlapping: 1,
            malformed: 3,
            untimed: 2,
            unknown_link: 0,
            dropped: 0,
        }
    );
    assert!(captured.iter().map(|captured| captured.number).eq([9, 12]));
}

fn message(file: &[u8]) -> String {
    match Reader::new(file) {
        Err(error) => error.to_string(),
        Ok(reader) => reader
            .filter_map(Result::err)
            .map(|error| error.to_string())
            .next()
            .expect("an error at last"),
    }
}

#[test]
fn a_file_of_another_format_is_an_error() {
    assert_eq!(message(b""), "the file is empty, neither pcap nor pcapng");
    let text = "neither pcap nor pcapng: the file begins with 48 65 6c 6c";
    assert_eq!(message(b"Hello, world, this is not a capture"), text);
    assert_eq!(message(b"Hel"), "neither pcap nor pcapng: the file begins with 48 65 6c");
    let packed = |magic, hint| {
        let said = message(magic);
        assert!(said.ends_with(&format!(", as {hint}")), "{said}");
    };
    packed(&[0x1f, 0x8b, 8, 0, 0, 0], "a gzip file does: unpack it first");
    packed(b"\xfd7zXZ\0", "an xz file does: unpack it first, with `unxz`");
    packed(b"BZh91AY", "a bzip2 file does: unpack it first, with `bunzip2`");
    packed(b"PK\x03\x04\0", "a zip file does: unpack it first, with `unzip`");
}

#[test]
fn damage_is_reported_with_its_offset() {
    let bytes = ip(&packet(0, V4, 0));
    let [section, interface] = [ByteOrder::Little.section(), ByteOrder::Little.interface(101, &[])];
    let frame = ByteOrder::Little.frame(0, 0, &bytes);
    let begin = [&section[..], &interface].concat();
    assert_eq!(
        message(&[&begin[..], &ByteOrder::Little.frame(3, 0, &bytes)].concat()),
        "the record at byte 48 is damaged: a packet of interface 3, but the section has 1"
    );
    assert_eq!(
        message(&[&begin[..], &ByteOrder::Little.words(&[6, 8, 8])].concat()),
        "the record at byte 48 is damaged: a block of 8 bytes; expected at least 12"
    );
    assert_eq!(
        message(&[&begin[..], &ByteOrder::Little.words(&[6, 0x7fff_ffff, 8])].concat()),
        "the record at byte 48 is damaged: its length says 2147483635 more bytes"
    );
    let mut disagreeing = frame.clone();
    *disagreeing.last_mut().expect("a length") = 1;
    assert_eq!(
        message(&[&begin[..], &frame, &disagreeing].concat()),
        format!("the record at byte {} is damaged: its lengths disagree", 48 + frame.len())
    );
    let mut longer = frame.clone();
    longer[20] = 200; // captured
    assert_eq!(
        message(&[&begin[..], &longer].concat()),
        "the record at byte 48 is damaged: its lengths disagree"
    );
    assert_eq!(
        message(&[&section[..], &ByteOrder::Little.interface(101, &[(9, &[20])])].concat()),
        "the record at byte 28 is damaged: a time resolution of 0x14"
    );
    let mut orderless = section.clone();
    orderless[8] = 0;
    assert_eq!(
        message(&orderless),
        "the record at byte 0 is damaged: a section header without a byte order"
    );
}

#[test]
fn the_complete_packets_of_a_truncated_file_are_read() {
    let bytes = ip(&packet(0, V4, 10));
    let one = packet(0, V4, 10);
    let pcap = ByteOrder::Little.pcap(0xa1b2_c3d4, 101, [0, 0], &bytes);
    let two = [&pcap[..], &pcap[24..]].concat();
    let pcapng = write(std::slice::from_ref(&one));
    for (file, second) in [(two, pcap.len()), (write(&[one.clone(), one]), pcapng.len())] {
        for end in second + 1..file.len() {
            let (captured, error, _) = read(&file[..end]);
            assert_eq!(captured.len(), 1, "{end} of {} bytes", file.len());
            match error {
                Some(ReadError::Truncated { offset }) => assert_eq!(offset, second as u64),
                other => panic!("{other:?}"),
            }
        }
    }
    for end in 4..24 {
        let beginning = Reader::new(&pcap[..end]);
        assert!(matches!(beginning, Err(ReadError::Truncated { offset: 0 })));
    }
}

/// An input that returns one byte at a time, and fails at its end.
struct FailingInput<'a>(&'a [u8]);

impl Read for FailingInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.split_first() {
            None => Err(io::Error::other("the cable is out")),
            Some((&byte, rest)) => {
                self.0 = rest;
                buffer[0] = byte;
                Ok(1)
            }
        }
    }
}

#[test]
fn an_input_may_be_slow_and_fail() {
    let file = write(&[packet(AT, V4, 10)]);
    let mut reader = Reader::new(FailingInput(&file)).expect("a capture");
    assert_eq!(reader.next().expect("one").expect("whole").packet, packet(AT, V4, 10));
    let error = reader.next().expect("an error").expect_err("the end is one");
    assert_eq!(error.to_string(), format!("cannot read at byte {}: the cable is out", file.len()));
    assert!(reader.next().is_none());
}

proptest! {
    #[test]
    fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0..3) {
        let magic: &[u8] = match kind {
            0 => &[0xd4, 0xc3, 0xb2, 0xa1],
            1 => &[0x0a, 0x0d, 0x0d, 0x0a, 0x1c, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
            _ => &[],
        };
        if let Ok(reader) = Reader::new(&[magic, &bytes].concat()[..]) {
            reader.for_each(drop);
        }
    }

    #[test]
    fn no_damage_causes_a_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        len in 0..100_u32,
        format in 0..3,
    ) {
        let bytes = ip(&packet(AT, V4, len));
        let mut file = match format {
            0 => write(&[packet(AT, V4, len), packet(AT, V6, len)]),
            1 => ByteOrder::Big.pcap(0xa1b2_c3d4, 101, [0, 0], &bytes),
            _ => [ByteOrder::Big.section(), ByteOrder::Big.interface(101, &[(9, &[9]), (1, b"hello")]),
                ByteOrder::Big.frame(0, 1, &bytes), ByteOrder::Big.frame(0, 2, &bytes)].concat(),
        };
        for (at, byte) in damage {
            *at.get_mut(&mut file) = byte;
        }
        if let Ok(reader) = Reader::new(&file[..]) {
            reader.for_each(drop);
        }
    }
}
