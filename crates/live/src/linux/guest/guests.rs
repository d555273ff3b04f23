//! Guest kernels with one virtual clock. At any time, either one of them or this process runs.

mod boot;
mod messages;
mod packets;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration as StdDuration;

use super::agent::Report;
use super::device::{Device, FROM_GUEST};
use super::machine::Machine;
use super::processor::OneProcessor;
use super::schedule::{Message, NEVER, Schedule};
use crate::error::Error;
use crate::report::Exchange;
pub(super) use boot::GuestSpec;

/// The message of a guest that [`Guests::handle_messages`] expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The guest waits for its next time.
    Waits,
    /// The guest acknowledges that it runs.
    Acknowledges,
    /// The guest answers an interrupt.
    Answers,
}

/// A guest sleeps if it does not request to run within this virtual time, in nanoseconds.
const MIN_SLEEP: u64 = 5_000;

/// The links of guests.
pub(super) trait Links {
    /// Processes an IPv4 packet of a host. Returns the time of the links' next event.
    fn enter(&mut self, host: usize, packet: &[u8], at: u64) -> u64;
}

/// Links that drop all packets.
pub(super) struct NoLinks;

impl Links for NoLinks {
    fn enter(&mut self, _: usize, _: &[u8], _: u64) -> u64 {
        NEVER
    }
}

/// A guest kernel.
struct Guest {
    /// The number of its host in the scenario.
    host: usize,
    machine: Machine,
    /// The socket for messages about time.
    clock: OwnedFd,
    /// The socket to which its network card connects.
    listener: OwnedFd,
    card: Option<Device>,
    /// Does it take interrupts and announce packets by shared memory?
    direct: bool,
    /// The messages since its start, besides those by which it runs and waits.
    messages: u64,
    /// Is an interrupt about sent packets due?
    completion_due: bool,
    /// The real time for which it has run since it last slept, and the virtual time when it woke
    /// up, in nanoseconds.
    busy: (StdDuration, u64),
}

/// All guest kernels of a run.
pub(super) struct Guests<'a> {
    schedule: Schedule,
    /// The real-time clock of all guests at their start, in nanoseconds since 1970.
    clock: u64,
    guests: Vec<Guest>,
    /// The virtual time, in nanoseconds since the guests' start.
    now: u64,
    /// The latest virtual time up to which a guest was free to run, in nanoseconds.
    free_until: u64,
    /// The reports of guests, in order.
    pub reports: VecDeque<(usize, Report)>,
    /// Frames for guests.
    frames: VecDeque<(usize, Vec<u8>)>,
    interrupted: &'a mut dyn FnMut() -> bool,
    /// The sequence number of the last request.
    sequence: u32,
    buffer: Vec<u8>,
    /// The real time for which a kernel may run without sleeping.
    time_limit: StdDuration,
    /// The number of packets for which a guest had no buffer.
    pub refused: u64,
    _processor: Option<OneProcessor>,
}

