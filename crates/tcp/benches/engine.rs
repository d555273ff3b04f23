//! The cost of the parts of the engine: `cargo bench -p rtolab-tcp --bench engine`.

#[path = "../../../benches/brief.rs"]
mod brief;

use std::hint::black_box;
use std::net::Ipv4Addr;
use std::ops::Range;
use std::sync::Arc;

use brief::brief;
use criterion::measurement::WallTime as Wall;
use criterion::{BatchSize, BenchmarkGroup, Throughput};
use rtolab_tcp::flight::LossRule;
use rtolab_tcp::rtt::RttEstimator;
use rtolab_tcp::wire::{Addresses, Payload, Ports, SeqReference, WireMapping, WireSegment};
use rtolab_tcp::{Cause, Config, Connection, Flags, Flight, Segment, Seq, Timestamps};
use rtolab_time::{Duration, Instant};

const SEGMENT: u32 = 1000;

/// The number of outstanding segments.
const WINDOW: u32 = 64;

const MILLISECOND: Duration = Duration::from_millis(1);

/// The first sequence number of a segment; they count from zero.
fn start_of(number: u32) -> Seq {
    Seq::FIRST + 1 + SEGMENT * number
}

fn data(seq: Seq) -> Segment {
    let mut segment = Segment::new(seq, SEGMENT, Flags::ACK);
    segment.ack = Seq::FIRST + 1;
    segment
}

/// An acknowledgment of everything below `ack` and of `sacked`, which advertises a whole window.
fn ack(ack: Seq, sacked: Option<Range<Seq>>) -> Segment {
    let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    segment.ack = ack;
    segment.window = WINDOW * SEGMENT;
    if let Some(block) = sacked {
        segment.push_sack(block);
    }
    segment
}

fn config() -> Arc<Config> {
    let mut config = Config { mss: SEGMENT as u16, ..Config::default() };
    config.timestamp.in_mss = false;
    config.receiver.ack_every = 1;
    Arc::new(config)
}

/// Sends all segments, and returns the last.
fn drain(connection: &mut Connection, now: Instant) -> Option<Segment> {
    std::iter::from_fn(|| connection.poll_transmit(now)).last()
}

/// Both ends of a connection after a handshake without delay.
fn connected() -> (Connection, Connection) {
    let now = Instant::START;
    let mut sender = Connection::open(config());
    let syn = drain(&mut sender, now).expect("a SYN leaves");
    let mut receiver = Connection::accept(config(), &syn);
    sender.on_segment(&drain(&mut receiver, now).expect("a SYN and ACK leaves"), now);
    receiver.on_segment(&drain(&mut sender, now).expect("an ACK leaves"), now);
    (sender, receiver)
}

/// A sender with a whole window outstanding and plenty to send, and the number of the segment that
/// is the oldest.
fn sender(now: &mut Instant) -> (Connection, u32) {
    let (mut sender, _) = connected();
    sender.write(u64::MAX / 2);
    drain(&mut sender, *now);
    for number in 1..=10 * WINDOW {
        *now += MILLISECOND;
        sender.on_segment(&ack(start_of(number), None), *now);
        drain(&mut sender, *now);
    }
    let outstanding = sender.sender().flight().size();
    assert_eq!(outstanding, u64::from(WINDOW * SEGMENT), "the window is not full");
    (sender, 10 * WINDOW)
}

fn main() {
    let mut criterion = brief();
    let mut group = criterion.benchmark_group("tcp");
    group.throughput(Throughput::Elements(1));
    sending(&mut group);
    receiving(&mut group);
    estimating(&mut group);
    on_the_wire(&mut group);
    recovering(&mut group);
    group.finish();
    criterion.final_summary();
}

fn sending(group: &mut BenchmarkGroup<'_, Wall>) {
    group.bench_function("sender, an ACK and what it sends", |bencher| {
        let mut now = Instant::START;
        let (mut sender, oldest) = sender(&mut now);
        let mut next = start_of(oldest);
        bencher.iter(|| {
            (now, next) = (now + MILLISECOND, next + SEGMENT);
            sender.on_segment(black_box(&ack(next, None)), now);
            black_box(drain(&mut sender, now))
        });
    });
}

