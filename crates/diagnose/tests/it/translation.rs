//! Connections that cross a NAT, in a capture of both its sides.

use std::fs::File;
use std::net::Ipv4Addr;

use rtolab_capture::{Captured, CapturedPacket, RUN_START, Reader, unpacked};
use rtolab_diagnose::{ConnectionReport, Diagnosis, Document, SkippedPackets, Watch, WatchLimits};
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Flags, Timestamps};
use rtolab_time::Duration;

use crate::packets::segment;

const SERVER: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 2);

fn syn_ack() -> Flags {
    Flags::SYN | Flags::ACK
}

/// A side of the NAT, and what the connection looks like there.
#[derive(Clone, Copy)]
struct Side {
    client: (Ipv4Addr, u16),
    /// The ISNs of client and server.
    isns: (u32, u32),
    interface: u32,
    /// The hop limits of the client's packets and of the server's.
    hops: (u8, u8),
    /// The delay of all packets in milliseconds.
    late: u64,
    stamps: bool,
}

const ISNS: (u32, u32) = (0x1234_5678, 0x9abc_def0);
const INSIDE: Side = Side {
    client: (Ipv4Addr::new(10, 0, 0, 2), 40_000),
    isns: ISNS,
    interface: 0,
    hops: (64, 60),
    late: 0,
    stamps: false,
};
const OUTSIDE: Side =
    Side { client: (Ipv4Addr::new(198, 51, 100, 1), 50_000), hops: (63, 61), ..INSIDE };

impl Side {
    fn with_isns(self, client: u32, server: u32) -> Self {
        Self { isns: (client, server), ..self }
    }

    /// A packet with these flags, relative sequence and acknowledgment numbers, and bytes.
    fn packet(&self, millis: u64, is_of_client: bool, flags: Flags, numbers: [u32; 3]) -> Captured {
        let ((address, port), [seq, ack, len]) = (self.client, numbers);
        let (own, other) = match is_of_client {
            true => self.isns,
            false => (self.isns.1, self.isns.0),
        };
        let ack = if flags.has(Flags::ACK) { other.wrapping_add(ack) } else { 0 };
        let stamps = Timestamps { value: 7 + millis as u32, echo: 0 };
        let packet = CapturedPacket {
            at: RUN_START + Duration::from_millis(millis + self.late),
            addresses: Addresses::V4 { from: address, to: SERVER },
            identification: 1 + seq as u16,
            codepoint: rtolab_tcp::Codepoint::default(),
            segment: WireSegment {
                ports: Ports { from: port, to: 80 },
                timestamps: self.stamps.then_some(stamps),
                ..segment(flags, (own.wrapping_add(seq), ack, len))
            },
            comment: None,
        };
        let packet = if is_of_client { packet } else { crate::packets::reversed(packet) };
        let hops = if is_of_client { self.hops.0 } else { self.hops.1 };
        Captured { packet, hops, interface: self.interface, ..Captured::empty() }
    }

    /// Ten segments of which the first is retransmitted after a timeout.
    fn transfer(&self) -> Vec<Captured> {
        let mut packets = vec![
            self.packet(0, true, Flags::SYN, [0, 0, 0]),
            self.packet(20, false, syn_ack(), [0, 1, 0]),
            self.packet(21, true, Flags::ACK, [1, 1, 0]),
            self.packet(22, true, Flags::ACK, [1, 1, 1000]),
            self.packet(322, true, Flags::ACK, [1, 1, 1000]),
        ];
        for index in 1..11 {
            let (at, seq) = (342 + 20 * u64::from(index), 1 + 1000 * index);
            packets.push(self.packet(at, false, Flags::ACK, [1, seq, 0]));
            packets.push(self.packet(at + 1, true, Flags::ACK, [seq, 1, 1000]));
        }
        packets.push(self.packet(600, false, Flags::ACK, [1, 11_001, 0]));
        packets
    }

    /// SYNs that nothing answers.
    fn attempt(&self) -> Vec<Captured> {
        [0, 1000, 3000].map(|at| self.packet(at, true, Flags::SYN, [0, 0, 0])).into()
    }
}

