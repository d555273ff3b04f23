//! Which segments carry PSH: a rule of Linux's send queue, which the engine does not have.
//!
//! Data wait in buffers that leave as one large packet, cut to segments further down (TCP
//! segmentation offload). PSH is set on the last segment of what was written, and on the last of each
//! buffer of more than one segment (`tcp_mark_push`, `__tcp_transmit_skb`).

use std::collections::BTreeSet;

/// How many segments leave together at most, beside what the window says (`tcp_min_tso_segs`).
const MIN_SEGMENTS: u64 = 2;

/// The most bytes that leave together.
const MAX_BYTES: u64 = 65_536;

/// What bounds a large packet, as it stands when the first of it leaves.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The sender's segment size, in bytes.
    pub smss: u64,
    /// The congestion window, in bytes.
    pub cwnd: u64,
    /// What is outstanding, in bytes.
    pub outstanding: u64,
    /// The smoothed round trip, in microseconds.
    pub srtt: u64,
    /// Is the sender in slow start, far below its threshold?
    pub slow_start: bool,
    /// `net.ipv4.tcp_min_tso_segs`.
    pub min_segments: u64,
}

impl Bounds {
    /// How many segments may leave together: about a millisecond's worth of the pacing rate
    /// (`tcp_tso_autosize`), more on short paths.
    fn by_rate(&self) -> u64 {
        let ratio = if self.slow_start { 200 } else { 120 };
        let second = self.cwnd * ratio / 100 * 1_000_000 / self.srtt.max(1);
        let nearby = MAX_BYTES.checked_shr((self.srtt >> 9) as u32).unwrap_or(0);
        let bytes = ((second >> 10) + nearby).min(MAX_BYTES - 1);
        (bytes / self.smss).max(self.min_segments.max(MIN_SEGMENTS))
    }

    /// How many may leave together now: of a window at most half (`tcp_cwnd_test`).
    pub fn segments(&self) -> u64 {
        let cwnd = self.cwnd / self.smss;
        let room = cwnd.saturating_sub(self.outstanding / self.smss);
        self.by_rate().min((cwnd / 2).max(1)).min(room.max(1))
    }

    /// How many may be retransmitted together.
    pub fn retransmitted_segments(&self) -> u64 {
        self.by_rate()
    }
}

/// What Linux writes into: buffers that are filled up before they leave (`tcp_sendmsg_locked`).
#[derive(Clone, Copy, Debug, Default)]
pub struct SendQueue {
    /// Where the last one begins.
    tail: u64,
    /// Behind what was pushed last (`pushed_seq`).
    pushed: u64,
    /// The largest window that the peer offered, in bytes (`max_window`).
    pub max_window: u64,
}

/// What is written at once: up to where a buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// How much.
    pub bytes: u64,
    /// Is it appended to a buffer that waits?
    pub appended: bool,
    /// Is the buffer pushed because much was written since one was (`forced_push`)?
    pub forced: bool,
}

impl SendQueue {
    /// What of `bytes` more is written next behind `end`, where all beyond `unsent` waits.
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
    /// Where the buffers end that have left once.
    ends: BTreeSet<u64>,
    /// Where the application's writes end.
    marks: BTreeSet<u64>,
    /// Where the buffers of more than one segment end that leave now: cut in two, and sent again,
    /// they are no more.
    leaving: BTreeSet<u64>,
}

impl Push {
    /// What is written ends at `end` and is pushed.
    pub fn mark(&mut self, end: u64) {
        self.marks.insert(end);
    }

    /// What was written behind `end` belongs to the same buffer: is its mark lost?
    pub fn unmark(&mut self, end: u64) -> bool {
        self.marks.remove(&end)
    }

    /// Does the segment that ends at `end` carry PSH?
    pub fn marks(&self, end: u64) -> bool {
        self.marks.contains(&end) || self.leaving.contains(&end)
    }

    /// Something else leaves than before.
    pub fn begin(&mut self) {
        self.leaving.clear();
    }

    /// So many `segments` leave together as one buffer that ends at `end`.
    pub fn sent(&mut self, end: u64, segments: usize) {
        self.ends.insert(end);
        if segments > 1 {
            self.leaving.insert(end);
        }
    }

    /// A buffer is split at `offset`: one part was acknowledged or reported received.
    pub fn split(&mut self, offset: u64) {
        self.ends.insert(offset);
    }

    /// Does a buffer that has left end at `offset`?
    pub fn ends_at(&self, offset: u64) -> bool {
        self.ends.contains(&offset)
    }

    /// Forgets what lies below `offset`.
    pub fn forget_below(&mut self, offset: u64) {
        self.ends = self.ends.split_off(&offset);
        self.marks = self.marks.split_off(&offset);
    }
}
