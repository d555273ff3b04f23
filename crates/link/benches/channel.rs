//! The cost of a frame from entry to delivery: `cargo bench -p rtolab-link --bench channel`.

#[path = "../../../benches/brief.rs"]
mod brief;

use std::hint::black_box;

use brief::brief;
use criterion::Throughput;
use rtolab_link::{
    Channel, ChannelConfig, CopyId, Direction, DirectionConfig, Distribution, Frame, Limit,
    Probability, SpikeHolds, Spikes, Stream,
};
use rtolab_time::{Duration, Instant, Rate};

/// As large as the simulator's packets.
#[derive(Clone, Copy)]
struct Packet {
    bytes: u32,
    rest: [u64; 11],
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn copy_id(&self) -> CopyId {
        CopyId(self.rest[0])
    }

    fn is_ecn_capable(&self) -> bool {
        false
    }

    fn mark_congestion(&mut self) {}

    fn corrupt(&mut self) {}
}

const FRAME: Packet = Packet { bytes: 1040, rest: [0; 11] };

/// The interval of frames: the link needs 83.2 us for one, so all but the first wait, and sometimes
/// one finds the queue full.
const PERIOD: Duration = Duration::from_micros(83);

fn plain() -> DirectionConfig {
    DirectionConfig {
        rate: Rate::from_bits_per_second(100_000_000),
        delay: Duration::from_millis(30),
        queue: Limit::Packets(300),
        ..DirectionConfig::default()
    }
}

fn loss_and_spikes() -> DirectionConfig {
    DirectionConfig {
        loss: Probability::new(0.01).unwrap(),
        spikes: Some(Spikes {
            probability: Probability::new(0.000_01).unwrap(),
            length: Distribution::Exponential(Duration::from_millis(100)),
            holds: SpikeHolds::Delivery,
        }),
        ..plain()
    }
}

fn channel_of(forward: DirectionConfig) -> Channel<Packet> {
    let config = ChannelConfig { forward, backward: plain(), ..ChannelConfig::default() };
    Channel::new(&config, &Stream::new(1))
}

fn main() {
    let mut criterion = brief();
    let mut group = criterion.benchmark_group("link");
    group.throughput(Throughput::Elements(1));

    group.bench_function("pipe", |bencher| {
        let [mut pipe, _] = channel_of(plain()).pipes().expect("a plain link is a pipe");
        // Otherwise it would remember all frames until its counts are read.
        pipe.promise_no_stats_before(Instant::NEVER);
        let mut now = Instant::START;
        bencher.iter(|| {
            now += PERIOD;
            black_box(pipe.pass(black_box(FRAME.bytes), now))
        });
    });

    let buffered = DirectionConfig { send_buffer: Limit::Bytes(600_000), ..plain() };
    let channels = [
        ("channel", plain()),
        ("channel, send buffer", buffered),
        ("channel, loss and spikes", loss_and_spikes()),
    ];
    for (name, config) in channels {
        group.bench_function(name, |bencher| {
            let mut channel = channel_of(config.clone());
            let mut now = Instant::START;
            bencher.iter(|| {
                now += PERIOD;
                while let Some(outcome) = channel.poll_direction(Direction::Forward, now) {
                    black_box(outcome);
                }
                channel.send(Direction::Forward, black_box(FRAME), now);
                black_box(channel.next_event_of(Direction::Forward))
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
