//! Tests of captures of traced runs.

use std::fmt::Write as _;
use std::path::Path;

use rtolab_capture::{CapturedPacket, Conversation, End, RUN_START, Reader};
use rtolab_explorer::{pcapng, pcapng_of_headers};
use rtolab_link::DropCause;
use rtolab_record::{Fate, HEAD, PacketEvent, Place, Recording, Run, SegmentRow};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};
use rtolab_tcp::{Flags, Segment, Seq, SynOptions};
use rtolab_time::{Duration, Instant};

fn at(milliseconds: u64) -> Instant {
    Instant::START + Duration::from_millis(milliseconds)
}

fn syn(flags: Flags) -> Segment {
    let mut segment = Segment::new(Seq::FIRST, 0, flags);
    segment.set_syn_options(SynOptions { window_scale: Some(3), ..SynOptions::default() });
    segment.window = 8192;
    segment
}

fn acking(mut segment: Segment, ack: Seq) -> Segment {
    segment.flags |= Flags::ACK;
    segment.ack = ack;
    segment.window = 8192;
    segment
}

fn row(flow: u32, when: u64, (place, event): (Place, PacketEvent), segment: Segment) -> SegmentRow {
    SegmentRow {
        flow,
        at: at(when),
        place,
        event,
        copy: when,
        segment,
        bytes: 0,
        retransmission: false,
        unneeded: false,
        fate: Fate::Delivered,
        fate_at: Some(at(when)),
        held: Duration::ZERO,
    }
}

const SENT_BY_SENDER: (Place, PacketEvent) = (Place::Sender, PacketEvent::Sent);
const AT_RECEIVER: (Place, PacketEvent) = (Place::Receiver, PacketEvent::Received);
const SENT_BY_RECEIVER: (Place, PacketEvent) = (Place::Receiver, PacketEvent::Sent);
const AT_SENDER: (Place, PacketEvent) = (Place::Sender, PacketEvent::Received);

/// A handshake and a segment with its ACK; the first copy of the segment is lost.
fn recording(seed: u64) -> Recording {
    let one = Seq::FIRST + 1;
    let syn_ack = acking(syn(Flags::SYN), one);
    let data = acking(Segment::new(one, 100, Flags::PSH), one);
    let ack = acking(Segment::new(one, 0, Flags::ACK), one + 100);
    let lost = Fate::Dropped(DropCause::Outage);
    let segments = vec![
        row(0, 0, SENT_BY_SENDER, syn(Flags::SYN)),
        row(0, 10, AT_RECEIVER, syn(Flags::SYN)),
        row(0, 10, SENT_BY_RECEIVER, syn_ack),
        row(0, 20, AT_SENDER, syn_ack),
        SegmentRow { fate: lost, fate_at: Some(at(25)), ..row(0, 20, SENT_BY_SENDER, data) },
        SegmentRow { held: Duration::from_secs(3), ..row(0, 500, SENT_BY_SENDER, data) },
        SegmentRow { retransmission: true, unneeded: true, ..row(0, 3000, SENT_BY_SENDER, data) },
        row(0, 3500, AT_RECEIVER, data),
        row(0, 3500, SENT_BY_RECEIVER, ack),
        SegmentRow { fate: Fate::Underway, fate_at: None, ..row(0, 3501, AT_SENDER, ack) },
        row(2, 3600, SENT_BY_SENDER, syn(Flags::SYN)),
    ];
    let run = Run { run: 4, seed, sender: "sack+frto".into() };
    Recording { run, segments, ..Recording::default() }
}

fn packets(recording: &Recording, place: Place) -> Vec<CapturedPacket> {
    let file = pcapng(recording, place).unwrap();
    let packets = Reader::new(&file[..]).unwrap().map(|read| read.unwrap().packet);
    packets.collect()
}

