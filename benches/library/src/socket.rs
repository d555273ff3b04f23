//! `rtolab-socket`: IP packets with their bytes and checksums.

use std::net::Ipv4Addr;

use rtolab_packet::{IPV4_HEADER, Ip, TCP_HEADER, header_checksum_holds, ip_header};
use rtolab_socket::Socket;
use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::{Addresses, Payload, Ports, WireSegment, checksum_holds};
use rtolab_time::Instant;

use crate::engine::config;
use crate::{BUFFER, Pair};

const ADDRESSES: Addresses =
    Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 0, 2) };
const PORTS: Ports = Ports { from: 49_152, to: 80 };

/// A sender and a receiver.
pub struct Sockets {
    sender: Socket,
    receiver: Socket,
}

/// All packets that a socket sends now.
fn packets(socket: &mut Socket, addresses: Addresses, ports: Ports) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let Some(segment) = socket.connection.poll_transmit(Instant::START) {
        let headers = IPV4_HEADER + TCP_HEADER + segment.option_bytes() as usize;
        let mut packet = Vec::with_capacity(headers + segment.len as usize);
        packet.resize(headers, 0);
        socket.copy_payload(&segment, &mut packet);
        let (ip, tcp) = packet.split_at_mut(IPV4_HEADER);
        let (header, payload) = tcp.split_at_mut(headers - IPV4_HEADER);
        let wire = socket.encode(&segment, ports);
        header.copy_from_slice(&wire.emit(addresses, Payload::Bytes(payload)));
        let length = header.len() + payload.len();
        let written = ip_header(addresses, Codepoint::NotEct, 0, length).expect("a short packet");
        ip.copy_from_slice(&written);
        packets.push(packet);
    }
    socket.discard_acknowledged();
    packets
}

/// The header of a packet, checked, and its payload.
fn parse(packet: &[u8], addresses: Addresses) -> (WireSegment, &[u8]) {
    let ip = Ip::parse(packet, packet.len(), &[]).expect("a packet");
    assert!(header_checksum_holds(packet) && checksum_holds(ip.payload, addresses), "damaged");
    let wire = WireSegment::parse(ip.payload, ip.length).expect("a segment");
    let header = ip.length - wire.len as usize;
    (wire, &ip.payload[header..])
}

fn deliver(packet: &[u8], addresses: Addresses, to: &mut Socket) -> bool {
    let (wire, payload) = parse(packet, addresses);
    let segment = to.decode(&wire, Codepoint::NotEct);
    to.on_segment(&segment, payload, Instant::START);
    !payload.is_empty()
}

impl Sockets {
    fn exchange(&mut self) -> usize {
        let mut data = 0;
        loop {
            let up = packets(&mut self.sender, ADDRESSES, PORTS);
            for packet in &up {
                data += usize::from(deliver(packet, ADDRESSES, &mut self.receiver));
            }
            let back = (ADDRESSES.reversed(), PORTS.reversed());
            let down = packets(&mut self.receiver, back.0, back.1);
            for packet in &down {
                deliver(packet, back.0, &mut self.sender);
            }
            if up.is_empty() && down.is_empty() {
                return data;
            }
        }
    }
}

impl Pair for Sockets {
    const NAME: &str = "rtolab-socket";

    fn connected() -> Self {
        let mut sender = Socket::open(&config(), 1_000_000);
        let syn = packets(&mut sender, ADDRESSES, PORTS).remove(0);
        let receiver = Socket::accept(&config(), &parse(&syn, ADDRESSES).0, 2_000_000);
        let mut pair = Self { sender, receiver };
        pair.exchange();
        pair
    }

    fn transfer(&mut self, bytes: usize) -> usize {
        let block = vec![7; BUFFER];
        let (mut written, mut data) = (0, 0);
        while written < bytes {
            self.sender.write(&block, BUFFER);
            written += BUFFER;
            data += self.exchange();
            while !self.receiver.readable().is_empty() {
                let bytes = self.receiver.readable();
                assert_eq!(bytes[0], 7, "other bytes");
                let count = bytes.len();
                self.receiver.consume(count);
            }
            for end in [&mut self.sender, &mut self.receiver] {
                while end.connection.poll_event().is_some() {}
            }
        }
        data
    }
}