fn receiving(group: &mut BenchmarkGroup<'_, Wall>) {
    group.bench_function("receiver, a segment in order and its ACK", |bencher| {
        let (_, mut receiver) = connected();
        let (mut now, mut next) = (Instant::START, start_of(0));
        bencher.iter(|| {
            receiver.on_segment(black_box(&data(next)), now);
            receiver.read(u64::from(SEGMENT));
            (now, next) = (now + MILLISECOND, next + SEGMENT);
            black_box(drain(&mut receiver, now))
        });
    });
    group.throughput(Throughput::Elements(2));
    group.bench_function("receiver, two segments in the wrong order", |bencher| {
        let (_, mut receiver) = connected();
        let (mut now, mut next) = (Instant::START, start_of(0));
        bencher.iter(|| {
            for seq in [next + SEGMENT, next] {
                receiver.on_segment(black_box(&data(seq)), now);
                black_box(drain(&mut receiver, now));
            }
            receiver.read(u64::from(2 * SEGMENT));
            (now, next) = (now + MILLISECOND, next + 2 * SEGMENT);
        });
    });
    group.throughput(Throughput::Elements(1));
}

fn estimating(group: &mut BenchmarkGroup<'_, Wall>) {
    group.bench_function("RTO estimator, an RTT sample", |bencher| {
        let mut estimator = RttEstimator::new(config());
        let (mut number, mut una) = (0, Seq::FIRST);
        bencher.iter(|| {
            (number, una) = (number + 1, una + SEGMENT);
            let rtt = MILLISECOND * (60 + number % 7);
            estimator.sample(black_box(rtt), una, una + WINDOW * SEGMENT);
            black_box(estimator.rto())
        });
    });
}

fn on_the_wire(group: &mut BenchmarkGroup<'_, Wall>) {
    let mut segment = ack(start_of(10), None);
    segment.set_timestamps(Timestamps { value: 7, echo: 3 });
    for number in [20, 30, 40] {
        segment.push_sack(start_of(number)..start_of(number + 5));
    }
    let addresses = Addresses::V4 { from: Ipv4Addr::LOCALHOST, to: Ipv4Addr::LOCALHOST };
    let (mapping, ports) = (WireMapping::default(), Ports { from: 1, to: 2 });
    let emit = |segment: &Segment| {
        WireSegment::from_segment(segment, &mapping, ports).emit(addresses, Payload::Zeros)
    };
    group.bench_function("wire, an ACK with three SACK blocks to bytes", |bencher| {
        bencher.iter(|| black_box(emit(black_box(&segment))));
    });
    let bytes = emit(&segment);
    let near = SeqReference { seq: segment.seq, ack: segment.ack };
    group.bench_function("wire, an ACK with three SACK blocks from bytes", |bencher| {
        bencher.iter(|| {
            let parsed = WireSegment::parse(black_box(&bytes), bytes.len());
            black_box(parsed.map(|parsed| parsed.to_segment(&mapping, near)))
        });
    });
}

/// The oldest of a window was lost: an ACK arrives for each of the others.
fn recovering(group: &mut BenchmarkGroup<'_, Wall>) {
    let mut now = Instant::START;
    let (sender, oldest) = sender(&mut now);
    let lost = start_of(oldest);
    let after_lost = |number: u32| lost + SEGMENT * number;
    let duplicates: Vec<Segment> =
        (2..=WINDOW).map(|number| ack(lost, Some(after_lost(1)..after_lost(number)))).collect();
    group.throughput(Throughput::Elements(duplicates.len() as u64));
    let arrive = |sender: &mut Connection| {
        for duplicate in &duplicates {
            sender.on_segment(black_box(duplicate), now);
            black_box(drain(sender, now));
        }
    };
    group.bench_function("sender, a duplicate ACK in recovery", |bencher| {
        bencher.iter_batched_ref(|| sender.clone(), arrive, BatchSize::SmallInput);
    });

    let mut flight = Flight::starting_at(lost);
    (0..WINDOW).for_each(|number| flight.sent(&data(after_lost(number)), now, Cause::New));
    let rule = LossRule { sacked_ranges: 3, bytes: u64::from(2 * SEGMENT) };
    let mark = |flight: &mut Flight| {
        for duplicate in &duplicates {
            black_box(flight.on_ack(black_box(duplicate), now));
            flight.mark_lost(rule);
        }
    };
    group.bench_function("scoreboard, a SACK block", |bencher| {
        bencher.iter_batched_ref(|| flight.clone(), mark, BatchSize::SmallInput);
    });
}
