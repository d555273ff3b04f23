//! Tests of header compression: sizes, and the effect of a lost frame on later ones.

use proptest::prelude::*;
use rtolab_link::{
    Channel, ChannelConfig, CopyId, Direction, DirectionConfig, Frame, HeaderCompression,
    HeaderFields, Instant, Outcome, Probability, Stream,
};
use rtolab_time::Duration;

const HEADER: u32 = 40;
const STAMPS: u32 = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    copy: u64,
    fields: HeaderFields,
    is_damaged: bool,
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        self.fields.header + self.fields.payload
    }

    fn copy_id(&self) -> CopyId {
        CopyId(self.copy)
    }

    fn is_ecn_capable(&self) -> bool {
        false
    }

    fn mark_congestion(&mut self) {}

    fn corrupt(&mut self) {
        self.is_damaged = true;
    }

    fn header_fields(&self) -> Option<HeaderFields> {
        Some(self.fields)
    }
}

/// A segment without options.
fn segment(seq: u64, ack: u64, payload: u32) -> HeaderFields {
    HeaderFields {
        context: 1,
        seq,
        ack,
        window: 8192,
        payload,
        header: HEADER,
        option_bytes: 0,
        options: 0,
        others: 0,
        is_control: false,
    }
}

/// The same with timestamps.
fn stamped(fields: HeaderFields, stamp: u64) -> HeaderFields {
    HeaderFields { header: HEADER + STAMPS, option_bytes: STAMPS, options: stamp, ..fields }
}

/// Data in segments of 256 bytes from the `first` on.
fn data(numbers: impl IntoIterator<Item = u64>) -> Vec<HeaderFields> {
    numbers.into_iter().map(|number| segment(1 + 256 * number, 1, 256)).collect()
}

fn acks(numbers: impl IntoIterator<Item = u64>) -> Vec<HeaderFields> {
    numbers.into_iter().map(|number| segment(1, 1 + 256 * number, 0)).collect()
}

struct Sent {
    /// The numbers of the frames that arrived, and whether their headers were wrong.
    arrived: Vec<(u64, bool)>,
    /// The bytes that the link sent.
    bytes: u64,
    corrupted: u64,
}

impl Sent {
    fn wrong(&self) -> Vec<u64> {
        self.arrived.iter().filter(|(_, wrong)| *wrong).map(|(number, _)| *number).collect()
    }
}

/// Sends frames, one every 100 ms, over a link of 50 ms. Those of `drops`, from 1, are lost.
fn send(kind: HeaderCompression, frames: &[HeaderFields], drops: &[u32]) -> Sent {
    let one = DirectionConfig {
        delay: Duration::from_millis(50),
        header_compression: kind,
        ..DirectionConfig::default()
    };
    let forward = DirectionConfig { drops: drops.to_vec(), ..one.clone() };
    run(&ChannelConfig { forward, backward: one, ..ChannelConfig::default() }, frames)
}

fn run(config: &ChannelConfig, frames: &[HeaderFields]) -> Sent {
    let mut link: Channel<Packet> = Channel::new(config, &Stream::new(1));
    let mut arrived = Vec::new();
    let mut receive = |link: &mut Channel<Packet>, at: Instant| {
        while let Some(outcome) = link.poll_direction(Direction::Forward, at) {
            if let Outcome::Delivered { frame, .. } = outcome {
                arrived.push((frame.copy, frame.is_damaged));
            }
        }
    };
    for (number, fields) in frames.iter().enumerate() {
        let at = Instant::START + Duration::from_millis(100 * number as u64);
        receive(&mut link, at);
        let frame = Packet { copy: number as u64 + 1, fields: *fields, is_damaged: false };
        link.send(Direction::Forward, frame, at);
    }
    receive(&mut link, Instant::NEVER);
    let stats = link.stats(Direction::Forward);
    Sent { arrived, bytes: stats.transmitted_bytes, corrupted: stats.corrupted }
}

use HeaderCompression::{None as Plain, Rfc1144, Rfc2507};

#[test]
fn data_in_one_direction_has_headers_of_four_bytes() {
    let frames = data(0..10);
    assert_eq!(send(Plain, &frames, &[]).bytes, 10 * (40 + 256));
    for kind in [Rfc1144, Rfc2507] {
        let sent = send(kind, &frames, &[]);
        assert_eq!(sent.bytes, 40 + 9 * 4 + 10 * 256);
        assert_eq!(sent.wrong(), []);
    }
}

#[test]
fn an_ack_of_two_segments_needs_three_bytes_more() {
    let frames = acks((0..20).step_by(2));
    assert_eq!(send(Rfc1144, &frames, &[]).bytes, 40 + 9 * 7);
}

#[test]
fn after_a_loss_all_headers_are_wrong_until_a_retransmission() {
    // RFC 1144 section 4.1: the retransmission goes back, so its header is full.
    let mut frames = data(0..8);
    frames.extend(data([2, 8, 9]));
    let sent = send(Rfc1144, &frames, &[3]);
    assert_eq!(sent.wrong(), [4, 5, 6, 7, 8]);
    assert_eq!(sent.corrupted, 5);
    assert_eq!(sent.arrived.len(), 10);
}

