//! An IPv4 packet on the links.

use std::sync::Arc;

use rtolab_link::{CopyId, Frame, HeaderFields};
use rtolab_net::Hop;
use rtolab_packet::{Ip, TCP_HEADER, mark_congestion};
use rtolab_record::Place;
use rtolab_tcp::Flags;
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};

/// The destination port of a scenario's first flow; further flows have the following ports.
const RECEIVER_PORTS: u16 = 10_000;
/// The source port of the first flow.
const SENDER_PORTS: u16 = 30_000;
/// The number of ports between these.
pub(crate) const MAX_FLOWS: usize = 1_000;

/// A packet and its position on its route.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub bytes: Vec<u8>,
    pub copy: CopyId,
    /// The links of its route.
    pub hops: Arc<[Hop]>,
    /// The index of its current link.
    pub step: usize,
    /// Its flow, and the end that sent it.
    pub flow: Option<(usize, Place)>,
    pub damaged: bool,
}

impl Packet {
    pub(crate) fn hop(&self) -> Option<Hop> {
        self.hops.get(self.step).copied()
    }
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn copy_id(&self) -> CopyId {
        self.copy
    }

    /// Is the ECN field, the two low bits of the second byte, not zero (RFC 3168 section 5)?
    fn is_ecn_capable(&self) -> bool {
        self.bytes[1] & 3 != 0
    }

    fn mark_congestion(&mut self) {
        mark_congestion(&mut self.bytes);
    }

    /// Corrupts the last byte, which the checksum of TCP or UDP covers.
    fn corrupt(&mut self) {
        self.damaged = true;
        if let Some(last) = self.bytes.last_mut() {
            *last ^= 0x55;
        }
    }

    fn header_fields(&self) -> Option<HeaderFields> {
        let ip = ipv4(&self.bytes, self.bytes.len()).filter(Ip::is_tcp)?;
        let WireSegment { ports, seq, ack, len, window, flags, .. } =
            WireSegment::parse(ip.payload, ip.length).ok()?;
        let options = ip.payload.get(TCP_HEADER..ip.length - len as usize)?;
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Some(HeaderFields {
            context: u64::from(ports.from) << 16 | u64::from(ports.to),
            seq: seq.into(),
            ack: ack.into(),
            window: window.into(),
            payload: len,
            header: self.bytes() - len,
            option_bytes: options.len() as u32,
            options: options.iter().fold(0xcbf2_9ce4_8422_2325, hash),
            others: u32::from(flags.without(Flags::ACK | Flags::PSH).bits()) << 2
                | u32::from(ip.header.codepoint.bits()),
            is_control: flags.any(Flags::SYN | Flags::FIN | Flags::RST) || !flags.has(Flags::ACK),
        })
    }
}

/// The IPv4 packet of `length` bytes that begins with `bytes`; `None` for other packets, which
/// links do not carry.
pub(crate) fn ipv4(bytes: &[u8], length: usize) -> Option<Ip<'_>> {
    let ip = Ip::parse(bytes, length, &[]).ok()?;
    matches!(ip.header.addresses, Addresses::V4 { .. }).then_some(ip)
}

/// The flow of a packet with these ports, and the end that sends it.
pub(crate) fn flow(Ports { from, to }: Ports) -> Option<(usize, Place)> {
    let number = |port: u16, first: u16| {
        port.checked_sub(first).map(usize::from).filter(|number| *number < MAX_FLOWS)
    };
    let leaves = number(from, SENDER_PORTS).filter(|n| number(to, RECEIVER_PORTS) == Some(*n));
    let returns = number(to, SENDER_PORTS).filter(|n| number(from, RECEIVER_PORTS) == Some(*n));
    let sender = leaves.map(|flow| (flow, Place::Sender));
    sender.or(returns.map(|flow| (flow, Place::Receiver)))
}

pub(crate) fn port(flow: usize, place: Place) -> u16 {
    let first = match place {
        Place::Sender => SENDER_PORTS,
        Place::Receiver => RECEIVER_PORTS,
    };
    first + flow as u16
}

/// The sequence number of a TCP segment, and the number of sequence numbers that it occupies;
/// (0, 0) for other packets.
pub(crate) fn sequence(ip: &Ip<'_>) -> (u32, u32) {
    let tcp = Some(ip).filter(|ip| ip.is_tcp());
    let segment = tcp.and_then(|ip| WireSegment::parse(ip.payload, ip.length).ok());
    segment.map_or((0, 0), |segment| {
        let has = |flag| u32::from(segment.flags.has(flag));
        (segment.seq, segment.len + has(Flags::SYN) + has(Flags::FIN))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_identify_the_flow_of_a_packet() {
        let with = |from: u16, to: u16| {
            let mut bytes = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 83, 0, 1];
            bytes.extend([10, 83, 0, 2]);
            bytes.extend(from.to_be_bytes());
            bytes.extend(to.to_be_bytes());
            ipv4(&bytes, 40).unwrap().ports().and_then(flow)
        };
        let (sender, receiver) = (port(7, Place::Sender), port(7, Place::Receiver));
        assert_eq!(with(sender, receiver), Some((7, Place::Sender)));
        assert_eq!(with(receiver, sender), Some((7, Place::Receiver)));
        assert_eq!(with(sender, receiver + 1), None);
        assert_eq!(with(40_000, 80), None);
    }

    #[test]
    fn packets_other_than_ipv4_are_ignored() {
        for bytes in [&[0x60; 40][..], &[0x45; 19], &[]] {
            assert!(ipv4(bytes, bytes.len()).is_none());
        }
    }
}
