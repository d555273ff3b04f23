//! A router that reports a dead link: ICMP `destination unreachable`, host unreachable (RFC 792;
//! RFC 1812 section 5.2.7.1). Senders with RFC 6069 react to it.
//!
//! It answers packets that reach the router while its next link is down, for each flow at most one
//! in an interval, as routers limit their rate (RFC 1812 section 4.3.2.8). The packets themselves
//! proceed to the dead link, which loses them.

use std::sync::Arc;

use rtolab_link::Interval;
use rtolab_time::{Duration, Instant};

use super::outgoing::{OutgoingPacket, is_relevant, state_of};
use crate::packet::{Notification, Packet};

/// A router whose next link towards receivers is down at times.
#[derive(Clone, Debug)]
pub struct Unreachable {
    disconnections: Arc<[Interval]>,
    interval: Duration,
    flows: Vec<ReportedFlow>,
}

/// The state of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct ReportedFlow {
    /// The newest packet towards its sender. Messages take the same route.
    newest: Option<Packet>,
    last_message: Option<Instant>,
}

impl Unreachable {
    /// A middlebox that reports `disconnections`, which are in order, at most once in `interval`.
    pub const fn new(disconnections: Arc<[Interval]>, interval: Duration) -> Self {
        Self { disconnections, interval, flows: Vec::new() }
    }

    /// See [`Middlebox::on_packet`](super::Middlebox::on_packet).
    pub fn on_packet(&mut self, packet: Packet, at: Instant, outgoing: &mut Vec<OutgoingPacket>) {
        outgoing.push(OutgoingPacket::forwarded(packet));
        if !is_relevant(&packet) {
            return;
        }
        let is_down = self.is_down(at);
        let interval = self.interval;
        let flow = state_of(&mut self.flows, packet.flow);
        if !packet.to_receiver {
            flow.newest = Some(packet);
            return;
        }
        let due = flow.last_message.is_none_or(|last| at >= last + interval);
        if let Some(newest) = flow.newest.filter(|_| is_down && due) {
            flow.last_message = Some(at);
            let message = Notification::Unreachable(packet.segment.seq);
            outgoing.push(OutgoingPacket::generated(newest.with_notification(message)));
        }
    }

    /// Is the link down at `at`?
    fn is_down(&self, at: Instant) -> bool {
        let after = self.disconnections.partition_point(|down| down.at <= at);
        let current = after.checked_sub(1).and_then(|index| self.disconnections.get(index));
        current.is_some_and(|down| at < down.at + down.length)
    }
}

#[cfg(test)]
mod tests;
