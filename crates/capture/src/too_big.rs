//! ICMP messages that say that a packet is larger than the MTU of a link.

use rtolab_packet::{NoSegment, PacketTooBig};

use crate::frame::{self, Link};

/// The maximum number of messages that are kept.
const MAX_KEPT: usize = 64;

/// The different messages so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct TooBigMessages(Vec<PacketTooBig>);

impl TooBigMessages {
    /// Notes a frame of `original` bytes that has no TCP segment. `bytes` is the captured part.
    pub fn note(&mut self, link: Link, bytes: &[u8], original: usize) {
        let found = frame::ip(link, bytes, original);
        let found: Result<_, NoSegment> = found.map(|ip| PacketTooBig::in_ip(&ip));
        let Ok(Some(message)) = found else { return };
        let is_known = |one: &PacketTooBig| {
            (one.router, one.path, one.mtu) == (message.router, message.path, message.mtu)
        };
        if self.0.len() < MAX_KEPT && !self.0.iter().any(is_known) {
            self.0.push(message);
        }
    }

    pub fn all(&self) -> &[PacketTooBig] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 header from and to these addresses of 10.0.0.0/24.
    fn v4(protocol: u8, from: u8, to: u8) -> Vec<u8> {
        let mut header = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
        header.extend([10, 0, 0, from, 10, 0, 0, to]);
        header
    }

    fn fragmentation_needed(mtu: u16) -> Vec<u8> {
        let [upper, lower] = mtu.to_be_bytes();
        let mut packet = v4(1, 9, 1);
        packet.extend([3, 4, 0, 0, 0, 0, upper, lower]);
        packet.extend(v4(6, 1, 2));
        packet.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 7]);
        packet
    }

    fn noted(packets: &[Vec<u8>]) -> Vec<PacketTooBig> {
        let mut messages = TooBigMessages::default();
        for packet in packets {
            messages.note(Link::Raw, packet, packet.len());
        }
        messages.all().to_vec()
    }

    #[test]
    fn a_message_names_the_router_its_mtu_and_the_connection() {
        let packet = fragmentation_needed(1400);
        let [message] = noted(&[packet.clone(), packet.clone()])[..] else { panic!("one") };
        let expected = "10.0.0.9 1400 10.0.0.1:40000 10.0.0.2:80";
        let PacketTooBig { router, mtu, path, .. } = message;
        assert_eq!(format!("{router} {mtu} {} {}", path.from(), path.to()), expected);
        // Without an MTU, of another type, and cut before the ports.
        let mut other = packet.clone();
        other[20] = 11;
        let cut = packet[..50].to_vec();
        assert_eq!(noted(&[fragmentation_needed(0), other, cut]), []);
    }

    #[test]
    fn a_message_of_ipv6_has_an_mtu_of_four_bytes() {
        let header = |next: u8, from: u8, to: u8| {
            let mut header = vec![0x60, 0, 0, 0, 0, 0, next, 64];
            header.extend([0xfd; 15].into_iter().chain([from]));
            header.extend([0xfd; 15].into_iter().chain([to]));
            header
        };
        let mut packet = header(58, 9, 1);
        packet.extend([2, 0, 0, 0, 0, 1, 0, 0]);
        packet.extend(header(6, 1, 2));
        packet.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 7]);
        let [message] = noted(&[packet])[..] else { panic!("one") };
        assert_eq!(
            (message.mtu, message.path.ports.from, message.path.ports.to),
            (0x1_0000, 40_000, 80)
        );
    }

    #[test]
    fn the_number_of_messages_is_bounded() {
        let packets: Vec<_> = (1..200).map(fragmentation_needed).collect();
        assert_eq!(noted(&packets).len(), MAX_KEPT);
    }
}
