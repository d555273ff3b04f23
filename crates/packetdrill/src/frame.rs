//! IP packets without extension headers. The TCP options are in the order of an operating system,
//! because packetdrill checks the order.

use etherparse::{TcpHeader, TcpOptionElement};
use rtolab_packet::{Ip, Path, ip_header};
use rtolab_tcp::wire::{Addresses, Payload, WireError, WireSegment};
use rtolab_tcp::{Codepoint, SynOptions, Timestamps};
use thiserror::Error;

use crate::settings::System;

/// The MSS of a peer that announces none, in bytes (`TCP_MSS_DEFAULT`).
pub(crate) const MSS_DEFAULT: u16 = 536;

/// The values of the MSS that a SYN cookie distinguishes, in bytes (`msstab`).
const COOKIE_MSS_V4: [u16; 4] = [536, 1300, 1440, 1460];
const COOKIE_MSS_V6: [u16; 4] = [1220, 1420, 1440, 8940];

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

    /// Reduces the options of a SYN to those that Linux restores from a SYN cookie
    /// (`cookie_v4_init_sequence`): an MSS of its table, and other options only with timestamps,
    /// which encode them (`tcp_conn_request`).
    pub fn keep_what_a_cookie_holds(&mut self) {
        let table = match self.addresses {
            Addresses::V4 { .. } => COOKIE_MSS_V4,
            Addresses::V6 { .. } => COOKIE_MSS_V6,
        };
        let syn = &mut self.segment.syn;
        let mss = syn.mss.unwrap_or(MSS_DEFAULT);
        syn.mss = table.iter().rev().find(|&&kept| kept <= mss).or(table.first()).copied();
        if self.segment.timestamps.is_none() {
            (syn.window_scale, syn.sack_permitted) = (None, false);
        }
    }

    /// The path of the packets in the other direction.
    pub fn path_back(&self) -> Path {
        Path { addresses: self.addresses, ports: self.segment.ports }.reversed()
    }

    /// The packet as bytes, with checksums, and with the TCP options in the order of `system`.
    pub fn emit(&self, system: System) -> Vec<u8> {
        let plain = self.segment.emit(self.addresses, Payload::Bytes(&self.payload));
        let (mut tcp, _) = TcpHeader::from_slice(&plain).expect("a valid header");
        let options = match system {
            System::Linux => linux_options(&self.segment),
            System::FreeBsd => freebsd_options(&self.segment),
        };
        tcp.set_options(&options).expect("options that fit");
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
fn linux_options(segment: &WireSegment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgementPermitted, Timestamp, WindowScale,
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
    options.extend(sack_blocks(segment));
    options
}

/// The options of a TCP header in the order of FreeBSD (`tcp_addoptions`): MSS, window scale,
/// SACK-Permitted, timestamps, SACK blocks. SACK-Permitted replaces the padding before timestamps,
/// and ends of options fill the header otherwise.
fn freebsd_options(segment: &WireSegment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgementPermitted, Timestamp, WindowScale,
    };
    let SynOptions { mss, window_scale, sack_permitted, .. } = segment.syn;
    let mut options: Vec<_> = mss.map(MaximumSegmentSize).into_iter().collect();
    options.extend(window_scale.into_iter().flat_map(|shift| [Noop, WindowScale(shift)]));
    options.extend(sack_permitted.then_some(SelectiveAcknowledgementPermitted));
    if let Some(Timestamps { value, echo }) = segment.timestamps {
        if !sack_permitted {
            options.extend([Noop, Noop]);
        }
        options.push(Timestamp(value, echo));
    }
    options.extend(sack_blocks(segment));
    options
}

/// The SACK option with the padding before it; none if there are no blocks.
fn sack_blocks(segment: &WireSegment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{Noop, SelectiveAcknowledgement};
    let mut blocks = segment.sack.iter().map(|block| (block.start, block.end));
    let Some(first) = blocks.next() else { return Vec::new() };
    let others = std::array::from_fn(|_| blocks.next());
    vec![Noop, Noop, SelectiveAcknowledgement(first, others)]
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rtolab_tcp::Flags;
    use rtolab_tcp::wire::Ports;

    use super::*;

    fn syn(mss: u16, timestamps: Option<Timestamps>) -> TcpPacket {
        let ports = Ports { from: 1, to: 2 };
        let syn = SynOptions {
            mss: Some(mss),
            window_scale: Some(7),
            sack_permitted: true,
            ..SynOptions::default()
        };
        let (seq, ack, len, window, flags) = (0, 0, 0, 100, Flags::SYN);
        let sack = <_>::default();
        let segment = WireSegment { ports, seq, ack, len, window, flags, syn, timestamps, sack };
        let (from, to) = (Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST);
        let addresses = Addresses::V4 { from, to };
        TcpPacket { addresses, codepoint: Codepoint::NotEct, segment, payload: Vec::new() }
    }

    #[test]
    fn the_options_have_the_order_of_the_system() {
        let kinds = |packet: &TcpPacket, system| {
            let bytes = packet.emit(system);
            let (tcp, _) = TcpHeader::from_slice(&bytes[20..]).unwrap();
            tcp.options.as_slice().to_vec()
        };
        let stamped = syn(1460, Some(Timestamps { value: 1, echo: 0 }));
        let timestamps = [8, 10, 0, 0, 0, 1, 0, 0, 0, 0];
        let linux = [&[2, 4, 5, 180, 4, 2][..], &timestamps, &[1, 3, 3, 7]].concat();
        let freebsd = [&[2, 4, 5, 180, 1, 3, 3, 7, 4, 2][..], &timestamps].concat();
        assert_eq!(kinds(&stamped, System::Linux), linux);
        assert_eq!(kinds(&stamped, System::FreeBsd), freebsd);
        let mut plain = syn(1460, None);
        plain.segment.syn.window_scale = None;
        assert_eq!(kinds(&plain, System::FreeBsd), [2, 4, 5, 180, 4, 2, 0, 0]);
    }

    #[test]
    fn a_syn_cookie_holds_an_mss_of_its_table() {
        for (mss, kept) in [(8960, 1460), (1459, 1440), (1000, 536), (100, 536)] {
            let mut packet = syn(mss, Some(Timestamps::default()));
            packet.keep_what_a_cookie_holds();
            let SynOptions { mss, window_scale, sack_permitted, .. } = packet.segment.syn;
            assert_eq!((mss, window_scale, sack_permitted), (Some(kept), Some(7), true));
        }
        let mut packet = syn(1000, None);
        packet.keep_what_a_cookie_holds();
        let SynOptions { window_scale, sack_permitted, .. } = packet.segment.syn;
        assert_eq!((window_scale, sack_permitted), (None, false), "timestamps encode them");
    }
}
