//! One direction of a plain link: frames queue, are sent at one rate and have one delay.

mod backlog;

use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::config::Limit;
use crate::occupancy::Occupancy;
use crate::report::{Drops, Stats};
use crate::transmitter::Serialiser;
use backlog::Backlog;

/// A plain direction, as [`Channel::pipes`](crate::Channel::pipes) returns it. It stores no frames:
/// at entry it returns the time of delivery, with the same results as the link.
///
/// The layout matters: most frames need only the first cache line, the others the second.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Pipe {
    serialiser: Serialiser,
    delay: Duration,
    /// When the transmitter finishes all frames so far.
    idle_from: Instant,
    /// Frames that are delivered by then are counted at entry, because the counts are read later.
    watched_from: Instant,
    /// The number of frames of the last size that did not wait and are not counted yet.
    undelayed: u64,
    counts: Counts,
    limit: Limit,
    backlog: Backlog,
    /// Frames that are delivered after `watched_from`.
    later: Vec<InTransit>,
}

/// A frame in the pipe.
#[derive(Clone, Copy, Debug)]
struct InTransit {
    offered: Instant,
    out: Instant,
    bytes: u32,
    /// The number of waiting frames at its entry, including itself; zero if it did not wait.
    queue: u32,
}

/// The counts of frames that were delivered or dropped by the queue.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Counts {
    delivered: u64,
    bytes: u64,
    queue_drops: u64,
    total_delay: Duration,
    max_delay: Duration,
    max_queue: u32,
}

impl Counts {
    #[inline]
    fn deliver(&mut self, frame: &InTransit) {
        let delay = frame.out.since(frame.offered);
        self.delivered += 1;
        self.bytes += u64::from(frame.bytes);
        self.total_delay += delay;
        self.max_delay = self.max_delay.max(delay);
        self.max_queue = self.max_queue.max(frame.queue);
    }

    /// Counts frames of one size and one delay that did not wait.
    fn deliver_alike(&mut self, frames: u64, bytes: u32, delay: Duration) {
        if frames > 0 {
            self.delivered += frames;
            self.bytes += frames * u64::from(bytes);
            self.total_delay += delay * frames;
            self.max_delay = self.max_delay.max(delay);
        }
    }
}

impl Pipe {
    pub(crate) fn new(serialiser: Serialiser, delay: Duration, limit: Limit) -> Self {
        Self {
            serialiser,
            delay,
            limit,
            idle_from: Instant::START,
            backlog: Backlog::default(),
            watched_from: Instant::START,
            undelayed: 0,
            counts: Counts::default(),
            later: Vec::new(),
        }
    }

    /// Its delay and its limit. Pipes with the same delay and no limit deliver frames in the order
    /// of entry.
    pub const fn delay_and_limit(&self) -> (Duration, Limit) {
        (self.delay, self.limit)
    }

    /// Its delay, which is in the first cache line.
    pub const fn delay(&self) -> &Duration {
        &self.delay
    }

    /// Promises that [`Pipe::stats`] is not called for times before `at`.
    pub fn promise_no_stats_before(&mut self, at: Instant) {
        self.watched_from = self.watched_from.max(at);
        let out = self.later.partition_point(|frame| frame.out <= at);
        self.later.drain(..out).for_each(|frame| self.counts.deliver(&frame));
    }

    /// Sends a frame at `at`, which must not be earlier than in the previous call. Returns the time
    /// of delivery, after `at`; `None` if the queue refuses it, which the caller reports by
    /// [`Pipe::count_queue_drop`] at that time.
    #[inline(always)]
    pub fn pass(&mut self, bytes: u32, at: Instant) -> Option<Instant> {
        let (size, time) = self.serialiser.last_size();
        if size != bytes || at < self.idle_from {
            return self.pass_slowly(bytes, at);
        }
        self.idle_from = at + time;
        let out = self.idle_from + self.delay;
        match out <= self.watched_from {
            true => self.undelayed += 1,
            false => self.count_later(InTransit { offered: at, out, bytes, queue: 0 }),
        }
        Some(out)
    }

    /// The slow path: the frame waits, or has another size than the one before.
    #[inline(never)]
    fn pass_slowly(&mut self, bytes: u32, at: Instant) -> Option<Instant> {
        if self.serialiser.last_size().0 != bytes {
            self.counts = self.counts_so_far();
            self.undelayed = 0;
        }
        let time = self.serialiser.time_for(bytes);
        let queue = match at < self.idle_from {
            true => self.wait((bytes, time), at)?,
            false => 0,
        };
        self.idle_from = at.max(self.idle_from) + time;
        let out = self.idle_from + self.delay;
        let frame = InTransit { offered: at, out, bytes, queue };
        match out <= self.watched_from {
            true => self.counts.deliver(&frame),
            false => self.count_later(frame),
        }
        Some(out)
    }

    fn counts_so_far(&self) -> Counts {
        let mut counts = self.counts;
        let (bytes, time) = self.serialiser.last_size();
        counts.deliver_alike(self.undelayed, bytes, time + self.delay);
        counts
    }

    #[cold]
    #[inline(never)]
    fn count_later(&mut self, frame: InTransit) {
        self.later.push(frame);
    }

    /// Counts a frame that the full queue dropped.
    pub fn count_queue_drop(&mut self) {
        self.counts.queue_drops += 1;
    }

    /// Lets a frame wait and returns the number of waiting frames; `None` if the queue is full.
    #[inline]
    fn wait(&mut self, (bytes, time): (u32, Duration), at: Instant) -> Option<u32> {
        self.backlog.begin(at);
        let occupancy: Occupancy = self.backlog.occupancy().with(bytes);
        self.limit.holds(occupancy).then(|| {
            self.backlog.join((bytes, time), self.idle_from);
            occupancy.packets
        })
    }

    /// The counts up to `until`, with all refusals reported so far.
    pub fn stats(&self, until: Instant) -> Stats {
        let mut counts = self.counts_so_far();
        let mut inside = 0;
        for frame in self.later.iter().take_while(|frame| frame.offered <= until) {
            if frame.out <= until {
                counts.deliver(frame);
            } else {
                inside += 1;
                counts.max_queue = counts.max_queue.max(frame.queue);
            }
        }
        Stats {
            offered: counts.delivered + counts.queue_drops + inside,
            delivered: counts.delivered,
            bytes: counts.bytes,
            drops: Drops { queue: counts.queue_drops, ..Drops::default() },
            total_delay: counts.total_delay,
            max_delay: counts.max_delay,
            max_queue: counts.max_queue,
            transmissions: counts.delivered,
            transmitted_bytes: counts.bytes,
            ..Stats::default()
        }
    }
}
