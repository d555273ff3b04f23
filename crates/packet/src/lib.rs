#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod ecn;
mod icmp;
mod ip;

use std::net::SocketAddr;

use etherparse::checksum::Sum16BitWords;
use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6Header, TcpHeader, UdpHeader};
use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::{Addresses, Ports};

pub use ecn::mark_congestion;
pub use icmp::PacketTooBig;
pub use ip::{Fragment, Ip, IpHeader, NoSegment, protocol};

/// The length of an IPv4 header without options, in bytes.
pub const IPV4_HEADER: usize = Ipv4Header::MIN_LEN;
/// The length of an IPv6 header, in bytes.
pub const IPV6_HEADER: usize = Ipv6Header::LEN;
/// The length of a TCP header without options, in bytes.
pub const TCP_HEADER: usize = TcpHeader::MIN_LEN;
/// The length of a UDP header, in bytes.
pub const UDP_HEADER: usize = UdpHeader::LEN;
const HOP_LIMIT: u8 = 64;

/// The addresses and ports of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Path {
    pub addresses: Addresses,
    pub ports: Ports,
}

impl Path {
    /// The path in the other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { addresses: self.addresses.reversed(), ports: self.ports.reversed() }
    }

    /// Source address and port.
    pub const fn from(&self) -> SocketAddr {
        SocketAddr::new(self.addresses.from(), self.ports.from)
    }

    /// Destination address and port.
    pub const fn to(&self) -> SocketAddr {
        SocketAddr::new(self.addresses.to(), self.ports.to)
    }

    /// The length of an IP header without options, in bytes.
    pub const fn ip_header(&self) -> usize {
        match self.addresses {
            Addresses::V4 { .. } => IPV4_HEADER,
            Addresses::V6 { .. } => IPV6_HEADER,
        }
    }
}

/// The IP header of a TCP segment of `length` bytes; `None` if that is too long for IP. The packet
/// may not be fragmented, so any identification is valid (RFC 6864).
pub fn ip_header(
    addresses: Addresses,
    codepoint: Codepoint,
    identification: u16,
    length: usize,
) -> Option<Vec<u8>> {
    let length = u16::try_from(length).ok()?;
    match addresses {
        Addresses::V4 { from, to } => {
            let (from, to) = (from.octets(), to.octets());
            let mut ip = Ipv4Header::new(length, HOP_LIMIT, IpNumber::TCP, from, to).ok()?;
            ip.identification = identification;
            ip.ecn = IpEcn::try_new(codepoint.bits()).ok()?;
            ip.header_checksum = ip.calc_header_checksum();
            Some(ip.to_bytes().to_vec())
        }
        Addresses::V6 { from, to } => {
            let ip = Ipv6Header {
                payload_length: length,
                next_header: IpNumber::TCP,
                hop_limit: HOP_LIMIT,
                traffic_class: codepoint.bits(),
                source: from.octets(),
                destination: to.octets(),
                ..Ipv6Header::default()
            };
            Some(ip.to_bytes().to_vec())
        }
    }
}

/// Is the checksum of `packet`'s IP header correct? IPv6 has none.
pub fn header_checksum_holds(packet: &[u8]) -> bool {
    let v4 = Ipv4HeaderSlice::from_slice(packet);
    v4.is_ok_and(|ip| Sum16BitWords::new().add_slice(ip.slice()).ones_complement() == 0)
        || packet.first().is_some_and(|first| first >> 4 == 6)
}
