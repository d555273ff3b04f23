//! The filter that the kernel runs: classic BPF (`linux/filter.h`) on packets from their IP header
//! on.

use std::net::IpAddr;

use crate::packet_socket::filter::PacketFilter;

/// The bytes of a packet that are kept: its headers with all options.
pub(super) const SNAP_LENGTH: u32 = 160;

/// An instruction: its code, its operand, and where to go on if it holds and if not.
#[derive(Clone, Copy, Debug)]
struct Step {
    code: u16,
    operand: u32,
    then: Target,
    otherwise: Target,
}

/// Where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Next,
    /// Over this number of steps.
    Skip(u8),
    Ipv6,
    Accept,
    Reject,
}

// linux/bpf_common.h, and the offsets of what no header has: linux/filter.h.
const LOAD_WORD: u16 = 0x20;
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
const LOAD_HALF_BEHIND: u16 = 0x48;
const LOAD_HEADER_LENGTH: u16 = 0xb1;
const EQUALS: u16 = 0x15;
const HAS_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;
const ANCILLARY: u32 = -0x1000_i32 as u32;
const PROTOCOL: u32 = ANCILLARY;
const PACKET_TYPE: u32 = ANCILLARY + 4;
const HARDWARE_TYPE: u32 = ANCILLARY + 28;
const OUTGOING: u32 = 4;
const LOOPBACK: u32 = 772;

const IPV4: u32 = 0x0800;
const IPV6: u32 = 0x86dd;
const TCP: u32 = 6;
/// Extension headers of IPv6 behind which TCP may be: the reader decides about these packets.
const EXTENSIONS: [u32; 8] = [0, 43, 44, 51, 60, 135, 139, 140];
/// Offsets in the IPv4 header.
const V4_FRAGMENT: u32 = 6;
const V4_PROTOCOL: u32 = 9;
const V4_ADDRESSES: [u32; 2] = [12, 16];
/// Offsets in the IPv6 header.
const V6_NEXT: u32 = 6;
const V6_ADDRESSES: [u32; 2] = [8, 24];
const V6_PAYLOAD: u32 = 40;

const fn load(code: u16, operand: u32) -> Step {
    Step { code, operand, then: Target::Next, otherwise: Target::Next }
}

const fn equals(operand: u32, then: Target, otherwise: Target) -> Step {
    Step { code: EQUALS, operand, then, otherwise }
}

/// The program of a filter as `(code, jump if true, jump if false, operand)`. On a loopback device
/// every packet passes twice, and the filter rejects the first.
pub(super) fn program(filter: PacketFilter) -> Vec<(u16, u8, u8, u32)> {
    use Target::{Accept, Ipv6, Next, Reject, Skip};
    let mut first = vec![
        load(LOAD_HALF, HARDWARE_TYPE),
        equals(LOOPBACK, Next, Skip(2)),
        load(LOAD_BYTE, PACKET_TYPE),
        equals(OUTGOING, Reject, Next),
        load(LOAD_HALF, PROTOCOL),
        equals(IPV6, Ipv6, Next),
        equals(IPV4, Next, Reject),
    ];
    first.extend(ipv4(filter));
    let second = ipv6(filter);
    let ipv6_at = first.len();
    let accept_at = ipv6_at + second.len();
    let steps = first.into_iter().chain(second);
    let mut program: Vec<_> = steps
        .enumerate()
        .map(|(at, step)| {
            let jump = |target| match target {
                Next => 0,
                Target::Skip(count) => count,
                Ipv6 => (ipv6_at - at - 1) as u8,
                Accept => (accept_at - at - 1) as u8,
                Reject => (accept_at - at) as u8,
            };
            (step.code, jump(step.then), jump(step.otherwise), step.operand)
        })
        .collect();
    program.push((RETURN, 0, 0, SNAP_LENGTH));
    program.push((RETURN, 0, 0, 0));
    program
}

