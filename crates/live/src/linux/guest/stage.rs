//! The flows of a scenario, from their beginnings to their ends.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration as Span, Instant as Wall};

use rtolab_record::Place;
use rtolab_scenario::Scenario;
use rtolab_time::{Duration, Instant};

use super::super::carrier::Carrier;
use super::super::host::address;
use super::super::lateness::LatenessMeter;
use super::super::packet::{Packet, port};
use super::super::session::Session;
use super::super::settings;
use super::super::sockets::Protocol;
use super::agent::{Report, Request};
use super::machine::CLOCK;
use super::remote::RemoteSockets;
use super::samples::TimedSample;
use super::schedule::NEVER;
use super::world::{Links, World};
use crate::error::Error;
use crate::report::{Effective, Ended};

/// How long packets in flight have to arrive once all flows have ended.
const GRACE: Duration = Duration::from_secs(2);
/// A guest that wants to run within this time is still busy with its last packet: each look at its
/// clock takes 256 ns.
const BUSY: u64 = 5_000;
/// The longest that a packet waits for a busy guest.
const LATEST: Duration = Duration::from_micros(100);
/// The interval at which the caller is asked whether to continue.
const ASK: Span = Span::from_millis(100);

/// Time 0 of the links, in the guests' time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zero(pub u64);

impl Zero {
    fn instant(self, at: u64) -> Instant {
        Instant::START + Duration::from_nanos(at.saturating_sub(self.0))
    }

    fn nanos(self, at: Option<Instant>) -> u64 {
        at.map_or(NEVER, |at| at.since(Instant::START).nanos().saturating_add(self.0).min(NEVER))
    }
}

/// The links as guests see them.
struct Carried<'a, 'b> {
    carrier: &'a mut Carrier<'b>,
    zero: Zero,
}

impl Links for Carried<'_, '_> {
    fn enter(&mut self, guest: usize, packet: &[u8], at: u64) -> u64 {
        self.carrier.enter(guest, packet, self.zero.instant(at));
        self.zero.nanos(self.carrier.due())
    }
}

/// Guests, links and flows.
pub(super) struct Stage<'a, 'b> {
    pub scenario: &'a Scenario,
    pub world: World<'b>,
    pub carrier: Carrier<'a>,
    pub sessions: Vec<Session<RemoteSockets>>,
    pub zero: Zero,
    /// The samples of each flow.
    pub samples: Vec<Vec<TimedSample>>,
    /// The effective settings of connections.
    pub effective: Vec<(String, Effective)>,
    /// Packets that are due, by guest.
    pub waiting: Vec<VecDeque<(Packet, Instant)>>,
    pub late: LatenessMeter,
}

impl Stage<'_, '_> {
    pub(super) fn now(&self) -> Instant {
        self.zero.instant(self.world.now())
    }

    fn ends(&self, flow: usize) -> [usize; 2] {
        [self.scenario.flows[flow].from, self.scenario.flows[flow].to]
    }

    fn call(&mut self, flow: usize, request: &Request, place: Place) -> Result<(), Error> {
        let guest = self.ends(flow)[place.index()];
        let mut links = Carried { carrier: &mut self.carrier, zero: self.zero };
        match self.world.call(guest, request, &mut links)? {
            (0, _) => Ok(()),
            (error, _) => Err(Error::System {
                action: "make a socket in a guest",
                source: io::Error::from_raw_os_error(error),
            }),
        }
    }

    /// Makes the sockets of all flows; receivers listen.
    pub(super) fn open(&mut self) -> Result<(), Error> {
        for (flow, named) in self.scenario.flows.iter().enumerate() {
            let udp = self.sessions[flow].protocol() == Protocol::Udp;
            for place in [Place::Receiver, Place::Sender] {
                let at = |place: Place| {
                    let host = [named.from, named.to][place.index()];
                    std::net::SocketAddrV4::new(address(host), port(flow, place))
                };
                let reports = !udp && self.sessions[flow].has_application();
                let (at, to) = (at(place), at(place.other()));
                self.call(flow, &Request::Open { flow, place, udp, reports, at, to }, place)?;
            }
        }
        Ok(())
    }

