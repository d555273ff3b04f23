//! Two sockets exchange a file over a channel that loses every tenth packet, in virtual time. A
//! real program would pass the packets to its device and sleep until the next timer.

use std::collections::VecDeque;
use std::sync::Arc;

use rtolab_socket::Socket;
use rtolab_tcp::wire::{Addresses, Payload, Ports, WireSegment, checksum_holds};
use rtolab_tcp::{Codepoint, Config, specification};
use rtolab_time::Instant;

const TO_SERVER: Addresses =
    Addresses::V4 { from: std::net::Ipv4Addr::new(10, 0, 0, 1), to: std::net::Ipv4Addr::LOCALHOST };
const PORTS: Ports = Ports { from: 49_152, to: 80 };

/// All packets that a socket sends at `at`.
fn packets(socket: &mut Socket, (addresses, ports): (Addresses, Ports), at: Instant) -> Packets {
    let segments: Vec<_> = socket.transmit(at).collect();
    let packet = |segment| {
        let mut payload = Vec::new();
        socket.copy_payload(segment, &mut payload);
        let header = socket.encode(segment, ports).emit(addresses, Payload::Bytes(&payload));
        [&header[..], &payload].concat()
    };
    let packets = segments.iter().map(packet).collect();
    socket.discard_acknowledged();
    packets
}

type Packets = VecDeque<Vec<u8>>;

/// Receives a packet: the header, if it is undamaged, and the payload.
fn parse(packet: &[u8], addresses: Addresses) -> Option<(WireSegment, &[u8])> {
    let wire = WireSegment::parse(packet, packet.len()).ok()?;
    let payload = &packet[packet.len() - wire.len as usize..];
    checksum_holds(packet, addresses).then_some((wire, payload))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Arc::new(specification::sender("sack+frto", &Config::default())?);
    let file: Vec<u8> = (0..1_000_000_u32).map(|index| (index >> 4) as u8).collect();
    let mut at = Instant::START;
    let mut client = Socket::open(&config, 1_000_000);
    assert_eq!(client.write(&file, file.len()), file.len());
    client.connection.close();

    let syn = packets(&mut client, (TO_SERVER, PORTS), at).remove(0).ok_or("no SYN")?;
    let (syn, _) = parse(&syn, TO_SERVER).ok_or("damaged")?;
    let mut server = Socket::accept(&config, &syn, 2_000_000);

    let (mut received, mut sent) = (Vec::new(), 0_u32);
    while received.len() < file.len() {
        let (mut up, mut down) = (
            packets(&mut client, (TO_SERVER, PORTS), at),
            packets(&mut server, (TO_SERVER.reversed(), PORTS.reversed()), at),
        );
        if up.is_empty() && down.is_empty() {
            let timers = [&client, &server].map(|socket| socket.connection.next_timer());
            at = timers.into_iter().flatten().min().ok_or("no timer is running")?;
            client.connection.on_timer(at);
            server.connection.on_timer(at);
        }
        up.retain(|_| {
            sent += 1;
            sent % 10 != 0
        });
        for (to, addresses, packets) in
            [(&mut server, TO_SERVER, &mut up), (&mut client, TO_SERVER.reversed(), &mut down)]
        {
            for packet in packets {
                let (wire, payload) = parse(packet, addresses).ok_or("damaged")?;
                let segment = to.decode(&wire, Codepoint::NotEct);
                to.on_segment(&segment, payload, at);
            }
        }
        received.extend(server.read(usize::MAX));
    }
    assert!(received == file);
    println!("{} bytes in {sent} packets, {:.1} s", received.len(), at.secs_f64());
    Ok(())
}