fn ipv4(filter: PacketFilter) -> Vec<Step> {
    use Target::{Accept, Next, Reject, Skip};
    let mut steps = vec![load(LOAD_BYTE, V4_PROTOCOL), equals(TCP, Next, Reject)];
    match filter.host {
        Some(IpAddr::V4(host)) => {
            let [from, to] = V4_ADDRESSES;
            steps.push(load(LOAD_WORD, from));
            steps.push(equals(host.to_bits(), Skip(2), Next));
            steps.push(load(LOAD_WORD, to));
            steps.push(equals(host.to_bits(), Next, Reject));
        }
        Some(IpAddr::V6(_)) => steps.push(equals(u32::MAX, Reject, Reject)),
        None => {}
    }
    if let Some(port) = filter.port {
        // Only the first fragment of a packet has ports.
        steps.push(load(LOAD_HALF, V4_FRAGMENT));
        steps.push(Step { code: HAS_BITS, operand: 0x1fff, then: Reject, otherwise: Next });
        steps.push(load(LOAD_HEADER_LENGTH, 0));
        steps.push(load(LOAD_HALF_BEHIND, 0));
        steps.push(equals(port.into(), Accept, Next));
        steps.push(load(LOAD_HALF_BEHIND, 2));
        steps.push(equals(port.into(), Accept, Reject));
    } else {
        steps.push(load(LOAD_BYTE, 0));
        steps.push(equals(0, Accept, Accept));
    }
    steps
}

