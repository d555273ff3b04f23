//! Explicit bad state notification, EBSN (Bakshi, Krishna, Vaidya and Pradhan, "Improving
//! Performance of TCP over Wireless Networks", ICDCS 1997).
//!
//! While the wireless link is in a bad state, the base station retransmits locally, and data waits
//! there. After each unsuccessful attempt it notifies the sender, which restarts its retransmission
//! timer with the current timeout. So the timer does not expire, although no ACK arrives.
//!
//! This middlebox is such a base station, but it notifies at a fixed interval instead of after each
//! attempt.

use std::sync::Arc;

use rtolab_link::Interval;
use rtolab_time::{Duration, Instant};

use super::outgoing::{OutgoingPacket, is_relevant, state_of};
use crate::packet::{Notification, Packet};

/// A base station that notifies the senders of all flows during bad states of the link.
#[derive(Clone, Debug)]
pub struct Ebsn {
    bad_states: Arc<[Interval]>,
    interval: Duration,
    /// The newest packet of each flow towards its sender. Notifications take the same route.
    newest: Vec<Option<Packet>>,
    /// The index of the current or next bad state.
    bad_state: usize,
    /// The number of notifications since the beginning of this bad state.
    sent: u64,
}

impl Ebsn {
    /// A middlebox that notifies senders every `interval` during `bad_states`, which must be in
    /// the order of time.
    pub const fn new(bad_states: Arc<[Interval]>, interval: Duration) -> Self {
        Self { bad_states, interval, newest: Vec::new(), bad_state: 0, sent: 0 }
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
        while let Some(due) = self.next_timer().filter(|due| *due <= at) {
            self.sent += 1;
            let Interval { at, length } = self.bad_states[self.bad_state];
            if at + length <= due + self.interval {
                (self.bad_state, self.sent) = (self.bad_state + 1, 0);
            }
            let newest = self.newest.iter().flatten();
            outgoing.extend(newest.map(|packet| {
                OutgoingPacket::generated(packet.with_notification(Notification::BadState))
            }));
        }
    }

    /// See [`Middlebox::next_timer`](super::Middlebox::next_timer).
    pub fn next_timer(&self) -> Option<Instant> {
        let Interval { at, .. } = self.bad_states.get(self.bad_state)?;
        Some(*at + self.interval * self.sent)
    }
}

#[cfg(test)]
mod tests;
