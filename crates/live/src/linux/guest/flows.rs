//! The flows of a scenario on guests, from start to end.

use std::io;

use rtolab_record::Place;
use rtolab_scenario::Scenario;
use rtolab_time::Instant;

use super::super::host::address;
use super::super::packet::{Packet, port};
use super::super::session::Session;
use super::super::settings;
use super::super::sockets::Protocol;
use super::agent::{Report, Request};
use super::engine::EngineEnd;
use super::guests::Guests;
use super::machine::CLOCK;
use super::remote::RemoteSockets;
use super::samples::TimedSample;
use super::stage::{Actors, NetworkLinks, Progress, Zero};
use crate::error::Error;
use crate::report::EffectiveSettings;

/// The flows of a run.
pub(super) struct Flows<'a> {
    pub scenario: &'a Scenario,
    pub sessions: Vec<Session<RemoteSockets>>,
    /// The samples of each flow.
    pub samples: Vec<Vec<TimedSample>>,
    /// The effective settings of connections.
    pub effective: Vec<(String, EffectiveSettings)>,
    /// Has a socket changed since the last call of `proceed`?
    changed: bool,
}

impl<'a> Flows<'a> {
    pub(super) fn new(scenario: &'a Scenario, sessions: Vec<Session<RemoteSockets>>) -> Self {
        let samples = scenario.flows.iter().map(|_| Vec::new()).collect();
        Self { scenario, sessions, samples, effective: Vec::new(), changed: true }
    }

    /// Is this end of a flow a guest?
    fn is_guest(&mut self, flow: usize, place: Place) -> bool {
        self.sessions[flow].sockets().engines[place.index()].is_none()
    }

    fn ends(&self, flow: usize) -> [usize; 2] {
        [self.scenario.flows[flow].from, self.scenario.flows[flow].to]
    }

    fn call(
        &self,
        (flow, place): (usize, Place),
        request: &Request,
        (guests, links): (&mut Guests<'_>, &mut NetworkLinks<'_, '_>),
    ) -> Result<(), Error> {
        match guests.call(self.ends(flow)[place.index()], request, links)? {
            (0, _) => Ok(()),
            (error, _) => Err(Error::System {
                action: "make a socket in a guest",
                source: io::Error::from_raw_os_error(error),
            }),
        }
    }

    /// Makes the sockets of all flows. Those of receivers listen.
    pub(super) fn open(
        &mut self,
        guests: &mut Guests<'_>,
        links: &mut NetworkLinks<'_, '_>,
    ) -> Result<(), Error> {
        for (flow, named) in self.scenario.flows.iter().enumerate() {
            let udp = self.sessions[flow].protocol() == Protocol::Udp;
            for place in [Place::Receiver, Place::Sender] {
                if self.sessions[flow].sockets().engines[place.index()].is_some() {
                    continue;
                }
                let at = |place: Place| {
                    let host = [named.from, named.to][place.index()];
                    std::net::SocketAddrV4::new(address(host), port(flow, place))
                };
                let reports = !udp && self.sessions[flow].has_application();
                let (at, to) = (at(place), at(place.other()));
                let open = Request::Open { flow, place, udp, reports, at, to };
                self.call((flow, place), &open, (guests, links))?;
            }
        }
        Ok(())
    }

    /// Requests the final state of all sockets.
    pub(super) fn request_reports(
        &mut self,
        guests: &mut Guests<'_>,
        links: &mut NetworkLinks<'_, '_>,
    ) -> Result<(), Error> {
        for flow in 0..self.sessions.len() {
            for place in Place::BOTH {
                if !self.is_guest(flow, place) {
                    continue;
                }
                self.call((flow, place), &Request::Report { flow, place }, (guests, links))?;
            }
        }
        Ok(())
    }

    /// Lets the sessions process the final state.
    pub(super) fn finish(&mut self, now: Instant) -> Result<(), Error> {
        for session in &mut self.sessions {
            session.proceed(now, &mut [])?;
        }
        Ok(())
    }
}

impl Actors for Flows<'_> {
    fn on_report(&mut self, report: Report, zero: Zero) {
        match report {
            Report::State { flow, place, state } => {
                if let Some(session) = self.sessions.get_mut(flow) {
                    session.sockets().report(place, state);
                    self.changed = true;
                }
            }
            Report::Samples(samples) => {
                for sample in samples {
                    let at = zero.instant(sample.clock.saturating_sub(CLOCK));
                    let timed = TimedSample { at, counts: sample.counts, info: sample.info };
                    if let Some(samples) = self.samples.get_mut(sample.flow) {
                        samples.push(timed);
                    }
                }
            }
            _ => {}
        }
    }

    fn on_packet(&mut self, packet: &Packet, at: Instant) {
        let Some((flow, from)) = packet.flow else { return };
        let engines = self.sessions.get_mut(flow).map(|session| &mut session.sockets().engines);
        if let Some(engine) = engines.and_then(|ends| ends[from.other().index()].as_mut()) {
            engine.on_packet(packet, at);
            self.changed = true;
        }
    }

    fn proceed(
        &mut self,
        guests: &mut Guests<'_>,
        links: &mut NetworkLinks<'_, '_>,
    ) -> Result<(), Error> {
        self.proceed_sessions(guests, links)?;
        let now = links.zero.instant(guests.now());
        for session in &mut self.sessions {
            for engine in session.sockets().engines.iter_mut().flatten() {
                engine.proceed(links.network, now);
            }
        }
        Ok(())
    }

    fn next_timer(&self, now: u64, zero: Zero) -> Option<u64> {
        let of_engine = |session: &Session<RemoteSockets>| {
            session.sockets_ref().engines.iter().flatten().filter_map(EngineEnd::next_timer).min()
        };
        let timers = self.sessions.iter().flat_map(|it| [it.next_timer(), of_engine(it)]);
        let next = timers.flatten().filter(|at| *at > zero.instant(now)).min();
        next.map(|at| zero.nanos(Some(at)))
    }

    fn progress(&self) -> Progress {
        match self.sessions.iter().all(Session::is_over) {
            true => Progress::Completed,
            false => Progress::Continues,
        }
    }
}

impl Flows<'_> {
    /// Lets the sessions process what has changed or is due.
    fn proceed_sessions(
        &mut self,
        guests: &mut Guests<'_>,
        links: &mut NetworkLinks<'_, '_>,
    ) -> Result<(), Error> {
        let (now, changed) = (links.zero.instant(guests.now()), self.changed);
        self.changed = false;
        for flow in 0..self.sessions.len() {
            let session = &mut self.sessions[flow];
            if !changed && session.next_timer().is_none_or(|at| at > now) {
                continue;
            }
            let connected = session.proceed(now, &mut [])?;
            let between_guests = session.sockets().engines.iter().all(Option::is_none);
            if let Some(info) = connected.filter(|_| between_guests) {
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
                guests.send_request(guest, &request);
            }
        }
        Ok(())
    }
}
