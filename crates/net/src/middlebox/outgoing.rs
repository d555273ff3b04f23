//! The packets that leave middleboxes, and helper functions that middleboxes share.

use rtolab_tcp::{Flags, Segment};

use crate::packet::Packet;

/// A packet that leaves a middlebox.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingPacket {
    /// The packet. If the middlebox generated it, it has the [`CopyId`](rtolab_link::CopyId) of the
    /// packet from which it was made, and needs a new one.
    pub packet: Packet,
    /// Did the middlebox generate it?
    pub is_generated: bool,
}

impl OutgoingPacket {
    pub(super) const fn forwarded(packet: Packet) -> Self {
        Self { packet, is_generated: false }
    }

    pub(super) const fn generated(packet: Packet) -> Self {
        Self { packet, is_generated: true }
    }
}

/// Does a middlebox process the packet? It forwards datagrams, which acknowledge nothing, and
/// damaged packets, whose headers may be wrong.
pub(super) const fn is_relevant(packet: &Packet) -> bool {
    let flags = packet.segment.flags;
    !packet.condition.is_damaged()
        && (flags.has(Flags::ACK) || flags.has(Flags::SYN) || flags.has(Flags::RST))
}

/// Is the segment a pure ACK, without data and flags? Its window may differ from the previous one.
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

/// Is it an ACK of data, on its way to the sender of the flow?
pub(super) fn is_ack_to_sender(packet: &Packet) -> bool {
    let flags = packet.segment.flags;
    let is_ack = flags.has(Flags::ACK) && !flags.any(Flags::SYN | Flags::RST);
    is_relevant(packet) && is_ack && !packet.to_receiver
}

/// Keeps the packet in place of an older ACK of its flow.
pub(super) fn keep_newest(newest: &mut Vec<Option<Packet>>, packet: &Packet) {
    let newest = state_of(newest, packet.flow);
    if newest.is_none_or(|newest| packet.segment.ack >= newest.segment.ack) {
        *newest = Some(*packet);
    }
}

/// The packet's ACK, without its data.
pub(super) fn pure_ack(packet: &Packet) -> Packet {
    let mut packet = *packet;
    let segment = &mut packet.segment;
    segment.seq = segment.end();
    segment.len = 0;
    segment.flags = Flags::ACK;
    packet.bytes = Packet::size_of(segment);
    packet.order = 0;
    packet
}
