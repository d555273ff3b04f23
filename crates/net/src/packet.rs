//! What travels: a segment or datagram with its way through the network.

use rtolab_link::{CopyId, Frame};
use rtolab_record::Place;
use rtolab_tcp::{Codepoint, Flags, Segment};
use rtolab_time::Instant;

/// Bytes of the IPv4 header.
const IP_HEADER: u32 = 20;

/// Bytes of the UDP header (RFC 768).
pub const UDP_HEADER: u32 = 8;

/// What links have done to a packet: one byte, for the packet with its outcome must stay small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    #[default]
    Sound,
    /// It was damaged, so that its destination's checksum will find it.
    Damaged,
    /// It is a second one that a link made of the packet.
    Second,
    /// Both.
    DamagedSecond,
}

impl Condition {
    /// Was it damaged?
    pub const fn is_damaged(self) -> bool {
        matches!(self, Self::Damaged | Self::DamagedSecond)
    }

    /// Is it a second one?
    pub const fn is_second(self) -> bool {
        matches!(self, Self::Second | Self::DamagedSecond)
    }

    /// The same, damaged.
    #[must_use]
    pub const fn damaged(self) -> Self {
        if self.is_second() { Self::DamagedSecond } else { Self::Damaged }
    }

    /// The same of a second one.
    #[must_use]
    pub const fn second(self) -> Self {
        if self.is_damaged() { Self::DamagedSecond } else { Self::Second }
    }
}

/// One copy of a segment or datagram on its way.
///
/// Laid out as it stands: what most packets need are the first 64 bytes, and only options lie behind. Where
/// many lie side by side each has its bytes in two lines of the processor's cache, and not in three.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Packet {
    /// Which copy: every sending of every flow has its own.
    pub copy: CopyId,
    /// When it left its host.
    pub sent: Instant,
    /// The flow's index.
    pub flow: u32,
    /// Its size with IP and TCP or UDP headers.
    pub bytes: u32,
    /// The number of the step before it, among those of all [`RoutingTable`](crate::RoutingTable)s.
    pub step: u32,
    /// How often its first sequence number had been sent before.
    pub order: u16,
    /// What links have done to it.
    pub condition: Condition,
    /// Does it go from the flow's sender to its receiver, or back?
    pub to_receiver: bool,
    /// The segment; see [`Packet::is_datagram`].
    pub segment: Segment,
}

// With its outcome a packet is copied at every link: beyond 128 bytes each copy calls memmove.
const _: () = assert!(size_of::<Packet>() <= 96);

impl Packet {
    /// The size of a packet that carries `segment` over IPv4.
    #[inline]
    pub const fn size_of(segment: &Segment) -> u32 {
        IP_HEADER + segment.header_bytes() + segment.len
    }

    /// The payload of a datagram that is so large with its IPv4 and UDP headers.
    pub const fn datagram_payload(bytes: u32) -> u32 {
        bytes.saturating_sub(IP_HEADER + UDP_HEADER)
    }

    /// Is it a datagram (UDP)? Then `segment` says only how much payload it carries and how much
    /// went before it, and has no flags: every segment of TCP has at least one of SYN, ACK and RST.
    pub fn is_datagram(&self) -> bool {
        self.segment.flags == Flags::NONE
    }

    /// The end of the flow that it is for.
    pub const fn destination(&self) -> Place {
        match self.to_receiver {
            true => Place::Receiver,
            false => Place::Sender,
        }
    }
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn copy_id(&self) -> CopyId {
        self.copy
    }

    fn takes_marks(&self) -> bool {
        self.segment.codepoint() != Codepoint::NotEct
    }

    fn mark_congestion(&mut self) {
        self.segment.set_codepoint(Codepoint::Ce);
    }

    fn corrupt(&mut self) {
        self.condition = self.condition.damaged();
    }
}
