//! A link with an outage of 100 ms: `cargo run -p rtolab-link --example outage`.

use rtolab_link::{
    Channel, ChannelConfig, CopyId, Direction, DirectionConfig, Duration, Frame, Instant, Interval,
    Outages, Outcome, Rate, Stream,
};

/// A frame with its number.
#[derive(Clone)]
struct Packet(u64);

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        1500
    }

    fn copy_id(&self) -> CopyId {
        CopyId(self.0)
    }

    fn is_ecn_capable(&self) -> bool {
        false
    }

    fn mark_congestion(&mut self) {}

    fn corrupt(&mut self) {}
}

fn main() {
    let outage = Interval { at: Instant::from_secs_f64(0.1), length: Duration::from_millis(100) };
    let forward = DirectionConfig {
        rate: Rate::from_bits_per_second(1_000_000),
        delay: Duration::from_millis(30),
        outages: Outages { scripted: vec![outage], random: None },
        ..DirectionConfig::default()
    };
    let config = ChannelConfig { forward, ..ChannelConfig::default() };
    let mut channel = Channel::new(&config, &Stream::new(1));
    for number in 0..30 {
        channel.send(Direction::Forward, Packet(number), Instant::START);
    }
    while let Some(now) = channel.next_event() {
        while let Some(outcome) = channel.poll(now) {
            match outcome {
                Outcome::Delivered { frame, .. } => println!("{now}: {} arrives", frame.0),
                Outcome::Dropped { frame, cause, .. } => {
                    println!("{now}: {} lost: {cause:?}", frame.0);
                }
            }
        }
    }
}