/// The packets in the order of their times, numbered.
fn merged(sides: &[Vec<Captured>]) -> Vec<Captured> {
    let mut packets = sides.concat();
    packets.sort_by_key(|captured| captured.packet.at);
    packets.iter_mut().zip(1..).for_each(|(captured, number)| captured.number = number);
    packets
}

fn diagnosed(sides: &[Vec<Captured>]) -> Document {
    let mut diagnosis = Diagnosis::new();
    for captured in merged(sides) {
        diagnosis.packet(&captured);
    }
    Document::of(diagnosis, SkippedPackets::default())
}

/// A watch of these packets, and its reports. 70 s later it ends.
fn watched(sides: &[Vec<Captured>]) -> (Watch, Vec<ConnectionReport>) {
    let mut watch = Watch::new(WatchLimits::default());
    let packets = merged(sides);
    for captured in &packets {
        watch.packet(captured);
    }
    let last = packets.last().expect("a packet").packet.at;
    for second in 1..70 {
        watch.advance(last + Duration::from_secs(second));
    }
    watch.finish();
    let reports = std::iter::from_fn(|| watch.poll()).collect();
    (watch, reports)
}

/// The number of connections that both the diagnosis and the watch count.
fn counted(sides: &[Vec<Captured>]) -> u64 {
    let document = diagnosed(sides);
    let (count, listed) = (document.summary.connections, document.connections.len());
    assert_eq!(count, listed as u64);
    assert_eq!(watched(sides).0.totals().connections, count);
    count
}

#[test]
fn both_sides_of_a_nat_count_once() {
    let sides = [INSIDE.transfer(), OUTSIDE.transfer()];
    let document = diagnosed(&sides);
    let (summary, [report]) = (&document.summary, &document.connections[..]) else {
        panic!("{} connections", document.connections.len());
    };
    let count = sides[0].len() as u64;
    assert_eq!((summary.connections, summary.packets), (1, 2 * count));
    assert_eq!((summary.retransmissions, summary.totals.timeouts), (1, 1));
    assert_eq!((report.packets, report.captured_twice), (count, count));
    assert_eq!(report.bytes, [12_000, 0]);
    // The client's hop limit is larger inside.
    assert_eq!((report.number, &*report.client), (1, "10.0.0.2:40000"));
    let [other] = &report.translations[..] else { panic!("{:?}", report.translations) };
    assert_eq!((other.number, &*other.client), (2, "198.51.100.1:50000"));
    assert_eq!(other.server, "203.0.113.2:80");
    let said: Vec<_> = document.answer.sentences.iter().map(|one| &*one.text).collect();
    let text = "The connection crosses a NAT or a load balancer and counts once, although the \
                capture also has it as 198.51.100.1:50000 to 203.0.113.2:80.";
    assert!(said.contains(&text), "{said:?}");
}

#[test]
fn a_watch_counts_both_sides_once() {
    let (watch, reports) = watched(&[INSIDE.transfer(), OUTSIDE.transfer()]);
    let totals = watch.totals();
    assert_eq!((totals.connections, totals.timeouts.values().sum::<u64>()), (1, 1));
    let found: u64 = totals.retransmissions.values().flat_map(|one| one.values()).sum();
    assert_eq!(found, 1);
    assert!(reports.iter().all(|report| report.number == 1));
    assert!(!reports.is_empty());
}

#[test]
fn an_open_copy_does_not_count_as_open() {
    let mut watch = Watch::new(WatchLimits::default());
    for captured in merged(&[INSIDE.transfer(), OUTSIDE.transfer()]) {
        watch.packet(&captured);
        let totals = watch.totals();
        assert_eq!((totals.connections, totals.open), (1, 1), "packet {}", captured.number);
    }
    for side in [OUTSIDE, INSIDE] {
        watch.packet(&side.packet(700, true, Flags::RST, [11_001, 0, 0]));
    }
    assert_eq!(watch.totals().open, 0);
}

/// A side that is closed before the other one's SYN-ACK comes is no open connection.
#[test]
fn a_closed_copy_is_not_subtracted_from_the_open_ones() {
    let mut watch = Watch::new(WatchLimits::default());
    let of = |side: Side, flags| side.packet(10, false, flags, [0, 1, 0]);
    watch.packet(&INSIDE.packet(0, true, Flags::SYN, [0, 0, 0]));
    watch.packet(&of(OUTSIDE, syn_ack()));
    watch.packet(&of(OUTSIDE, Flags::RST));
    watch.packet(&of(INSIDE, syn_ack()));
    assert_eq!(watch.totals().open, 1);
}