#[test]
fn a_capture_has_exactly_the_packets_of_its_place() {
    let recording = recording(7);
    for (place, first_from) in [(Place::Sender, 0), (Place::Receiver, 10)] {
        let packets = packets(&recording, place);
        let rows: Vec<_> = recording.segments.iter().filter(|row| row.place == place).collect();
        assert_eq!(packets.len(), rows.len());
        assert_eq!(packets[0].at, RUN_START + Duration::from_millis(first_from));
        let mut conversation = Conversation::from_first_packet(&packets[0]);
        for (packet, row) in packets.iter().zip(rows).filter(|(_, row)| row.flow == 0) {
            let is_of_sender = (row.place == Place::Sender) == (row.event == PacketEvent::Sent);
            let from = if is_of_sender { End::Client } else { End::Server };
            assert_eq!(conversation.segment(packet), Some((from, row.segment)));
            assert_eq!(packet.at, RUN_START + row.at.since(Instant::START));
            assert_eq!(u64::from(packet.identification), row.copy);
        }
    }
}

#[test]
fn a_capture_of_headers_has_the_same_segments_in_fewer_bytes() {
    let recording = recording(7);
    let (whole, headers) =
        (pcapng(&recording, Place::Sender), pcapng_of_headers(&recording, Place::Sender));
    let (whole, headers) = (whole.unwrap(), headers.unwrap());
    assert!(headers.len() < whole.len());
    let segments = |file: &[u8]| -> Vec<_> {
        let packets = Reader::new(file).unwrap().map(|read| read.unwrap().packet);
        packets.map(|packet| (packet.at, packet.segment)).collect()
    };
    assert_eq!(segments(&headers), segments(&whole));
}

#[test]
fn each_flow_has_its_port_and_each_seed_its_sequence_numbers() {
    let of = |seed| packets(&recording(seed), Place::Sender);
    let (seven, repeated, eight) = (of(7), of(7), of(8));
    assert_eq!(seven, repeated);
    let syn = |packets: &[CapturedPacket], index: usize| packets[index].segment.seq;
    let last = seven.len() - 1;
    assert_eq!(seven[last].from().port(), seven[0].from().port() + 2);
    assert_eq!(seven[last].to(), seven[0].to());
    assert_ne!(syn(&seven, 0), syn(&seven, last));
    assert_ne!(syn(&seven, 0), syn(&eight, 0));
}

#[test]
fn comments_report_losses_delays_and_retransmissions() {
    let comments: Vec<_> = packets(&recording(7), Place::Sender)
        .into_iter()
        .map(|packet| packet.comment.unwrap_or_default().into_owned())
        .collect();
    let expected = [
        "",
        "",
        "lost: outage at 0.025000 s",
        "held for 3 s",
        "retransmission, unneeded",
        "under way at the end of the run",
        "",
    ];
    assert_eq!(comments, expected);
}

/// The FNV-1a hash of bytes.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The bytes are the same in all builds and on all machines. `tests/runs/test_captures.py` also
/// checks the built extension. `RTOLAB_UPDATE=1 cargo test -p rtolab-py` updates the hashes.
#[test]
fn the_captures_of_a_run_are_unchanged() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenario = crates.join("../../scenarios/frto2002-delays.toml");
    let scenario = Scenario::load(&scenario, &[]).unwrap();
    let mut now = String::new();
    for sender in ["sack+eifel", "newreno+frto"] {
        let lab = Lab::new(&scenario, Some(sender)).unwrap();
        let recording = lab.run(0, 11, Observe { trace: true, windows: false });
        for place in [Place::Sender, Place::Receiver] {
            let bytes = pcapng(&recording, place).unwrap();
            writeln!(now, "{sender} {} {:016x}", place.name(), hash(&bytes)).unwrap();
        }
    }
    let file = crates.join("tests/captures.txt");
    if std::env::var_os("RTOLAB_UPDATE").is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    assert_eq!(now, std::fs::read_to_string(&file).unwrap());
}

#[test]
fn a_capture_holds_datagrams_whose_bytes_are_known() {
    let datagram = Segment::new(Seq::FIRST + 1, 100, Flags::NONE);
    let sent = SegmentRow { bytes: 128, ..row(0, 0, SENT_BY_SENDER, datagram) };
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&[0x45, 0, 0, 128]);
    let mut recording = Recording { segments: vec![sent], ..recording(1) };
    let without = pcapng(&recording, Place::Sender).unwrap();
    recording.heads = vec![head];
    let file = pcapng(&recording, Place::Sender).unwrap();
    assert!(file.len() >= without.len() + HEAD);
    assert!(file.windows(HEAD).any(|bytes| bytes == head));
    // A simulated datagram has no bytes to show.
    assert!(!without.windows(4).any(|bytes| bytes == &head[..4]));
}
