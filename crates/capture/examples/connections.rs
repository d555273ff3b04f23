//! Counts the packets and bytes of each TCP connection in a capture:
//! `cargo run -p rtolab-capture --example connections -- FILE`

use std::collections::BTreeMap;
use std::fs::File;

use rtolab_capture::{Instant, Reader, unpacked};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected a pcap or pcapng file")?;
    let mut connections = BTreeMap::new();
    for captured in Reader::new(unpacked(File::open(path)?)?)? {
        let packet = captured?.packet;
        let (from, to) = (packet.from(), packet.to());
        let ends = if from < to { (from, to) } else { (to, from) };
        let (packets, bytes, last) = connections.entry(ends).or_insert((0, 0, Instant::START));
        *packets += 1;
        *bytes += u64::from(packet.segment.len);
        *last = packet.at;
    }
    for ((one, other), (packets, bytes, last)) in connections {
        println!("{one} - {other}: {packets} packets, {bytes} bytes, last at {last}");
    }
    Ok(())
}
