//! Captures of one transfer over a router, at one or several places of the path.

use rtolab_capture::{Captured, CapturedPacket, RUN_START};
use rtolab_diagnose::{ConnectionReport, Diagnosis, Necessity, Vantage, Watch, WatchLimits};
use rtolab_tcp::wire::{SackBlock, WireSegment};
use rtolab_tcp::{Flags, SynOptions, Timestamps};
use rtolab_time::Duration;

use crate::packets::{segment, sent};

const MSS: u32 = 1448;
/// The time to pass a link or the router, in microseconds.
const STEP_US: u64 = 10;
/// The time in the router's queue.
const QUEUE_US: u64 = 30_000;
/// The time that the queue takes to send a segment.
const SEGMENT_US: u64 = 1_200;
const ROUNDS: u32 = 40;
/// Every tenth round loses its second segment in the router's queue.
const LOSS_PERIOD: u32 = 10;

/// The places at which packets are captured, from the sender to the receiver. The first two are
/// before the router, the others after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Sender,
    RouterIn,
    RouterOut,
    Receiver,
}
use Place::{Receiver, RouterIn, RouterOut, Sender};

/// What distinguishes the packets of the places in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Interfaces,
    Hops,
    Both,
}

/// A packet at each place that it passes.
struct Path {
    /// The time, the place, and the packet.
    passes: Vec<(u64, Place, CapturedPacket)>,
    ids: [u16; 2],
}

/// The TCP fields of a packet.
#[derive(Clone, Copy)]
struct Fields {
    forward: bool,
    flags: Flags,
    /// The first byte of data, and the acknowledged one, both counted from the SYN.
    seq: u32,
    ack: u32,
    len: u32,
    sack: Option<(u32, u32)>,
    value: u32,
}

fn packet(id: u16, fields: Fields) -> CapturedPacket {
    let Fields { forward, flags, seq, ack, len, sack, value } = fields;
    let syn = SynOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..SynOptions::default()
    };
    let segment = WireSegment {
        syn: if flags.has(Flags::SYN) { syn } else { SynOptions::default() },
        timestamps: Some(Timestamps { value, echo: if forward { 1 } else { value } }),
        sack: sack.map(|(start, end)| SackBlock { start, end }).into_iter().collect(),
        ..segment(flags, (seq, ack, len))
    };
    CapturedPacket { identification: id, ..sent(forward, RUN_START, segment) }
}

impl Path {
    fn id(&mut self, forward: bool) -> u16 {
        self.ids[usize::from(forward)] += 1;
        self.ids[usize::from(forward)]
    }

    /// An unqueued packet, captured at the place of its sender at this time. Returns when it is at
    /// the other end.
    fn at_once(&mut self, at: u64, fields: Fields) -> u64 {
        // Linux numbers no SYN-ACK.
        let id = if fields.ack == 1 && !fields.forward && fields.len == 0 && fields.seq == 0 {
            0
        } else {
            self.id(fields.forward)
        };
        let mut places = [Sender, RouterIn, RouterOut, Receiver];
        if !fields.forward {
            places.reverse();
        }
        for (step, place) in (0..).zip(places) {
            self.passes.push((at + step * STEP_US, place, packet(id, fields)));
        }
        at + 3 * STEP_US
    }

    /// A super-segment that the router splits and queues. Its lost segments are dropped in the
    /// queue. Returns the sequence number and the timestamp of each segment that arrives, and when.
    fn queued(&mut self, at: u64, fields: Fields, lost: Option<u32>) -> Vec<(u32, u32, u64)> {
        let count = fields.len / MSS;
        let first = self.id(true);
        self.ids[1] += count as u16 - 1;
        for (place, step) in [(Sender, 0), (RouterIn, 1)] {
            self.passes.push((at + step * STEP_US, place, packet(first, fields)));
        }
        let kept = (0..count).filter(|number| Some(*number) != lost);
        let mut arrivals = Vec::new();
        for (slot, number) in (1..).zip(kept) {
            let seq = fields.seq + number * MSS;
            let id = first + number as u16;
            let piece = packet(id, Fields { seq, len: MSS, ..fields });
            let out = at + QUEUE_US + slot * SEGMENT_US;
            self.passes.push((out, RouterOut, piece.clone()));
            self.passes.push((out + STEP_US, Receiver, piece));
            arrivals.push((seq, fields.value, out + STEP_US));
        }
        arrivals
    }
}

