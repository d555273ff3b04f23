//! The segments that carry PSH. The rule depends on Linux's send queue, which the engine does not
//! have.
//!
//! Linux keeps unsent data in buffers. Each buffer is sent as one large packet, which the device
//! segments (TSO). PSH is set on the last segment of a write, and on the last segment of each
//! buffer of several segments (`tcp_mark_push`, `__tcp_transmit_skb`).

use std::collections::BTreeSet;

/// The default of the minimum number of segments in a TSO packet (`tcp_min_tso_segs`).
const MIN_SEGMENTS: u64 = 2;

/// The maximum length of a TSO packet, in bytes.
const MAX_BYTES: u64 = 65_536;

/// The state that limits a TSO packet when its first segment is sent.
#[derive(Clone, Copy, Debug)]
pub struct TsoLimits {
    /// The sender's segment size, in bytes.
    pub smss: u64,
    /// The congestion window, in bytes.
    pub cwnd: u64,
    /// The number of outstanding bytes.
    pub outstanding: u64,
    /// The smoothed round-trip time, in microseconds.
    pub srtt: u64,
    /// Is the congestion window below half of the slow start threshold?
    pub slow_start: bool,
    /// `net.ipv4.tcp_min_tso_segs`.
    pub min_segments: u64,
}

impl TsoLimits {
    /// The number of segments sent in a millisecond at the pacing rate, and more if the round-trip
    /// time is short (`tcp_tso_autosize`).
    fn by_rate(&self) -> u64 {
        let ratio = if self.slow_start { 200 } else { 120 };
        let pacing_rate = self.cwnd * ratio / 100 * 1_000_000 / self.srtt.max(1);
        let short_path_bytes = MAX_BYTES.checked_shr((self.srtt >> 9) as u32).unwrap_or(0);
        let bytes = ((pacing_rate >> 10) + short_path_bytes).min(MAX_BYTES - 1);
        (bytes / self.smss).max(self.min_segments.max(MIN_SEGMENTS))
    }

    /// The maximum number of segments in a packet sent now: at most half a window
    /// (`tcp_cwnd_test`).
    pub fn segments(&self) -> u64 {
        let cwnd = self.cwnd / self.smss;
        let room = cwnd.saturating_sub(self.outstanding / self.smss);
        self.by_rate().min((cwnd / 2).max(1)).min(room.max(1))
    }

    /// The maximum number of segments in a retransmitted packet.
    pub fn retransmitted_segments(&self) -> u64 {
        self.by_rate()
    }
}

/// Linux's send queue of buffers. Writes are appended to the last buffer as long as it is unsent
/// and not full (`tcp_sendmsg_locked`).
#[derive(Clone, Copy, Debug, Default)]
pub struct SendQueue {
    /// The offset at which the last buffer begins.
    tail: u64,
    /// The end of the last pushed data (`pushed_seq`).
    pushed: u64,
    /// The largest window that the peer advertised, in bytes (`max_window`).
    pub max_window: u64,
    /// Does the device not segment (`gso_max_segs 1`)? Then a buffer is one segment.
    pub is_without_tso: bool,
}

/// The part of a write that fits into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePart {
    /// Its length.
    pub bytes: u64,
    /// Is it appended to an unsent buffer?
    pub appended: bool,
    /// Is the buffer pushed because more than half the maximum window was written since the last
    /// push (`forced_push`)?
    pub forced: bool,
}

impl SendQueue {
    /// The maximum size of a buffer (`size_goal`), in bytes.
    fn buffer(&self, smss: u64) -> u64 {
        if self.is_without_tso {
            return smss;
        }
        (self.max_window / 2).min(MAX_BYTES - 1) / smss * smss
    }

    /// The number of bytes in the last buffer that are not sent.
    fn waiting(&self, (unsent, end): (u64, u64)) -> u64 {
        end - self.tail.max(unsent).min(end)
    }

