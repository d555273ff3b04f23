//! Pages of one size on one connection, at regular times.

use rtolab_record::Place;
use rtolab_time::{Duration, Instant};

use super::{Action, Progress, Task};

/// A source of pages. A page is written when it is due and the page before it is acknowledged.
#[derive(Clone, Debug)]
pub struct Pages {
    begin: Instant,
    every: Duration,
    bytes: u64,
    count: Option<u32>,
    closed: bool,
    acknowledged: u64,
    /// The number of pages that the receiver has read.
    complete: usize,
    tasks: Vec<Task>,
}

impl Pages {
    /// A source of pages of `bytes`, at least 1. The first page is due at `begin`. The sending end
    /// closes after `count` pages.
    pub const fn new(begin: Instant, every: Duration, bytes: u64, count: Option<u32>) -> Self {
        let tasks = Vec::new();
        Self { begin, every, bytes, count, closed: false, acknowledged: 0, complete: 0, tasks }
    }

    pub(super) fn on_progress(&mut self, progress: &Progress, at: Instant) {
        self.acknowledged = progress.acknowledged;
        while self.complete < self.tasks.len()
            && progress.at_receiver >= self.bytes * (self.complete as u64 + 1)
        {
            self.tasks[self.complete].end = Some(at);
            self.complete += 1;
        }
    }

    pub(super) fn poll(&mut self, at: Instant) -> Option<Action> {
        if self.all_written() && !self.closed {
            self.closed = true;
            return Some(Action::Close);
        }
        let due = self.next_timer().filter(|due| *due <= at)?;
        self.tasks.push(Task { due, start: at, end: None, bytes: self.bytes });
        Some(Action::Write { at: Place::Sender, bytes: self.bytes })
    }

    /// When the next page is due; `None` if there is none, or the page before it is not
    /// acknowledged.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        let written = self.tasks.len() as u64;
        let is_busy = self.acknowledged < written * self.bytes;
        (!is_busy && !self.all_written()).then(|| self.begin + self.every.saturating_mul(written))
    }

    fn all_written(&self) -> bool {
        self.count.is_some_and(|count| self.tasks.len() >= count as usize)
    }

    pub(super) fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}
