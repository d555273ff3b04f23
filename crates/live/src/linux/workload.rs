//! The scenario's flows on the kernel's own sockets.

use std::os::fd::AsFd;
use std::thread;

use rtolab_link::Stream;
use rtolab_record::Run;
use rtolab_scenario::{Begin, MiddleboxConfig, MiddleboxKind, Scenario};
use rtolab_time::{Duration, Instant};
use rustix::event::{PollFd, poll};
use rustix::io::Errno;

use super::clock::Clock;
use super::forwarder::{Forwarder, timespec};
use super::host::{Host, Origin};
use super::log::Log;
use super::packet::MAX_FLOWS;
use super::recording::{self, FlowInfo};
use super::routes::Routes;
use super::session::Session;
use super::settings;
use super::sockets::{self, Pair, Protocol};
use super::stop::{Stop, StopSignal};
use super::sys::TcpInfo;
use super::watch::{SenderObserver, Socket};
use crate::emulation::{EmulationResult, Emulator};
use crate::error::Error;
use crate::report::{Counts, EffectiveSettings, EndReason, HostReport};

/// The interval at which `interrupted` is called.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The interval at which sessions check for ACKs.
const ACK_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The maximum number of packets recorded.
const MAX_PACKETS: usize = 20_000_000;

pub(crate) fn run(
    emulation: &Emulator<'_>,
    run: Run,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    let scenario = emulation.scenario;
    check(scenario)?;
    check_hosts(scenario)?;
    let routes = Routes::new(scenario)?;
    let hosts = hosts(scenario)?;
    let stream = Stream::new(emulation.seed);
    let flows = scenario.flows.iter().enumerate();
    let sessions = flows.map(|(number, flow)| {
        Pair::new(&hosts, number, flow).map(|pair| Session::new(pair, flow, stream))
    });
    let mut sessions: Vec<_> = sessions.collect::<Result<_, _>>()?;
    let observers = sessions.iter_mut().zip(&scenario.flows).map(|(session, flow)| {
        let counters = &hosts[flow.from].counters;
        let tcp = session.protocol() == Protocol::Tcp;
        tcp.then(|| {
            SenderObserver::new(Socket { socket: session.sockets().sender.clone(), counters })
        })
    });
    let before = counts(&hosts)?;
    let log = Log::new(MAX_PACKETS);
    let draws = (emulation.seed, scenario.measured, Begin::AtOnce);
    let mut forwarder = Forwarder::new((&hosts, &routes), draws, log, observers.collect());
    let stop = Stop::new()?;
    let (ended, connections) = thread::scope(|scope| {
        let clock = forwarder.clock;
        let forwarding = scope.spawn(|| forwarder.run(&stop));
        let mut flows =
            RunningFlows { scenario, sessions: &mut sessions, clock, effective: vec![] };
        let ended = flows.run(interrupted, &|| forwarding.is_finished());
        let signal = match ended {
            Ok(EndReason::FlowsCompleted) => StopSignal::Drain,
            _ => StopSignal::Stop,
        };
        stop.set(signal);
        let forwarded = forwarding.join().expect("the forwarding thread does not panic");
        let ended = ended?;
        forwarded.map(|()| (ended, flows.effective))
    })?;
    let after = counts(&hosts)?;
    let hosts: Vec<_> = hosts.iter().zip(before.into_iter().zip(after)).collect();
    let ending = forwarder.ending();
    let observations =
        forwarder.observers.iter().map(|watch| watch.as_ref().map(SenderObserver::observations));
    let observations: Vec<_> = observations.collect();
    let mut network = forwarder.network;
    let outcome = (ended, connections, reports(&hosts));
    let report = recording::report((emulation, &routes), &network, &ending, outcome);
    let known =
        sessions.iter().enumerate().map(|(index, session)| FlowInfo::of(scenario, index, session));
    let known: Vec<_> = known.collect();
    let all = (known.as_slice(), observations.as_slice());
    let recording = recording::recording((emulation, &routes), run, (&mut network, ending.at), all);
    Ok(EmulationResult { recording, report })
}

/// The reports of hosts, with their counters before and after.
pub(crate) fn reports(hosts: &[(&Host, (Counts, Counts))]) -> Vec<HostReport> {
    let report = |(host, (before, after)): &(&Host, (Counts, Counts))| HostReport {
        name: host.name.clone(),
        address: host.address,
        kernel: None,
        exchange: None,
        effective: host.effective.clone(),
        before: before.clone(),
        after: after.clone(),
    };
    hosts.iter().map(report).collect()
}