/// A transfer at all places.
fn transfer() -> Path {
    let mut path = Path { passes: Vec::new(), ids: [100, 30_000] };
    let data = Flags::ACK;
    let none =
        Fields { forward: true, flags: Flags::SYN, seq: 0, ack: 0, len: 0, sack: None, value: 1 };
    let arrived = path.at_once(0, none);
    let flags = Flags::SYN | Flags::ACK;
    let answer = Fields { forward: false, flags, ack: 1, ..none };
    let arrived = path.at_once(arrived + 2, answer);
    let first_ack = Fields { flags: data, seq: 1, ack: 1, ..none };
    let opened = path.at_once(arrived + 20, first_ack);
    // Each round sends the next super-segment before the answer to the previous one.
    let mut acked = 1;
    let (mut held, mut free) = (Vec::new(), opened);
    for round in 0..ROUNDS {
        let at = free.max(u64::from(round) * 4 * SEGMENT_US);
        let seq = 1 + round * 4 * MSS;
        let value = 10 + (at / 1000) as u32;
        let lost = (round % LOSS_PERIOD == 3).then_some(1);
        let sent = Fields { seq, len: 4 * MSS, value, ..first_ack };
        let mut arrivals = path.queued(at, sent, lost);
        if let Some(lost) = lost {
            // The third duplicate ACK triggers the retransmission; nothing else is in flight.
            let missing = seq + lost * MSS;
            let after = arrivals.last().map_or(at, |&(.., at)| at) + 100;
            let again = Fields { seq: missing, len: MSS, value: value + 40, ..first_ack };
            arrivals.extend(path.queued(after, again, None));
        }
        for (seq, value, at) in arrivals {
            held.push(seq);
            while held.contains(&acked) {
                acked += MSS;
            }
            let end = seq + MSS;
            let sack = (end > acked).then_some((acked + MSS, end));
            let ack =
                Fields { forward: false, flags: data, seq: 1, ack: acked, len: 0, sack, value };
            free = path.at_once(at + 3, ack) + 5;
        }
    }
    path
}

/// The packets at these places in the order of time.
fn captured(path: &Path, places: &[Place], shown: Shown) -> Vec<Captured> {
    let mut found: Vec<_> =
        path.passes.iter().filter(|(_, place, _)| places.contains(place)).collect();
    found.sort_by_key(|(at, place, _)| (*at, *place));
    let captured = |(number, (at, place, packet)): (u64, &&(u64, Place, CapturedPacket))| {
        let is_forward = packet.segment.ports.from == 1000;
        let is_routed = (*place >= RouterOut) == is_forward;
        Captured {
            number,
            packet: CapturedPacket { at: RUN_START + Duration::from_micros(*at), ..packet.clone() },
            hops: if shown == Shown::Interfaces { 0 } else { 64 - u8::from(is_routed) },
            interface: if shown == Shown::Hops { 0 } else { *place as u32 },
            ..Captured::empty()
        }
    };
    (1..).zip(&found).map(captured).collect()
}

fn diagnose(packets: &[Captured]) -> ConnectionReport {
    let mut diagnosis = Diagnosis::new();
    for captured in packets {
        diagnosis.packet(captured);
    }
    diagnosis.finish();
    diagnosis.poll().expect("a connection")
}

/// The sequence number and the verdict of each retransmission.
fn verdicts(report: &ConnectionReport) -> Vec<(u32, Necessity)> {
    report.retransmissions.iter().map(|one| (one.seq, one.verdict)).collect()
}

