//! Frames that wait for a transmitter that works at one rate.

use rtolab_time::{Duration, Instant};

use crate::fifo::Fifo;
use crate::room::Load;

/// The frames that had not begun when last looked at. Most are as large as the one before, so that it
/// keeps runs of equal ones.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Backlog {
    /// When the first begins: as soon as the one before it is sent.
    begins: Instant,
    load: Load,
    last: Run,
    /// How many frames are in the runs before the last one.
    in_earlier: u32,
    /// Those runs.
    earlier: Fifo<Run>,
}

/// Frames of one size, one behind the other.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    packets: u32,
    /// The size of each.
    bytes: u32,
    /// How long each takes to send.
    time: Duration,
}

impl Backlog {
    /// What waits.
    #[inline]
    pub(super) const fn load(&self) -> Load {
        self.load
    }

    /// Those that have begun by `at` wait no longer.
    #[inline]
    pub(super) fn begin(&mut self, at: Instant) {
        while self.begins <= at && self.load.packets > 0 {
            let first = match self.in_earlier {
                0 => self.last,
                _ => self.first_of_many(),
            };
            self.begins += first.time;
            self.load.remove(first.bytes);
        }
    }

    /// The size of the first where it is not one of the last run; it goes.
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

    /// A frame of so many bytes, which takes so long, waits behind all others. Those that are being sent
    /// or wait are done at `idle_from`.
    #[inline]
    pub(super) fn join(&mut self, (bytes, time): (u32, Duration), idle_from: Instant) {
        if self.load.packets == 0 {
            self.begins = idle_from;
        } else if self.last.bytes != bytes {
            self.begin_run();
        }
        // How many the last run has does not matter before another one follows.
        (self.last.bytes, self.last.time) = (bytes, time);
        self.load.add(bytes);
    }

    /// The last run has another one behind it.
    #[inline(never)]
    fn begin_run(&mut self) {
        self.last.packets = self.load.packets - self.in_earlier;
        self.in_earlier = self.load.packets;
        self.earlier.push(self.last);
    }
}
