//! The accounting of Linux's send buffer, for non-blocking calls.

use std::collections::VecDeque;

/// The overhead of a buffer, in bytes: measured by `SO_MEMINFO` on Linux 6.18, x86-64.
const OVERHEAD: u64 = 832;

/// The smallest send buffer (`SOCK_MIN_SNDBUF`), in bytes.
const LEAST: u64 = 4608;

/// The memory of a connection's unacknowledged data.
#[derive(Debug, Default)]
pub struct SendBuffer {
    /// The limit below which another buffer may be begun, in bytes; `None` is unlimited.
    most: Option<u64>,
    /// The ends of the buffers with unacknowledged data.
    ends: VecDeque<u64>,
}

impl SendBuffer {
    /// The application sets `SO_SNDBUF`, which Linux doubles.
    pub fn set(&mut self, bytes: u64) {
        self.most = Some((2 * bytes).max(LEAST));
    }

    /// `end` bytes are written, the last of them in a new buffer or `appended` to the last one.
    pub fn note(&mut self, end: u64, appended: bool) {
        if appended {
            self.ends.pop_back();
        }
        self.ends.push_back(end);
    }

    /// May another buffer be begun, with these `unacknowledged` bytes?
    pub fn has_room(&self, unacknowledged: u64) -> bool {
        self.most.is_none_or(|most| self.taken(unacknowledged) < most)
    }

    /// Is it writable for `poll`, with a third of it free (`sk_stream_is_writable`)?
    pub fn is_writable(&self, unacknowledged: u64) -> bool {
        self.most.is_none_or(|most| 3 * self.taken(unacknowledged) <= 2 * most)
    }

    fn taken(&self, unacknowledged: u64) -> u64 {
        unacknowledged + OVERHEAD * self.ends.len() as u64
    }

    /// Everything below `una` is acknowledged.
    pub fn forget_below(&mut self, una: u64) {
        while self.ends.front().is_some_and(|end| *end <= una) {
            self.ends.pop_front();
        }
    }
}
