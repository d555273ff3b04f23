//! What stands on the way at a node: it sees each packet that passes, and may take it out, hold a
//! copy back for later, or make one of its own.

pub mod filter;
pub mod snoop;

use rtolab_scenario::AgentKind;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::Instant;

use crate::packet::Packet;
use filter::Filter;
use snoop::Snoop;

/// What stands on the way.
#[derive(Clone, Debug)]
pub enum Agent {
    /// Local retransmissions over a wireless link.
    Snoop(Snoop),
    /// A proxy against needless retransmissions.
    Filter(Filter),
}

/// A packet that goes on from the node.
#[derive(Clone, Copy, Debug)]
pub struct Onward {
    /// The packet; one that was made here has the [`CopyId`](rtolab_link::CopyId) of what it is
    /// a copy of, and needs one of its own.
    pub packet: Packet,
    /// Did the agent make it, or does it just pass?
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

impl Agent {
    /// An agent that has seen nothing yet.
    pub fn new(kind: AgentKind) -> Self {
        match kind {
            AgentKind::Snoop { link: _, dupthresh, cache } => {
                Self::Snoop(Snoop::new(dupthresh, cache))
            }
            AgentKind::Filter => Self::Filter(Filter::default()),
        }
    }

    /// A packet comes by; `onward` takes what goes on, in its order. If the packet is not among
    /// it, the agent has absorbed it.
    pub fn on_packet(&mut self, packet: Packet, at: Instant, onward: &mut Vec<Onward>) {
        match self {
            Self::Snoop(snoop) => snoop.on_packet(packet, at, onward),
            Self::Filter(filter) => filter.on_packet(packet, onward),
        }
    }

    /// The time that [`Agent::next_timer`] named has come.
    pub fn on_timer(&mut self, at: Instant, onward: &mut Vec<Onward>) {
        match self {
            Self::Snoop(snoop) => snoop.on_timer(at, onward),
            Self::Filter(_) => {}
        }
    }

    /// When the agent wants to be woken. It may turn out to have nothing to do then, for a timer
    /// that moves later is looked at when it would have expired; it never wakes too late.
    pub const fn next_timer(&self) -> Option<Instant> {
        match self {
            Self::Snoop(snoop) => snoop.next_timer(),
            Self::Filter(_) => None,
        }
    }
}

/// Has an agent anything to say about the packet? Not about datagrams, which acknowledge nothing,
/// nor about damaged packets, whose numbers may be wrong.
const fn concerns(packet: &Packet) -> bool {
    let flags = packet.segment.flags;
    !packet.condition.is_damaged()
        && (flags.has(Flags::ACK) || flags.has(Flags::SYN) || flags.has(Flags::RST))
}

/// Does the segment acknowledge and nothing else (RFC 5681 section 2, but for the window)?
fn only_acknowledges(segment: &Segment) -> bool {
    segment.flags.has(Flags::ACK)
        && segment.sequence_length() == 0
        && !segment.flags.has(Flags::RST)
}

/// The state of a flow, which is made when its first packet comes.
fn state_of<T: Default>(flows: &mut Vec<T>, flow: u32) -> &mut T {
    let index = flow as usize;
    if index >= flows.len() {
        flows.resize_with(index + 1, T::default);
    }
    &mut flows[index]
}

#[cfg(test)]
mod packets;
