//! Whatever a header says, it is read or refused, and what was read is read again as written.

#![no_main]

use std::net::Ipv4Addr;

use libfuzzer_sys::fuzz_target;
use rtolab_tcp::wire::{Addresses, Payload, WireSegment};

const LONGEST: usize = 65_515;

fuzz_target!(|input: (u16, &[u8])| {
    let (length, bytes) = input;
    let length = usize::from(length).max(bytes.len()).min(LONGEST);
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
});
