//! What the engine does not keep: the bytes of one direction of a connection.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::iter;

/// A stretch of a stream of bytes, from one offset of it on. Nothing is allocated for an empty one.
#[derive(Debug, Default)]
pub struct Bytes {
    /// The offset of the first byte.
    base: u64,
    bytes: VecDeque<u8>,
}

impl Bytes {
    /// The offset of the first byte.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// The offset behind the last one.
    pub fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes there are, gaps included.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What is allocated, in bytes.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Adds `bytes` at the end; `most` is as much as there ever will be.
    pub fn append(&mut self, bytes: &[u8], most: usize) {
        self.reserve(self.bytes.len() + bytes.len(), most);
        self.bytes.extend(bytes);
    }

    /// Puts `bytes` at `offset`; what lies between is zero until it comes, what lies below the first
    /// byte is not kept.
    pub fn insert(&mut self, offset: u64, bytes: &[u8], most: usize) {
        let skip = self.base.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let bytes = &bytes[skip..];
        let start = (offset + skip as u64).saturating_sub(self.base) as usize;
        if start > self.bytes.len() {
            self.reserve(start + bytes.len(), most);
            self.bytes.resize(start, 0);
        }
        let (inside, beyond) = bytes.split_at(bytes.len().min(self.bytes.len() - start));
        let into = self.bytes.range_mut(start..start + inside.len());
        into.zip(inside).for_each(|(into, from)| *into = *from);
        self.append(beyond, most);
    }

    /// Room for `length` bytes: twice as much as before, so that it is seldom asked for, but no more
    /// than `most`.
    fn reserve(&mut self, length: usize, most: usize) {
        if length > self.bytes.capacity() {
            let wanted = (2 * self.bytes.capacity()).min(most).max(length);
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
    }

    /// The first of the bytes that lie side by side, up to `length` of them.
    pub fn front(&self, length: usize) -> &[u8] {
        let (front, _) = self.bytes.as_slices();
        &front[..length.min(front.len())]
    }

    /// Adds the `length` bytes from `offset` on to `packet`; zeros where there is nothing.
    pub fn copy_to(&self, packet: &mut Vec<u8>, offset: u64, length: usize) {
        let whole = packet.len() + length;
        let below = self.base.saturating_sub(offset).min(length as u64);
        packet.extend(iter::repeat_n(0, below as usize));
        let start = (offset + below - self.base).min(self.bytes.len() as u64) as usize;
        let end = (start + length - below as usize).min(self.bytes.len());
        packet.extend(self.bytes.range(start..end));
        packet.resize(whole, 0);
    }

    /// Forgets what lies below `offset`.
    pub fn forget_below(&mut self, offset: u64) {
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

    /// Forgets all.
    pub fn clear(&mut self) {
        self.forget_below(self.end());
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
        /// So far behind the first byte.
        Insert(u64, Vec<u8>),
        Forget(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let bytes = || vec(any::<u8>(), 0..40);
        prop_oneof![
            bytes().prop_map(Step::Append),
            (0..60_u64, bytes()).prop_map(|(behind, bytes)| Step::Insert(behind, bytes)),
            (0..50_u64).prop_map(Step::Forget),
        ]
    }

    proptest! {
        /// Beside a model that keeps the whole stream.
        #[test]
        fn what_was_put_in_comes_out(steps in vec(step(), 0..60)) {
            let mut store = Bytes::default();
            let (mut stream, mut base) = (Vec::new(), 0_usize);
            for step in steps {
                match step {
                    Step::Append(bytes) => {
                        store.append(&bytes, 4096);
                        stream.extend(bytes);
                    }
                    Step::Insert(behind, bytes) => {
                        let start = base + behind as usize;
                        store.insert(start as u64, &bytes, 4096);
                        stream.resize(stream.len().max(start + bytes.len()), 0);
                        stream[start..start + bytes.len()].copy_from_slice(&bytes);
                    }
                    Step::Forget(count) => {
                        store.forget_below(base as u64 + count);
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
    fn it_grows_no_larger_than_it_may_and_an_empty_one_has_nothing() {
        let mut store = Bytes::default();
        for _ in 0..100 {
            store.append(&[7; 100], 10_000);
        }
        assert_eq!((store.len(), store.capacity()), (10_000, 10_000));
        store.forget_below(10_000);
        assert_eq!((store.base(), store.len(), store.capacity()), (10_000, 0, 0));
    }
}
