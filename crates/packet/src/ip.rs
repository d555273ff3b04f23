//! The parser of IP headers (RFC 791, RFC 8200).

use etherparse::{
    IpNumber, Ipv4HeaderSlice, Ipv6FragmentHeader, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice,
};
use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::{Addresses, Ports};

use crate::IPV6_HEADER;

/// Protocol numbers (<https://www.iana.org/assignments/protocol-numbers>).
pub mod protocol {
    pub use etherparse::IpNumber;

    /// IPv6 extension headers that an observer skips.
    pub const EXTENSIONS: &[IpNumber] = &[
        IpNumber::IPV6_HEADER_HOP_BY_HOP,
        IpNumber::IPV6_ROUTE_HEADER,
        IpNumber::IPV6_DESTINATION_OPTIONS,
        IpNumber::MOBILITY_HEADER,
        IpNumber::HIP,
        IpNumber::SHIM6,
        IpNumber::AUTHENTICATION_HEADER,
    ];
    /// IPv6 extension headers that a host may ignore.
    pub const OPTIONS: &[IpNumber] =
        &[IpNumber::IPV6_HEADER_HOP_BY_HOP, IpNumber::IPV6_DESTINATION_OPTIONS];
}

/// Why there is no TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSegment {
    /// It is not TCP over IP.
    Other,
    /// It has no whole TCP header.
    Malformed,
}

/// An IP packet or a fragment of one.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Ip<'a> {
    pub header: IpHeader,
    /// The protocol of its payload.
    pub protocol: IpNumber,
    /// Its position, if it is a fragment.
    pub fragment: Option<Fragment>,
    /// The captured part of the payload.
    pub payload: &'a [u8],
    /// The length of the whole payload, in bytes.
    pub length: usize,
}

/// The fields of an IP header that rtolab uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// Source and destination.
    pub addresses: Addresses,
    /// The identification of IPv4; 0 for IPv6.
    pub identification: u16,
    /// Explicit congestion notification.
    pub codepoint: Codepoint,
    /// TTL or hop limit.
    pub hops: u8,
}

/// The position of a fragment in its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Shared by all fragments of a packet.
    pub identification: u32,
    /// The offset of its first byte in the payload of the whole packet.
    pub offset: usize,
    /// Is it the last fragment?
    pub is_last: bool,
}

