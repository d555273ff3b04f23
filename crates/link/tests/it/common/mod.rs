//! Scripts of frames: the frames, their times and their expected outcomes.
#![allow(dead_code)]

pub mod laws;

use proptest::prelude::*;
use rtolab_link::{
    Channel, ChannelConfig, CopyId, Direction, DirectionConfig, DropCause, Frame, Interval, Limit,
    Outcome, Stream,
};
use rtolab_time::{Duration, Instant, Rate};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub number: u64,
    pub bytes: u32,
    pub marked: bool,
    pub corrupt: bool,
}

impl Packet {
    pub const fn new(number: u64, bytes: u32) -> Self {
        Self { number, bytes, marked: false, corrupt: false }
    }
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn copy_id(&self) -> CopyId {
        CopyId(self.number)
    }

    fn is_ecn_capable(&self) -> bool {
        true
    }

    fn mark_congestion(&mut self) {
        self.marked = true;
    }

    fn corrupt(&mut self) {
        self.corrupt = true;
    }
}

/// The outcome of a frame, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOutcome {
    Arrived { number: u64, at: Instant, held: Duration },
    Lost { number: u64, at: Instant, cause: DropCause },
}

impl FrameOutcome {
    pub fn number(&self) -> u64 {
        match *self {
            Self::Arrived { number, .. } | Self::Lost { number, .. } => number,
        }
    }

    pub fn arrival(&self) -> Option<Instant> {
        match *self {
            Self::Arrived { at, .. } => Some(at),
            Self::Lost { .. } => None,
        }
    }

    pub fn cause(&self) -> Option<DropCause> {
        match *self {
            Self::Arrived { .. } => None,
            Self::Lost { cause, .. } => Some(cause),
        }
    }
}

pub fn at(secs: f64) -> Instant {
    Instant::from_secs_f64(secs)
}

pub fn secs(secs: f64) -> Duration {
    Duration::from_secs_f64(secs)
}

pub fn rate(bits: u64) -> Option<Rate> {
    Rate::from_bits_per_second(bits)
}

pub fn window(from: f64, length: f64) -> Interval {
    Interval { at: at(from), length: secs(length) }
}

pub fn forward(config: DirectionConfig) -> ChannelConfig {
    ChannelConfig { forward: config, ..ChannelConfig::default() }
}

pub fn both(config: &DirectionConfig) -> ChannelConfig {
    ChannelConfig { forward: config.clone(), backward: config.clone(), ..ChannelConfig::default() }
}

pub fn channel(config: &ChannelConfig) -> Channel<Packet> {
    Channel::new(config, &Stream::new(1).child("link"))
}

/// Sends frames of one size and numbers from `numbers` at one instant.
pub fn send(
    channel: &mut Channel<Packet>,
    numbers: impl IntoIterator<Item = u64>,
    bytes: u32,
    at: Instant,
) {
    for number in numbers {
        channel.send(Direction::Forward, Packet::new(number, bytes), at);
    }
}

/// The outcomes of one direction until `end`, each polled at the announced event.
pub fn poll_until(
    channel: &mut Channel<Packet>,
    direction: Direction,
    end: Instant,
) -> Vec<FrameOutcome> {
    let mut outcomes = Vec::new();
    while let Some(now) = channel.next_event_of(direction).filter(|now| *now <= end) {
        let outcome = channel.poll_direction(direction, now).expect("it announced an event");
        outcomes.push(match outcome {
            Outcome::Delivered { frame, held, .. } => {
                FrameOutcome::Arrived { number: frame.number, at: now, held }
            }
            Outcome::Dropped { frame, cause, at, .. } => {
                FrameOutcome::Lost { number: frame.number, at, cause }
            }
        });
    }
    outcomes
}

/// The outcomes of a coupled link until `end`, by direction.
pub fn poll_both(channel: &mut Channel<Packet>, end: Instant) -> [Vec<FrameOutcome>; 2] {
    let mut outcomes = [Vec::new(), Vec::new()];
    while let Some(now) = channel.next_event().filter(|now| *now <= end) {
        while let Some(outcome) = channel.poll(now) {
            let (direction, out) = match outcome {
                Outcome::Delivered { direction, frame, held, .. } => {
                    (direction, FrameOutcome::Arrived { number: frame.number, at: now, held })
                }
                Outcome::Dropped { direction, frame, cause, at } => {
                    (direction, FrameOutcome::Lost { number: frame.number, at, cause })
                }
            };
            outcomes[direction.index()].push(out);
        }
    }
    outcomes
}

/// The remaining outcomes of the forward direction of a coupled link.
pub fn drain_coupled(channel: &mut Channel<Packet>) -> Vec<FrameOutcome> {
    let [forward, _] = poll_both(channel, Instant::NEVER);
    forward
}

/// The remaining outcomes of the forward direction.
pub fn drain(channel: &mut Channel<Packet>) -> Vec<FrameOutcome> {
    poll_until(channel, Direction::Forward, Instant::NEVER)
}

pub fn numbers(outcomes: &[FrameOutcome]) -> Vec<u64> {
    outcomes.iter().map(FrameOutcome::number).collect()
}

/// Are the two within a microsecond?
pub fn close(found: Instant, expected: f64) -> bool {
    (found.secs_f64() - expected).abs() < 1e-6
}

pub fn milliseconds(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

pub fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Unlimited),
        (0..20u32).prop_map(Limit::Packets),
        (0..10_000u32).prop_map(Limit::Bytes),
    ]
}

pub fn windows() -> impl Strategy<Value = Vec<Interval>> {
    let window = (0..20_000u64, milliseconds(0..3000))
        .prop_map(|(from, length)| Interval { at: at(from as f64 / 1e3), length });
    prop::collection::vec(window, 0..4)
}

/// Whether it goes forward, its bytes, and the time since the one before.
pub type SentPacket = (bool, u32, Duration);

pub fn traffic() -> impl Strategy<Value = Vec<SentPacket>> {
    let gap = prop_oneof![Just(Duration::ZERO), milliseconds(0..50), milliseconds(0..2000)];
    prop::collection::vec((any::<bool>(), 1..3000u32, gap), 1..120)
}

pub fn direction_of(forward: bool) -> Direction {
    if forward { Direction::Forward } else { Direction::Backward }
}
