//! Asks the processor for memory that will be needed soon. It comes into the cache while other work
//! goes on, and nothing else happens; a processor that cannot be asked fetches it when it is needed.

use std::mem::offset_of;
use std::ops::Range;
use std::slice::from_ref;

use prefetch_index::prefetch_index;
use rtolab_net::Packet;

/// The processor fetches so many bytes at once.
const LINE: usize = 64;

/// Has what is at `index` fetched, as far as its first line goes.
#[inline(always)]
pub fn fetch_at<T>(items: &[T], index: usize) {
    prefetch_index(items, index);
}

/// The same of `item`.
#[inline(always)]
pub fn fetch<T>(item: &T) {
    fetch_at(from_ref(item), 0);
}

/// The same of what lies behind `item`.
#[inline(always)]
pub fn fetch_behind<T>(item: &T) {
    fetch_at(from_ref(item), 1);
}

/// The same of a packet, both of its lines.
#[inline(always)]
pub fn fetch_packet(packet: &Packet) {
    fetch(packet);
    let last_byte = size_of::<Packet>() - 1 - offset_of!(Packet, to_receiver);
    fetch_at(from_ref(&packet.to_receiver), last_byte);
}

/// Has these bytes fetched, counted from the beginning of the line that `first` lies in.
#[inline(always)]
pub fn fetch_row<T>(first: &T, bytes: Range<usize>) {
    const { assert!(LINE % size_of::<T>() == 0, "lines begin between two of them") };
    for line in bytes.start / LINE..bytes.end.div_ceil(LINE) {
        fetch_at(from_ref(first), line * (LINE / size_of::<T>()));
    }
}