impl<'a> Ip<'a> {
    /// Parses the packet at the start of `bytes`, and skips extension headers of these kinds. The
    /// packet had `original_len` bytes on the link, including padding; this is its length if the
    /// length field is zero, because the network card sets it later.
    pub fn parse(
        bytes: &'a [u8],
        original_len: usize,
        extensions: &[IpNumber],
    ) -> Result<Self, NoSegment> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => Self::v4(bytes, original_len),
            Some(6) => Self::v6(bytes, original_len)?.after_extensions(extensions),
            _ => Err(NoSegment::Other),
        }
    }

    fn v4(bytes: &'a [u8], original_len: usize) -> Result<Self, NoSegment> {
        let ip = Ipv4HeaderSlice::from_slice(bytes).map_err(|_| NoSegment::Other)?;
        let total = Some(usize::from(ip.total_len())).filter(|&length| length > 0);
        let (payload, length) =
            payload_after(bytes, ip.slice().len(), total.unwrap_or(original_len))?;
        let identification = ip.identification();
        let fragment = Fragment {
            identification: identification.into(),
            offset: ip.fragments_offset().byte_offset().into(),
            is_last: !ip.more_fragments(),
        };
        Ok(Self {
            header: IpHeader {
                addresses: Addresses::V4 { from: ip.source_addr(), to: ip.destination_addr() },
                identification,
                codepoint: Codepoint::from_bits(ip.ecn().value()),
                hops: ip.ttl(),
            },
            protocol: ip.protocol(),
            fragment: ip.is_fragmenting_payload().then_some(fragment),
            payload,
            length,
        })
    }

    fn v6(bytes: &'a [u8], original_len: usize) -> Result<Self, NoSegment> {
        let ip = Ipv6HeaderSlice::from_slice(bytes).map_err(|_| NoSegment::Other)?;
        let payload = Some(usize::from(ip.payload_length())).filter(|&length| length > 0);
        let whole = payload.map_or(original_len, |length| length + IPV6_HEADER);
        let (payload, length) = payload_after(bytes, IPV6_HEADER, whole)?;
        Ok(Self {
            header: IpHeader {
                addresses: Addresses::V6 { from: ip.source_addr(), to: ip.destination_addr() },
                identification: 0,
                codepoint: Codepoint::from_bits(ip.traffic_class()),
                hops: ip.hop_limit(),
            },
            protocol: ip.next_header(),
            fragment: None,
            payload,
            length,
        })
    }

    /// Skips extension headers of these kinds, up to a fragment header (RFC 8200 section 4).
    pub fn after_extensions(mut self, extensions: &[IpNumber]) -> Result<Self, NoSegment> {
        if matches!(self.header.addresses, Addresses::V4 { .. }) {
            return Ok(self);
        }
        loop {
            let header = match self.protocol {
                IpNumber::TCP => return Ok(self),
                IpNumber::IPV6_FRAGMENTATION_HEADER => {
                    self.fragment = Some(Fragment::parse(self.payload)?);
                    Ipv6FragmentHeader::LEN
                }
                IpNumber::AUTHENTICATION_HEADER if extensions.contains(&self.protocol) => {
                    extension(self.payload, 2, 4)?
                }
                kind if extensions.contains(&kind) => extension(self.payload, 1, 8)?,
                _ => return Ok(self),
            };
            let (payload, length) = payload_after(self.payload, header, self.length)?;
            self.protocol = IpNumber(self.payload[0]);
            (self.payload, self.length) = (payload, length);
            match self.fragment {
                // An atomic fragment is a whole packet (RFC 6946).
                Some(Fragment { offset: 0, is_last: true, .. }) => self.fragment = None,
                Some(_) => return Ok(self),
                None => {}
            }
        }
    }

    /// Is the payload a TCP segment?
    pub fn is_tcp(&self) -> bool {
        self.protocol == IpNumber::TCP
    }

    /// The ports of TCP, UDP or SCTP, which only the first fragment of a packet has.
    pub fn ports(&self) -> Option<Ports> {
        let is_first = self.fragment.is_none_or(|fragment| fragment.offset == 0);
        let [a, b, c, d] = *self.payload.first_chunk()?;
        let ports = Ports { from: u16::from_be_bytes([a, b]), to: u16::from_be_bytes([c, d]) };
        let has_ports = matches!(self.protocol, IpNumber::TCP | IpNumber::UDP | IpNumber::SCTP);
        (is_first && has_ports).then_some(ports)
    }
}

impl Fragment {
    fn parse(bytes: &[u8]) -> Result<Self, NoSegment> {
        let header = Ipv6FragmentHeaderSlice::from_slice(bytes).map_err(|_| NoSegment::Other)?;
        Ok(Self {
            identification: header.identification(),
            offset: header.fragment_offset().byte_offset().into(),
            is_last: !header.more_fragments(),
        })
    }
}

/// The length of an extension header, in bytes. Its length field counts the units after the first
/// `min_units`.
fn extension(bytes: &[u8], min_units: usize, unit: usize) -> Result<usize, NoSegment> {
    let more = *bytes.get(1).ok_or(NoSegment::Other)?;
    Ok((usize::from(more) + min_units) * unit)
}

/// The payload after `header` bytes: the captured part, and its whole length.
fn payload_after(bytes: &[u8], header: usize, whole: usize) -> Result<(&[u8], usize), NoSegment> {
    let length = whole.checked_sub(header).ok_or(NoSegment::Malformed)?;
    let captured = bytes.get(header..bytes.len().min(whole)).ok_or(NoSegment::Other)?;
    Ok((captured, length))
}
