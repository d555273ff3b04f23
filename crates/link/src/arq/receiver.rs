//! The receiver of an ARQ layer.

use rtolab_time::{Duration, Instant};

use super::block::{Data, Report};
use crate::config::Order;
use crate::ring::Ring;

/// The receiver's record of a transmission.
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
    /// The next transmission; every earlier one is recorded.
    next: u64,
    /// Which blocks have arrived, from the expected one on.
    received: Ring<bool>,
    /// Notices that the sender may not have.
    notices: Ring<Notice>,
    wants_report: bool,
    /// When to repeat the report.
    repeat_at: Instant,
    /// Is the pending report such a repetition?
    is_repetition: bool,
}

impl Receiver {
    pub(crate) fn new(order: Order, timeout: Duration) -> Self {
        let (received, notices) = (Ring::new(), Ring::new());
        Self {
            order,
            timeout,
            next: 0,
            received,
            notices,
            wants_report: false,
            repeat_at: Instant::NEVER,
            is_repetition: false,
        }
    }

    /// The first block that has not arrived but still may.
    pub(crate) const fn expected(&self) -> u64 {
        self.received.first()
    }

    pub(crate) fn on_data(&mut self, data: &Data) -> Arrival {
        self.notice_gap(data.transmission);
        self.next = self.next.max(data.transmission + 1);
        let Data { number, transmission, .. } = *data;
        self.notices.push(Notice::Arrived { number, transmission });
        self.wants_report = true;
        let arrival = self.keep(number);
        self.on_move_window(data.window_start);
        arrival
    }

    fn keep(&mut self, number: u64) -> Arrival {
        if number < self.received.first() {
            return Arrival::Duplicate;
        }
        while self.received.end() <= number {
            self.received.push(false);
        }
        let received = self.received.get_mut(number).expect("room was made for it");
        let before = core::mem::replace(received, true);
        self.received.trim(|received| *received);
        if before { Arrival::Duplicate } else { Arrival::First }
    }

    pub(crate) fn on_damaged(&mut self, transmission: u64) {
        self.notice_gap(transmission + 1);
    }

    /// Records the transmissions before `transmission` that have not arrived as missing.
    fn notice_gap(&mut self, transmission: u64) {
        for missing in self.next..transmission {
            self.notices.push(Notice::Missing { transmission: missing });
            self.wants_report = true;
        }
        self.next = self.next.max(transmission);
    }

    /// Blocks before `alive` will not arrive any more.
    pub(crate) fn on_move_window(&mut self, start: u64) {
        while self.received.first() < start {
            if self.received.pop().is_none() {
                self.received.push(false);
            }
        }
        self.received.trim(|received| *received);
    }

    pub(crate) const fn wants_report(&self) -> bool {
        self.wants_report
    }

    /// The report to send now. The receiver repeats it while later blocks wait for a missing one,
    /// because the move of its window may get lost.
    pub(crate) fn report(&mut self, now: Instant) -> Report {
        self.wants_report = false;
        let (waits, is_repetition) = (self.is_waiting(), core::mem::take(&mut self.is_repetition));
        self.repeat_at = if waits { now + self.timeout } else { Instant::NEVER };
        let still_expected = (waits && is_repetition).then(|| self.expected());
        Report { upto: self.notices.end(), still_expected }
    }

    fn is_waiting(&self) -> bool {
        self.order == Order::Kept && self.received.first() < self.received.end()
    }

    pub(crate) const fn next_event(&self) -> Instant {
        self.repeat_at
    }

    pub(crate) fn on_timer(&mut self, now: Instant) {
        if self.repeat_at <= now {
            self.repeat_at = Instant::NEVER;
            self.is_repetition = self.is_waiting();
            self.wants_report |= self.is_repetition;
        }
    }

    /// The next notice that a report up to `upto` delivers.
    pub(crate) fn take_notice(&mut self, upto: u64) -> Option<Notice> {
        if self.notices.first() < upto { self.notices.pop() } else { None }
    }
}
