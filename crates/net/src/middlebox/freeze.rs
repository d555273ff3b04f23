//! Freezing by a closed window: Freeze-TCP (Goff, Moronski, Phatak and Gupta, "Freeze-TCP: A True
//! End-to-End TCP Enhancement Mechanism for Mobile Environments", INFOCOM 2000) and the supervisor
//! host of M-TCP (Brown and Singh, "M-TCP: TCP for Mobile Cellular Networks", 1997).
//!
//! The window is closed before an expected disconnection. The sender then enters persist mode
//! instead of timing out, and keeps its congestion window. After the disconnection, three ACKs with
//! the previous window let the sender continue at once.
//!
//! In Freeze-TCP the mobile host closes the window, about one round trip before the disconnection,
//! so that all data in flight are acknowledged in time. In M-TCP a node before the wireless link
//! closes it. This middlebox is such a node, for the flows whose data pass it to their receivers.
//! For Freeze-TCP, it stands before the mobile host, joined to it by a link without delay.

use std::sync::Arc;

use rtolab_link::Interval;
use rtolab_time::{Duration, Instant};

use super::outgoing::{OutgoingPacket, is_ack_to_sender, keep_newest, pure_ack};
use crate::packet::Packet;

/// The number of ACKs that reopen the window (Freeze-TCP section 3).
const OPENING_ACKS: usize = 3;

/// When windows are closed and reopened.
#[derive(Clone, Debug)]
pub struct FreezeSchedule {
    disconnections: Arc<[Interval]>,
    warning: Duration,
    /// The index of the next change. Each disconnection has two: closing and reopening.
    change: usize,
}

impl FreezeSchedule {
    /// Windows are closed `warning` before each of the `disconnections`, which are in order, and
    /// reopened at its end.
    pub const fn new(disconnections: Arc<[Interval]>, warning: Duration) -> Self {
        Self { disconnections, warning, change: 0 }
    }

    /// When windows are closed or reopened next.
    pub fn next_change(&self) -> Option<Instant> {
        let Interval { at, length } = *self.disconnections.get(self.change / 2)?;
        Some(if self.is_frozen() {
            at + length
        } else {
            Instant::START + (at.since(Instant::START) - self.warning)
        })
    }

    /// Are windows closed?
    pub const fn is_frozen(&self) -> bool {
        self.change % 2 == 1
    }

    /// Passes the next change. Returns the number of ACKs that then go to each sender.
    pub const fn pass_change(&mut self) -> usize {
        self.change += 1;
        if self.is_frozen() { 1 } else { OPENING_ACKS }
    }
}

/// Closes the window of every flow before and during disconnections.
#[derive(Clone, Debug)]
pub struct Freeze {
    schedule: FreezeSchedule,
    /// The newest ACK of each flow, with the receiver's window.
    newest: Vec<Option<Packet>>,
}

impl Freeze {
    /// A middlebox that closes and reopens windows at these times.
    pub const fn new(schedule: FreezeSchedule) -> Self {
        Self { schedule, newest: Vec::new() }
    }

    /// See [`Middlebox::on_packet`](super::Middlebox::on_packet).
    pub fn on_packet(&mut self, mut packet: Packet, outgoing: &mut Vec<OutgoingPacket>) {
        if is_ack_to_sender(&packet) {
            keep_newest(&mut self.newest, &packet);
            if self.schedule.is_frozen() {
                packet.segment.window = 0;
            }
        }
        outgoing.push(OutgoingPacket::forwarded(packet));
    }

    /// See [`Middlebox::on_timer`](super::Middlebox::on_timer).
    pub fn on_timer(&mut self, at: Instant, outgoing: &mut Vec<OutgoingPacket>) {
        while self.next_timer().is_some_and(|due| due <= at) {
            let copies = self.schedule.pass_change();
            for newest in self.newest.iter().flatten() {
                let mut ack = pure_ack(newest);
                if self.schedule.is_frozen() {
                    ack.segment.window = 0;
                }
                outgoing.extend((0..copies).map(|_| OutgoingPacket::generated(ack)));
            }
        }
    }

    /// See [`Middlebox::next_timer`](super::Middlebox::next_timer).
    pub fn next_timer(&self) -> Option<Instant> {
        self.schedule.next_change()
    }
}

#[cfg(test)]
mod tests;
