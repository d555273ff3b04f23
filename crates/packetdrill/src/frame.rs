//! IP packets in and out: a header of each kind and no extension, with the options of TCP in the
//! order in which Linux writes them, for packetdrill looks at it.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rtolab_tcp::wire::{Addresses, WireError, WireSegment};
use rtolab_tcp::{SynOptions, Timestamps};
use thiserror::Error;

const TCP: u8 = 6;
const HOP_LIMIT: u8 = 64;
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;

/// A TCP segment in an IP packet.
#[derive(Clone, Debug)]
pub struct Frame {
    /// From where to where.
    pub addresses: Addresses,
    /// The two low bits of the traffic class (RFC 3168 section 5).
    pub ecn: u8,
    /// The TCP header.
    pub segment: WireSegment,
    /// What it carries.
    pub payload: Vec<u8>,
}

/// Why a packet is not one for TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Neither version 4 nor 6, too short, or of another protocol.
    #[error("not a whole IP packet with TCP")]
    NotTcp,
    /// The TCP header is wrong.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl Frame {
    /// Reads an IP packet; its checksums are not looked at.
    pub fn parse(packet: &[u8]) -> Result<Self, FrameError> {
        let (addresses, ecn, tcp) = match packet.first().map(|byte| byte >> 4) {
            Some(4) => parse_ipv4(packet),
            Some(6) => parse_ipv6(packet),
            _ => None,
        }
        .ok_or(FrameError::NotTcp)?;
        let segment = WireSegment::parse(tcp, tcp.len())?;
        let payload = tcp[tcp.len() - segment.len as usize..].to_vec();
        Ok(Self { addresses, ecn, segment, payload })
    }

    /// The packet's bytes.
    pub fn emit(&self) -> Vec<u8> {
        let header = self.tcp_header();
        let length = header.len() + self.payload.len();
        let mut packet = match self.addresses {
            Addresses::V4 { from, to } => ipv4_header(from, to, self.ecn, length),
            Addresses::V6 { from, to } => ipv6_header(from, to, self.ecn, length),
        };
        packet.extend(&header);
        packet.extend(&self.payload);
        packet
    }

    fn tcp_header(&self) -> Vec<u8> {
        let WireSegment { ports, seq, ack, window, flags, .. } = &self.segment;
        let mut header = Vec::with_capacity(60);
        header.extend(ports.from.to_be_bytes());
        header.extend(ports.to.to_be_bytes());
        header.extend(seq.to_be_bytes());
        header.extend(ack.to_be_bytes());
        header.extend(flags.bits().to_be_bytes());
        header.extend(window.to_be_bytes());
        header.extend([0; 4]); // checksum and urgent pointer
        options::emit(&self.segment, &mut header);
        header[12] |= (header.len() as u8 / 4) << 4;
        let sum = pseudo_header(self.addresses, header.len() + self.payload.len());
        let sum = checksum([&sum, &header, &self.payload]);
        header[16..18].copy_from_slice(&sum.to_be_bytes());
        header
    }
}

fn parse_ipv4(packet: &[u8]) -> Option<(Addresses, u8, &[u8])> {
    let fixed: &[u8; IPV4_HEADER] = packet.first_chunk()?;
    let header = usize::from(fixed[0] & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if fixed[9] != TCP || header < IPV4_HEADER {
        return None;
    }
    let from = Ipv4Addr::from([fixed[12], fixed[13], fixed[14], fixed[15]]);
    let to = Ipv4Addr::from([fixed[16], fixed[17], fixed[18], fixed[19]]);
    Some((Addresses::V4 { from, to }, fixed[1] & 3, packet.get(header..total)?))
}

fn parse_ipv6(packet: &[u8]) -> Option<(Addresses, u8, &[u8])> {
    let fixed: &[u8; IPV6_HEADER] = packet.first_chunk()?;
    let length = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    if fixed[6] != TCP {
        return None;
    }
    let address = |at: usize| fixed[at..at + 16].try_into().map(|octets: [u8; 16]| octets.into());
    let (from, to): (Ipv6Addr, Ipv6Addr) = (address(8).ok()?, address(24).ok()?);
    let ecn = fixed[1] >> 4 & 3;
    Some((Addresses::V6 { from, to }, ecn, packet.get(IPV6_HEADER..IPV6_HEADER + length)?))
}

fn ipv4_header(from: Ipv4Addr, to: Ipv4Addr, ecn: u8, length: usize) -> Vec<u8> {
    let mut header = vec![0x45, ecn];
    header.extend(((IPV4_HEADER + length) as u16).to_be_bytes());
    header.extend([0, 0, 0x40, 0, HOP_LIMIT, TCP, 0, 0]);
    header.extend(from.octets());
    header.extend(to.octets());
    let sum = checksum([&header]);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

fn ipv6_header(from: Ipv6Addr, to: Ipv6Addr, ecn: u8, length: usize) -> Vec<u8> {
    let mut header = vec![0x60, ecn << 4, 0, 0];
    header.extend((length as u16).to_be_bytes());
    header.extend([TCP, HOP_LIMIT]);
    header.extend(from.octets());
    header.extend(to.octets());
    header
}

fn pseudo_header(addresses: Addresses, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for address in [addresses.from(), addresses.to()] {
        match address {
            IpAddr::V4(address) => bytes.extend(address.octets()),
            IpAddr::V6(address) => bytes.extend(address.octets()),
        }
    }
    bytes.extend((length as u32).to_be_bytes());
    bytes.extend([0, 0, 0, TCP]);
    bytes
}

/// The Internet checksum (RFC 1071) of parts of which only the last may have an odd length.
fn checksum<const N: usize>(parts: [&[u8]; N]) -> u16 {
    let half = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
    let mut sum: u64 = parts.iter().flat_map(|part| part.chunks(2)).map(half).sum();
    while sum > u64::from(u16::MAX) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The options of a TCP header as Linux writes them (`tcp_options_write`): the segment size, then
/// timestamps, which share a word with the permission of SACK where there are both, then the
/// permission alone, the window scale, and SACK blocks.
mod options {
    use super::{SynOptions, Timestamps, WireSegment};

    const NOP: u8 = 1;

    pub(super) fn emit(segment: &WireSegment, header: &mut Vec<u8>) {
        let SynOptions { mss, window_scale, sack_permitted } = segment.syn;
        if let Some(mss) = mss {
            header.extend([2, 4]);
            header.extend(mss.to_be_bytes());
        }
        let permission = if sack_permitted { [4, 2] } else { [NOP; 2] };
        match segment.timestamps {
            Some(Timestamps { value, echo }) => {
                header.extend(permission);
                header.extend([8, 10]);
                header.extend(value.to_be_bytes());
                header.extend(echo.to_be_bytes());
            }
            None if sack_permitted => header.extend([NOP, NOP, 4, 2]),
            None => {}
        }
        if let Some(shift) = window_scale {
            header.extend([NOP, 3, 3, shift]);
        }
        if !segment.sack.is_empty() {
            header.extend([NOP, NOP, 5, 2 + 8 * segment.sack.len() as u8]);
            for block in &segment.sack {
                header.extend(block.start.to_be_bytes());
                header.extend(block.end.to_be_bytes());
            }
        }
    }
}
