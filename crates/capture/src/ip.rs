//! The IP packet in a frame: RFC 791, RFC 8200.

use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::Addresses;

use crate::frame::NoSegment;

const V4_HEADER: usize = 20;
const V6_HEADER: usize = 40;
const FRAGMENT_HEADER: usize = 8;
/// The payload of a fragment counts in these many bytes.
const FRAGMENT_UNIT: usize = 8;

/// What may follow in an IP header (<https://www.iana.org/assignments/protocol-numbers>).
mod protocol {
    pub const HOP_BY_HOP: u8 = 0;
    pub const TCP: u8 = 6;
    pub const ROUTING: u8 = 43;
    pub const FRAGMENT: u8 = 44;
    pub const AUTHENTICATION: u8 = 51;
    pub const DESTINATION: u8 = 60;
    pub const MOBILITY: u8 = 135;
    pub const HOST_IDENTITY: u8 = 139;
    pub const SHIM6: u8 = 140;
}

/// An IP packet, or a fragment of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ip<'a> {
    pub head: Head,
    /// What its payload is.
    pub protocol: u8,
    pub fragment: Option<Fragment>,
    /// As much of it as was captured.
    pub payload: &'a [u8],
    /// All of the payload, in bytes.
    pub length: usize,
}

/// What an IP header says of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub addresses: Addresses,
    /// Of IPv4, 0 in IPv6.
    pub identification: u16,
    pub codepoint: Codepoint,
    /// Time to live, or hop limit.
    pub hops: u8,
}

/// Which part of a packet a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub identification: u32,
    /// Of its first byte in the payload of the whole.
    pub offset: usize,
    pub is_last: bool,
}

impl<'a> Ip<'a> {
    /// The packet that `bytes` begin with; it had `original` bytes, and what was behind it, on the
    /// link.
    pub fn parse(bytes: &'a [u8], original: usize) -> Result<Self, NoSegment> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => Self::v4(bytes, original),
            Some(6) => Self::v6(bytes, original),
            _ => Err(NoSegment::Other),
        }
    }

    fn v4(bytes: &'a [u8], original: usize) -> Result<Self, NoSegment> {
        let fixed: &[u8; V4_HEADER] = bytes.first_chunk().ok_or(NoSegment::Other)?;
        let header = usize::from(fixed[0] & 0xf) * 4;
        if header < V4_HEADER {
            return Err(NoSegment::Other);
        }
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let word = |at: usize| [fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]];
        // A length of zero is left to the network card by the host that sends: the frame tells.
        let told = Some(usize::from(half(2))).filter(|&length| length > 0);
        let (payload, length) = cut(bytes, header, told.unwrap_or(original))?;
        let place = half(6);
        let offset = usize::from(place & 0x1fff) * FRAGMENT_UNIT;
        let is_last = place & 0x2000 == 0;
        let identification = half(4);
        let fragment = Fragment { identification: identification.into(), offset, is_last };
        Ok(Self {
            head: Head {
                addresses: Addresses::V4 { from: word(12).into(), to: word(16).into() },
                identification,
                codepoint: Codepoint::from_bits(fixed[1]),
                hops: fixed[8],
            },
            protocol: fixed[9],
            fragment: (offset > 0 || !is_last).then_some(fragment),
            payload,
            length,
        })
    }

    fn v6(bytes: &'a [u8], original: usize) -> Result<Self, NoSegment> {
        let fixed: &[u8; V6_HEADER] = bytes.first_chunk().ok_or(NoSegment::Other)?;
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let address = |at: usize| {
            let mut octets = [0; 16];
            octets.copy_from_slice(&fixed[at..at + 16]);
            octets.into()
        };
        let told = Some(usize::from(half(4))).filter(|&length| length > 0);
        let whole = told.map_or(original, |length| length + V6_HEADER);
        let (payload, length) = cut(bytes, V6_HEADER, whole)?;
        let traffic_class = (half(0) >> 4) as u8;
        let packet = Self {
            head: Head {
                addresses: Addresses::V6 { from: address(8), to: address(24) },
                identification: 0,
                codepoint: Codepoint::from_bits(traffic_class),
                hops: fixed[7],
            },
            protocol: fixed[6],
            fragment: None,
            payload,
            length,
        };
        packet.behind_extensions()
    }

    /// Past the extension headers of IPv6, up to a header of a fragment (RFC 8200 section 4).
    pub fn behind_extensions(mut self) -> Result<Self, NoSegment> {
        use protocol::{
            AUTHENTICATION, DESTINATION, FRAGMENT, HOP_BY_HOP, HOST_IDENTITY, MOBILITY, ROUTING,
            SHIM6,
        };
        if matches!(self.head.addresses, Addresses::V4 { .. }) {
            return Ok(self);
        }
        loop {
            let header = match (self.protocol, self.payload) {
                (HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HOST_IDENTITY | SHIM6, head) => {
                    extension(head, 1, 8)?
                }
                (AUTHENTICATION, head) => extension(head, 2, 4)?,
                (FRAGMENT, head) => {
                    self.fragment = Some(Fragment::parse(head)?);
                    FRAGMENT_HEADER
                }
                _ => return Ok(self),
            };
            let (payload, length) = cut(self.payload, header, self.length)?;
            self.protocol = self.payload[0];
            (self.payload, self.length) = (payload, length);
            match self.fragment {
                // Whole though it has the header (RFC 6946).
                Some(Fragment { offset: 0, is_last: true, .. }) => self.fragment = None,
                Some(_) => return Ok(self),
                None => {}
            }
        }
    }

    /// Is a TCP segment the payload?
    pub const fn is_tcp(&self) -> bool {
        self.protocol == protocol::TCP
    }
}

impl Fragment {
    fn parse(bytes: &[u8]) -> Result<Self, NoSegment> {
        let fixed: &[u8; FRAGMENT_HEADER] = bytes.first_chunk().ok_or(NoSegment::Other)?;
        let place = u16::from_be_bytes([fixed[2], fixed[3]]);
        Ok(Self {
            identification: u32::from_be_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]),
            offset: usize::from(place >> 3) * FRAGMENT_UNIT,
            is_last: place & 1 == 0,
        })
    }
}

/// The length of an extension header, which says by how many `units` it exceeds `least` of them.
fn extension(bytes: &[u8], least: usize, unit: usize) -> Result<usize, NoSegment> {
    let more = *bytes.get(1).ok_or(NoSegment::Other)?;
    Ok((usize::from(more) + least) * unit)
}

/// What is behind `header` bytes: as captured, and its length of all that was on the link.
fn cut(bytes: &[u8], header: usize, whole: usize) -> Result<(&[u8], usize), NoSegment> {
    let length = whole.checked_sub(header).ok_or(NoSegment::Malformed)?;
    let captured = bytes.get(header..bytes.len().min(whole)).ok_or(NoSegment::Other)?;
    Ok((captured, length))
}
