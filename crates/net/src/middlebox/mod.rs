//! Middleboxes. A middlebox sees each packet that passes its node. It may drop the packet, keep a
//! copy, or send one of its own.

pub mod freeze;
pub mod snoop;
pub mod spurious_filter;

use rtolab_scenario::AgentKind;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::Instant;

use crate::packet::Packet;
use freeze::Freeze;
use snoop::Snoop;
use spurious_filter::SpuriousFilter;

/// A middlebox.
#[derive(Clone, Debug)]
pub enum Middlebox {
    /// Local retransmissions over a wireless link.
    Snoop(Snoop),
    /// The spurious-retransmission filter of Kim and Cho.
    Filter(SpuriousFilter),
    /// A closed window during disconnections.
    Freeze(Freeze),
}

/// A packet that leaves a middlebox.
#[derive(Clone, Copy, Debug)]
pub struct Onward {
    /// The packet. One that was made here needs a [`CopyId`](rtolab_link::CopyId) of its own: it
    /// has that of its original.
    pub packet: Packet,
    /// Did the middlebox make it?
    pub made_here: bool,
}

impl Onward {
    const fn passing(packet: Packet) -> Self {
        Self { packet, made_here: false }
    }

    const fn made_here(packet: Packet) -> Self {
        Self { packet, made_here: true }
    }
}

impl Middlebox {
    /// A middlebox that has seen no packet.
    pub fn new(kind: AgentKind) -> Self {
        match kind {
            AgentKind::Snoop { link: _, dupthresh, cache } => {
                Self::Snoop(Snoop::new(dupthresh, cache))
            }
            AgentKind::Filter => Self::Filter(SpuriousFilter::default()),
            AgentKind::Freeze { disconnections, warning } => {
                Self::Freeze(Freeze::new(disconnections, warning))
            }
        }
    }

    /// A packet arrives. What leaves the middlebox is appended to `onward`, in order; if the packet
    /// is not among it, the middlebox has absorbed it.
    pub fn on_packet(&mut self, packet: Packet, at: Instant, onward: &mut Vec<Onward>) {
        match self {
            Self::Snoop(snoop) => snoop.on_packet(packet, at, onward),
            Self::Filter(filter) => filter.on_packet(packet, onward),
            Self::Freeze(freeze) => freeze.on_packet(packet, onward),
        }
    }

    /// The timer of [`Middlebox::next_timer`] expires.
    pub fn on_timer(&mut self, at: Instant, onward: &mut Vec<Onward>) {
        match self {
            Self::Snoop(snoop) => snoop.on_timer(at, onward),
            Self::Filter(_) => {}
            Self::Freeze(freeze) => freeze.on_timer(at, onward),
        }
    }

    /// When [`Middlebox::on_timer`] is due. It may have nothing to do then, because a timer that
    /// moves later keeps its earlier instant; it is never late.
    pub fn next_timer(&self) -> Option<Instant> {
        match self {
            Self::Snoop(snoop) => snoop.next_timer(),
            Self::Filter(_) => None,
            Self::Freeze(freeze) => freeze.next_timer(),
        }
    }
}

/// Does a middlebox look at the packet? It ignores datagrams, which acknowledge nothing, and
/// damaged packets, whose numbers may be wrong.
const fn is_relevant(packet: &Packet) -> bool {
    let flags = packet.segment.flags;
    !packet.condition.is_damaged()
        && (flags.has(Flags::ACK) || flags.has(Flags::SYN) || flags.has(Flags::RST))
}

/// Does the segment only acknowledge (RFC 5681 section 2, without the rule on the window)?
fn is_pure_ack(segment: &Segment) -> bool {
    segment.flags.has(Flags::ACK)
        && segment.sequence_length() == 0
        && !segment.flags.has(Flags::RST)
}

/// The state of a flow, created with its first packet.
fn state_of<T: Default>(flows: &mut Vec<T>, flow: u32) -> &mut T {
    let index = flow as usize;
    if index >= flows.len() {
        flows.resize_with(index + 1, T::default);
    }
    &mut flows[index]
}

#[cfg(test)]
mod script;
