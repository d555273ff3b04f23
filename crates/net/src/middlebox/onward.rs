//! What middleboxes have in common: the packets that leave them, and those that they look at.

use rtolab_tcp::{Flags, Segment};

use crate::packet::Packet;

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
    pub(super) const fn passing(packet: Packet) -> Self {
        Self { packet, made_here: false }
    }

    pub(super) const fn made_here(packet: Packet) -> Self {
        Self { packet, made_here: true }
    }
}

/// Does a middlebox look at the packet? It ignores datagrams, which acknowledge nothing, and
/// damaged packets, whose numbers may be wrong.
pub(super) const fn is_relevant(packet: &Packet) -> bool {
    let flags = packet.segment.flags;
    !packet.condition.is_damaged()
        && (flags.has(Flags::ACK) || flags.has(Flags::SYN) || flags.has(Flags::RST))
}

/// Does the segment only acknowledge (RFC 5681 section 2, without the rule on the window)?
pub(super) fn is_pure_ack(segment: &Segment) -> bool {
    segment.flags.has(Flags::ACK)
        && segment.sequence_length() == 0
        && !segment.flags.has(Flags::RST)
}

/// The state of a flow, created with its first packet.
pub(super) fn state_of<T: Default>(flows: &mut Vec<T>, flow: u32) -> &mut T {
    let index = flow as usize;
    if index >= flows.len() {
        flows.resize_with(index + 1, T::default);
    }
    &mut flows[index]
}
