//! Frames that wait for a transmitter with a constant rate.

use rtolab_time::{Duration, Instant};

use crate::fifo::Fifo;
use crate::occupancy::Occupancy;

/// The waiting frames. Most are as large as the one before, so it stores runs of equal frames.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Backlog {
    /// When the transmission of the first begins: when the one before it ends.
    begins: Instant,
    occupancy: Occupancy,
    last: Run,
    /// The number of frames in `earlier`.
    in_earlier: u32,
    /// The runs before the last one.
    earlier: Fifo<Run>,
}

/// Consecutive frames of one size.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    packets: u32,
    bytes: u32,
    /// The transmission time of each.
    time: Duration,
}

impl Backlog {
    #[inline]
    pub(super) const fn occupancy(&self) -> Occupancy {
        self.occupancy
    }

    /// Removes the frames whose transmission has begun by `at`.
    #[inline]
    pub(super) fn begin(&mut self, at: Instant) {
        while self.begins <= at && self.occupancy.packets > 0 {
            let first = match self.in_earlier {
                0 => self.last,
                _ => self.first_of_many(),
            };
            self.begins += first.time;
            self.occupancy.remove(first.bytes);
        }
    }

    /// Removes the first frame if it is not in the last run.
    #[cold]
    #[inline(never)]
    fn first_of_many(&mut self) -> Run {
        let Some(run) = self.earlier.front_mut() else { return self.last };
        run.packets -= 1;
        self.in_earlier -= 1;
        let first = *run;
        if first.packets == 0 {
            self.earlier.pop();
        }
        first
    }

    /// Adds a frame with its size and transmission time. The transmitter finishes all earlier ones
    /// at `idle_from`.
    #[inline]
    pub(super) fn join(&mut self, (bytes, time): (u32, Duration), idle_from: Instant) {
        if self.occupancy.packets == 0 {
            self.begins = idle_from;
        } else if self.last.bytes != bytes {
            self.begin_run();
        }
        // The length of the last run does not matter before another one follows.
        (self.last.bytes, self.last.time) = (bytes, time);
        self.occupancy.add(bytes);
    }

    #[inline(never)]
    fn begin_run(&mut self) {
        self.last.packets = self.occupancy.packets - self.in_earlier;
        self.in_earlier = self.occupancy.packets;
        self.earlier.push(self.last);
    }
}
