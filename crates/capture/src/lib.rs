//! Reads pcap and pcapng captures, and writes pcapng.
//!
//! A [`Writer`] makes a pcapng file of [`Packet`]s, a [`Reader`] makes [`Packet`]s of a pcap or
//! pcapng file. A [`Conversation`] converts between packets and the engine's segments: it knows the
//! sequence numbers of both ends of a connection.
//!
//! ```
//! use rtolab_capture::{Conversation, End, Interface, Packet, RUN_START, Reader, Writer};
//! use rtolab_tcp::wire::{Addresses, Ports};
//! use rtolab_tcp::{Flags, Segment, Seq};
//! use rtolab_time::Duration;
//!
//! let addresses = Addresses::V4 { from: [10, 0, 0, 1].into(), to: [10, 0, 0, 2].into() };
//! let mut conversation =
//!     Conversation::new(addresses, Ports { from: 49152, to: 5001 }, [0xffff_fff0, 77]);
//! let syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
//!
//! let mut writer = Writer::new(Vec::new(), &Interface::named("sender"))?;
//! let packet = conversation.packet(End::Client, &syn);
//! let at = RUN_START + Duration::from_millis(500);
//! writer.packet(&Packet { at, identification: 1, ..packet })?;
//! let file = writer.finish()?;
//!
//! for read in Reader::new(&file[..])? {
//!     let packet = read?.packet;
//!     let mut conversation = Conversation::begun_by(&packet);
//!     assert_eq!(conversation.segment(&packet), Some((End::Client, syn)));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod annotate;
mod conversation;
mod fragments;
mod frame;
mod offer;
mod reader;
mod script;
mod unpack;
mod writer;

use std::borrow::Cow;
use std::net::SocketAddr;

use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::{Addresses, WireSegment};
use rtolab_time::Instant;

pub use annotate::{AnnotateError, annotated};
pub use conversation::{Conversation, End};
pub use frame::Checksum;
pub use offer::Offer;
pub use reader::{Captured, InOrder, ReadError, Reader, Skipped};
pub use script::{Step, Way, packetdrill};
pub use unpack::unpacked;
pub use writer::{Interface, WriteError, Writer};

/// The time of a run's start in files: a midnight, so that an analyser's time of day is the time of
/// the run. It is not that of 1970-01-01, because tcptrace treats time zero as no time.
pub const RUN_START: Instant = Instant::from_nanos(86_400_000_000_000);

/// A TCP segment in an IP packet, at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it was captured, since 1970-01-01 00:00 UTC; for a run see [`RUN_START`].
    pub at: Instant,
    /// Source and destination addresses.
    pub addresses: Addresses,
    /// The identification of IPv4; 0 for IPv6. Analysers treat packets with the same identification
    /// as one packet captured twice, so a retransmission needs its own.
    pub identification: u16,
    /// The ECN codepoint of the IP header.
    pub codepoint: Codepoint,
    /// The TCP segment.
    pub segment: WireSegment,
    /// The file's comment on the packet.
    pub comment: Option<Cow<'static, str>>,
}

impl Packet {
    /// Source address and port.
    pub const fn from(&self) -> SocketAddr {
        SocketAddr::new(self.addresses.from(), self.segment.ports.from)
    }

    /// Destination address and port.
    pub const fn to(&self) -> SocketAddr {
        SocketAddr::new(self.addresses.to(), self.segment.ports.to)
    }
}
