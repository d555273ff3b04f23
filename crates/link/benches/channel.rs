//! What a frame costs: nanoseconds from `send` to `poll`, of the median of several rounds.

use std::hint::black_box;
use std::time::Instant as Wall;

use rtolab_link::{
    Channel, ChannelConfig, CopyId, Direction, DirectionConfig, Distribution, Frame, Limit,
    Probability, SpikeHolds, Spikes, Stream,
};
use rtolab_time::{Duration, Instant, Rate};

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

    fn takes_marks(&self) -> bool {
        false
    }

    fn mark_congestion(&mut self) {}

    fn corrupt(&mut self) {}
}

const FRAMES: u64 = 2_000_000;

fn nanoseconds_a_frame(config: &DirectionConfig) -> f64 {
    let config = ChannelConfig { forward: config.clone(), ..ChannelConfig::default() };
    let mut channel = Channel::new(&config, &Stream::new(1));
    let frame = Packet { bytes: 1040, rest: [0; 11] };
    let begin = Wall::now();
    for n in 0..FRAMES {
        let at = Instant::from_nanos(n * 83_000);
        while let Some(outcome) = channel.poll_direction(Direction::Forward, at) {
            black_box(outcome);
        }
        channel.send(Direction::Forward, black_box(frame), at);
        black_box(channel.next_event_of(Direction::Forward));
    }
    begin.elapsed().as_nanos() as f64 / FRAMES as f64
}

fn main() {
    let plain = DirectionConfig {
        rate: Rate::from_bits_per_second(100_000_000),
        delay: Duration::from_millis(30),
        queue: Limit::Packets(300),
        ..DirectionConfig::default()
    };
    let buffers = DirectionConfig { send_buffer: Limit::Bytes(600_000), ..plain.clone() };
    let spikes = DirectionConfig {
        loss: Probability::new(0.01).unwrap(),
        spikes: Some(Spikes {
            probability: Probability::new(0.000_01).unwrap(),
            length: Distribution::Exponential(Duration::from_millis(100)),
            holds: SpikeHolds::Delivery,
        }),
        ..plain.clone()
    };
    for (name, config) in [("plain", plain), ("send buffer", buffers), ("loss, spikes", spikes)] {
        let mut rounds: Vec<f64> = (0..7).map(|_| nanoseconds_a_frame(&config)).collect();
        rounds.sort_by(f64::total_cmp);
        println!("{name:14} {:6.1} ns a frame", rounds[3]);
    }
}
