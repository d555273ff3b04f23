//! An IPv4 packet on its way through the links.

use std::sync::Arc;

use rtolab_link::{CopyId, Frame};
use rtolab_net::Hop;
use rtolab_record::Place;

use super::ecn;

/// The port at which the first flow of a scenario arrives; the next flow has the next one.
const RECEIVER_PORTS: u16 = 10_000;
/// The port from which the first flow leaves.
const SENDER_PORTS: u16 = 30_000;
/// More flows than ports between these.
pub(crate) const MOST_FLOWS: usize = 1_000;

/// A packet, and where it is on its way.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub bytes: Vec<u8>,
    pub copy: CopyId,
    /// The links of its way.
    pub hops: Arc<[Hop]>,
    /// Which of them it passes now.
    pub step: usize,
    /// Whose it is, and where it was sent.
    pub flow: Option<(usize, Place)>,
    /// A link has damaged it.
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

    /// The two low bits of the second byte (RFC 3168 section 5).
    fn takes_marks(&self) -> bool {
        self.bytes[1] & 3 != 0
    }

    fn mark_congestion(&mut self) {
        ecn::mark(&mut self.bytes);
    }

    /// The last byte, which the checksum of TCP or UDP covers.
    fn corrupt(&mut self) {
        self.damaged = true;
        if let Some(last) = self.bytes.last_mut() {
            *last ^= 0x55;
        }
    }
}

/// The header of IPv4, as far as a link between hosts looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub to: [u8; 4],
    /// Where the header of the next protocol begins.
    pub length: usize,
    /// Source and destination, of TCP and UDP.
    pub ports: Option<[u16; 2]>,
}

impl Header {
    /// `None`: no IPv4.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (first, to) = (*bytes.first()?, bytes.get(16..20)?);
        let length = usize::from(first & 15) * 4;
        if first >> 4 != 4 || length < 20 {
            return None;
        }
        let offset = u16::from_be_bytes([bytes[6], bytes[7]]) & 0x1fff;
        let ports = bytes.get(length..length + 4);
        let ports = ports.filter(|_| matches!(bytes[9], TCP | UDP) && offset == 0);
        let ports =
            ports.map(|p| [u16::from_be_bytes([p[0], p[1]]), u16::from_be_bytes([p[2], p[3]])]);
        Some(Self { to: to.try_into().ok()?, length, ports })
    }

    /// The flow that a packet with these ports belongs to, and at which of its ends it is sent.
    pub(crate) fn flow(&self) -> Option<(usize, Place)> {
        let [from, to] = self.ports?;
        let number = |port: u16, first: u16| {
            port.checked_sub(first).map(usize::from).filter(|number| *number < MOST_FLOWS)
        };
        let leaves = number(from, SENDER_PORTS).filter(|n| number(to, RECEIVER_PORTS) == Some(*n));
        let returns = number(to, SENDER_PORTS).filter(|n| number(from, RECEIVER_PORTS) == Some(*n));
        let sender = leaves.map(|flow| (flow, Place::Sender));
        sender.or(returns.map(|flow| (flow, Place::Receiver)))
    }
}

/// The protocol numbers that a header may name.
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// The port of a flow at one of its ends.
pub(crate) fn port(flow: usize, place: Place) -> u16 {
    let first = match place {
        Place::Sender => SENDER_PORTS,
        Place::Receiver => RECEIVER_PORTS,
    };
    first + flow as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_of_the_flow_of_its_ports() {
        let with = |from: u16, to: u16| {
            let mut bytes = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, TCP, 0, 0, 10, 83, 0, 1];
            bytes.extend([10, 83, 0, 2]);
            bytes.extend(from.to_be_bytes());
            bytes.extend(to.to_be_bytes());
            Header::read(&bytes).unwrap()
        };
        let (sender, receiver) = (port(7, Place::Sender), port(7, Place::Receiver));
        assert_eq!(with(sender, receiver).flow(), Some((7, Place::Sender)));
        assert_eq!(with(receiver, sender).flow(), Some((7, Place::Receiver)));
        assert_eq!(with(sender, receiver + 1).flow(), None);
        assert_eq!(with(40_000, 80).flow(), None);
        assert_eq!(with(sender, receiver).to, [10, 83, 0, 2]);
    }

    #[test]
    fn what_is_no_ipv4_is_none() {
        assert_eq!(Header::read(&[0x60; 40]), None);
        assert_eq!(Header::read(&[0x45; 19]), None);
        assert_eq!(Header::read(&[]), None);
    }
}
