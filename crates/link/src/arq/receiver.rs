//! The receiver of an ARQ layer.

use rtolab_time::{Duration, Instant};

use super::block::{Data, Report};
use crate::config::Order;
use crate::ring::Ring;

/// What the receiver noticed about a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// It delivered this block.
    Arrived { number: u64, transmission: u64 },
    /// It did not arrive, or arrived damaged.
    Missing { transmission: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    First,
    Duplicate,
}

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    order: Order,
    timeout: Duration,
    /// The next transmission: every earlier one has been noticed.
    next: u64,
    /// Which blocks have arrived, from the expected one on.
    here: Ring<bool>,
    /// Notices that the sender may not have.
    notices: Ring<Notice>,
    wants_report: bool,
    /// When to repeat the report without anything new.
    remind_at: Instant,
    /// Is the pending report such a repetition?
    reminds: bool,
}

impl Receiver {
    pub(crate) fn new(order: Order, timeout: Duration) -> Self {
        let (here, notices) = (Ring::new(), Ring::new());
        Self {
            order,
            timeout,
            next: 0,
            here,
            notices,
            wants_report: false,
            remind_at: Instant::NEVER,
            reminds: false,
        }
    }

    /// The first block that has not arrived and still may.
    pub(crate) const fn expected(&self) -> u64 {
        self.here.first()
    }

    pub(crate) fn on_data(&mut self, data: &Data) -> Arrival {
        self.notice_gap(data.transmission);
        self.next = self.next.max(data.transmission + 1);
        let Data { number, transmission, .. } = *data;
        self.notices.push(Notice::Arrived { number, transmission });
        self.wants_report = true;
        let arrival = self.keep(number);
        self.on_alive(data.alive);
        arrival
    }

    fn keep(&mut self, number: u64) -> Arrival {
        if number < self.here.first() {
            return Arrival::Duplicate;
        }
        while self.here.end() <= number {
            self.here.push(false);
        }
        let here = self.here.get_mut(number).expect("room was made for it");
        let before = core::mem::replace(here, true);
        self.here.trim(|here| *here);
        if before { Arrival::Duplicate } else { Arrival::First }
    }

    pub(crate) fn on_damaged(&mut self, transmission: u64) {
        self.notice_gap(transmission + 1);
    }

    /// Notes everything before `transmission` that has not arrived as missing.
    fn notice_gap(&mut self, transmission: u64) {
        for missing in self.next..transmission {
            self.notices.push(Notice::Missing { transmission: missing });
            self.wants_report = true;
        }
        self.next = self.next.max(transmission);
    }

    /// Blocks before `alive` will not arrive any more.
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

    /// The report to send now. It is repeated while later blocks wait for a missing one, because
    /// the sender's notice that it gave up a block may get lost.
    pub(crate) fn report(&mut self, now: Instant) -> Report {
        self.wants_report = false;
        let (waits, reminds) = (self.is_waiting(), core::mem::take(&mut self.reminds));
        self.remind_at = if waits { now + self.timeout } else { Instant::NEVER };
        let still_expected = (waits && reminds).then(|| self.expected());
        Report { upto: self.notices.end(), still_expected }
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

    /// The next notice that a report up to `upto` delivers.
    pub(crate) fn take_notice(&mut self, upto: u64) -> Option<Notice> {
        if self.notices.first() < upto { self.notices.pop() } else { None }
    }
}
