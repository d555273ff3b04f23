//! The timestamps of Linux's error queue (`SO_TIMESTAMPING`): when the last byte of each write was
//! sent and acknowledged.

use std::collections::VecDeque;

use rtolab_time::Instant;

/// The bits of `SO_TIMESTAMPING`.
mod ask {
    pub(super) const LEFT: u32 = 1 << 1;
    pub(super) const QUEUED: u32 = 1 << 8;
    pub(super) const ACKNOWLEDGED: u32 = 1 << 9;
}

/// An event of a byte, by Linux's numbers (`SCM_TSTAMP_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Moment {
    /// It left the host.
    Left = 0,
    /// It was handed to the device's queue.
    Queued = 1,
    /// It was acknowledged.
    Acknowledged = 2,
}

/// One entry of the error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// What happened.
    pub moment: Moment,
    /// When.
    pub at: Instant,
    /// The byte, counted from the first one with timestamps.
    pub key: u32,
}

/// The stamps of one connection.
#[derive(Debug, Default)]
pub struct Stamps {
    asked: u32,
    /// The offset of key 0.
    base: u64,
    /// The ends of the writes that are not sent, and not acknowledged.
    unsent: VecDeque<u64>,
    unacked: VecDeque<u64>,
    queue: VecDeque<Stamp>,
}

impl Stamps {
    /// Requests timestamps by these bits; everything below `una` is acknowledged.
    pub fn ask(&mut self, bits: u32, una: u64) {
        (self.asked, self.base) = (bits, una);
    }

    /// A write ends at `end`.
    pub fn written(&mut self, end: u64) {
        if self.asked != 0 {
            self.unsent.push_back(end);
            self.unacked.push_back(end);
        }
    }

    /// Everything below `sent` is sent, and everything below `una` acknowledged.
    pub fn note(&mut self, (sent, una): (u64, u64), at: Instant) {
        while let Some(end) = front_up_to(&mut self.unsent, sent) {
            self.push(ask::QUEUED, Moment::Queued, (end, at));
            self.push(ask::LEFT, Moment::Left, (end, at));
        }
        while let Some(end) = front_up_to(&mut self.unacked, una) {
            self.push(ask::ACKNOWLEDGED, Moment::Acknowledged, (end, at));
        }
    }

    fn push(&mut self, asked: u32, moment: Moment, (end, at): (u64, Instant)) {
        if self.asked & asked != 0 {
            let key = (end - self.base).saturating_sub(1) as u32;
            self.queue.push_back(Stamp { moment, at, key });
        }
    }

    /// The next entry of the error queue.
    pub fn take(&mut self) -> Option<Stamp> {
        self.queue.pop_front()
    }
}

/// Takes the first of `ends`, if it is `limit` at most.
fn front_up_to(ends: &mut VecDeque<u64>, limit: u64) -> Option<u64> {
    if *ends.front()? <= limit { ends.pop_front() } else { None }
}

impl Stamp {
    /// Linux's two control messages: the times, and what they are of (`sock_extended_err`).
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
        bytes.extend((self.moment as u32).to_ne_bytes());
        bytes.extend(self.key.to_ne_bytes());
        bytes.extend([0; 16]); // no offender
        bytes
    }
}
