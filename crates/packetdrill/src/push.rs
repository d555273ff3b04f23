//! Which segments carry PSH: a rule of Linux's send queue, which the engine does not have.
//!
//! Data waits in buffers that are sent as one large packet and segmented by the device (TSO). PSH
//! is set on the last segment of a write, and on the last of each buffer of more than one segment
//! (`tcp_mark_push`, `__tcp_transmit_skb`).

use std::collections::BTreeSet;

/// The least number of segments of a large packet (`tcp_min_tso_segs`).
const MIN_SEGMENTS: u64 = 2;

/// The most bytes of a large packet.
const MAX_BYTES: u64 = 65_536;

/// What bounds a large packet when its first segment is sent.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The sender's segment size, in bytes.
    pub smss: u64,
    /// The congestion window, in bytes.
    pub cwnd: u64,
    /// The outstanding bytes.
    pub outstanding: u64,
    /// The smoothed round trip, in microseconds.
    pub srtt: u64,
    /// Is the sender in slow start, far below its threshold?
    pub slow_start: bool,
    /// `net.ipv4.tcp_min_tso_segs`.
    pub min_segments: u64,
}

impl Bounds {
    /// The segments of a millisecond at the pacing rate, more on short paths (`tcp_tso_autosize`).
    fn by_rate(&self) -> u64 {
        let ratio = if self.slow_start { 200 } else { 120 };
        let second = self.cwnd * ratio / 100 * 1_000_000 / self.srtt.max(1);
        let nearby = MAX_BYTES.checked_shr((self.srtt >> 9) as u32).unwrap_or(0);
        let bytes = ((second >> 10) + nearby).min(MAX_BYTES - 1);
        (bytes / self.smss).max(self.min_segments.max(MIN_SEGMENTS))
    }

    /// The segments that may be sent together now: at most half a window (`tcp_cwnd_test`).
    pub fn segments(&self) -> u64 {
        let cwnd = self.cwnd / self.smss;
        let room = cwnd.saturating_sub(self.outstanding / self.smss);
        self.by_rate().min((cwnd / 2).max(1)).min(room.max(1))
    }

    /// The segments that may be retransmitted together.
    pub fn retransmitted_segments(&self) -> u64 {
        self.by_rate()
    }
}

/// Linux's send queue: buffers that are filled before they are sent (`tcp_sendmsg_locked`).
#[derive(Clone, Copy, Debug, Default)]
pub struct SendQueue {
    /// Where the last one begins.
    tail: u64,
    /// The end of the last pushed data (`pushed_seq`).
    pushed: u64,
    /// The largest window that the peer advertised, in bytes (`max_window`).
    pub max_window: u64,
}

/// The part of a write that fits into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its length.
    pub bytes: u64,
    /// Is it appended to a buffer that waits?
    pub appended: bool,
    /// Is the buffer pushed because much was written since the last push (`forced_push`)?
    pub forced: bool,
}

impl SendQueue {
    /// The next part of a write of `bytes` at `end`, while everything from `unsent` on waits.
    pub fn part(&mut self, bytes: u64, (unsent, end): (u64, u64), smss: u64) -> Part {
        let buffer = (self.max_window / 2).min(MAX_BYTES - 1) / smss * smss;
        let waiting = end - self.tail.max(unsent).min(end);
        let appended = waiting > 0 && waiting < buffer;
        if !appended {
            self.tail = end;
        }
        let filled = if appended { waiting } else { 0 };
        let room = if buffer > 0 { buffer - filled } else { bytes };
        let part = bytes.min(room);
        let forced = part == room && end + part > self.pushed + self.max_window / 2;
        if forced || part == bytes {
            self.pushed = end + part;
        }
        Part { bytes: part, appended, forced }
    }
}

/// Where buffers end, and which ends carry PSH, in offsets of the stream.
#[derive(Debug, Default)]
pub struct Push {
    /// The ends of the buffers that were sent once.
    ends: BTreeSet<u64>,
    /// The ends of the application's writes.
    marks: BTreeSet<u64>,
    /// The ends of the buffers of several segments that are sent now. A retransmission may split
    /// them.
    leaving: BTreeSet<u64>,
}

impl Push {
    /// A write ends at `end` and is pushed.
    pub fn mark(&mut self, end: u64) {
        self.marks.insert(end);
    }

    /// Removes the mark at `end`, after which more was written to the same buffer.
    pub fn unmark(&mut self, end: u64) -> bool {
        self.marks.remove(&end)
    }

    /// Does the segment that ends at `end` carry PSH?
    pub fn marks(&self, end: u64) -> bool {
        self.marks.contains(&end) || self.leaving.contains(&end)
    }

    /// Begins a new transmission.
    pub fn begin(&mut self) {
        self.leaving.clear();
    }

    /// A buffer of this many `segments`, which ends at `end`, is sent.
    pub fn sent(&mut self, end: u64, segments: usize) {
        self.ends.insert(end);
        if segments > 1 {
            self.leaving.insert(end);
        }
    }

    /// A buffer is split at `offset`: one part was acknowledged or SACKed.
    pub fn split(&mut self, offset: u64) {
        self.ends.insert(offset);
    }

    /// Does a buffer that was sent end at `offset`?
    pub fn ends_at(&self, offset: u64) -> bool {
        self.ends.contains(&offset)
    }

    /// Forgets what lies below `offset`.
    pub fn forget_below(&mut self, offset: u64) {
        self.ends = self.ends.split_off(&offset);
        self.marks = self.marks.split_off(&offset);
    }
}