fn ipv6(filter: PacketFilter) -> Vec<Step> {
    use Target::{Accept, Next, Reject, Skip};
    let mut steps = vec![load(LOAD_BYTE, V6_NEXT)];
    let mut left = EXTENSIONS.len() as u8;
    steps.push(equals(TCP, Skip(left), Next));
    for extension in EXTENSIONS {
        left -= 1;
        let otherwise = if left == 0 { Reject } else { Next };
        steps.push(equals(extension, Accept, otherwise));
    }
    match filter.host {
        Some(IpAddr::V6(host)) => {
            let words = [96, 64, 32, 0].map(|shift| (host.to_bits() >> shift) as u32);
            for (is_last, address) in
                V6_ADDRESSES.into_iter().enumerate().map(|(n, at)| (n == 1, at))
            {
                for (index, word) in words.into_iter().enumerate() {
                    let left = 2 * (words.len() - 1 - index) as u8;
                    let at = 4 * index as u32;
                    // One that differs leads to the other address, or out.
                    let otherwise = if is_last { Reject } else { Skip(left) };
                    let is_end = index == words.len() - 1;
                    let matched = if is_last { Next } else { Skip(2 * words.len() as u8) };
                    steps.push(load(LOAD_WORD, address + at));
                    steps.push(equals(word, if is_end { matched } else { Next }, otherwise));
                }
            }
        }
        Some(IpAddr::V4(_)) => steps.push(equals(u32::MAX, Reject, Reject)),
        None => {}
    }
    if let Some(port) = filter.port {
        steps.push(load(LOAD_HALF, V6_PAYLOAD));
        steps.push(equals(port.into(), Accept, Next));
        steps.push(load(LOAD_HALF, V6_PAYLOAD + 2));
        steps.push(equals(port.into(), Accept, Reject));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETHERNET: u32 = 1;
    const INCOMING: u32 = 0;

    /// Runs a program on a packet of this protocol, on a device of this type, in this direction.
    fn run(
        program: &[(u16, u8, u8, u32)],
        packet: &[u8],
        protocol: u32,
        (device, direction): (u32, u32),
    ) -> u32 {
        let (mut at, mut loaded, mut index) = (0, 0_u32, 0_usize);
        let bytes = |from: usize, count: usize| -> u32 {
            packet[from..from + count].iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
        };
        loop {
            let (code, then, otherwise, operand) = program[at];
            at += 1;
            let jump = |holds: bool| usize::from(if holds { then } else { otherwise });
            match code {
                LOAD_HALF if operand == PROTOCOL => loaded = protocol,
                LOAD_HALF if operand == HARDWARE_TYPE => loaded = device,
                LOAD_BYTE if operand == PACKET_TYPE => loaded = direction,
                LOAD_WORD => loaded = bytes(operand as usize, 4),
                LOAD_HALF => loaded = bytes(operand as usize, 2),
                LOAD_BYTE => loaded = bytes(operand as usize, 1),
                LOAD_HALF_BEHIND => loaded = bytes(index + operand as usize, 2),
                LOAD_HEADER_LENGTH => index = 4 * (packet[operand as usize] & 0xf) as usize,
                EQUALS => at += jump(loaded == operand),
                HAS_BITS => at += jump(loaded & operand != 0),
                RETURN => return operand,
                _ => unreachable!("{code:#x}"),
            }
        }
    }

    fn v4(protocol: u8, fragment: u16) -> Vec<u8> {
        let mut packet = vec![0; 44];
        packet[0] = 0x46;
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        packet[9] = protocol;
        packet[12..16].copy_from_slice(&[10, 0, 0, 1]);
        packet[16..20].copy_from_slice(&[10, 0, 0, 2]);
        packet[24..28].copy_from_slice(&[0xc0, 0, 0, 80]);
        packet
    }

    fn v6(next: u8) -> Vec<u8> {
        let mut packet = vec![0; 60];
        (packet[0], packet[6], packet[23], packet[39]) = (0x60, next, 1, 2);
        packet[40..44].copy_from_slice(&[0xc0, 0, 0, 80]);
        packet
    }

    fn admits(host: Option<&str>, port: Option<u16>, packet: &[u8]) -> bool {
        let host = host.map(|host| host.parse().expect("an address"));
        let program = program(PacketFilter { host, port });
        let protocol = if packet[0] >> 4 == 4 { IPV4 } else { IPV6 };
        run(&program, packet, protocol, (ETHERNET, INCOMING)) == SNAP_LENGTH
    }

    #[test]
    fn only_tcp_over_ip_passes() {
        assert!(admits(None, None, &v4(6, 0)) && admits(None, None, &v6(6)));
        assert!(!admits(None, None, &v4(17, 0)) && !admits(None, None, &v6(17)));
        let all = program(PacketFilter::default());
        assert_eq!(run(&all, &v4(6, 0), 0x0806, (ETHERNET, INCOMING)), 0, "ARP");
    }

    #[test]
    fn either_end_may_have_the_host_and_the_port() {
        for (packet, ends, other) in
            [(v4(6, 0), ["10.0.0.1", "10.0.0.2"], "10.0.0.3"), (v6(6), ["::1", "::2"], "::3")]
        {
            for port in [80, 0xc000] {
                assert!(admits(None, Some(port), &packet));
                assert!(ends.iter().all(|end| admits(Some(end), Some(port), &packet)));
            }
            assert!(ends.iter().all(|end| admits(Some(end), None, &packet)));
            assert!(!admits(Some(ends[0]), Some(81), &packet) && !admits(None, Some(81), &packet));
            assert!(!admits(Some(other), None, &packet) && !admits(Some(other), Some(80), &packet));
            let alien = if other == "::3" { "10.0.0.1" } else { "::1" };
            assert!(!admits(Some(alien), None, &packet));
        }
    }

    #[test]
    fn behind_extension_headers_the_reader_decides() {
        assert!(admits(Some("::3"), Some(81), &v6(60)));
        assert!(!admits(None, Some(80), &v4(6, 1)), "a fragment without ports");
    }

    #[test]
    fn a_packet_on_a_loopback_device_is_taken_once() {
        let program = program(PacketFilter::default());
        assert_eq!(run(&program, &v4(6, 0), IPV4, (LOOPBACK, OUTGOING)), 0);
        for other in [(LOOPBACK, INCOMING), (ETHERNET, INCOMING), (ETHERNET, OUTGOING)] {
            assert_eq!(run(&program, &v4(6, 0), IPV4, other), SNAP_LENGTH, "{other:?}");
        }
    }
}