    /// Lets the guests go on until time 0 of the links.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        let mut links = Carried { carrier: &mut self.carrier, zero: self.zero };
        while self.world.step((self.zero.0, self.zero.0), &mut links)? {}
        self.world.set_now(self.zero.0);
        Ok(())
    }

    /// Runs the flows to their end.
    pub(super) fn play(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Ended, Error> {
        let end = Instant::START + self.scenario.duration;
        let (mut over, mut changed, mut asked) = (None, true, Wall::now());
        loop {
            let now = self.now();
            self.carrier.mark(now);
            changed |= self.take_reports();
            self.go_on(now, changed)?;
            changed = false;
            if over.is_none() && self.sessions.iter().all(Session::is_over) {
                over = Some(now + GRACE);
            }
            let due = self.carrier.due();
            let waits = self.waiting.iter().any(|packets| !packets.is_empty());
            match over {
                Some(at) if now >= at || (due.is_none() && !waits) => return Ok(Ended::Over),
                None if now >= end => return Ok(Ended::Duration),
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
            let timers = self.sessions.iter().filter_map(Session::next_timer);
            let timers = timers.filter(|at| *at > now).min();
            let limit = [due, timers, over.or(Some(end))].into_iter().flatten().min();
            let limit = self.zero.nanos(limit).max(self.world.now());
            // The next packet comes as soon as its guest is idle.
            let (limit, free) = match waits {
                true => (limit.min(self.world.now() + BUSY), 0),
                false => (limit, limit),
            };
            let mut links = Carried { carrier: &mut self.carrier, zero: self.zero };
            if self.world.step((limit, free), &mut links)? {
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

    /// Takes the guests' reports; returns whether a socket changed.
    fn take_reports(&mut self) -> bool {
        let mut changed = false;
        while let Some((_, report)) = self.world.reports.pop_front() {
            match report {
                Report::State { flow, place, state } => {
                    if let Some(session) = self.sessions.get_mut(flow) {
                        session.sockets().report(place, state);
                        changed = true;
                    }
                }
                Report::Samples(samples) => {
                    for sample in samples {
                        let at = self.zero.instant(sample.clock.saturating_sub(CLOCK));
                        let timed = TimedSample { at, counts: sample.counts, info: sample.info };
                        if let Some(samples) = self.samples.get_mut(sample.flow) {
                            samples.push(timed);
                        }
                    }
                }
                Report::Hello | Report::Reply { .. } => {}
            }
        }
        changed
    }

    /// Lets the sessions do what is due.
    fn go_on(&mut self, now: Instant, changed: bool) -> Result<(), Error> {
        for flow in 0..self.sessions.len() {
            let session = &mut self.sessions[flow];
            if !changed && session.next_timer().is_none_or(|at| at > now) {
                continue;
            }
            if let Some(info) = session.go_on(now, &mut [])? {
                let congestion = session.sockets().congestion().to_string();
                let named = &self.scenario.flows[flow];
                let kernels =
                    (&self.scenario.kernels[named.from], &self.scenario.kernels[named.to]);
                let found = settings::check_connection(&named.name, kernels, (&info, &congestion))?;
                self.effective.push((named.name.clone(), found));
            }
            let requests = std::mem::take(&mut self.sessions[flow].sockets().outbox);
            for (place, request) in requests {
                let guest = self.ends(flow)[place.index()];
                self.world.ask(guest, &request);
            }
        }
        Ok(())
    }

    /// Asks for the last state of all sockets.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        self.world.catch_up();
        for flow in 0..self.sessions.len() {
            for place in Place::BOTH {
                self.call(flow, &Request::Report { flow, place }, place)?;
            }
        }
        let now = self.now();
        self.take_reports();
        for session in &mut self.sessions {
            session.go_on(now, &mut [])?;
        }
        Ok(())
    }
}
