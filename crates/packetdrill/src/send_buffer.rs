//! How much an application may write ahead: the accounting of Linux's send buffer, for those whose
//! calls may not wait.

use std::collections::VecDeque;

/// What a buffer takes beside its payload, in bytes: measured by `SO_MEMINFO` on Linux 6.18, x86-64.
const OVERHEAD: u64 = 832;

/// No send buffer is made smaller than this (`SOCK_MIN_SNDBUF`), in bytes.
const LEAST: u64 = 4608;

/// What a connection's unacknowledged data take.
#[derive(Debug, Default)]
pub struct SendBuffer {
    /// The most that may be taken before a buffer is begun, in bytes; `None`: it has no end.
    most: Option<u64>,
    /// Where the buffers end that hold what is not acknowledged.
    ends: VecDeque<u64>,
}

impl SendBuffer {
    /// The application sets `SO_SNDBUF`, which Linux doubles.
    pub fn set(&mut self, bytes: u64) {
        self.most = Some((2 * bytes).max(LEAST));
    }

    /// `end` bytes have been written, the last of them to a buffer of their own, or `appended` to the
    /// one before.
    pub fn note(&mut self, end: u64, appended: bool) {
        if appended {
            self.ends.pop_back();
        }
        self.ends.push_back(end);
    }

    /// May another buffer be begun, with so much `unacknowledged`?
    pub fn has_room(&self, unacknowledged: u64) -> bool {
        self.most.is_none_or(|most| self.taken(unacknowledged) < most)
    }

    /// Does `poll` call it writable? Only once a third of it is free (`sk_stream_is_writable`).
    pub fn is_writable(&self, unacknowledged: u64) -> bool {
        self.most.is_none_or(|most| 3 * self.taken(unacknowledged) <= 2 * most)
    }

    fn taken(&self, unacknowledged: u64) -> u64 {
        unacknowledged + OVERHEAD * self.ends.len() as u64
    }

    /// All below `una` is acknowledged.
    pub fn forget_below(&mut self, una: u64) {
        while self.ends.front().is_some_and(|end| *end <= una) {
            self.ends.pop_front();
        }
    }
}