impl Guests<'_> {
    /// The guest that is this host of the scenario.
    fn guest(&self, host: usize) -> Option<usize> {
        self.guests.iter().position(|guest| guest.host == host)
    }

    /// Is this host of the scenario a guest?
    pub(super) fn is_guest(&self, host: usize) -> bool {
        self.guest(host).is_some()
    }

    /// The exchange with the guest that is this host of the scenario.
    pub(super) fn exchange(&self, host: usize) -> Option<Exchange> {
        let Guest { direct, messages, .. } = self.guests[self.guest(host)?];
        Some(Exchange { shared_memory: direct, messages })
    }

    /// The virtual time, in nanoseconds since the kernels' start.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// Sets the time. No guest may have requested to run earlier.
    pub(super) fn set_now(&mut self, now: u64) {
        self.now = self.now.max(now);
        self.schedule.set_time(self.now);
    }

    /// Sets the time to the latest up to which a guest was free to run, or to the next request to
    /// run if that is earlier.
    pub(super) fn catch_up(&mut self) {
        let next = self.next_request().map_or(NEVER, |(at, _)| at);
        self.set_now(self.free_until.min(next));
    }

    /// The next time at which a guest requests to run, and the guest; `usize::MAX` for a delivery.
    pub(super) fn next(&self) -> Option<(u64, usize)> {
        if self.is_due_now() {
            return Some((self.now, usize::MAX));
        }
        self.next_request().filter(|(at, _)| *at < NEVER)
    }

    /// Is there a frame to deliver, or an interrupt to raise, at the present time?
    fn is_due_now(&self) -> bool {
        !self.frames.is_empty() || self.guests.iter().any(|guest| guest.completion_due)
    }

    /// The earliest request to run, and its guest.
    fn next_request(&self) -> Option<(u64, usize)> {
        let requests = (0..self.guests.len())
            .filter_map(|guest| Some((self.schedule.request(guest + 1)?, guest)));
        requests.min()
    }

    /// Does a host request to run within this time?
    pub(super) fn is_busy(&self, host: usize, within: u64) -> bool {
        self.guest(host).is_some_and(|guest| self.requests_within(guest, within))
    }

    fn requests_within(&self, guest: usize, within: u64) -> bool {
        self.schedule.request(guest + 1).is_some_and(|at| at <= self.now + within)
    }

    /// Processes the next event, if it is due by `limit`. Returns false if there is none. A guest
    /// that runs may advance the time up to `free`, before which no other event may happen.
    pub(super) fn step(
        &mut self,
        (limit, free): (u64, u64),
        links: &mut impl Links,
    ) -> Result<bool, Error> {
        if let Some((guest, frame)) = self.frames.pop_front() {
            self.deliver((guest, free), &frame, links)?;
            return Ok(true);
        }
        if let Some(guest) = self.guests.iter().position(|guest| guest.completion_due) {
            self.guests[guest].completion_due = false;
            self.interrupt((guest, free), FROM_GUEST, links)?;
            return Ok(true);
        }
        let Some((at, guest)) = self.next().filter(|(at, _)| *at <= limit) else {
            return Ok(false);
        };
        self.set_now(at);
        self.run((guest, free), 0, links)?;
        Ok(true)
    }

    /// Lets a guest run from now on, with interrupts of the queues in the bits of `calls`, until it
    /// waits. It may advance the time up to `free`, unless something else is due now: that would
    /// reach the guest at a time before its own.
    fn run(
        &mut self,
        (guest, free): (usize, u64),
        calls: u32,
        links: &mut impl Links,
    ) -> Result<(), Error> {
        let client = guest + 1;
        let direct = self.guests[guest].direct;
        let others = (0..self.guests.len()).filter(|other| *other != guest);
        let others = others.filter_map(|other| self.schedule.request(other + 1));
        let free = if self.is_due_now() { 0 } else { free };
        // At the same time, all events of a guest happen in one run.
        let least = self.now + u64::from(direct);
        let free = others.fold(free, u64::min).max(least);
        self.schedule.set_time(self.now);
        self.schedule.set_running(client);
        self.schedule.set_free_until(free);
        match direct {
            true => self.schedule.set_direct_run(client, (calls, free)),
            false => self.schedule.set_request(client, None),
        }
        let run = Message { op: Message::RUN, seq: 0, time: self.now };
        if !self.send_message(guest, run)? {
            return Err(self.guests[guest].machine.ended());
        }
        if !self.schedule.shares(client) {
            self.handle_messages(guest, Until::Acknowledges, links)?;
        }
        self.handle_messages(guest, Until::Waits, links)?;
        if self.schedule.take_announcement(client) {
            self.receive_packets(guest, links);
        }
        self.now = self.now.max(self.schedule.time());
        // A guest that exchanges messages advances the time no further than it requests.
        let free_until = Some(self.schedule.free_until()).filter(|at| *at < NEVER);
        let free_until = free_until.filter(|_| self.schedule.shares(client));
        self.free_until = self.free_until.max(free_until.unwrap_or(0));
        self.schedule.set_running(0);
        if !self.requests_within(guest, MIN_SLEEP) {
            self.guests[guest].busy = (StdDuration::ZERO, self.now);
        }
        Ok(())
    }
}
