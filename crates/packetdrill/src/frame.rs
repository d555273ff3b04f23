//! IP packets without extension headers, with the TCP options in Linux's order, which packetdrill
//! checks.

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
    /// Explicit congestion notification.
    pub codepoint: Codepoint,
    /// The TCP header.
    pub segment: WireSegment,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Why a packet is not one for TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PacketError {
    /// Neither version 4 nor 6, too short, or of another protocol.
    #[error("not a whole IP packet with TCP")]
    NotTcp,
    /// The TCP header is wrong.
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

    /// The path of its answer.
    pub fn path_back(&self) -> Path {
        Path { addresses: self.addresses, ports: self.segment.ports }.reversed()
    }

    /// The packet's bytes.
    pub fn emit(&self) -> Vec<u8> {
        let plain = self.segment.emit(self.addresses, Payload::Bytes(&self.payload));
        let (mut tcp, _) = TcpHeader::from_slice(&plain).expect("a valid header");
        tcp.set_options(&options(&self.segment)).expect("as many as the engine has room for");
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

/// The options of a TCP header as Linux writes them (`tcp_options_write`): the segment size, then
/// timestamps, which share a word with the permission of SACK where there are both, then the
/// permission alone, the window scale, and SACK blocks.
fn options(segment: &WireSegment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
        Timestamp, WindowScale,
    };
    let SynOptions { mss, window_scale, sack_permitted } = segment.syn;
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