#[test]
fn hop_limits_show_the_capture_point_on_a_fast_path() {
    let path = transfer();
    let vantage = |place| diagnose(&captured(&path, &[place], Shown::Hops)).vantage;
    assert_eq!([Sender, RouterIn].map(vantage), [Vantage::Sender; 2]);
    assert_eq!([RouterOut, Receiver].map(vantage), [Vantage::Receiver; 2]);
}

#[test]
fn without_hop_limits_no_end_is_assumed_on_a_fast_path() {
    let path = transfer();
    let vantage = |place| diagnose(&captured(&path, &[place], Shown::Interfaces)).vantage;
    assert_eq!(vantage(Receiver), Vantage::Receiver);
    assert_eq!(vantage(RouterIn), Vantage::Between);
}

#[test]
fn both_interfaces_of_a_router_have_the_verdicts_of_one() {
    let path = transfer();
    let alone = diagnose(&captured(&path, &[RouterIn], Shown::Both));
    assert_eq!(verdicts(&alone).len() as u32, ROUNDS / LOSS_PERIOD);
    assert!(verdicts(&alone).iter().all(|(_, verdict)| *verdict == Necessity::Needed));
    for shown in [Shown::Interfaces, Shown::Hops, Shown::Both] {
        let both = diagnose(&captured(&path, &[RouterIn, RouterOut], shown));
        assert_eq!(verdicts(&both), verdicts(&alone), "{shown:?}");
        assert_eq!((both.capture_points, both.segments), (2, alone.segments), "{shown:?}");
    }
}

#[test]
fn a_merged_capture_of_both_ends_has_the_verdicts_of_the_senders() {
    let path = transfer();
    let alone = diagnose(&captured(&path, &[Sender], Shown::Both));
    for shown in [Shown::Interfaces, Shown::Hops, Shown::Both] {
        let both = diagnose(&captured(&path, &[Sender, Receiver], shown));
        assert_eq!(verdicts(&both), verdicts(&alone), "{shown:?}");
        let skewed = |late: Place| {
            let mut path = transfer();
            for (at, place, _) in &mut path.passes {
                *at += if *place == late { 400 } else { 0 };
            }
            verdicts(&diagnose(&captured(&path, &[Sender, Receiver], shown)))
        };
        assert_eq!(skewed(Receiver), verdicts(&alone), "{shown:?}");
        if shown == Shown::Both {
            assert_eq!(skewed(Sender), verdicts(&alone));
        }
    }
}

#[test]
fn further_copies_are_ignored() {
    let path = transfer();
    let alone = diagnose(&captured(&path, &[Sender], Shown::Both));
    let all = [Sender, RouterIn, RouterOut, Receiver];
    let found = diagnose(&captured(&path, &all, Shown::Both));
    assert_eq!(verdicts(&found), verdicts(&alone));
    assert_eq!(found.segments, alone.segments);
}

#[test]
fn two_points_are_found_without_the_handshake() {
    let path = transfer();
    let late = |places: &[Place]| {
        let mut packets = captured(&path, places, Shown::Both);
        packets.retain(|one| one.packet.at > RUN_START + Duration::from_millis(100));
        diagnose(&packets)
    };
    let (alone, both) = (late(&[RouterIn]), late(&[RouterIn, RouterOut]));
    assert!(verdicts(&alone).len() > 2);
    assert_eq!(verdicts(&both), verdicts(&alone));
}

#[test]
fn a_watch_of_several_interfaces_has_the_same_verdicts() {
    let path = transfer();
    let watched = |places: &[Place]| {
        let mut watch = Watch::new(WatchLimits::default());
        let mut found = Vec::new();
        for captured in captured(&path, places, Shown::Both) {
            watch.packet(&captured);
            found.extend(std::iter::from_fn(|| watch.poll()));
        }
        watch.finish();
        found.extend(std::iter::from_fn(|| watch.poll()));
        found.iter().flat_map(verdicts).collect::<Vec<_>>()
    };
    assert_eq!(watched(&[RouterIn, RouterOut]), watched(&[RouterIn]));
    assert_eq!(watched(&[RouterIn]).len() as u32, ROUNDS / LOSS_PERIOD);
}

