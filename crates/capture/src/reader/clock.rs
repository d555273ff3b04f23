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

/// A record that was read ahead.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    at: Instant,
    /// Its index in [`CaptureClock::records`].
    record: usize,
}

/// Records in the order of the file, and how far the clock has stepped back so far.
#[derive(Debug, Default)]
pub(super) struct CaptureClock {
    ahead: VecDeque<Ahead>,
    /// The records of `ahead`, which do not move, and vacant places.
    records: Vec<Captured>,
    /// The indices of vacant places.
    vacant: Vec<usize>,
    /// The latest time of all records so far.
    newest: Instant,
    /// The number of records to return until all that are held are in order.
    disorder: usize,
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

    /// The place into which the next record of the file is read, before [`Self::push`].
    pub fn next_place(&mut self) -> &mut Captured {
        if self.vacant.is_empty() {
            self.vacant.push(self.records.len());
            self.records.push(Captured::empty());
        }
        &mut self.records[self.vacant[self.vacant.len() - 1]]
    }

    /// Holds the record at [`Self::next_place`].
    pub fn push(&mut self) {
        let Some(record) = self.vacant.pop() else { return };
        let at = self.records[record].packet.at + self.offset;
        self.newest = self.newest.max(self.latest);
        match at < self.newest {
            true => self.disorder = 2 * AHEAD,
            false => self.newest = at,
        }
        self.ahead.push_back(Ahead { at, record });
    }

    /// Are records held?
    pub fn is_empty(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Must more records be read before [`Self::pop`]?
    pub fn needs_more(&self) -> bool {
        let is_sorted = || {
            let times = std::iter::once(self.latest).chain(self.ahead.iter().map(|one| one.at));
            times.is_sorted()
        };
        self.ahead.len() < AHEAD && (self.is_unsorted || !is_sorted())
    }

    /// Swaps `captured` for the earliest record of those before the next step. Returns whether
    /// there is one.
    pub fn pop_into(&mut self, captured: &mut Captured) -> bool {
        let earliest = match self.disorder {
            0 => self.ahead.pop_front(),
            _ => self.pop_earliest(),
        };
        let Some(Ahead { at, record }) = earliest else { return false };
        std::mem::swap(captured, &mut self.records[record]);
        captured.packet.at = at;
        self.vacant.push(record);
        self.latest = self.latest.max(at);
        true
    }

    fn pop_earliest(&mut self) -> Option<Ahead> {
        self.disorder -= 1;
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
        let before = self.ahead.range(..until).enumerate();
        let (earliest, _) = before.min_by_key(|(_, one)| one.at)?;
        let first = self.ahead.front().map_or(self.latest, |one| one.at);
        self.is_unsorted |= earliest > 0 || first < self.latest;
        self.ahead.remove(earliest)
    }

    /// The index of the first record after a step back.
    fn next_step(&self) -> Option<usize> {
        let mut latest = self.latest;
        for (index, one) in self.ahead.iter().enumerate() {
            let later = self.ahead.range(index + 1..).take(STAYS);
            let stays = || later.len() == STAYS && later.clone().all(|later| later.at < latest);
            if latest.since(one.at) >= MIN_STEP && stays() {
                return Some(index);
            }
            latest = latest.max(one.at);
        }
        None
    }

    /// Lets time go on from the last record returned.
    fn step_back(&mut self) {
        let Some(first) = self.ahead.front() else { return };
        let step = self.latest.since(first.at);
        self.offset += step;
        self.steps.count += 1;
        self.steps.longest = self.steps.longest.max(step);
        for one in &mut self.ahead {
            one.at += step;
            self.newest = self.newest.max(one.at);
        }
    }
}
