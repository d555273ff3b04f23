//! Packet scripts for middleboxes: segments of 100 bytes, numbered from 1.

use rtolab_link::CopyId;
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::{Middlebox, OutgoingPacket};
use crate::packet::{Condition, Packet};

/// The payload of a segment, in bytes.
pub const SEGMENT: u32 = 100;

/// The first sequence number of segment `number`.
pub fn start_of(number: u32) -> Seq {
    Seq::FIRST + 1 + (number - 1) * SEGMENT
}

/// Segment `number`.
pub fn data(number: u32) -> Packet {
    let mut segment = Segment::new(start_of(number), SEGMENT, Flags::ACK);
    segment.ack = Seq::FIRST + 1;
    packet(segment, true)
}

/// The ACK of all segments up to `number`.
pub fn ack(number: u32) -> Packet {
    let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    segment.ack = start_of(number + 1);
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
        condition: Condition::Intact,
        to_receiver,
    }
}

/// A middlebox under test, at a point in time.
pub struct Script {
    pub middlebox: Middlebox,
    at: Instant,
}

impl Script {
    pub fn new(middlebox: Middlebox) -> Self {
        Self { middlebox, at: Instant::START }
    }

    /// Moves to `millis` after the start.
    pub fn at(&mut self, millis: u64) -> &mut Self {
        self.at = Instant::START + Duration::from_millis(millis);
        self
    }

    /// Delivers a packet. Returns descriptions of the packets that leave the middlebox.
    pub fn on_packet(&mut self, packet: Packet) -> Vec<String> {
        let mut outgoing = Vec::new();
        self.middlebox.on_packet(packet, self.at, &mut outgoing);
        outgoing.iter().map(describe).collect()
    }

    /// Delivers packets, and checks that all of them pass.
    pub fn pass(&mut self, packets: impl IntoIterator<Item = Packet>) -> &mut Self {
        for packet in packets {
            let mut outgoing = Vec::new();
            self.middlebox.on_packet(packet, self.at, &mut outgoing);
            assert!(
                matches!(outgoing[..], [OutgoingPacket { is_generated: false, .. }]),
                "{packet:?} should have passed, and nothing else: {outgoing:?}"
            );
        }
        self
    }

    /// Lets the timer expire. Returns descriptions of the packets that leave the middlebox.
    pub fn on_timer(&mut self) -> Vec<String> {
        let mut outgoing = Vec::new();
        self.middlebox.on_timer(self.at, &mut outgoing);
        outgoing.iter().map(describe).collect()
    }

    /// The first timer at or after `millis`, in milliseconds. Earlier expiries must send nothing.
    pub fn timer_after(&mut self, millis: u64) -> Option<u64> {
        while let Some(at) = self.timer().filter(|at| *at < millis) {
            assert_eq!(self.at(at).on_timer(), [""; 0]);
        }
        self.timer()
    }

    /// The timer, in milliseconds.
    pub fn timer(&self) -> Option<u64> {
        self.middlebox.next_timer().map(|at| at.nanos() / 1_000_000)
    }
}

/// The description of a packet: "S3" for segment 3, "A5" for the ACK of all segments up to 5. It
/// begins with "local" if the middlebox generated the packet, and ends with "closed" if the window
/// is closed, and with "marked" if it has ELN. A datagram is a "notification".
fn describe(outgoing: &OutgoingPacket) -> String {
    let segment = &outgoing.packet.segment;
    let number = |seq: Seq| seq.since(Seq::FIRST + 1) / u64::from(SEGMENT);
    let what = match outgoing.packet.to_receiver {
        _ if outgoing.packet.is_datagram() => "notification".to_string(),
        true => format!("S{}", number(segment.seq) + 1),
        false => format!("A{}", number(segment.ack)),
    };
    let is_closed = segment.window == 0 && !outgoing.packet.is_datagram();
    let what = if is_closed { format!("{what} closed") } else { what };
    let what = if segment.flags.has(Flags::ELN) { format!("{what} marked") } else { what };
    if outgoing.is_generated { format!("local {what}") } else { what }
}
