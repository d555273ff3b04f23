//! The clock of a capture with one interface: records that are slightly unsorted are sorted, and
//! time goes on after a step back.

use std::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use super::Captured;

/// The number of records read ahead once one is earlier than the one before it.
const AHEAD: usize = 16;
/// The number of records that stay earlier after a step back of the clock. A record that is only
/// in the wrong place has later ones among this number after it.
const STAYS: usize = 8;
/// Smaller steps back count as unsorted records.
const MIN_STEP: Duration = Duration::from_millis(1);

/// The steps back of a capture's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSteps {
    /// The number of steps.
    pub count: u64,
    /// The longest.
    pub longest: Duration,
}

/// Records in the order of the file, and how far the clock has stepped back so far.
#[derive(Debug, Default)]
pub(super) struct CaptureClock {
    ahead: VecDeque<Captured>,
    /// The time of the last record returned.
    latest: Instant,
    /// The sum of all steps back.
    offset: Duration,
    /// Were records out of place?
    is_unsorted: bool,
    pub steps: ClockSteps,
}

impl CaptureClock {
    /// Corrects the time of the next record of the file, unless it is earlier than the one before.
    /// Returns whether it did so.
    #[inline]
    pub fn correct(&mut self, captured: &mut Captured) -> bool {
        let at = captured.packet.at + self.offset;
        let is_sorted = at >= self.latest;
        if is_sorted {
            (captured.packet.at, self.latest) = (at, at);
        }
        is_sorted
    }

    /// Holds the next record of the file.
    pub fn push(&mut self, mut captured: Captured) {
        captured.packet.at += self.offset;
        self.ahead.push_back(captured);
    }

    /// Are records held?
    pub fn is_empty(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Must more records be read before [`Self::pop`]?
    pub fn needs_more(&self) -> bool {
        let is_sorted = || {
            let times = std::iter::once(self.latest).chain(self.ahead.iter().map(time));
            times.is_sorted()
        };
        self.ahead.len() < AHEAD && (self.is_unsorted || !is_sorted())
    }

    /// The earliest record of those before the next step.
    pub fn pop(&mut self) -> Option<Captured> {
        let until = match self.next_step() {
            Some(0) => {
                self.step_back();
                self.next_step()
            }
            step => step,
        };
        // More is known of these than of the last ones, unless the file is over.
        let known = if self.ahead.len() < AHEAD { self.ahead.len() } else { AHEAD - STAYS };
        let until = until.unwrap_or(known).min(known);
        let (earliest, _) =
            self.ahead.range(..until).enumerate().min_by_key(|(_, one)| time(one))?;
        let first = self.ahead.front().map_or(self.latest, time);
        self.is_unsorted |= earliest > 0 || first < self.latest;
        let earliest = self.ahead.remove(earliest)?;
        self.latest = self.latest.max(earliest.packet.at);
        Some(earliest)
    }

    /// The index of the first record after a step back.
    fn next_step(&self) -> Option<usize> {
        let mut latest = self.latest;
        for (index, one) in self.ahead.iter().enumerate() {
            let later = self.ahead.range(index + 1..).take(STAYS);
            let stays = || later.len() == STAYS && later.clone().all(|one| time(one) < latest);
            if latest.since(time(one)) >= MIN_STEP && stays() {
                return Some(index);
            }
            latest = latest.max(time(one));
        }
        None
    }

    /// Lets time go on from the last record returned.
    fn step_back(&mut self) {
        let Some(first) = self.ahead.front().map(time) else { return };
        let step = self.latest.since(first);
        self.offset += step;
        self.steps.count += 1;
        self.steps.longest = self.steps.longest.max(step);
        for captured in &mut self.ahead {
            captured.packet.at += step;
        }
    }
}

const fn time(captured: &Captured) -> Instant {
    captured.packet.at
}
