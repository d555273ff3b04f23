//! The accounting of Linux's send buffer, for which a call waits, or which limits a non-blocking
//! one.

use std::collections::VecDeque;

/// The overhead of a buffer, in bytes, measured by `SO_MEMINFO` on Linux 6.18, x86-64.
const OVERHEAD: u64 = 832;

/// The minimum size of the send buffer (`SOCK_MIN_SNDBUF`), in bytes.
const MIN_SIZE: u64 = 4608;

/// The memory of a connection's unacknowledged data.
#[derive(Debug, Default)]
pub struct SendBuffer {
    /// The memory use below which another buffer may be begun, in bytes; `None` is unlimited.
    limit: Option<u64>,
    /// The ends of the buffers with unacknowledged data.
    ends: VecDeque<u64>,
}

impl SendBuffer {
    /// Sets `SO_SNDBUF`, which Linux doubles.
    pub fn set(&mut self, bytes: u64) {
        self.limit = Some((2 * bytes).max(MIN_SIZE));
    }

    /// What `SO_SNDBUF` reads, in bytes; `None` if it is unlimited.
    pub const fn size(&self) -> Option<u64> {
        self.limit
    }

    /// Adds a write that ends at the offset `end`. It begins a new buffer, or is `appended` to the
    /// last one.
    pub fn add(&mut self, end: u64, appended: bool) {
        if appended {
            self.ends.pop_back();
        }
        self.ends.push_back(end);
    }

    /// Splits the buffer with the offset `end`, because the data up to there are sent as a packet
    /// (`tso_fragment`).
    pub fn split(&mut self, end: u64) {
        let index = self.ends.partition_point(|&other| other < end);
        if self.ends.get(index).is_some_and(|&other| other > end) {
            self.ends.insert(index, end);
        }
    }

    /// May another buffer be begun, with these `unacknowledged` bytes?
    pub fn has_room(&self, unacknowledged: u64) -> bool {
        self.limit.is_none_or(|limit| self.used(unacknowledged) < limit)
    }

    /// Does `poll` report it as writable? At least a third must be free (`sk_stream_is_writable`).
    pub fn is_writable(&self, unacknowledged: u64) -> bool {
        self.limit.is_none_or(|limit| 3 * self.used(unacknowledged) <= 2 * limit)
    }

    fn used(&self, unacknowledged: u64) -> u64 {
        unacknowledged + OVERHEAD * self.ends.len() as u64
    }

    /// Removes the buffers below `una`, which are acknowledged.
    pub fn discard_before(&mut self, una: u64) {
        while self.ends.front().is_some_and(|end| *end <= una) {
            self.ends.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_splits_a_buffer() {
        let mut buffer = SendBuffer::default();
        buffer.set(2500);
        buffer.add(4000, false);
        assert!(buffer.has_room(4000));
        buffer.split(1000);
        assert!(!buffer.has_room(4000), "two overheads");
        buffer.split(1000);
        buffer.split(4000);
        assert!(buffer.has_room(5000 - 2 * OVERHEAD - 1));
        buffer.discard_before(1000);
        assert!(buffer.has_room(5000 - OVERHEAD - 1));
    }
}
