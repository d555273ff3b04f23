//! The log of all packets, with their fates.

use rtolab_link::DropCause;
use rtolab_packet::Ip;
use rtolab_record::{Fate, HEAD, Place};
use rtolab_time::{Duration, Instant};

use super::packet::{Packet, ipv4};

/// A packet that a host sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// Its flow, and the end that sent it.
    pub flow: Option<(usize, Place)>,
    pub at: Instant,
    pub length: u32,
    pub fate: Fate,
    pub fate_at: Option<Instant>,
    /// The time for which links held it.
    pub held: Duration,
    head: [u8; HEAD],
}

impl Sent {
    pub(crate) fn head(&self) -> &[u8] {
        &self.head[..HEAD.min(self.length as usize)]
    }

    /// The packet, parsed from its first bytes.
    pub(crate) fn ip(&self) -> Option<Ip<'_>> {
        ipv4(self.head(), self.length as usize)
    }

    /// Its first bytes, padded with zeros.
    pub(crate) const fn padded_head(&self) -> [u8; HEAD] {
        self.head
    }
}

/// All packets of a run, indexed by copy number.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub sent: Vec<Sent>,
    /// The copies that a link duplicated, with the time at which the second one arrived.
    pub second: Vec<(u64, Instant)>,
    /// The maximum number of packets.
    capacity: usize,
}

impl Log {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// Adds a packet that leaves its host. Copies are numbered in this order.
    pub(crate) fn on_sent(&mut self, packet: &Packet, at: Instant) {
        if self.sent.len() >= self.capacity {
            return;
        }
        debug_assert_eq!(packet.copy.0, self.sent.len() as u64);
        let mut head = [0; HEAD];
        let kept = HEAD.min(packet.bytes.len());
        head[..kept].copy_from_slice(&packet.bytes[..kept]);
        self.sent.push(Sent {
            flow: packet.flow,
            at,
            length: packet.bytes.len() as u32,
            fate: Fate::Underway,
            fate_at: None,
            held: Duration::ZERO,
            head,
        });
    }

    /// Replaces the first bytes of a packet that a middlebox changed.
    pub(crate) fn on_changed(&mut self, packet: &Packet) {
        let Some(sent) = self.sent.get_mut(packet.copy.0 as usize) else { return };
        let kept = HEAD.min(packet.bytes.len());
        sent.head[..kept].copy_from_slice(&packet.bytes[..kept]);
    }

    /// Adds the time for which a link held a packet.
    pub(crate) fn on_held(&mut self, packet: &Packet, held: Duration) {
        if let Some(sent) = self.sent.get_mut(packet.copy.0 as usize) {
            sent.held += held;
        }
    }

    /// Sets the fate of a packet that reached its destination.
    pub(crate) fn on_arrival(&mut self, packet: &Packet, at: Instant) {
        let fate = if packet.damaged { Fate::Corrupt } else { Fate::Delivered };
        let Some(sent) = self.sent.get_mut(packet.copy.0 as usize) else { return };
        if sent.fate == Fate::Delivered {
            self.second.push((packet.copy.0, at));
        } else {
            (sent.fate, sent.fate_at) = (fate, Some(at));
        }
    }

    /// Sets the fate of a packet that a link dropped.
    pub(crate) fn on_loss(&mut self, packet: &Packet, cause: DropCause, at: Instant) {
        let Some(sent) = self.sent.get_mut(packet.copy.0 as usize) else { return };
        if sent.fate != Fate::Delivered {
            (sent.fate, sent.fate_at) = (Fate::Dropped(cause), Some(at));
        }
    }
}