#[test]
fn clients_behind_one_nat_are_different_connections() {
    let other = Side { client: (Ipv4Addr::new(10, 0, 0, 3), 40_000), ..INSIDE };
    let other_outside = Side { client: (OUTSIDE.client.0, 50_001), ..OUTSIDE };
    let sides = [
        INSIDE.transfer(),
        OUTSIDE.transfer(),
        other.with_isns(ISNS.0 + 1, ISNS.1).transfer(),
        other_outside.with_isns(ISNS.0 + 1, ISNS.1).transfer(),
    ];
    assert_eq!(counted(&sides), 2);
    let document = diagnosed(&sides);
    let said: Vec<_> = document.answer.sentences.iter().map(|one| &*one.text).collect();
    let text = "2 connections cross a NAT or a load balancer; the capture has both sides, and \
                counts each once.";
    assert!(said.contains(&text), "{said:?}");
}

#[test]
fn three_sides_count_once() {
    let third = Side { client: (Ipv4Addr::new(192, 0, 2, 9), 60_000), hops: (62, 62), ..INSIDE };
    let sides = [INSIDE.transfer(), OUTSIDE.transfer(), third.transfer()];
    assert_eq!(counted(&sides), 1);
    assert_eq!(diagnosed(&sides).connections[0].translations.len(), 2);
}

/// The side nearer to the sender, if the client only receives, is the outer one.
#[test]
fn the_report_is_that_of_the_side_nearer_to_the_sender() {
    let download = |side: Side| {
        vec![
            side.packet(0, true, Flags::SYN, [0, 0, 0]),
            side.packet(20, false, syn_ack(), [0, 1, 0]),
            side.packet(40, true, Flags::ACK, [1, 1, 0]),
            side.packet(50, false, Flags::ACK, [1, 1, 1000]),
            side.packet(70, true, Flags::ACK, [1, 1001, 0]),
        ]
    };
    let document = diagnosed(&[download(INSIDE), download(OUTSIDE)]);
    let numbers: Vec<u64> = document.connections.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [2]);
}

#[test]
fn an_interface_is_a_location_too() {
    let outside = Side { hops: INSIDE.hops, ..OUTSIDE };
    assert_eq!(counted(&[INSIDE.transfer(), outside.transfer()]), 2);
    let outside = Side { interface: 1, ..outside };
    assert_eq!(counted(&[INSIDE.transfer(), outside.transfer()]), 1);
}

#[test]
fn both_initial_sequence_numbers_decide() {
    for isns in [(ISNS.0 + 1, ISNS.1), (ISNS.0, ISNS.1 + 1)] {
        let outside = OUTSIDE.with_isns(isns.0, isns.1);
        assert_eq!(counted(&[INSIDE.transfer(), outside.transfer()]), 2, "{isns:?}");
    }
}

#[test]
fn small_initial_sequence_numbers_do_not_identify_a_connection() {
    for (isns, expected) in [
        ((0xffff, ISNS.1), 2),
        ((ISNS.0, 0xffff), 2),
        ((0x1_0000, ISNS.1), 1),
        ((ISNS.0, 0x1_0000), 1),
    ] {
        let [inside, outside] = [INSIDE, OUTSIDE].map(|side| side.with_isns(isns.0, isns.1));
        assert_eq!(counted(&[inside.transfer(), outside.transfer()]), expected, "{isns:?}");
    }
}

#[test]
fn sides_are_at_most_a_minute_apart() {
    for (late, expected) in [(59_999, 1), (60_001, 2)] {
        let outside = Side { late, ..OUTSIDE };
        let document = diagnosed(&[INSIDE.transfer(), outside.transfer()]);
        assert_eq!(document.summary.connections, expected, "{late} ms");
    }
}

