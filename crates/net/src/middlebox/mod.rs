//! Middleboxes. A middlebox sees each packet that passes its node. It may drop the packet, keep a
//! copy, or send one of its own.

pub mod freeze;
mod onward;
pub mod snoop;
pub mod spurious_filter;

use rtolab_scenario::AgentKind;
use rtolab_time::Instant;

use crate::packet::Packet;
use freeze::Freeze;
pub use onward::Onward;
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

#[cfg(test)]
mod script;
