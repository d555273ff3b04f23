//! Middleboxes. A middlebox sees each packet that passes its node. It may forward, change, drop or
//! cache the packet, and it may send packets of its own.

pub mod ebsn;
pub mod eln;
pub mod freeze;
pub mod handover;
mod outgoing;
pub mod path_hint;
pub mod snoop;
pub mod spurious_filter;
pub mod unreachable;

use rtolab_scenario::MiddleboxKind;
use rtolab_time::Instant;

use crate::packet::Packet;
use ebsn::Ebsn;
use eln::Eln;
use freeze::{Freeze, FreezeSchedule};
use handover::Handover;
pub use outgoing::OutgoingPacket;
use path_hint::PathHint;
use snoop::Snoop;
use spurious_filter::SpuriousFilter;
use unreachable::Unreachable;

/// A middlebox.
#[derive(Clone, Debug)]
pub enum Middlebox {
    /// Snoop: local retransmissions over a wireless link.
    Snoop(Snoop),
    /// The spurious-retransmission filter of Kim and Cho.
    Filter(SpuriousFilter),
    /// Freeze-TCP: a closed window during disconnections.
    Freeze(Freeze),
    /// Explicit bad state notification (EBSN): senders restart their retransmission timers.
    Ebsn(Ebsn),
    /// Explicit loss notification (ELN): duplicate ACKs say that the wireless link lost a segment.
    Eln(Eln),
    /// Duplicate ACKs after handovers: senders retransmit at once.
    Handover(Handover),
    /// A router that reports a dead link by ICMP.
    Unreachable(Unreachable),
    /// A host that notices that its path has returned.
    PathHint(PathHint),
}

impl Middlebox {
    /// A middlebox that has seen no packet.
    pub fn new(kind: MiddleboxKind) -> Self {
        match kind {
            MiddleboxKind::Snoop { link: _, dupthresh, cache } => {
                Self::Snoop(Snoop::new(dupthresh, cache))
            }
            MiddleboxKind::Filter => Self::Filter(SpuriousFilter::default()),
            MiddleboxKind::Freeze { disconnections, warning } => {
                Self::Freeze(Freeze::new(FreezeSchedule::new(disconnections, warning)))
            }
            MiddleboxKind::Ebsn { disconnections, interval } => {
                Self::Ebsn(Ebsn::new(disconnections, interval))
            }
            MiddleboxKind::Eln { link: _ } => Self::Eln(Eln::default()),
            MiddleboxKind::Handover { disconnections } => {
                Self::Handover(Handover::new(disconnections))
            }
            MiddleboxKind::Unreachable { disconnections, interval } => {
                Self::Unreachable(Unreachable::new(disconnections, interval))
            }
            MiddleboxKind::PathHint { disconnections } => {
                Self::PathHint(PathHint::new(disconnections))
            }
        }
    }

    /// Processes a packet. Appends the packets that leave the middlebox to `outgoing`, in order. If
    /// the packet is not among them, the middlebox has absorbed it.
    pub fn on_packet(&mut self, packet: Packet, at: Instant, outgoing: &mut Vec<OutgoingPacket>) {
        match self {
            Self::Snoop(snoop) => snoop.on_packet(packet, at, outgoing),
            Self::Filter(filter) => filter.on_packet(packet, outgoing),
            Self::Freeze(freeze) => freeze.on_packet(packet, outgoing),
            Self::Ebsn(ebsn) => ebsn.on_packet(packet, outgoing),
            Self::Eln(eln) => eln.on_packet(packet, outgoing),
            Self::Handover(handover) => handover.on_packet(packet, outgoing),
            Self::Unreachable(router) => router.on_packet(packet, at, outgoing),
            Self::PathHint(hint) => hint.on_packet(packet, outgoing),
        }
    }

    /// Processes the expiry of the timer of [`Middlebox::next_timer`].
    pub fn on_timer(&mut self, at: Instant, outgoing: &mut Vec<OutgoingPacket>) {
        match self {
            Self::Snoop(snoop) => snoop.on_timer(at, outgoing),
            Self::Filter(_) | Self::Eln(_) | Self::Unreachable(_) => {}
            Self::Freeze(freeze) => freeze.on_timer(at, outgoing),
            Self::Ebsn(ebsn) => ebsn.on_timer(at, outgoing),
            Self::Handover(handover) => handover.on_timer(at, outgoing),
            Self::PathHint(hint) => hint.on_timer(at, outgoing),
        }
    }

    /// The time of the next [`Middlebox::on_timer`]. It is never late, but may be early, because a
    /// timer that moves later keeps its earlier time.
    pub fn next_timer(&self) -> Option<Instant> {
        match self {
            Self::Snoop(snoop) => snoop.next_timer(),
            Self::Filter(_) | Self::Eln(_) | Self::Unreachable(_) => None,
            Self::Freeze(freeze) => freeze.next_timer(),
            Self::Ebsn(ebsn) => ebsn.next_timer(),
            Self::Handover(handover) => handover.next_timer(),
            Self::PathHint(hint) => hint.next_timer(),
        }
    }
}

#[cfg(test)]
mod script;
