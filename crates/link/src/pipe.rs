//! One direction of a plain link: nothing ever happens there but that frames queue, are sent at one
//! rate and take one delay.

mod backlog;

use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::config::Limit;
use crate::report::{Drops, Stats};
use crate::room::Load;
use crate::transmitter::Serialiser;
use backlog::Backlog;

/// What [`Channel::pipes`](crate::Channel::pipes) makes of a plain link's direction: it keeps no
/// frames, but says of each at its entry when it comes out, with the same result.
///
/// Laid out as it stands: what most frames ask for is one line of the processor's cache, and what
/// others do is the next.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Pipe {
    serialiser: Serialiser,
    delay: Duration,
    /// When the transmitter is done with all frames so far.
    idle_from: Instant,
    /// What comes out up to then is counted as it enters, for nobody looks before.
    watched_from: Instant,
    /// How many frames of the last size did not wait and are still to be counted: all alike.
    unhindered: u64,
    counts: Counts,
    limit: Limit,
    /// Those that wait for the transmitter.
    backlog: Backlog,
    /// Those that come out when somebody may have looked before.
    later: Vec<Passing>,
}

/// A frame on its way through.
#[derive(Clone, Copy, Debug)]
struct Passing {
    offered: Instant,
    /// When it comes out.
    out: Instant,
    bytes: u32,
    /// How many waited when it came, itself included; zero if it did not wait.
    queue: u32,
}

/// What is counted of frames that have come out, and of those that were refused.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Counts {
    delivered: u64,
    bytes: u64,
    refused: u64,
    total_delay: Duration,
    max_delay: Duration,
    max_queue: u32,
}

impl Counts {
    #[inline]
    fn deliver(&mut self, frame: &Passing) {
        let delay = frame.out.since(frame.offered);
        self.delivered += 1;
        self.bytes += u64::from(frame.bytes);
        self.total_delay += delay;
        self.max_delay = self.max_delay.max(delay);
        self.max_queue = self.max_queue.max(frame.queue);
    }

    /// So many frames of one size came out, all after the same delay, which did not wait.
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
            unhindered: 0,
            counts: Counts::default(),
            later: Vec::new(),
        }
    }

    /// Its delay and its limit: frames come out of pipes alike, but for what waits, in the order in
    /// which they enter any of them.
    pub const fn delay_and_limit(&self) -> (Duration, Limit) {
        (self.delay, self.limit)
    }

    /// Its delay: in the first of its lines of the processor's cache.
    pub const fn delay(&self) -> &Duration {
        &self.delay
    }

    /// Nobody asks for [`Pipe::stats`] before `at`.
    pub fn unwatched_until(&mut self, at: Instant) {
        self.watched_from = self.watched_from.max(at);
        let out = self.later.partition_point(|frame| frame.out <= at);
        self.later.drain(..out).for_each(|frame| self.counts.deliver(&frame));
    }

    /// A frame of so many bytes comes at `at`, which may not be earlier than at the call before. Says
    /// when the frame comes out, which is later; `None`: the queue refuses it, of which
    /// [`Pipe::refused`] is to be told when it is time.
    #[inline(always)]
    pub fn pass(&mut self, bytes: u32, at: Instant) -> Option<Instant> {
        let (size, time) = self.serialiser.last_size();
        if size != bytes || at < self.idle_from {
            return self.pass_at_length(bytes, at);
        }
        self.idle_from = at + time;
        let out = self.idle_from + self.delay;
        match out <= self.watched_from {
            true => self.unhindered += 1,
            false => self.count_later(Passing { offered: at, out, bytes, queue: 0 }),
        }
        Some(out)
    }

    /// The same of a frame that waits, or is not as large as the one before.
    #[inline(never)]
    fn pass_at_length(&mut self, bytes: u32, at: Instant) -> Option<Instant> {
        if self.serialiser.last_size().0 != bytes {
            self.counts = self.counts_so_far();
            self.unhindered = 0;
        }
        let time = self.serialiser.time_for(bytes);
        let queue = match at < self.idle_from {
            true => self.wait((bytes, time), at)?,
            false => 0,
        };
        self.idle_from = at.max(self.idle_from) + time;
        let out = self.idle_from + self.delay;
        let frame = Passing { offered: at, out, bytes, queue };
        match out <= self.watched_from {
            true => self.counts.deliver(&frame),
            false => self.count_later(frame),
        }
        Some(out)
    }

    fn counts_so_far(&self) -> Counts {
        let mut counts = self.counts;
        let (bytes, time) = self.serialiser.last_size();
        counts.deliver_alike(self.unhindered, bytes, time + self.delay);
        counts
    }

    #[cold]
    #[inline(never)]
    fn count_later(&mut self, frame: Passing) {
        self.later.push(frame);
    }

    /// It is time that the queue refuses a frame.
    pub fn refused(&mut self) {
        self.counts.refused += 1;
    }

    /// A frame of so many bytes, which takes so long, has to wait: how many do then; `None` if there is
    /// no room for it.
    #[inline]
    fn wait(&mut self, (bytes, time): (u32, Duration), at: Instant) -> Option<u32> {
        self.backlog.begin(at);
        let load: Load = self.backlog.load().with(bytes);
        self.limit.holds(load).then(|| {
            self.backlog.join((bytes, time), self.idle_from);
            load.packets
        })
    }

    /// What happened to its frames up to `until`, behind all refusals of which it was told.
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
            offered: counts.delivered + counts.refused + inside,
            delivered: counts.delivered,
            bytes: counts.bytes,
            drops: Drops { queue: counts.refused, ..Drops::default() },
            total_delay: counts.total_delay,
            max_delay: counts.max_delay,
            max_queue: counts.max_queue,
            transmissions: counts.delivered,
            transmitted_bytes: counts.bytes,
            ..Stats::default()
        }
    }
}
