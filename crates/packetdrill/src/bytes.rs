//! What the engine does not keep: payload, by range of the stream.

use std::collections::VecDeque;

/// The bytes of one direction of a connection, from one offset of its stream on.
#[derive(Debug, Default)]
pub struct Bytes {
    /// The offset of the first one.
    base: u64,
    bytes: VecDeque<u8>,
}

impl Bytes {
    /// The offset behind the last one.
    pub fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// Adds `bytes` at the end.
    pub fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Files `bytes` at `offset`; what lies between is zero until it comes, what lies below the base
    /// is not kept.
    pub fn file(&mut self, offset: u64, bytes: &[u8]) {
        let skip = self.base.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (start, bytes) = ((offset + skip as u64 - self.base) as usize, &bytes[skip..]);
        let end = start + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes.range_mut(start..end).zip(bytes).for_each(|(into, from)| *into = *from);
    }

    /// The `length` bytes from `offset` on; zeros where there is nothing.
    pub fn range(&self, offset: u64, length: usize) -> Vec<u8> {
        let at = |index: u64| index.checked_sub(self.base).and_then(|i| self.bytes.get(i as usize));
        (offset..offset + length as u64).map(|index| at(index).copied().unwrap_or(0)).collect()
    }

    /// Forgets what lies below `offset`.
    pub fn forget_below(&mut self, offset: u64) {
        let count = offset.saturating_sub(self.base).min(self.bytes.len() as u64);
        self.bytes.drain(..count as usize);
        self.base += count;
    }

    /// Takes the first `length` bytes out.
    pub fn take(&mut self, length: usize) -> Vec<u8> {
        let length = length.min(self.bytes.len());
        self.base += length as u64;
        self.bytes.drain(..length).collect()
    }
}
