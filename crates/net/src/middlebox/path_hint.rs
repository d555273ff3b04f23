//! A hint that a path has returned, as a host has it when its radio reconnects or its route
//! changes. Trigger TCP calls it a link-up event (Swami, Le and Eddy, "Lightweight Mobility
//! Detection and Response (LMDR) Algorithm for TCP", draft-swami-tcp-lmdr); QUIC stacks offer
//! applications a call for it.
//!
//! The middlebox stands for the operating system of the host next to the link. At the end of each
//! disconnection it sends a hint to the senders of all flows.

use std::sync::Arc;

use rtolab_link::Interval;
use rtolab_time::Instant;

use super::outgoing::{OutgoingPacket, is_relevant, state_of};
use crate::packet::{Notification, Packet};

/// A node that notices the end of disconnections.
#[derive(Clone, Debug)]
pub struct PathHint {
    disconnections: Arc<[Interval]>,
    /// The index of the next or current disconnection.
    next: usize,
    /// The newest packet of each flow towards its sender. Hints take the same route.
    newest: Vec<Option<Packet>>,
}

impl PathHint {
    /// A middlebox that notices the ends of `disconnections`, which are in order.
    pub const fn new(disconnections: Arc<[Interval]>) -> Self {
        Self { disconnections, next: 0, newest: Vec::new() }
    }

    /// See [`Middlebox::on_packet`](super::Middlebox::on_packet).
    pub fn on_packet(&mut self, packet: Packet, outgoing: &mut Vec<OutgoingPacket>) {
        if is_relevant(&packet) && !packet.to_receiver {
            *state_of(&mut self.newest, packet.flow) = Some(packet);
        }
        outgoing.push(OutgoingPacket::forwarded(packet));
    }

    /// See [`Middlebox::on_timer`](super::Middlebox::on_timer).
    pub fn on_timer(&mut self, at: Instant, outgoing: &mut Vec<OutgoingPacket>) {
        while self.next_timer().is_some_and(|due| due <= at) {
            self.next += 1;
            let newest = self.newest.iter().flatten();
            outgoing.extend(newest.map(|packet| {
                OutgoingPacket::generated(packet.with_notification(Notification::PathChange))
            }));
        }
    }

    /// See [`Middlebox::next_timer`](super::Middlebox::next_timer).
    pub fn next_timer(&self) -> Option<Instant> {
        let Interval { at, length } = *self.disconnections.get(self.next)?;
        Some(at + length)
    }
}

#[cfg(test)]
mod tests;