    /// Is the next byte, at the offset `end`, appended to an unsent buffer that is not full? The
    /// data from the offset `unsent` on are not sent.
    pub fn appends(&self, range: (u64, u64), smss: u64) -> bool {
        let waiting = self.waiting(range);
        waiting > 0 && waiting < self.buffer(smss)
    }

    /// Does nothing that is not sent precede the last buffer (`tcp_send_head`)?
    pub fn is_at_head(&self, unsent: u64) -> bool {
        self.tail <= unsent
    }

    /// The data up to `end` are pushed (`tcp_mark_push`).
    pub fn on_push(&mut self, end: u64) {
        self.pushed = end;
    }

    /// The first part of a write of `bytes`, after which the application `has_more`, at the offset
    /// `end`. The data from the offset `unsent` on are not sent.
    pub fn part(
        &mut self,
        (bytes, has_more): (u64, bool),
        (unsent, end): (u64, u64),
        smss: u64,
    ) -> WritePart {
        let buffer = self.buffer(smss);
        let waiting = self.waiting((unsent, end));
        let appended = self.appends((unsent, end), smss);
        if !appended {
            self.tail = end;
        }
        let filled = if appended { waiting } else { 0 };
        let room = if buffer > 0 { buffer - filled } else { bytes };
        let part = bytes.min(room);
        let checks = part == room || (part == bytes && has_more);
        let forced = checks && end + part > self.pushed + self.max_window / 2;
        if forced || (part == bytes && !has_more) {
            self.pushed = end + part;
        }
        WritePart { bytes: part, appended, forced }
    }
}

/// The ends of buffers and the positions of PSH, as offsets in the stream.
#[derive(Debug, Default)]
pub struct Push {
    /// The ends of the buffers that have been sent.
    ends: BTreeSet<u64>,
    /// The ends of the application's writes.
    marks: BTreeSet<u64>,
    /// The ends of the buffers of several segments in the current transmission. A retransmission
    /// may split these buffers.
    multi_segment_ends: BTreeSet<u64>,
}

impl Push {
    /// Adds a mark at `end`: the segment that ends there carries PSH.
    pub fn mark(&mut self, end: u64) {
        self.marks.insert(end);
    }

    /// Removes the mark at `end`, because more is written to the same buffer. Returns whether there
    /// was one.
    pub fn unmark(&mut self, end: u64) -> bool {
        self.marks.remove(&end)
    }

    /// Does the segment that ends at `end` carry PSH?
    pub fn has_mark(&self, end: u64) -> bool {
        self.marks.contains(&end) || self.multi_segment_ends.contains(&end)
    }

    /// Begins a new transmission.
    pub fn begin(&mut self) {
        self.multi_segment_ends.clear();
    }

    /// Processes the transmission of a buffer of `segments` that ends at `end`.
    pub fn on_sent(&mut self, end: u64, segments: usize) {
        self.ends.insert(end);
        if segments > 1 {
            self.multi_segment_ends.insert(end);
        }
    }

    /// Splits a buffer at `offset`, because one part is acknowledged or SACKed.
    pub fn split(&mut self, offset: u64) {
        self.ends.insert(offset);
    }

    /// Does a buffer that was sent end at `offset`?
    pub fn ends_at(&self, offset: u64) -> bool {
        self.ends.contains(&offset)
    }

    /// Removes everything below `offset`.
    pub fn discard_before(&mut self, offset: u64) {
        self.ends = self.ends.split_off(&offset);
        self.marks = self.marks.split_off(&offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that does not segment has buffers of one segment, and each half of the largest
    /// window is pushed (`tcp_xmit_size_goal`, `forced_push`).
    #[test]
    fn without_tso_a_buffer_is_one_segment() {
        let mut queue =
            SendQueue { max_window: 4000, is_without_tso: true, ..SendQueue::default() };
        let parts: Vec<_> = (0..4)
            .map(|number| queue.part((4000 - number * 1000, true), (0, number * 1000), 1000))
            .map(|part| (part.bytes, part.forced))
            .collect();
        assert_eq!(parts, [(1000, false), (1000, false), (1000, true), (1000, false)]);
    }
}
