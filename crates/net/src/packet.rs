//! Packets: segments and datagrams with their position in the network.

use rtolab_link::{CopyId, Frame, HeaderFields};
use rtolab_record::Place;
use rtolab_tcp::{Codepoint, Flags, Segment, Seq};
use rtolab_time::Instant;

/// The size of the IPv4 header, in bytes.
const IP_HEADER: u32 = 20;

/// The size of the UDP header, in bytes (RFC 768).
pub const UDP_HEADER: u32 = 8;

/// The impairments of a packet: damage and duplication. It is one byte, to keep packets small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Neither damaged nor duplicated.
    #[default]
    Intact,
    /// Damaged. The checksum at its destination detects it.
    Damaged,
    /// A duplicate made by a link.
    Duplicate,
    /// A damaged duplicate.
    DamagedDuplicate,
}

impl Condition {
    /// Is the packet damaged?
    pub const fn is_damaged(self) -> bool {
        matches!(self, Self::Damaged | Self::DamagedDuplicate)
    }

    /// Is it a duplicate made by a link?
    pub const fn is_duplicate(self) -> bool {
        matches!(self, Self::Duplicate | Self::DamagedDuplicate)
    }

    /// The condition after damage.
    #[must_use]
    pub const fn damaged(self) -> Self {
        if self.is_duplicate() { Self::DamagedDuplicate } else { Self::Damaged }
    }

    /// The condition of a duplicate of the packet.
    #[must_use]
    pub const fn duplicate(self) -> Self {
        if self.is_damaged() { Self::DamagedDuplicate } else { Self::Duplicate }
    }
}

/// A message of the network to the sender of a TCP flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification {
    /// The link is in a bad state: see [`ebsn`](crate::middlebox::ebsn).
    BadState,
    /// ICMP `destination unreachable` that quotes the segment with this sequence number: see
    /// [`unreachable`](crate::middlebox::unreachable).
    Unreachable(Seq),
    /// The path has returned: see [`path_hint`](crate::middlebox::path_hint).
    PathChange,
}

/// The size of a notification: the headers of IPv4 and ICMP (28 bytes), and the IPv4 header of the
/// quoted packet with its first 8 bytes (RFC 792).
const NOTIFICATION_BYTES: u32 = 56;

/// One copy of a segment or datagram.
///
/// The fields are in their order in memory. Most packets need only the first 64 bytes, which the
/// options follow. The alignment lets each packet of a slab occupy two cache lines instead of
/// three.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Packet {
    /// The id of the copy. Each transmission has its own.
    pub copy: CopyId,
    /// When it left its host.
    pub sent: Instant,
    /// The flow's index.
    pub flow: u32,
    /// Its size with IP and TCP or UDP headers.
    pub bytes: u32,
    /// The index of its next step in the [`RoutingTable`](crate::RoutingTable).
    pub step: u32,
    /// The number of earlier transmissions of its first byte.
    pub order: u16,
    /// Its impairments.
    pub condition: Condition,
    /// Is its direction from the flow's sender to its receiver?
    pub to_receiver: bool,
    /// The segment; see [`Packet::is_datagram`].
    pub segment: Segment,
}

// Links copy a packet with its outcome. If both exceeded 128 bytes, each copy would call memmove.
const _: () = assert!(size_of::<Packet>() <= 96);

impl Packet {
    /// The size of a packet that carries `segment` over IPv4.
    #[inline]
    pub const fn size_of(segment: &Segment) -> u32 {
        IP_HEADER + segment.header_bytes() + segment.len
    }

    /// The payload of a datagram of `bytes` with its IPv4 and UDP headers.
    pub const fn datagram_payload(bytes: u32) -> u32 {
        bytes.saturating_sub(IP_HEADER + UDP_HEADER)
    }

    /// Is it a UDP datagram? The `segment` of a datagram has no flags, while every TCP segment has
    /// at least one of SYN, ACK and RST. Its sequence number counts the payload sent before. In a
    /// flow of TCP a datagram is a [`Notification`].
    pub fn is_datagram(&self) -> bool {
        self.segment.flags == Flags::NONE
    }

    /// A notification that takes the route of this packet. Its kind is stored as the window of its
    /// segment.
    #[must_use]
    pub fn with_notification(&self, notification: Notification) -> Self {
        let (seq, kind) = match notification {
            Notification::BadState => (Seq::FIRST, 0),
            Notification::Unreachable(seq) => (seq, 1),
            Notification::PathChange => (Seq::FIRST, 2),
        };
        let mut segment = Segment::new(seq, 0, Flags::NONE);
        segment.window = kind;
        Self { segment, bytes: NOTIFICATION_BYTES, order: 0, ..*self }
    }

    /// The notification that the packet carries, if it is one in a flow of TCP.
    pub fn notification(&self) -> Option<Notification> {
        match (self.is_datagram(), self.segment.window) {
            (false, _) => None,
            (true, 0) => Some(Notification::BadState),
            (true, 1) => Some(Notification::Unreachable(self.segment.seq)),
            (true, _) => Some(Notification::PathChange),
        }
    }

    /// The end of the flow to which it is sent.
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

    fn is_ecn_capable(&self) -> bool {
        self.segment.codepoint() != Codepoint::NotEct
    }

    fn mark_congestion(&mut self) {
        self.segment.set_codepoint(Codepoint::Ce);
    }

    fn corrupt(&mut self) {
        self.condition = self.condition.damaged();
    }

    fn header_fields(&self) -> Option<HeaderFields> {
        let Segment { seq, ack, len, window, flags, .. } = self.segment;
        (!self.is_datagram()).then(|| HeaderFields {
            context: u64::from(self.flow) << 1 | u64::from(self.to_receiver),
            seq: seq.value(),
            ack: ack.value(),
            window,
            payload: len,
            header: self.bytes - len,
            option_bytes: self.segment.option_bytes(),
            options: self.segment.options_hash(),
            others: u32::from(flags.without(Flags::ACK | Flags::PSH).bits()) << 2
                | u32::from(self.segment.codepoint().bits()),
            is_control: flags.any(Flags::SYN | Flags::FIN | Flags::RST) || !flags.has(Flags::ACK),
        })
    }
}
