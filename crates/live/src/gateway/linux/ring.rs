//! What the engine does not keep: the bytes of one direction of a connection.

use std::collections::VecDeque;

/// A stretch of a stream of bytes, from one offset of it on. Nothing is allocated for an empty one.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    /// The offset of the first byte.
    base: u64,
    bytes: VecDeque<u8>,
}

impl Ring {
    /// The offset of the first byte.
    pub(crate) const fn base(&self) -> u64 {
        self.base
    }

    /// The offset behind the last one.
    pub(crate) fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// How many bytes there are, gaps included.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What is allocated, in bytes.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Adds `bytes` at the end; `most` is as much as there ever will be.
    pub(crate) fn append(&mut self, bytes: &[u8], most: usize) {
        self.reserve(self.bytes.len() + bytes.len(), most);
        self.bytes.extend(bytes);
    }

    /// Files `bytes` at `offset`; what lies between is zero until it comes, what lies below the first
    /// byte is not kept.
    pub(crate) fn file(&mut self, offset: u64, bytes: &[u8], most: usize) {
        let skip = self.base.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let bytes = &bytes[skip..];
        let start = (offset + skip as u64).saturating_sub(self.base) as usize;
        let length = self.bytes.len();
        if start > length {
            self.reserve(start + bytes.len(), most);
            self.bytes.resize(start, 0);
        }
        let inside = bytes.len().min(self.bytes.len() - start);
        self.overwrite(start, &bytes[..inside]);
        self.append(&bytes[inside..], most);
    }

    fn overwrite(&mut self, start: usize, bytes: &[u8]) {
        let (front, back) = self.bytes.as_mut_slices();
        let split = front.len();
        let in_front = split.saturating_sub(start).min(bytes.len());
        if in_front > 0 {
            front[start..start + in_front].copy_from_slice(&bytes[..in_front]);
        }
        let rest = &bytes[in_front..];
        if !rest.is_empty() {
            let start = (start + in_front) - split;
            back[start..start + rest.len()].copy_from_slice(rest);
        }
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
    pub(crate) fn front(&self, length: usize) -> &[u8] {
        let (front, _) = self.bytes.as_slices();
        &front[..length.min(front.len())]
    }

    /// Adds the `length` bytes from `offset` on to `packet`; all of them must be there.
    pub(crate) fn copy_to(&self, packet: &mut Vec<u8>, offset: u64, length: usize) {
        let start = (offset - self.base) as usize;
        let (front, back) = self.bytes.as_slices();
        let split = front.len();
        let end = start + length;
        packet.extend_from_slice(&front[start.min(split)..end.min(split)]);
        packet.extend_from_slice(&back[start.max(split) - split..end.max(split) - split]);
    }

    /// Forgets what lies below `offset`.
    pub(crate) fn forget_below(&mut self, offset: u64) {
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
    pub(crate) fn clear(&mut self) {
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
        File(u64, Vec<u8>),
        Forget(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let bytes = || vec(any::<u8>(), 0..40);
        prop_oneof![
            bytes().prop_map(Step::Append),
            (0..60_u64, bytes()).prop_map(|(behind, bytes)| Step::File(behind, bytes)),
            (0..50_u64).prop_map(Step::Forget),
        ]
    }

    proptest! {
        /// Beside a model that keeps the whole stream.
        #[test]
        fn what_was_put_in_comes_out(steps in vec(step(), 0..60)) {
            let mut ring = Ring::default();
            let (mut stream, mut base) = (Vec::new(), 0_usize);
            for step in steps {
                match step {
                    Step::Append(bytes) => {
                        ring.append(&bytes, 4096);
                        stream.extend(bytes);
                    }
                    Step::File(behind, bytes) => {
                        let start = base + behind as usize;
                        ring.file(start as u64, &bytes, 4096);
                        stream.resize(stream.len().max(start + bytes.len()), 0);
                        stream[start..start + bytes.len()].copy_from_slice(&bytes);
                    }
                    Step::Forget(count) => {
                        ring.forget_below(base as u64 + count);
                        base = stream.len().min(base + count as usize);
                    }
                }
                prop_assert_eq!((ring.base(), ring.end()), (base as u64, stream.len() as u64));
                let mut packet = Vec::new();
                ring.copy_to(&mut packet, base as u64, stream.len() - base);
                prop_assert_eq!(&packet[..], &stream[base..]);
                let front = ring.front(usize::MAX);
                prop_assert_eq!(front, &stream[base..base + front.len()]);
                prop_assert!(front.is_empty() == (base == stream.len()));
            }
        }
    }

    #[test]
    fn it_grows_no_larger_than_it_may_and_an_empty_one_has_nothing() {
        let mut ring = Ring::default();
        for _ in 0..100 {
            ring.append(&[7; 100], 10_000);
        }
        assert_eq!((ring.len(), ring.capacity()), (10_000, 10_000));
        ring.forget_below(10_000);
        assert_eq!((ring.base(), ring.len(), ring.capacity()), (10_000, 0, 0));
    }
}