#[test]
fn a_duplicate_ack_is_sent_in_full_and_restores_the_context() {
    let mut frames = acks([2, 4, 6, 8]);
    frames.extend(acks([8, 10]));
    let sent = send(Rfc1144, &frames, &[2]);
    assert_eq!(sent.wrong(), [3, 4]);
    assert_eq!(sent.bytes, 40 + 3 * 7 + 40 + 7);
}

#[test]
fn changing_timestamps_disable_rfc_1144() {
    let frames: Vec<_> = (0u64..).zip(data(0..10)).map(|(n, one)| stamped(one, n)).collect();
    let plain = send(Plain, &frames, &[]).bytes;
    let sent = send(Rfc1144, &frames, &[3]);
    assert_eq!((sent.bytes, sent.wrong()), (plain, vec![]));
    // RFC 2507 sends the option beside the differences.
    assert_eq!(send(Rfc2507, &frames, &[]).bytes, 52 + 9 * (4 + 12) + 10 * 256);
}

#[test]
fn the_same_timestamp_costs_nothing() {
    let frames: Vec<_> = data(0..10).into_iter().map(|one| stamped(one, 7)).collect();
    assert_eq!(send(Rfc1144, &frames, &[]).bytes, 52 + 9 * 4 + 10 * 256);
}

#[test]
fn the_twice_algorithm_repairs_one_loss() {
    // RFC 2507 section 10.1.
    assert_eq!(send(Rfc2507, &data(0..8), &[3]).wrong(), []);
    assert_eq!(send(Rfc2507, &acks((0..16).step_by(2)), &[3]).wrong(), []);
    // The lost ACK covered another number of bytes.
    let uneven = acks([2, 4, 5, 7, 9, 11]);
    assert_eq!(send(Rfc2507, &uneven, &[3]).wrong(), [4]);
}

#[test]
fn a_header_request_repairs_two_losses_after_a_round_trip() {
    // RFC 2507 section 10.2: frame 5 is wrong at 450 ms, the request arrives at 500 ms.
    let sent = send(Rfc2507, &data(0..9), &[3, 4]);
    assert_eq!(sent.wrong(), [5]);
    assert_eq!(sent.bytes, 40 + 17 + 7 * 4 + 9 * 256);
    assert_eq!(send(Rfc1144, &data(0..9), &[3, 4]).wrong(), [5, 6, 7, 8, 9]);
}

#[test]
fn each_connection_has_its_own_context() {
    let other = |fields: HeaderFields| HeaderFields { context: 2, ..fields };
    let mut frames = data(0..3);
    frames.extend(data(0..3).into_iter().map(other));
    frames.extend(data(3..5));
    frames.extend(data(3..5).into_iter().map(other));
    let sent = send(Rfc1144, &frames, &[3]);
    assert_eq!(sent.wrong(), [7, 8]);
}

#[test]
fn control_segments_are_uncompressed_and_change_no_context() {
    let mut frames = data(0..3);
    frames.push(HeaderFields { is_control: true, ..segment(9999, 1, 0) });
    frames.extend(data(3..5));
    let sent = send(Rfc1144, &frames, &[4]);
    assert_eq!((sent.wrong(), sent.bytes), (vec![], 40 + 4 * 4 + 40 + 5 * 256));
}

#[test]
fn a_duplicate_from_the_link_breaks_the_context() {
    let one = DirectionConfig {
        header_compression: Rfc1144,
        duplication: Probability::new(1.0).unwrap(),
        ..DirectionConfig::default()
    };
    let sent = run(&ChannelConfig { forward: one, ..ChannelConfig::default() }, &data(0..3));
    assert_eq!(sent.arrived, [(1, false), (1, false), (2, false), (2, true), (3, true), (3, true)]);
}

proptest! {
    /// Without losses each header is restored, whatever it is, and none takes more room.
    #[test]
    fn without_losses_every_header_is_restored(
        steps in prop::collection::vec((0..4u64, 0..70_000u64, 0..3u32, 0..3u64, 0..2u32), 1..40),
        newer in any::<bool>(),
    ) {
        let (mut seq, mut ack, mut frames) = (1u64, 1u64, Vec::new());
        for (kind, step, payload, options, others) in steps {
            match kind {
                0 => seq += step,
                1 => ack += step,
                2 => seq = seq.saturating_sub(step),
                _ => (),
            }
            let one = HeaderFields { others, ..segment(seq, ack, 256 * payload) };
            frames.push(if options > 0 { stamped(one, options) } else { one });
            if kind == 3 {
                seq += u64::from(256 * payload);
            }
        }
        let kind = if newer { Rfc2507 } else { Rfc1144 };
        let sent = send(kind, &frames, &[]);
        prop_assert_eq!(sent.wrong(), Vec::<u64>::new());
        prop_assert!(sent.bytes <= send(Plain, &frames, &[]).bytes);
    }

    /// A loss never makes frames before it wrong, and RFC 2507 recovers in less than a second.
    #[test]
    fn header_requests_bound_the_damage(lost in prop::collection::btree_set(1..30u32, 0..8)) {
        let lost: Vec<u32> = lost.into_iter().collect();
        let sent = send(Rfc2507, &data(0..60), &lost);
        let first = lost.first().copied().unwrap_or(u32::MAX);
        let last = lost.last().copied().unwrap_or(0);
        for number in sent.wrong() {
            prop_assert!(number > u64::from(first) && number <= u64::from(last) + 4);
        }
    }
}
