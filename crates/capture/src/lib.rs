//! Packet captures: pcap and pcapng, in and out; frames to segments and back.
//!
//! A [`Writer`] makes a pcapng file of [`Packet`]s, a [`Reader`] makes [`Packet`]s of a pcap or
//! pcapng file. A [`Conversation`] leads between packets and the engine's segments: it knows how
//! both ends of a connection number what they send.
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

/// Where a run's start lies in the time of a file: a midnight, so that an analyser's time of day is
/// the time of the run. Not that of 1970-01-01, for tcptrace takes time zero for no time.
pub const RUN_START: Instant = Instant::from_nanos(86_400_000_000_000);

/// A TCP segment in an IP packet, at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it was seen, since 1970-01-01 00:00 UTC; for a run see [`RUN_START`].
    pub at: Instant,
    /// Where it comes from and where it goes.
    pub addresses: Addresses,
    /// The identification of IPv4, 0 in IPv6. Analysers take two packets that share it for one
    /// packet that was captured twice: a copy needs one of its own.
    pub identification: u16,
    /// What the IP header says of congestion.
    pub codepoint: Codepoint,
    /// The segment.
    pub segment: WireSegment,
    /// What the file says about this packet.
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
