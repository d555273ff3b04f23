//! The guests and links of a run on one clock, with the flows or programs at the hosts.

use std::collections::VecDeque;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use rtolab_time::{Duration, Instant};

use super::super::emulated_network::EmulatedNetwork;
use super::super::lateness::LatenessMeter;
use super::super::packet::Packet;
use super::agent::Report;
use super::guests::{Guests, Links};
use super::schedule::NEVER;
use crate::error::Error;
use crate::report::EndReason;

/// The time for packets in flight to arrive after all flows have ended.
const GRACE: Duration = Duration::from_secs(2);
/// The time in nanoseconds within which the request of a guest means that it still processes its
/// last packet. Each reading of its clock takes 256 ns.
const BUSY: u64 = 5_000;
/// The longest time for which a packet waits for a busy guest.
const LATEST: Duration = Duration::from_micros(100);
/// The interval at which `interrupted` is called.
const POLL_INTERVAL: StdDuration = StdDuration::from_millis(100);

/// Time 0 of the links, in the guests' time; `None` if it is that of the first packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zero(pub Option<u64>);

impl Zero {
    pub(super) fn instant(self, at: u64) -> Instant {
        let since = self.0.map_or(0, |zero| at.saturating_sub(zero));
        Instant::START + Duration::from_nanos(since)
    }

    pub(super) fn nanos(self, at: Option<Instant>) -> u64 {
        let nanos = |(at, zero): (Instant, u64)| {
            at.since(Instant::START).nanos().saturating_add(zero).min(NEVER)
        };
        at.zip(self.0).map_or(NEVER, nanos)
    }
}

/// The links as guests see them.
pub(super) struct NetworkLinks<'a, 'b> {
    pub network: &'a mut EmulatedNetwork<'b>,
    pub zero: &'a mut Zero,
}

impl Links for NetworkLinks<'_, '_> {
    fn enter(&mut self, host: usize, packet: &[u8], at: u64) -> u64 {
        if self.network.enter(host, packet, self.zero.instant(at)).is_some() {
            self.zero.0.get_or_insert(at);
        }
        self.zero.nanos(self.network.next_event())
    }
}

/// The progress of the actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Continues,
    /// All flows have ended, but packets in flight may still arrive.
    Completed,
    Ended(EndReason),
}

/// Flows or programs at the hosts.
pub(super) trait Actors {
    /// Processes a guest's report.
    fn on_report(&mut self, report: Report, zero: Zero);

    /// Processes a packet that reached a host that is no guest.
    fn on_packet(&mut self, _: &Packet, _: Instant) {}

    /// Processes what is due.
    fn proceed(
        &mut self,
        guests: &mut Guests<'_>,
        links: &mut NetworkLinks<'_, '_>,
    ) -> Result<(), Error>;

    /// The next time after `now` at which something is due, in the guests' time.
    fn next_timer(&self, now: u64, zero: Zero) -> Option<u64>;

    fn progress(&self) -> Progress;
}

/// The guests, links and actors of a run.
pub(super) struct GuestRun<'a, 'b, A> {
    pub guests: Guests<'b>,
    pub network: EmulatedNetwork<'a>,
    pub actors: A,
    pub zero: Zero,
    /// The latest end of the run.
    pub end: Option<Instant>,
    /// Due packets by host.
    pub waiting: Vec<VecDeque<(Packet, Instant)>>,
    pub late: LatenessMeter,
}

impl<A: Actors> GuestRun<'_, '_, A> {
    pub(super) fn now(&self) -> Instant {
        self.zero.instant(self.guests.now())
    }

