//! IP packets without extension headers. The TCP options are in Linux's order, because packetdrill
//! checks the order.

use etherparse::{TcpHeader, TcpOptionElement};
use rtolab_packet::{Ip, Path, ip_header};
use rtolab_tcp::wire::{Addresses, Payload, WireError, WireSegment};
use rtolab_tcp::{Codepoint, SynOptions, Timestamps};
use thiserror::Error;

/// A TCP segment in an IP packet.
#[derive(Clone, Debug)]
pub struct TcpPacket {
    /// Source and destination.
    pub addresses: Addresses,
    /// The ECN codepoint.
    pub codepoint: Codepoint,
    /// The TCP header.
    pub segment: WireSegment,
    /// The payload.
    pub payload: Vec<u8>,
}

/// The reason why a packet has no TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PacketError {
    /// It is neither IPv4 nor IPv6, too short, or of another protocol.
    #[error("not a complete IP packet with TCP")]
    NotTcp,
    /// The TCP header is invalid.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl TcpPacket {
    /// Parses an IP packet without verifying its checksums.
    pub fn parse(packet: &[u8]) -> Result<Self, PacketError> {
        let ip = Ip::parse(packet, 0, &[]).map_err(|_| PacketError::NotTcp)?;
        let tcp = ip.payload.get(..ip.length).filter(|_| ip.is_tcp()).ok_or(PacketError::NotTcp)?;
        let segment = WireSegment::parse(tcp, tcp.len())?;
        let payload = tcp[tcp.len() - segment.len as usize..].to_vec();
        let (addresses, codepoint) = (ip.header.addresses, ip.header.codepoint);
        Ok(Self { addresses, codepoint, segment, payload })
    }

    /// The path of the packets in the other direction.
    pub fn path_back(&self) -> Path {
        Path { addresses: self.addresses, ports: self.segment.ports }.reversed()
    }

    /// The packet as bytes, with checksums.
    pub fn emit(&self) -> Vec<u8> {
        let plain = self.segment.emit(self.addresses, Payload::Bytes(&self.payload));
        let (mut tcp, _) = TcpHeader::from_slice(&plain).expect("a valid header");
        tcp.set_options(&options(&self.segment)).expect("options that fit");
        tcp.checksum = match self.addresses {
            Addresses::V4 { from, to } => {
                tcp.calc_checksum_ipv4_raw(from.octets(), to.octets(), &self.payload)
            }
            Addresses::V6 { from, to } => {
                tcp.calc_checksum_ipv6_raw(from.octets(), to.octets(), &self.payload)
            }
        }
        .expect("a segment that fits into a packet");
        let length = tcp.header_len() + self.payload.len();
        let packet = ip_header(self.addresses, self.codepoint, 0, length);
        let mut packet = packet.expect("a segment that fits into a packet");
        packet.extend(tcp.to_bytes());
        packet.extend(&self.payload);
        packet
    }
}

/// The options of a TCP header in the order of Linux (`tcp_options_write`): MSS, SACK-Permitted,
/// timestamps, window scale, SACK blocks. SACK-Permitted replaces the padding before timestamps.
fn options(segment: &WireSegment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
        Timestamp, WindowScale,
    };
    let SynOptions { mss, window_scale, sack_permitted, .. } = segment.syn;
    let mut options: Vec<_> = mss.map(MaximumSegmentSize).into_iter().collect();
    match (sack_permitted, segment.timestamps) {
        (true, Some(_)) => options.push(SelectiveAcknowledgementPermitted),
        (true, None) => options.extend([Noop, Noop, SelectiveAcknowledgementPermitted]),
        (false, Some(_)) => options.extend([Noop, Noop]),
        (false, None) => {}
    }
    options.extend(segment.timestamps.map(|Timestamps { value, echo }| Timestamp(value, echo)));
    options.extend(window_scale.into_iter().flat_map(|shift| [Noop, WindowScale(shift)]));
    let mut blocks = segment.sack.iter().map(|block| (block.start, block.end));
    if let Some(first) = blocks.next() {
        let others = std::array::from_fn(|_| blocks.next());
        options.extend([Noop, Noop, SelectiveAcknowledgement(first, others)]);
    }
    options
}
