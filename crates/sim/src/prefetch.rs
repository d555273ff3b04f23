//! Software prefetching: loads memory into the cache in advance. It has no effect on processors
//! without a prefetch instruction.

use std::mem::offset_of;
use std::ops::Range;
use std::slice::from_ref;

use prefetch_index::prefetch_index;
use rtolab_net::Packet;

/// A cache line, in bytes.
const LINE: usize = 64;

/// Prefetches the first line of the item at `index`.
#[inline(always)]
pub fn prefetch_at<T>(items: &[T], index: usize) {
    prefetch_index(items, index);
}

/// Prefetches the first line of `item`.
#[inline(always)]
pub fn prefetch<T>(item: &T) {
    prefetch_at(from_ref(item), 0);
}

/// Prefetches the first line after `item`.
#[inline(always)]
pub fn prefetch_after<T>(item: &T) {
    prefetch_at(from_ref(item), 1);
}

/// Prefetches both lines of a packet.
#[inline(always)]
pub fn prefetch_packet(packet: &Packet) {
    prefetch(packet);
    let last_byte = size_of::<Packet>() - 1 - offset_of!(Packet, to_receiver);
    prefetch_at(from_ref(&packet.to_receiver), last_byte);
}

/// Prefetches these bytes, counted from the beginning of the cache line of `first`.
#[inline(always)]
pub fn prefetch_row<T>(first: &T, bytes: Range<usize>) {
    const { assert!(LINE % size_of::<T>() == 0, "no item crosses a line") };
    for line in bytes.start / LINE..bytes.end.div_ceil(LINE) {
        prefetch_at(from_ref(first), line * (LINE / size_of::<T>()));
    }
}
