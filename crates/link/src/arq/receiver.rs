//! What the receiving end knows.

use rtolab_time::{Duration, Instant};

use super::block::{Data, Report};
use crate::config::Order;
use crate::ring::Ring;

/// What the receiving end noticed of one transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// It brought this block.
    Arrived { number: u64, transmission: u64 },
    /// It did not come, or damaged.
    Missing { transmission: u64 },
}

/// Has this block come before?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    First,
    Again,
}

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    order: Order,
    timeout: Duration,
    /// The transmission that comes next: of all before it something was noticed.
    next: u64,
    /// The blocks from the one that is expected: are they here?
    here: Ring<bool>,
    /// What was noticed and is not yet known to the sending end.
    words: Ring<Word>,
    wants_report: bool,
    /// When to report again although nothing was noticed.
    remind_at: Instant,
    /// Is that what the report is wanted for?
    reminds: bool,
}

impl Receiver {
    pub(crate) fn new(order: Order, timeout: Duration) -> Self {
        let (here, words) = (Ring::new(), Ring::new());
        Self {
            order,
            timeout,
            next: 0,
            here,
            words,
            wants_report: false,
            remind_at: Instant::NEVER,
            reminds: false,
        }
    }

    /// The first block that is not here and may still come.
    pub(crate) const fn expected(&self) -> u64 {
        self.here.first()
    }

    pub(crate) fn on_data(&mut self, data: &Data) -> Arrival {
        self.notice_gap(data.transmission);
        self.next = self.next.max(data.transmission + 1);
        let Data { number, transmission, .. } = *data;
        self.words.push(Word::Arrived { number, transmission });
        self.wants_report = true;
        let arrival = self.keep(number);
        self.on_alive(data.alive);
        arrival
    }

    fn keep(&mut self, number: u64) -> Arrival {
        if number < self.here.first() {
            return Arrival::Again;
        }
        while self.here.end() <= number {
            self.here.push(false);
        }
        let here = self.here.get_mut(number).expect("room was made for it");
        let before = core::mem::replace(here, true);
        self.here.trim(|here| *here);
        if before { Arrival::Again } else { Arrival::First }
    }

    /// A damaged block came.
    pub(crate) fn on_damaged(&mut self, transmission: u64) {
        self.notice_gap(transmission + 1);
    }

    /// Everything before `transmission` that has not come by now is missing.
    fn notice_gap(&mut self, transmission: u64) {
        for missing in self.next..transmission {
            self.words.push(Word::Missing { transmission: missing });
            self.wants_report = true;
        }
        self.next = self.next.max(transmission);
    }

    /// Blocks before `alive` do not come any more.
    pub(crate) fn on_alive(&mut self, alive: u64) {
        while self.here.first() < alive {
            if self.here.pop().is_none() {
                self.here.push(false);
            }
        }
        self.here.trim(|here| *here);
    }

    pub(crate) const fn wants_report(&self) -> bool {
        self.wants_report
    }

    /// The report that leaves now. As long as there are blocks here behind a missing one it is
    /// repeated: what the sending end said of those it has given up may be lost.
    pub(crate) fn report(&mut self, now: Instant) -> Report {
        self.wants_report = false;
        let (waits, reminds) = (self.is_waiting(), core::mem::take(&mut self.reminds));
        self.remind_at = if waits { now + self.timeout } else { Instant::NEVER };
        let still_expected = (waits && reminds).then(|| self.expected());
        Report { upto: self.words.end(), still_expected }
    }

    fn is_waiting(&self) -> bool {
        self.order == Order::Kept && self.here.first() < self.here.end()
    }

    pub(crate) const fn next_event(&self) -> Instant {
        self.remind_at
    }

    pub(crate) fn on_timer(&mut self, now: Instant) {
        if self.remind_at <= now {
            self.remind_at = Instant::NEVER;
            self.reminds = self.is_waiting();
            self.wants_report |= self.reminds;
        }
    }

    /// The next word that a report up to `upto` brings to the sending end.
    pub(crate) fn take_word(&mut self, upto: u64) -> Option<Word> {
        if self.words.first() < upto { self.words.pop() } else { None }
    }
}
