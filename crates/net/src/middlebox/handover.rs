//! Fast retransmissions after handovers (Cáceres and Iftode, "Improving the Performance of Reliable
//! Transport Protocols in Mobile Computing Environments", IEEE JSAC 13(5), 1995).
//!
//! A handover loses what is in flight, and the sender then waits for its timer. After the handover
//! the receiver sends three duplicate ACKs, by which the sender retransmits at once.
//!
//! In the paper the mobile host sends them. This middlebox is a base station that does so for it.

use std::sync::Arc;

use rtolab_link::Interval;
use rtolab_time::Instant;

use super::outgoing::{OutgoingPacket, is_ack_to_sender, keep_newest, pure_ack};
use crate::packet::Packet;

/// The number of duplicate ACKs that start a fast retransmit.
const DUPLICATE_ACKS: usize = 3;

/// Sends three duplicate ACKs to each sender after each handover.
#[derive(Clone, Debug)]
pub struct Handover {
    handovers: Arc<[Interval]>,
    /// The index of the current or next handover.
    handover: usize,
    /// The newest ACK of each flow.
    newest: Vec<Option<Packet>>,
}

impl Handover {
    /// A middlebox that notifies senders at the end of each of the `handovers`, which must be in
    /// the order of time.
    pub const fn new(handovers: Arc<[Interval]>) -> Self {
        Self { handovers, handover: 0, newest: Vec::new() }
    }

    /// See [`Middlebox::on_packet`](super::Middlebox::on_packet).
    pub fn on_packet(&mut self, packet: Packet, outgoing: &mut Vec<OutgoingPacket>) {
        if is_ack_to_sender(&packet) {
            keep_newest(&mut self.newest, &packet);
        }
        outgoing.push(OutgoingPacket::forwarded(packet));
    }

    /// See [`Middlebox::on_timer`](super::Middlebox::on_timer).
    pub fn on_timer(&mut self, at: Instant, outgoing: &mut Vec<OutgoingPacket>) {
        while self.next_timer().is_some_and(|due| due <= at) {
            self.handover += 1;
            for newest in self.newest.iter().flatten() {
                let duplicate = OutgoingPacket::generated(pure_ack(newest));
                outgoing.extend([duplicate; DUPLICATE_ACKS]);
            }
        }
    }

    /// See [`Middlebox::next_timer`](super::Middlebox::next_timer).
    pub fn next_timer(&self) -> Option<Instant> {
        let Interval { at, length } = *self.handovers.get(self.handover)?;
        Some(at + length)
    }
}

#[cfg(test)]
mod tests;