#[test]
fn a_packet_at_two_ports_now_and_then_is_a_copy() {
    let path = transfer();
    let mut packets = captured(&path, &[Sender], Shown::Both);
    packets.retain(|one| !one.packet.segment.flags.has(Flags::SYN));
    let alone = diagnose(&packets);
    let flooded: Vec<Captured> = packets.iter().step_by(20).cloned().collect();
    packets.extend(flooded.into_iter().map(|one| Captured { interface: 7, ..one }));
    packets.sort_by_key(|one| (one.packet.at, one.interface));
    let found = diagnose(&packets);
    assert_eq!(verdicts(&found), verdicts(&alone));
    assert_eq!((found.capture_points, found.start), (1, alone.start));
    assert!(found.captured_twice > 5);
}

/// The capture at the receiver in which the network duplicates every tenth segment. The receiver
/// answers each duplicate with a D-SACK if `is_answered`.
fn duplicated(is_answered: bool) -> (u64, Vec<Captured>) {
    let mut packets = captured(&transfer(), &[Receiver], Shown::Both);
    let is_data = |one: &&Captured| one.packet.segment.len > 0;
    let data: Vec<Captured> = packets.iter().filter(is_data).step_by(10).cloned().collect();
    for original in &data {
        let mut copy = original.clone();
        copy.packet.at += Duration::from_micros(1);
        let (start, end) = (copy.packet.segment.seq, copy.packet.segment.seq + MSS);
        let answers =
            |one: &&Captured| one.packet.at > copy.packet.at && one.packet.segment.ports.from == 80;
        let mut dsack = packets.iter().find(answers).expect("an ACK").clone();
        dsack.packet.at += Duration::from_micros(1);
        dsack.packet.identification += 9000;
        dsack.packet.segment.sack = [SackBlock { start, end }].into_iter().collect();
        packets.push(copy);
        if is_answered {
            packets.push(dsack);
        }
    }
    packets.sort_by_key(|one| one.packet.at);
    (data.len() as u64, packets)
}

#[test]
fn a_copy_that_a_d_sack_reports_was_duplicated_by_the_network() {
    for is_answered in [false, true] {
        let (count, packets) = duplicated(is_answered);
        let report = diagnose(&packets);
        let found = [report.duplicated, report.captured_twice];
        assert_eq!(found, if is_answered { [count, 0] } else { [0, count] });
        assert_eq!(report.retransmissions.len() as u32, ROUNDS / LOSS_PERIOD);
    }
}

#[test]
fn d_sacks_without_a_retransmission_report_duplicates_of_the_network() {
    let (count, mut packets) = duplicated(true);
    // A capture nearer to the sender lacks the duplicates.
    packets.dedup_by_key(|one| (one.packet.identification, one.packet.segment.ports.from));
    let report = diagnose(&packets);
    assert_eq!([report.duplicated, report.captured_twice], [count, 0]);
}

#[test]
fn equal_resets_of_several_segments_are_no_copies() {
    let mut packets = captured(&transfer(), &[Sender], Shown::Both);
    let last = packets.last().expect("a packet").clone();
    for number in 1..=5_u64 {
        let mut reset = last.clone();
        reset.packet.at += Duration::from_micros(20 * number);
        reset.packet.identification = 0;
        (reset.packet.segment.flags, reset.packet.segment.sack) =
            (Flags::RST, [].into_iter().collect());
        packets.push(reset);
    }
    let report = diagnose(&packets);
    assert_eq!((report.captured_twice, report.packets), (0, packets.len() as u64));
}