/// Rejects scenarios that the emulator does not support.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Error> {
    let wrong = |found: String, expected| Err(Error::Unsupported { found, expected });
    let freezes =
        |middlebox: &MiddleboxConfig| matches!(middlebox.kind, MiddleboxKind::Freeze { .. });
    if let Some(middlebox) = scenario.middleboxes.iter().find(|middlebox| !freezes(middlebox)) {
        let node = &scenario.nodes[middlebox.node];
        return wrong(format!("found a middlebox at `{node}`"), "only those of kind freeze");
    }
    if let Some(flow) = scenario.flows.iter().find(|flow| !flow.split.is_empty()) {
        return wrong(
            format!("flow `{}` is split at a gateway", flow.name),
            "flows that are one connection from end to end",
        );
    }
    if scenario.flows.len() > MAX_FLOWS {
        return wrong(format!("found {} flows", scenario.flows.len()), "at most 1000 flows");
    }
    Ok(())
}

/// Rejects scenarios that the emulator does not support with a command.
pub(crate) fn check_for_command(scenario: &Scenario) -> Result<(), Error> {
    match scenario.middleboxes.first() {
        None => check(scenario),
        Some(middlebox) => Err(Error::Unsupported {
            found: format!("found a middlebox at `{}`", scenario.nodes[middlebox.node]),
            expected: "none with a command, whose connections are unknown",
        }),
    }
}

/// Rejects scenarios that leave a host to a program, because flows need the kernel's sockets.
pub(crate) fn check_hosts(scenario: &Scenario) -> Result<(), Error> {
    let mut hosts = scenario.nodes.iter().zip(&scenario.kernels);
    match hosts.find(|(_, kernel)| kernel.tun) {
        None => Ok(()),
        Some((name, _)) => Err(Error::Unsupported {
            found: format!("`kernel.tun` leaves `{name}` to a program, but there is no command"),
            expected: "a command that opens `stack0` there",
        }),
    }
}

pub(crate) fn hosts(scenario: &Scenario) -> Result<Vec<Host>, Error> {
    let nodes = scenario.nodes.iter().zip(&scenario.kernels).enumerate();
    let host = |(number, (name, kernel)): (usize, (&String, _))| {
        Host::new((number, name), kernel, Origin::Anonymous)
    };
    nodes.map(host).collect()
}

pub(crate) fn counts(hosts: &[Host]) -> Result<Vec<Counts>, Error> {
    let counts = hosts.iter().map(|host| host.counters.read());
    counts.map(|read| read.map_err(Error::system("read the kernel's counters"))).collect()
}

/// The flows during a run.
struct RunningFlows<'a> {
    scenario: &'a Scenario,
    sessions: &'a mut [Session<Pair>],
    clock: Clock,
    /// The effective settings of connections.
    effective: Vec<(String, EffectiveSettings)>,
}

impl RunningFlows<'_> {
    /// Runs the flows to their end.
    fn run(
        &mut self,
        interrupted: &mut dyn FnMut() -> bool,
        broken: &dyn Fn() -> bool,
    ) -> Result<EndReason, Error> {
        let mut buffer = sockets::buffer();
        let end = Instant::START + self.scenario.duration;
        let mut ask_at = Instant::START;
        loop {
            let now = self.clock.now();
            for number in 0..self.sessions.len() {
                if let Some(info) = self.sessions[number].proceed(now, &mut buffer)? {
                    self.check(number, &info)?;
                }
            }
            if self.sessions.iter().all(Session::is_over) {
                return Ok(EndReason::FlowsCompleted);
            }
            if now >= end || broken() {
                return Ok(EndReason::Duration);
            }
            if now >= ask_at {
                if interrupted() {
                    return Ok(EndReason::Interrupted);
                }
                ask_at = now + POLL_INTERVAL;
            }
            let timers = self.sessions.iter().filter_map(Session::next_timer).min();
            let due = timers.unwrap_or(end).min(end).min(ask_at).since(now);
            let polls = self.sessions.iter().any(Session::awaits_ack);
            self.wait(if polls { due.min(ACK_POLL_INTERVAL) } else { due })?;
        }
    }

    fn wait(&self, span: Duration) -> Result<(), Error> {
        let waits = self.sessions.iter().flat_map(Session::waits);
        let fds = waits.map(|(socket, flags)| PollFd::from_borrowed_fd(socket.as_fd(), flags));
        match poll(&mut fds.collect::<Vec<_>>(), Some(&timespec(span))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(refused) => Err(Error::system("wait for sockets")(refused)),
        }
    }

    /// Checks the connection against its hosts' settings.
    fn check(&mut self, number: usize, info: &TcpInfo) -> Result<(), Error> {
        let flow = &self.scenario.flows[number];
        let kernels = (&self.scenario.kernels[flow.from], &self.scenario.kernels[flow.to]);
        let congestion = sockets::congestion(&self.sessions[number].sockets().sender)?;
        let found = settings::check_connection(&flow.name, kernels, (info, &congestion))?;
        self.effective.push((flow.name.clone(), found));
        Ok(())
    }
}
