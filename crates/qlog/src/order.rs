//! The events of a log in the order of their times.
//!
//! A log should have its events in this order, and tools may sort them (main schema of qlog,
//! section "Timestamps"). A log is read as a stream, so they are sorted within a window.

use std::collections::VecDeque;

use crate::event::Event;

/// The number of events among which an event finds its place.
pub(crate) const WINDOW: usize = 1024;

/// An event by its place in the order of times, which compares first, and its number in the log.
/// Both count from 1; the default is before all events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventId {
    pub rank: u64,
    pub number: u64,
}

/// An event with its number in the log and its time in seconds.
#[derive(Debug)]
pub(crate) struct TimedEvent {
    pub event: Event,
    pub number: u64,
    pub time: f64,
}

/// The last events that were read, in the order of their times. Events of one time stay in the
/// order of the log.
#[derive(Debug, Default)]
pub(crate) struct Window {
    events: VecDeque<TimedEvent>,
}

impl Window {
    /// Adds an event. Returns the earliest one if the window is full.
    pub fn push(&mut self, event: TimedEvent) -> Option<TimedEvent> {
        if self.events.back().is_none_or(|last| last.time <= event.time) {
            self.events.push_back(event);
        } else {
            let at = self.events.partition_point(|one| one.time <= event.time);
            self.events.insert(at, event);
        }
        if self.events.len() > WINDOW { self.pop() } else { None }
    }

    /// Takes the earliest event.
    pub fn pop(&mut self) -> Option<TimedEvent> {
        self.events.pop_front()
    }
}
