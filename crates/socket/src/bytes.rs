//! The bytes of one direction of a connection, which the engine does not store.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::iter;

/// The bytes of a stream that the peer has not acknowledged, or that the application has not read.
/// An empty store allocates nothing.
#[derive(Debug, Default)]
pub struct ByteStore {
    /// The offset of the first byte.
    base: u64,
    bytes: VecDeque<u8>,
}

impl ByteStore {
    /// The offset of the first byte.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// The offset after the last byte.
    pub fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The number of bytes, gaps included.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The allocated bytes.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Appends `bytes`. The store never holds more than `max_len` bytes.
    pub fn append(&mut self, bytes: &[u8], max_len: usize) {
        self.reserve(self.bytes.len() + bytes.len(), max_len);
        self.bytes.extend(bytes);
    }

    /// Stores `bytes` at `offset`. Gaps contain zeros until their bytes arrive. Bytes before the
    /// base are not stored. The store never holds more than `max_len` bytes.
    pub fn insert(&mut self, offset: u64, bytes: &[u8], max_len: usize) {
        let skip = self.base.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let bytes = &bytes[skip..];
        let start = (offset + skip as u64).saturating_sub(self.base) as usize;
        if start > self.bytes.len() {
            self.reserve(start + bytes.len(), max_len);
            self.bytes.resize(start, 0);
        }
        let (inside, after) = bytes.split_at(bytes.len().min(self.bytes.len() - start));
        let into = self.bytes.range_mut(start..start + inside.len());
        into.zip(inside).for_each(|(into, from)| *into = *from);
        self.append(after, max_len);
    }

    /// Reserves space for `length` bytes: doubles the allocation, up to `max_len`.
    fn reserve(&mut self, length: usize, max_len: usize) {
        if length > self.bytes.capacity() {
            let capacity = (2 * self.bytes.capacity()).min(max_len).max(length);
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
    }

    /// At most `length` contiguous bytes from the base on.
    pub fn front(&self, length: usize) -> &[u8] {
        let (front, _) = self.bytes.as_slices();
        &front[..length.min(front.len())]
    }

    /// Appends the `length` bytes at `offset` to `packet`. Missing bytes are zero.
    pub fn copy_to(&self, packet: &mut Vec<u8>, offset: u64, length: usize) {
        let packet_len = packet.len() + length;
        let missing = self.base.saturating_sub(offset).min(length as u64);
        packet.extend(iter::repeat_n(0, missing as usize));
        let start = (offset + missing - self.base).min(self.bytes.len() as u64) as usize;
        let end = (start + length - missing as usize).min(self.bytes.len());
        let (front, back) = self.bytes.as_slices();
        packet.extend_from_slice(&front[start.min(front.len())..end.min(front.len())]);
        packet.extend_from_slice(
            &back[start.saturating_sub(front.len())..end.saturating_sub(front.len())],
        );
        packet.resize(packet_len, 0);
    }

    /// Discards the bytes before `offset`.
    pub fn discard_before(&mut self, offset: u64) {
        let count = offset.saturating_sub(self.base).min(self.bytes.len() as u64);
        if count == 0 {
            return;
        }
        self.base += count;
        self.bytes.drain(..count as usize);
        if self.bytes.is_empty() {
            self.bytes = VecDeque::new();
        }
    }

    /// Discards all bytes.
    pub fn clear(&mut self) {
        self.discard_before(self.end());
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Append(Vec<u8>),
        /// An index relative to the first byte.
        Insert(u64, Vec<u8>),
        Discard(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let bytes = || vec(any::<u8>(), 0..40);
        prop_oneof![
            bytes().prop_map(Step::Append),
            (0..60_u64, bytes()).prop_map(|(distance, bytes)| Step::Insert(distance, bytes)),
            (0..50_u64).prop_map(Step::Discard),
        ]
    }

    proptest! {
        /// Compares with a model that stores the whole stream.
        #[test]
        fn the_store_returns_the_bytes_of_the_stream(steps in vec(step(), 0..60)) {
            let mut store = ByteStore::default();
            let (mut stream, mut base) = (Vec::new(), 0_usize);
            for step in steps {
                match step {
                    Step::Append(bytes) => {
                        store.append(&bytes, 4096);
                        stream.extend(bytes);
                    }
                    Step::Insert(distance, bytes) => {
                        let start = base + distance as usize;
                        store.insert(start as u64, &bytes, 4096);
                        stream.resize(stream.len().max(start + bytes.len()), 0);
                        stream[start..start + bytes.len()].copy_from_slice(&bytes);
                    }
                    Step::Discard(count) => {
                        store.discard_before(base as u64 + count);
                        base = stream.len().min(base + count as usize);
                    }
                }
                prop_assert_eq!((store.base(), store.end()), (base as u64, stream.len() as u64));
                let mut packet = Vec::new();
                store.copy_to(&mut packet, base as u64, stream.len() - base);
                prop_assert_eq!(&packet[..], &stream[base..]);
                let front = store.front(usize::MAX);
                prop_assert_eq!(front, &stream[base..base + front.len()]);
                prop_assert!(front.is_empty() == (base == stream.len()));
            }
        }
    }

    #[test]
    fn the_allocation_stays_within_its_limit_and_an_empty_store_has_none() {
        let mut store = ByteStore::default();
        for _ in 0..100 {
            store.append(&[7; 100], 10_000);
        }
        assert_eq!((store.len(), store.capacity()), (10_000, 10_000));
        store.discard_before(10_000);
        assert_eq!((store.base(), store.len(), store.capacity()), (10_000, 0, 0));
    }
}
