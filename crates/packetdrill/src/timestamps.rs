//! The timestamps in Linux's error queue (`SO_TIMESTAMPING`): the times at which the last byte of
//! each write was sent and acknowledged.

use std::collections::VecDeque;

use rtolab_time::Instant;

/// The bits of `SO_TIMESTAMPING`.
mod request {
    pub(super) const SENT: u32 = 1 << 1;
    pub(super) const QUEUED: u32 = 1 << 8;
    pub(super) const ACKNOWLEDGED: u32 = 1 << 9;
}

/// The event of a byte that a timestamp reports, with Linux's numbers (`SCM_TSTAMP_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TimestampEvent {
    /// The device sent the byte.
    Sent = 0,
    /// The byte entered the device's queue.
    Queued = 1,
    /// The byte was acknowledged.
    Acknowledged = 2,
}

/// An entry of the error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampEntry {
    /// The event.
    pub event: TimestampEvent,
    /// The time of the event.
    pub at: Instant,
    /// The number of the byte, from 0 at the first byte with timestamps.
    pub key: u32,
}

/// The timestamps of a connection.
#[derive(Debug, Default)]
pub struct TimestampQueue {
    /// The bits requested.
    requested: u32,
    /// The offset of key 0.
    base: u64,
    /// The ends of the writes that are not sent.
    unsent: VecDeque<u64>,
    /// The ends of the writes that are not acknowledged.
    unacked: VecDeque<u64>,
    queue: VecDeque<TimestampEntry>,
}

impl TimestampQueue {
    /// Requests timestamps by these bits. Everything below `una` is acknowledged.
    pub fn request(&mut self, bits: u32, una: u64) {
        (self.requested, self.base) = (bits, una);
    }

    /// Adds a write that ends at `end`.
    pub fn on_write(&mut self, end: u64) {
        if self.requested != 0 {
            self.unsent.push_back(end);
            self.unacked.push_back(end);
        }
    }

    /// Adds the timestamps of the writes up to `sent`, which are sent, and up to `una`, which are
    /// acknowledged.
    pub fn update(&mut self, (sent, una): (u64, u64), at: Instant) {
        while let Some(end) = front_up_to(&mut self.unsent, sent) {
            self.push(request::QUEUED, TimestampEvent::Queued, (end, at));
            self.push(request::SENT, TimestampEvent::Sent, (end, at));
        }
        while let Some(end) = front_up_to(&mut self.unacked, una) {
            self.push(request::ACKNOWLEDGED, TimestampEvent::Acknowledged, (end, at));
        }
    }

    fn push(&mut self, bit: u32, event: TimestampEvent, (end, at): (u64, Instant)) {
        if self.requested & bit != 0 {
            let key = (end - self.base).saturating_sub(1) as u32;
            self.queue.push_back(TimestampEntry { event, at, key });
        }
    }

    /// The next entry of the error queue.
    pub fn take(&mut self) -> Option<TimestampEntry> {
        self.queue.pop_front()
    }
}

/// Removes the first of `ends` if it is at most `limit`.
fn front_up_to(ends: &mut VecDeque<u64>, limit: u64) -> Option<u64> {
    if *ends.front()? <= limit { ends.pop_front() } else { None }
}

impl TimestampEntry {
    /// Linux's two control messages: the time, and the event with its byte (`sock_extended_err`).
    pub fn control(&self) -> Vec<u8> {
        const HEADER: usize = 16;
        let seconds = (self.at.nanos() / 1_000_000_000) as i64;
        let nanos = (self.at.nanos() % 1_000_000_000) as i64;
        let mut bytes = Vec::new();
        let begin = |bytes: &mut Vec<u8>, length: usize, level: i32, kind: i32| {
            bytes.extend((HEADER + length).to_ne_bytes());
            bytes.extend(level.to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
        };
        begin(&mut bytes, 48, libc::SOL_SOCKET, libc::SO_TIMESTAMPING);
        bytes.extend([seconds, nanos, 0, 0, 0, 0].iter().flat_map(|word| word.to_ne_bytes()));
        begin(&mut bytes, 32, libc::SOL_IP, libc::IP_RECVERR);
        bytes.extend((libc::ENOMSG as u32).to_ne_bytes());
        bytes.extend([libc::SO_EE_ORIGIN_TIMESTAMPING, 0, 0, 0]);
        bytes.extend((self.event as u32).to_ne_bytes());
        bytes.extend(self.key.to_ne_bytes());
        bytes.extend([0; 16]); // no offender
        bytes
    }
}
