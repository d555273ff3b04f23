//! The ends of a connection, by which its packets are found.

use std::hash::{Hash, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};

use rtolab_capture::CapturedPacket;
use rtolab_tcp::wire::Addresses;

/// The versions of IP.
const V4: u64 = 4;
const V6: u64 = 6;

/// The two ends of a connection, the lower first, as integers that compare fast.
#[derive(Clone, Copy, Debug, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionKey {
    /// The upper halves of the addresses: zero for IPv4.
    upper: [u64; 2],
    lower: [u64; 2],
    /// The IP versions and the ports.
    ports: u64,
}

impl PartialEq for ConnectionKey {
    /// Word by word: vector instructions would have to wait for the words of a new key.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let upper = (self.upper[0] ^ other.upper[0]) | (self.upper[1] ^ other.upper[1]);
        let lower = (self.lower[0] ^ other.lower[0]) | (self.lower[1] ^ other.lower[1]);
        upper | lower | (self.ports ^ other.ports) == 0
    }
}

impl Hash for ConnectionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if self.ports >> 48 == V4 {
            state.write_u64(self.lower[0] << 32 | self.lower[1]);
        } else {
            self.upper.iter().chain(&self.lower).for_each(|&half| state.write_u64(half));
        }
        state.write_u64(self.ports);
    }
}

/// The ends of the connection of a packet.
#[inline]
pub(crate) fn key(packet: &CapturedPacket) -> ConnectionKey {
    let ports = packet.segment.ports;
    let ([high, low, port], [other_high, other_low, other_port]) = match packet.addresses {
        Addresses::V4 { from, to } => ordered(v4(from, ports.from), v4(to, ports.to)),
        Addresses::V6 { from, to } => ordered(v6(from, ports.from), v6(to, ports.to)),
    };
    ConnectionKey {
        upper: [high, other_high],
        lower: [low, other_low],
        ports: port << 32 | other_port,
    }
}

/// The two ends, the lower first.
fn ordered(one: [u64; 3], other: [u64; 3]) -> ([u64; 3], [u64; 3]) {
    if one <= other { (one, other) } else { (other, one) }
}

/// The address, the IP version and the port.
fn v4(address: Ipv4Addr, port: u16) -> [u64; 3] {
    [0, address.to_bits().into(), V4 << 16 | u64::from(port)]
}

/// The same for IPv6.
fn v6(address: Ipv6Addr, port: u16) -> [u64; 3] {
    let bits = address.to_bits();
    [(bits >> 64) as u64, bits as u64, V6 << 16 | u64::from(port)]
}

#[cfg(test)]
mod tests {
    use rtolab_capture::Captured;
    use rtolab_tcp::wire::Ports;

    use super::*;

    /// The packet from one end, an address and a port, to another.
    fn packet(addresses: Addresses, [from, to]: [u16; 2]) -> CapturedPacket {
        let mut packet = Captured::empty().packet;
        packet.addresses = addresses;
        packet.segment.ports = Ports { from, to };
        packet
    }

    fn of_v4(from: u32, to: u32, ports: [u16; 2]) -> ConnectionKey {
        key(&packet(Addresses::V4 { from: from.into(), to: to.into() }, ports))
    }

    fn of_v6(from: u128, to: u128, ports: [u16; 2]) -> ConnectionKey {
        key(&packet(Addresses::V6 { from: from.into(), to: to.into() }, ports))
    }

    /// The words that a key gives to its hash.
    #[derive(Default)]
    struct Words(Vec<u64>);

    impl Hasher for Words {
        fn finish(&self) -> u64 {
            0
        }

        fn write(&mut self, _: &[u8]) {
            panic!("a key consists of words");
        }

        fn write_u64(&mut self, word: u64) {
            self.0.push(word);
        }
    }

    fn words(key: &ConnectionKey) -> Vec<u64> {
        let mut words = Words::default();
        key.hash(&mut words);
        words.0
    }

    #[test]
    fn packets_of_both_directions_have_one_key() {
        assert_eq!(of_v4(1, 2, [9, 5]), of_v4(2, 1, [5, 9]));
        assert_eq!(of_v4(1, 1, [9, 5]), of_v4(1, 1, [5, 9]));
        assert_eq!(of_v6(1 << 100, 2, [9, 5]), of_v6(2, 1 << 100, [5, 9]));
        assert_eq!(of_v4(7, 3, [9, 5]).lower, [3, 7], "the lower end comes first");
    }

    /// An IPv4 address is not the IPv6 address with the same value.
    #[test]
    fn keys_differ_in_each_bit_of_addresses_and_ports_and_in_the_version() {
        let (far, ports) = (0x0a00_0001, [40_000, 443]);
        let mut keys = vec![of_v4(0, far, ports), of_v6(0, far.into(), ports)];
        keys.extend((0..32).map(|bit| of_v4(1 << bit, far, ports)));
        keys.extend((0..128).map(|bit| of_v6(1 << bit, far.into(), ports)));
        for bit in 0..16 {
            let other = ports.map(|port| port ^ 1 << bit);
            keys.push(of_v4(0, far, [other[0], ports[1]]));
            keys.push(of_v4(0, far, [ports[0], other[1]]));
            keys.push(of_v6(0, far.into(), [other[0], ports[1]]));
        }
        for (index, one) in keys.iter().enumerate() {
            for other in &keys[..index] {
                assert_ne!(one, other);
                assert_ne!(words(one), words(other));
            }
        }
        assert_eq!(words(&keys[0]).len(), 2, "the addresses of IPv4 are one word");
    }

    #[test]
    fn keys_differ_if_both_halves_of_an_address_differ_by_the_same_bits() {
        let key = |upper, lower| ConnectionKey { upper: [upper, 0], lower: [lower, 0], ports: 0 };
        assert_eq!(key(0x2001_0db8, 1), key(0x2001_0db8, 1));
        assert_ne!(key(0x2001_0db8, 1), key(0x2001_0db9, 0));
    }
}
