//! Initial sequence numbers (RFC 6528 section 3): the clock of RFC 9293 section 3.4.1 plus a secret
//! offset for each connection. They increase for one connection, and those of other connections
//! reveal nothing about them.

use core::net::IpAddr;

use rtolab_time::Instant;

use super::{Addresses, Ports, Side};
use crate::config::Secret;

/// The period of the clock in nanoseconds: 4 us.
const TICK: u64 = 4_000;

impl Side {
    /// The source end of these addresses and ports, with the initial sequence number of RFC 6528 at
    /// `at`. [`WireMapping::negotiate`](super::WireMapping::negotiate) sets its shift.
    pub fn chosen(secret: Secret, addresses: Addresses, ports: Ports, at: Instant) -> Self {
        let clock = (at.nanos() / TICK) as u32;
        let offset = offset(secret, addresses, ports) as u32;
        Self { isn: clock.wrapping_add(offset), shift: 0 }
    }
}

/// F of RFC 6528: of both addresses and both ports.
fn offset(secret: Secret, addresses: Addresses, ports: Ports) -> u64 {
    let mut hash = SipHash::new(secret);
    let mut add = |address: IpAddr| match address {
        IpAddr::V4(address) => hash.add(u64::from(address.to_bits())),
        IpAddr::V6(address) => {
            hash.add(address.to_bits() as u64);
            hash.add((address.to_bits() >> 64) as u64);
        }
    };
    add(addresses.from());
    add(addresses.to());
    hash.add(u64::from(ports.from) << 16 | u64::from(ports.to));
    hash.finish(0)
}

/// SipHash-2-4 of whole words (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
struct SipHash {
    v: [u64; 4],
    words: u64,
}

impl SipHash {
    fn new(Secret([k0, k1]): Secret) -> Self {
        let v = [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ];
        Self { v, words: 0 }
    }

    fn round(&mut self) {
        let [a, b, c, d] = &mut self.v;
        *a = a.wrapping_add(*b);
        *b = b.rotate_left(13) ^ *a;
        *a = a.rotate_left(32);
        *c = c.wrapping_add(*d);
        *d = d.rotate_left(16) ^ *c;
        *a = a.wrapping_add(*d);
        *d = d.rotate_left(21) ^ *a;
        *c = c.wrapping_add(*b);
        *b = b.rotate_left(17) ^ *c;
        *c = c.rotate_left(32);
    }

    fn add(&mut self, word: u64) {
        self.words += 1;
        self.compress(word);
    }

    fn compress(&mut self, word: u64) {
        self.v[3] ^= word;
        self.round();
        self.round();
        self.v[0] ^= word;
    }

    /// Finishes the hash. `rest` holds the last bytes of the message, up to seven, and their number
    /// in the highest byte.
    fn finish(mut self, rest: u64) -> u64 {
        let length = self.words * 8 + (rest >> 56);
        self.compress(rest & 0x00ff_ffff_ffff_ffff | length << 56);
        self.v[2] ^= 0xff;
        for _ in 0..4 {
            self.round();
        }
        self.v.into_iter().fold(0, |hash, word| hash ^ word)
    }
}

#[cfg(test)]
mod tests {
    use core::net::{Ipv4Addr, Ipv6Addr};

    use rtolab_time::Duration;

    use super::*;

    const KEY: Secret = Secret([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
    const PORTS: Ports = Ports { from: 49_152, to: 80 };

    fn v4(last: u8) -> Addresses {
        Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 1, last) }
    }

    #[test]
    fn the_hash_matches_the_example_of_the_paper() {
        // Appendix A: the message is the bytes 0 to 14.
        let mut hash = SipHash::new(KEY);
        hash.add(0x0706_0504_0302_0100);
        assert_eq!(hash.finish(7 << 56 | 0x000e_0d0c_0b0a_0908), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn t_b_31_the_same_connection_begins_one_higher_every_four_microseconds() {
        let isn = |nanos| Side::chosen(KEY, v4(2), PORTS, Instant::from_nanos(nanos)).isn;
        assert_eq!(isn(3_999), isn(0));
        assert_eq!(isn(4_000), isn(0).wrapping_add(1));
        assert_eq!(isn(1_000_000_000), isn(0).wrapping_add(250_000));
        // The clock wraps after less than five hours.
        assert_eq!(isn(4_000 << 32), isn(0));
    }

    #[test]
    fn t_b_31_every_other_connection_begins_at_another_number() {
        let at = Instant::START + Duration::from_secs(1);
        let v6 = |last| Addresses::V6 {
            from: Ipv6Addr::LOCALHOST,
            to: Ipv6Addr::from_bits(Ipv6Addr::LOCALHOST.to_bits() | last),
        };
        let other_key = Secret([KEY.0[0], KEY.0[1] + 1]);
        let sides = [
            Side::chosen(KEY, v4(2), PORTS, at),
            Side::chosen(KEY, v4(3), PORTS, at),
            Side::chosen(KEY, v4(2).reversed(), PORTS, at),
            Side::chosen(KEY, v4(2), PORTS.reversed(), at),
            Side::chosen(KEY, v4(2), Ports { from: 49_153, ..PORTS }, at),
            Side::chosen(KEY, v4(2), Ports { to: 81, ..PORTS }, at),
            Side::chosen(KEY, v6(1 << 64), PORTS, at),
            Side::chosen(KEY, v6(2 << 64), PORTS, at),
            Side::chosen(KEY, v6(2), PORTS, at),
            Side::chosen(other_key, v4(2), PORTS, at),
        ];
        for (number, side) in sides.iter().enumerate() {
            for other in &sides[..number] {
                // Nor may it be the other one plus an offset that could be guessed.
                let apart = side.isn.wrapping_sub(other.isn) as i32;
                assert!(apart.unsigned_abs() > 1 << 16, "{side:?} {other:?}");
            }
        }
    }
}
