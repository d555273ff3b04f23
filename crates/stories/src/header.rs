//! Whatever a header says, it is read or refused, and what was read is read again as written.

use std::net::Ipv4Addr;

use rtolab_tcp::wire::{Addresses, Payload, WireSegment};

const LONGEST: usize = 65_515;

/// The first two bytes are the segment's length, the others are what was captured of it.
///
/// # Panics
/// If it is not read again as it was written.
pub fn header(input: &[u8]) {
    let Some((length, bytes)) = input.split_first_chunk() else { return };
    let length = usize::from(u16::from_le_bytes(*length)).max(bytes.len()).min(LONGEST);
    let Ok(segment) = WireSegment::parse(bytes, length) else { return };
    let here = Ipv4Addr::LOCALHOST;
    let header = segment.emit(Addresses::V4 { from: here, to: here }, Payload::Zeros);
    let Ok(again) = WireSegment::parse(&header, header.len() + segment.len as usize) else {
        panic!("not read again: {segment:?}");
    };
    // Options that do not fit any more are left out.
    assert_eq!((again.seq, again.ack, again.len), (segment.seq, segment.ack, segment.len));
    assert_eq!((again.ports, again.window), (segment.ports, segment.window));
    assert_eq!(again.flags, segment.flags);
}
