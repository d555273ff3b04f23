#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod annotate;
mod conversation;
mod fragments;
mod frame;
mod reader;
mod script;
mod syn_fingerprint;
mod too_big;
mod unpack;
mod writer;

use std::borrow::Cow;
use std::net::SocketAddr;

use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::{Addresses, WireSegment};

pub use annotate::{AnnotateError, annotate};
pub use conversation::{Conversation, End};
pub use frame::{Captured, Checksum};
pub use reader::{ClockSteps, InOrder, ReadError, Reader, Skipped};
pub use rtolab_packet::PacketTooBig;
pub use rtolab_time::{Duration, Instant};
pub use script::{PacketDirection, ScriptPacket, packetdrill};
pub use syn_fingerprint::SynFingerprint;
pub use unpack::unpacked;
pub use writer::{Interface, WriteError, Writer};

/// The time of a run's start in files. It is a midnight, so that the time of day in analysers is
/// the time of the run. It is not that of 1970-01-01, because tcptrace treats time zero as no time.
pub const RUN_START: Instant = Instant::from_nanos(86_400_000_000_000);

/// A TCP segment in an IP packet, at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// When it was captured, since 1970-01-01 00:00 UTC; for a run see [`RUN_START`].
    pub at: Instant,
    /// Source and destination addresses.
    pub addresses: Addresses,
    /// The IPv4 identification; 0 for IPv6. Analysers treat packets with the same identification as
    /// one packet captured twice, so a retransmission needs a new one.
    pub identification: u16,
    /// The ECN codepoint of the IP header.
    pub codepoint: Codepoint,
    /// The TCP segment.
    pub segment: WireSegment,
    /// The file's comment on the packet.
    pub comment: Option<Cow<'static, str>>,
}

impl CapturedPacket {
    /// Source address and port.
    pub const fn from(&self) -> SocketAddr {
        SocketAddr::new(self.addresses.from(), self.segment.ports.from)
    }

    /// Destination address and port.
    pub const fn to(&self) -> SocketAddr {
        SocketAddr::new(self.addresses.to(), self.segment.ports.to)
    }
}