/// Without timestamps one SYN-ACK does not suffice. With timestamps equal SYNs do.
#[test]
fn both_syn_acks_must_be_in_the_capture() {
    for (stamps, expected) in [(false, 2), (true, 1)] {
        let [inside, outside] = [INSIDE, OUTSIDE].map(|side| Side { stamps, ..side });
        let of_inside: Vec<_> = inside.transfer().into_iter().take(1).collect();
        assert_eq!(counted(&[of_inside, outside.transfer()]), expected);
    }
}

#[test]
fn unanswered_syns_count_once_if_their_timestamps_are_equal() {
    for (stamps, expected) in [(false, 2), (true, 1)] {
        let [inside, outside] = [INSIDE, OUTSIDE].map(|side| Side { stamps, ..side });
        let sides = [inside.attempt(), outside.attempt()];
        assert_eq!(counted(&sides), expected);
        let retransmissions = diagnosed(&sides).summary.retransmissions;
        assert_eq!(retransmissions, 2 * expected);
        let totals = watched(&sides).0.totals();
        let found: u64 = totals.retransmissions.values().flat_map(|one| one.values()).sum();
        assert_eq!(found, retransmissions);
    }
}

/// A proxy that answers SYNs itself, and repeats them later, has connections of its own.
#[test]
fn different_syn_acks_refute_equal_syns() {
    let [inside, outside] = [INSIDE, OUTSIDE].map(|side| Side { stamps: true, ..side });
    let outside = outside.with_isns(ISNS.0, ISNS.1 + 1);
    assert_eq!(counted(&[inside.transfer(), outside.transfer()]), 2);
}

/// Tools that send the same ISN to many addresses are not compared without bounds.
#[test]
fn only_few_connections_with_one_isn_are_compared() {
    let sides: Vec<_> = (0..200)
        .map(|index| {
            let client = (Ipv4Addr::new(10, 1, 0, index), 40_000);
            let hops = (64, 40 + index % 20);
            Side { client, hops, ..INSIDE }.with_isns(ISNS.0, ISNS.1 + u32::from(index)).transfer()
        })
        .collect();
    assert_eq!(counted(&sides), 200);
}

/// The ISNs of more SYNs than are remembered do not hide the other side of a later one.
#[test]
fn old_isns_are_forgotten() {
    let mut diagnosis = Diagnosis::new();
    let mut count = 0;
    for index in 0..40_000_u32 {
        let client = (Ipv4Addr::from(0x0a00_0000 + index), 40_000);
        let isns = ((1 << 20) + index, ISNS.1);
        let inside = Side { client, isns, ..INSIDE };
        let outside = Side { client: (OUTSIDE.client.0, index as u16), hops: (63, 61), ..inside };
        let sides = if index % 20_000 == 19_999 { &[inside, outside][..] } else { &[inside] };
        for side in sides {
            diagnosis.packet(&side.packet(0, true, Flags::SYN, [0, 0, 0]));
        }
        for side in sides {
            diagnosis.packet(&side.packet(0, false, syn_ack(), [0, 1, 0]));
        }
        count += 1;
    }
    assert_eq!(diagnosis.finish().connections, count);
}

/// A connection that is over is no side of a later one, even if it had several ISNs, or if it was
/// found at two capture points only later.
#[test]
fn closed_connections_are_no_sides() {
    let is_data = |captured: &&Captured| !captured.packet.segment.flags.has(Flags::SYN);
    let second = Side { late: 1, interface: 1, hops: (63, 61), ..INSIDE };
    let of_second: Vec<_> = second.transfer().iter().filter(is_data).cloned().collect();
    let other_syn = INSIDE.with_isns(ISNS.0 + 1, 0).packet(30, true, Flags::SYN, [0, 0, 0]);
    for others in [vec![], vec![other_syn], of_second] {
        let end = INSIDE.packet(610, true, Flags::RST, [11_001, 0, 0]);
        // The ports are used again.
        let next = INSIDE.with_isns(ISNS.0 + 2, 0).packet(620, true, Flags::SYN, [0, 0, 0]);
        let later = Side { late: 700, ..OUTSIDE }.transfer();
        assert_eq!(counted(&[INSIDE.transfer(), others, vec![end, next], later]), 3);
    }
}

