//! One direction of a plain link: nothing ever happens there but that frames queue, are sent at one
//! rate and take one delay.

use rtolab_time::{Duration, Instant};

use crate::config::Limit;
use crate::fifo::Fifo;
use crate::report::{Drops, Stats};
use crate::room::Load;
use crate::transmitter::Serialiser;

/// What [`Channel::pipes`](crate::Channel::pipes) makes of a plain link's direction: it keeps no
/// frames, but says of each at its entry when it comes out, with the same result.
#[derive(Clone, Debug)]
pub struct Pipe {
    serialiser: Serialiser,
    delay: Duration,
    limit: Limit,
    /// When the transmitter is done with all frames so far.
    idle_from: Instant,
    /// Those that have not come out, and before them such as have and were not yet counted.
    inside: Fifo<Passing>,
    /// The number of the first that had not begun when last looked at.
    begun: usize,
    /// When that one begins: as soon as the one before it is sent.
    begins: Instant,
    /// The bytes of it and those behind it.
    waiting_bytes: u64,
    counts: Counts,
}

/// A frame inside.
#[derive(Clone, Copy, Debug)]
struct Passing {
    offered: Instant,
    /// When the last of it is sent: it comes out a delay later.
    sent: Instant,
    bytes: u32,
    /// How many waited when it came, itself included; zero if it did not wait.
    queue: u32,
}

/// What is counted of frames that have come out, and of those that were refused.
#[derive(Clone, Copy, Debug, Default)]
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
    fn deliver(&mut self, frame: &Passing, delay: Duration) {
        let delay = (frame.sent + delay).since(frame.offered);
        self.delivered += 1;
        self.bytes += u64::from(frame.bytes);
        self.total_delay += delay;
        self.max_delay = self.max_delay.max(delay);
        self.max_queue = self.max_queue.max(frame.queue);
    }
}

impl Pipe {
    pub(crate) fn new(serialiser: Serialiser, delay: Duration, limit: Limit) -> Self {
        Self {
            serialiser,
            delay,
            limit,
            idle_from: Instant::START,
            inside: Fifo::default(),
            begun: 0,
            begins: Instant::START,
            waiting_bytes: 0,
            counts: Counts::default(),
        }
    }

    /// Its delay and its limit: frames come out of pipes alike, but for what waits, in the order in
    /// which they enter any of them.
    pub const fn delay_and_limit(&self) -> (Duration, Limit) {
        (self.delay, self.limit)
    }

    /// A frame of so many bytes comes at `at`, which may lie ahead of `now`; neither may be earlier
    /// than at the call before. Says when the frame comes out, which is later; `None`: the queue
    /// refuses it, of which [`Pipe::refused`] is to be told when it is time.
    #[inline]
    pub fn pass(&mut self, bytes: u32, at: Instant, now: Instant) -> Option<Instant> {
        let waits = at < self.idle_from;
        let queue = if waits { self.wait(bytes, at)? } else { 0 };
        self.idle_from = at.max(self.idle_from) + self.serialiser.time_for(bytes);
        if self.inside.is_full() {
            self.let_out(now);
        }
        self.inside.push(Passing { offered: at, sent: self.idle_from, bytes, queue });
        if !waits {
            (self.begun, self.waiting_bytes) = (self.inside.end(), 0);
            self.begins = self.idle_from;
        }
        Some(self.idle_from + self.delay)
    }

    /// It is time that the queue refuses a frame.
    pub fn refused(&mut self) {
        self.counts.refused += 1;
    }

    /// Those that have come out by now are no longer inside. Many together, for which there has to be
    /// room: that costs less.
    #[inline(never)]
    fn let_out(&mut self, now: Instant) {
        self.begin(now);
        loop {
            let frames = self.inside.oldest();
            let out = frames.partition_point(|frame| frame.sent + self.delay <= now);
            for frame in &frames[..out] {
                self.counts.deliver(frame, self.delay);
            }
            let goes_on = out > 0 && out == frames.len();
            self.inside.skip(out);
            if !goes_on {
                break;
            }
        }
        self.inside.make_room();
    }

    /// Those that have begun by `at` wait no longer.
    #[inline]
    fn begin(&mut self, at: Instant) {
        while self.begins <= at {
            let Some(frame) = self.inside.get(self.begun) else { return };
            self.begins = frame.sent;
            self.waiting_bytes -= u64::from(frame.bytes);
            self.begun += 1;
        }
    }

    /// A frame of so many bytes has to wait: how many do then; `None` if there is no room for it.
    #[inline]
    fn wait(&mut self, bytes: u32, at: Instant) -> Option<u32> {
        self.begin(at);
        let packets = (self.inside.end() - self.begun) as u32;
        let load = Load { packets, bytes: self.waiting_bytes }.with(bytes);
        self.limit.holds(load).then(|| {
            self.waiting_bytes = load.bytes;
            load.packets
        })
    }

    /// What happened to its frames up to `until`, behind all refusals of which it was told.
    pub fn stats(&self, until: Instant) -> Stats {
        let mut counts = self.counts;
        let mut inside = 0;
        for frame in self.inside.iter().take_while(|frame| frame.offered <= until) {
            if frame.sent + self.delay <= until {
                counts.deliver(frame, self.delay);
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
