//! Arbitrary headers. Each is parsed or refused. A parsed header must be the same after it is
//! written and parsed again.

use std::net::Ipv4Addr;

use rtolab_tcp::wire::{Addresses, Payload, WireSegment};

/// The maximum length of a TCP segment in an IPv4 packet, in bytes.
const MAX_LENGTH: usize = 65_515;

/// Parses a segment. The first two bytes of `input` are its length, the others are its captured
/// part.
///
/// # Panics
/// If the written segment is parsed to another segment.
pub fn header(input: &[u8]) {
    let Some((length, bytes)) = input.split_first_chunk() else { return };
    let length = usize::from(u16::from_le_bytes(*length)).max(bytes.len()).min(MAX_LENGTH);
    let Ok(segment) = WireSegment::parse(bytes, length) else { return };
    let here = Ipv4Addr::LOCALHOST;
    let header = segment.emit(Addresses::V4 { from: here, to: here }, Payload::Zeros);
    let Ok(again) = WireSegment::parse(&header, header.len() + segment.len as usize) else {
        panic!("cannot be parsed again: {segment:?}");
    };
    // `emit` leaves out options that do not fit, so these are not compared.
    assert_eq!((again.seq, again.ack, again.len), (segment.seq, segment.ack, segment.len));
    assert_eq!((again.ports, again.window), (segment.ports, segment.window));
    assert_eq!(again.flags, segment.flags);
}
