//! Packets for scripts: whole segments of 100 bytes, numbered from 1.

use rtolab_link::CopyId;
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::{Agent, Onward};
use crate::packet::{Condition, Packet};

/// Payload of a segment.
pub const SEGMENT: u32 = 100;

/// Where segment `number` begins.
pub fn begins(number: u32) -> Seq {
    Seq::FIRST + 1 + (number - 1) * SEGMENT
}

/// Segment `number`, on its way to the receiver.
pub fn data(number: u32) -> Packet {
    let mut segment = Segment::new(begins(number), SEGMENT, Flags::ACK);
    segment.ack = Seq::FIRST + 1;
    packet(segment, true)
}

/// The receiver has all segments up to `number`.
pub fn ack(number: u32) -> Packet {
    let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    segment.ack = begins(number + 1);
    packet(segment, false)
}

/// A packet of flow 0.
pub fn packet(mut segment: Segment, to_receiver: bool) -> Packet {
    segment.window = 10_000;
    Packet {
        segment,
        copy: CopyId(0),
        sent: Instant::START,
        flow: 0,
        bytes: Packet::size_of(&segment),
        order: 0,
        step: 1,
        condition: Condition::Sound,
        to_receiver,
    }
}

/// An agent, and what goes on from it.
pub struct Script {
    pub agent: Agent,
    at: Instant,
}

impl Script {
    pub fn new(agent: Agent) -> Self {
        Self { agent, at: Instant::START }
    }

    /// So many milliseconds after the start.
    pub fn at(&mut self, millis: u64) -> &mut Self {
        self.at = Instant::START + Duration::from_millis(millis);
        self
    }

    /// The packet comes by: what goes on, in words.
    pub fn sees(&mut self, packet: Packet) -> Vec<String> {
        let mut onward = Vec::new();
        self.agent.on_packet(packet, self.at, &mut onward);
        onward.iter().map(words).collect()
    }

    /// All of them pass.
    pub fn pass(&mut self, packets: impl IntoIterator<Item = Packet>) -> &mut Self {
        for packet in packets {
            let mut onward = Vec::new();
            self.agent.on_packet(packet, self.at, &mut onward);
            assert!(
                matches!(onward[..], [Onward { made_here: false, .. }]),
                "{packet:?} should have passed, and nothing else: {onward:?}"
            );
        }
        self
    }

    /// The timer is looked at.
    pub fn wakes(&mut self) -> Vec<String> {
        let mut onward = Vec::new();
        self.agent.on_timer(self.at, &mut onward);
        onward.iter().map(words).collect()
    }

    /// When the agent's timer expires: in milliseconds, once it was looked at whenever it asked to
    /// be woken before `millis`, with nothing to do.
    pub fn timer_after(&mut self, millis: u64) -> Option<u64> {
        while let Some(at) = self.timer().filter(|at| *at < millis) {
            assert_eq!(self.at(at).wakes(), [""; 0]);
        }
        self.timer()
    }

    /// When the agent wants to be woken, in milliseconds.
    pub fn timer(&self) -> Option<u64> {
        self.agent.next_timer().map(|at| at.nanos() / 1_000_000)
    }
}

/// Such as "S3" for segment 3, "A5" for the acknowledgment of all up to 5; "local" ahead of it if
/// the agent made it.
fn words(onward: &Onward) -> String {
    let segment = &onward.packet.segment;
    let number = |seq: Seq| seq.since(Seq::FIRST + 1) / u64::from(SEGMENT);
    let what = match onward.packet.to_receiver {
        true => format!("S{}", number(segment.seq) + 1),
        false => format!("A{}", number(segment.ack)),
    };
    if onward.made_here { format!("local {what}") } else { what }
}
