//! Guests and links on one clock, and what acts at the hosts.

use std::collections::VecDeque;
use std::time::{Duration as Span, Instant as Wall};

use rtolab_time::{Duration, Instant};

use super::super::carrier::Carrier;
use super::super::lateness::LatenessMeter;
use super::super::packet::Packet;
use super::agent::Report;
use super::schedule::NEVER;
use super::world::{Links, World};
use crate::error::Error;
use crate::report::Ended;

/// How long packets in flight have to arrive once all flows have ended.
const GRACE: Duration = Duration::from_secs(2);
/// A guest that wants to run within this time is still busy with its last packet: each look at its
/// clock takes 256 ns.
const BUSY: u64 = 5_000;
/// The longest that a packet waits for a busy guest.
const LATEST: Duration = Duration::from_micros(100);
/// The interval at which the caller is asked whether to continue.
const ASK: Span = Span::from_millis(100);

/// Time 0 of the links, in the guests' time: before the first packet there may be none.
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
pub(super) struct Carried<'a, 'b> {
    pub carrier: &'a mut Carrier<'b>,
    pub zero: &'a mut Zero,
}

impl Links for Carried<'_, '_> {
    fn enter(&mut self, guest: usize, packet: &[u8], at: u64) -> u64 {
        if self.carrier.enter(guest, packet, self.zero.instant(at)).is_some() {
            self.zero.0.get_or_insert(at);
        }
        self.zero.nanos(self.carrier.due())
    }
}

/// How far those who act at hosts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Goes,
    /// Packets in flight may still arrive.
    Over,
    Ended(Ended),
}

/// Flows or programs at the hosts.
pub(super) trait Actors {
    /// Takes a guest's report.
    fn take(&mut self, report: Report, zero: Zero);

    /// Does what is due.
    fn go_on(&mut self, world: &mut World<'_>, links: &mut Carried<'_, '_>) -> Result<(), Error>;

    /// When there is something to do next, in the guests' time, after `now`.
    fn next_timer(&self, now: u64, zero: Zero) -> Option<u64>;

    fn progress(&self) -> Progress;
}

/// Guests, links and those who act.
pub(super) struct Stage<'a, 'b, A> {
    pub world: World<'b>,
    pub carrier: Carrier<'a>,
    pub actors: A,
    pub zero: Zero,
    /// When the run ends at the latest.
    pub end: Option<Instant>,
    /// Packets that are due, by guest.
    pub waiting: Vec<VecDeque<(Packet, Instant)>>,
    pub late: LatenessMeter,
}

impl<A: Actors> Stage<'_, '_, A> {
    pub(super) fn now(&self) -> Instant {
        self.zero.instant(self.world.now())
    }

    /// Lets `act` act on the links and the guests.
    pub(super) fn act<T>(
        &mut self,
        act: impl FnOnce(&mut A, &mut World<'_>, &mut Carried<'_, '_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut links = Carried { carrier: &mut self.carrier, zero: &mut self.zero };
        act(&mut self.actors, &mut self.world, &mut links)
    }

    fn step(&mut self, (limit, free): (u64, u64)) -> Result<bool, Error> {
        let mut links = Carried { carrier: &mut self.carrier, zero: &mut self.zero };
        self.world.step((limit, free), &mut links)
    }

    /// Lets the guests go on until then.
    pub(super) fn wait(&mut self, until: u64) -> Result<(), Error> {
        while self.step((until, until))? {}
        self.world.set_now(until);
        Ok(())
    }

    /// Lets all act to their end.
    pub(super) fn play(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Ended, Error> {
        let (mut over, mut asked) = (None, Wall::now());
        loop {
            let now = self.now();
            self.carrier.mark(now);
            self.take_reports();
            self.act(A::go_on)?;
            // No time passes before they are taken.
            if !self.world.reports.is_empty() {
                continue;
            }
            match self.actors.progress() {
                Progress::Goes => {}
                Progress::Over => over = over.or(Some(now + GRACE)),
                Progress::Ended(ended) => return Ok(ended),
            }
            let due = self.carrier.due();
            let waits = self.waiting.iter().any(|packets| !packets.is_empty());
            match over {
                Some(at) if now >= at || (due.is_none() && !waits) => return Ok(Ended::Over),
                None if self.end.is_some_and(|end| now >= end) => return Ok(Ended::Duration),
                _ => {}
            }
            if asked.elapsed() >= ASK {
                asked = Wall::now();
                if interrupted() {
                    return Ok(Ended::Interrupted);
                }
            }
            if self.deliver()? {
                continue;
            }
            let limit = [due, over.or(self.end)].into_iter().flatten().min();
            let timer = self.actors.next_timer(self.world.now(), self.zero);
            let limit = self.zero.nanos(limit).min(timer.unwrap_or(NEVER)).max(self.world.now());
            // The next packet comes as soon as its guest is idle.
            let (limit, free) = match waits {
                true => (limit.min(self.world.now() + BUSY), 0),
                false => (limit, limit),
            };
            if self.step((limit, free))? {
                continue;
            }
            self.world.set_now(limit);
            let now = self.now();
            while let Some((guest, packet, due)) = self.carrier.arrival(now) {
                self.waiting[guest].push_back((packet, due));
            }
        }
    }

    /// Gives a packet that is due to its guest, if one is not busy with its last; returns whether
    /// there was one. So packets that are due at once are taken one after the other.
    fn deliver(&mut self) -> Result<bool, Error> {
        let now = self.now();
        let ready = (0..self.waiting.len()).find(|guest| {
            let due = self.waiting[*guest].front().map(|(_, due)| *due);
            due.is_some_and(|due| !self.world.is_busy(*guest, BUSY) || now >= due + LATEST)
        });
        let Some(guest) = ready else { return Ok(false) };
        let Some((packet, due)) = self.waiting[guest].pop_front() else { return Ok(false) };
        if !self.world.arrive(guest, &packet.bytes)? {
            self.world.refused += 1;
        }
        self.late.record(now.since(due));
        self.carrier.log.arrives(&packet, now);
        self.carrier.keep(packet);
        Ok(true)
    }

    /// Hands the guests' reports over.
    pub(super) fn take_reports(&mut self) {
        while let Some((_, report)) = self.world.reports.pop_front() {
            self.actors.take(report, self.zero);
        }
    }
}