    /// Calls `act` with the actors, the guests and the links.
    pub(super) fn act<T>(
        &mut self,
        act: impl FnOnce(&mut A, &mut Guests<'_>, &mut NetworkLinks<'_, '_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut links = NetworkLinks { network: &mut self.network, zero: &mut self.zero };
        act(&mut self.actors, &mut self.guests, &mut links)
    }

    fn step(&mut self, (limit, free): (u64, u64)) -> Result<bool, Error> {
        let mut links = NetworkLinks { network: &mut self.network, zero: &mut self.zero };
        self.guests.step((limit, free), &mut links)
    }

    /// Runs the guests until this time.
    pub(super) fn wait(&mut self, until: u64) -> Result<(), Error> {
        while self.step((until, until))? {}
        self.guests.set_now(until);
        Ok(())
    }

    /// Runs guests and actors to their end.
    pub(super) fn run(&mut self, interrupted: &dyn Fn() -> bool) -> Result<EndReason, Error> {
        let (mut over, mut polled) = (None, StdInstant::now());
        loop {
            let now = self.now();
            self.network.record_measurement(now);
            self.take_reports();
            self.act(A::proceed)?;
            // No time may pass before the reports are processed.
            if !self.guests.reports.is_empty() {
                continue;
            }
            match self.actors.progress() {
                Progress::Continues => {}
                Progress::Completed => over = over.or(Some(now + GRACE)),
                Progress::Ended(ended) => return Ok(ended),
            }
            if self.network.withheld.as_ref().is_some_and(|withheld| withheld.is_over(now)) {
                return Ok(EndReason::FlowsCompleted);
            }
            let due = self.network.next_event();
            let waits = self.waiting.iter().any(|packets| !packets.is_empty());
            match over {
                Some(at) if now >= at || (due.is_none() && !waits) => {
                    return Ok(EndReason::FlowsCompleted);
                }
                None if self.end.is_some_and(|end| now >= end) => return Ok(EndReason::Duration),
                _ => {}
            }
            if polled.elapsed() >= POLL_INTERVAL {
                polled = StdInstant::now();
                if interrupted() {
                    return Ok(EndReason::Interrupted);
                }
            }
            let limit = [due, over.or(self.end)].into_iter().flatten().min();
            let timer = self.actors.next_timer(self.guests.now(), self.zero);
            let limit = self.zero.nanos(limit).min(timer.unwrap_or(NEVER)).max(self.guests.now());
            if waits && self.deliver(limit)? {
                continue;
            }
            // The next packet is delivered as soon as its guest is idle.
            let (limit, free) = match waits {
                true => (limit.min(self.guests.now() + BUSY), 0),
                false => (limit, limit),
            };
            if self.step((limit, free))? {
                continue;
            }
            self.guests.set_now(limit);
            let now = self.now();
            while let Some((host, packet, due)) = self.network.arrival(now) {
                self.waiting[host].push_back((packet, due));
            }
        }
    }

    /// Delivers a due packet to a guest that is not busy with its last one, so that packets due at
    /// the same time are processed one after the other. Returns whether there was one. `limit` is
    /// the time of the next event.
    fn deliver(&mut self, limit: u64) -> Result<bool, Error> {
        let now = self.now();
        let ready = (0..self.waiting.len()).find(|host| {
            let due = self.waiting[*host].front().map(|(_, due)| *due);
            due.is_some_and(|due| !self.guests.is_busy(*host, BUSY) || now >= due + LATEST)
        });
        let Some(host) = ready else { return Ok(false) };
        let Some((packet, due)) = self.waiting[host].pop_front() else { return Ok(false) };
        self.late.record(now.since(due));
        self.network.on_arrival(&packet, now);
        let waits = self.waiting.iter().any(|packets| !packets.is_empty());
        let free = if waits { 0 } else { limit };
        let mut links = NetworkLinks { network: &mut self.network, zero: &mut self.zero };
        if !self.guests.is_guest(host) {
            self.actors.on_packet(&packet, now);
        } else if !self.guests.arrive((host, free), &packet.bytes, &mut links)? {
            self.guests.refused += 1;
        }
        self.network.recycle(packet);
        Ok(true)
    }

    /// Passes the guests' reports to the actors.
    pub(super) fn take_reports(&mut self) {
        while let Some((_, report)) = self.guests.reports.pop_front() {
            self.actors.on_report(report, self.zero);
        }
    }
}