/// Without timestamps and without an answer it stays open whether two sides are one connection.
#[test]
fn a_watch_counts_an_undecided_side_after_a_while() {
    let sides = [INSIDE.attempt(), OUTSIDE.attempt()];
    for (seconds, expected) in [(1, [1, 1]), (5, [1, 1]), (20, [2, 2])] {
        let mut watch = Watch::new(WatchLimits::default());
        let packets = merged(&sides);
        for captured in &packets {
            watch.packet(captured);
        }
        watch.advance(packets[0].packet.at + Duration::from_secs(3 + seconds));
        let totals = watch.totals();
        assert_eq!([totals.connections, totals.open], expected, "after {seconds} s");
        watch.finish();
        let totals = watch.totals();
        let found: u64 = totals.retransmissions.values().flat_map(|one| one.values()).sum();
        assert_eq!((totals.connections, found), (2, 4), "after {seconds} s");
    }
}

/// Two clients use the same port; a third connection gets no answer. Both see the losses beyond the
/// router, and a stall (`tools/translated`).
#[test]
fn a_capture_of_a_router_has_each_connection_once() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/nat/two-clients.pcap.gz");
    let input = unpacked(File::open(path).expect("a capture")).expect("gzip");
    let reader = Reader::new(input).expect("a capture").in_order();
    let packets: Vec<_> = reader.map(|captured| captured.expect("a packet")).collect();
    let document = diagnosed(std::slice::from_ref(&packets));
    let sides = |one: &ConnectionReport| {
        let others = one.translations.iter().map(|other| other.client.clone());
        [one.client.clone()].into_iter().chain(others).collect::<Vec<_>>()
    };
    let found: Vec<_> = document.connections.iter().map(sides).collect();
    let expected = [
        // The sender is nearer to the outside.
        ["198.51.100.1:40000", "10.77.2.2:40000"],
        ["10.77.1.2:40000", "198.51.100.1:40000"],
        ["10.77.1.2:51786", "198.51.100.1:51786"],
    ];
    assert_eq!(found, expected);
    let summary = &document.summary;
    assert_eq!((summary.connections, summary.packets), (3, packets.len() as u64));
    let of_each: Vec<_> =
        document.connections.iter().map(|one| one.retransmissions.len()).collect();
    assert_eq!((summary.retransmissions, of_each), (23, vec![13, 7, 3]));
    let counted: u64 =
        document.connections.iter().map(|one| one.packets + one.captured_twice).sum();
    assert_eq!(counted, summary.packets);
    let (watch, _) = watched(&[packets]);
    let totals = watch.totals();
    let found: u64 = totals.retransmissions.values().flat_map(|one| one.values()).sum();
    assert_eq!((totals.connections, found), (3, 23));
}

/// The translator passes on the handshake and an answer to the first data, and then nothing more.
fn forgotten(passes_on: bool) -> [Vec<Captured>; 2] {
    [INSIDE, OUTSIDE].map(|side| {
        let mut packets = vec![
            side.packet(0, true, Flags::SYN, [0, 0, 0]),
            side.packet(20, false, syn_ack(), [0, 1, 0]),
            side.packet(30, true, Flags::ACK, [1, 1, 0]),
            side.packet(32, true, Flags::ACK, [1, 1, 100]),
            side.packet(52, false, Flags::ACK, [1, 101, 5000]),
            side.packet(62, true, Flags::ACK, [101, 5001, 0]),
        ];
        if side.client == INSIDE.client || passes_on {
            let times = [9000, 9300, 9900, 11_100, 13_500];
            packets.extend(times.map(|at| side.packet(at, true, Flags::ACK, [101, 5001, 100])));
        }
        packets
    })
}

#[test]
fn a_translator_that_forgets_a_connection_hides_no_failure() {
    for passes_on in [false, true] {
        let document = diagnosed(&forgotten(passes_on));
        let [report] = &document.connections[..] else { panic!("one connection") };
        let failure = report.failure.expect("a failure");
        assert_eq!((failure.kind.name(), failure.from), ("data-unanswered", "client"));
        let texts = document.answer.sentences.iter().map(|sentence| &sentence.text[..]);
        let text = texts.collect::<Vec<_>>().join(" ");
        let said = text.contains("5 packets of the client came in and did not go out");
        assert_eq!(said, !passes_on, "{text}");
    }
}
