//! A scenario's flows, or programs, on guest kernels: Linux built as a program, with a virtual
//! clock that this process controls.

mod agent;
mod device;
mod engine;
mod flows;
mod guests;
mod hosts;
mod machine;
mod memory;
mod netlink;
mod offload;
mod processor;
mod programs;
mod queue;
mod remote;
mod samples;
mod schedule;
mod setup;
mod stage;

use std::cell::RefCell;
use std::collections::VecDeque;

use rtolab_link::Stream;
use rtolab_record::{Place, Run, Truth};
use rtolab_scenario::Begin;
use rtolab_time::{Duration, Instant};

use super::argv;
use super::connections;
use super::emulated_network::EmulatedNetwork;
use super::lateness::LatenessMeter;
use super::log::Log;
use super::needs;
use super::reading;
use super::recording::{self, Ending, FlowInfo};
use super::routes::Routes;
use super::session::Session;
use super::sockets::Protocol;
use super::truth;
use super::watch::Observations;
use super::withheld::Withheld;
use super::workload;
use crate::emulation::{EmulationResult, Emulator, PacketLogging};
use crate::error::Error;
use crate::guest_kernel::VirtualHosts;
use crate::programs::{OnOutput, Programs};
use crate::report::{EffectiveSettings, EndReason, HostReport, Lateness, WithheldRetransmission};
use flows::Flows;
use guests::Guests;
use hosts::{engine_ends, engine_hosts, start};
use programs::Running;
use remote::RemoteSockets;
use stage::{Actors, GuestRun, Zero};

/// The maximum number of packets recorded.
const MAX_PACKETS: usize = 20_000_000;
/// Time 0 of the links is this long after the guests' start, or [`AGAIN`] later. Linux counts its
/// ticks from 300 s before they wrap (`INITIAL_JIFFIES`), so the slots of its timer wheel, up to
/// those of 4096 ticks, then begin at time 0 for HZ 250 and 1000: 300 s - 18 * 16.384 s.
const BEGIN: Duration = Duration::from_millis(5088);
const AGAIN: Duration = Duration::from_millis(16_384);

/// Flows.
pub(crate) fn run(
    emulation: &Emulator<'_>,
    hosts: &VirtualHosts<'_>,
    run: Run,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    let routes = checked(emulation)?;
    let mut finished = run_flows(emulation, (hosts, &routes), None, interrupted)?;
    let withheld = match hosts.withhold {
        true => withhold(emulation, (hosts, &routes), &mut finished, interrupted)?,
        false => Vec::new(),
    };
    let mut result = finished.result((emulation, &routes), run);
    result.report.withheld = withheld;
    Ok(result)
}

/// Sets the truth about each retransmission from a repeated run without it. Returns the truths,
/// compared with those of the packets' fates.
fn withhold<'a>(
    emulation: &Emulator<'a>,
    (hosts, routes): (&VirtualHosts<'_>, &'a Routes),
    finished: &mut FinishedRun<'_>,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Vec<WithheldRetransmission>, Error> {
    let flows = emulation.scenario.flows.len();
    let seen = reading::read_flows(&finished.network.log, flows);
    let mut compared = Vec::new();
    for (flow, observed) in finished.observations.iter_mut().enumerate() {
        let Some(observed) = observed else { continue };
        for episode in &mut observed.episodes {
            let Some(withheld) = Withheld::new(episode.copy, &finished.network.log) else {
                continue;
            };
            let known = seen[flow].binary_search_by_key(&episode.copy, |one| one.copy);
            let Ok(index) = known else { continue };
            let repeated = run_flows(emulation, (hosts, routes), Some(withheld), interrupted)?;
            if repeated.ended == EndReason::Interrupted {
                finished.ended = EndReason::Interrupted;
                break;
            }
            let name = &emulation.scenario.flows[flow].name;
            let truth = repeated.withheld_truth(flows).ok_or_else(|| Error::NotRepeated {
                flow: name.clone(),
                at: episode.at.since(Instant::START),
            })?;
            episode.truth = Some(truth);
            compared.push(WithheldRetransmission {
                flow: name.clone(),
                at: episode.at,
                kind: episode.kind,
                by_fates: truth::truth(&seen[flow], index),
                by_withholding: truth,
            });
        }
    }
    Ok(compared)
}

/// The routes of a scenario whose flows guests can run.
fn checked(emulation: &Emulator<'_>) -> Result<Routes, Error> {
    workload::check(emulation.scenario)?;
    workload::check_hosts(emulation.scenario)?;
    Routes::new(emulation.scenario)
}

/// A run of flows after its end.
struct FinishedRun<'a> {
    network: EmulatedNetwork<'a>,
    /// The properties of each flow that its packets do not show.
    known: Vec<FlowInfo>,
    observations: Vec<Option<Observations>>,
    effective: Vec<(String, EffectiveSettings)>,
    ended: EndReason,
    ending: Ending,
    hosts: Vec<HostReport>,
}

impl FinishedRun<'_> {
    fn result(
        mut self,
        (emulation, routes): (&Emulator<'_>, &Routes),
        run: Run,
    ) -> EmulationResult {
        let at = self.ending.at;
        let outcome = (self.ended, self.effective, self.hosts);
        let report = recording::report((emulation, routes), &self.network, &self.ending, outcome);
        let all = (self.known.as_slice(), self.observations.as_slice());
        let recording =
            recording::recording((emulation, routes), run, (&mut self.network, at), all);
        EmulationResult { recording, report }
    }

    /// The truth about the retransmission that was withheld; `None` if this run differs from the
    /// one with it.
    fn withheld_truth(&self, flows: usize) -> Option<Truth> {
        let withheld = self.network.withheld.as_ref()?;
        withheld.truth(&reading::read_flows(&self.network.log, flows)[withheld.flow()])
    }
}

/// Runs the flows of a scenario. The run ends early if the truth about a withheld retransmission is
/// known.
fn run_flows<'a>(
    emulation: &Emulator<'a>,
    (virtual_hosts, routes): (&VirtualHosts<'_>, &'a Routes),
    withheld: Option<Withheld>,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<FinishedRun<'a>, Error> {
    let scenario = emulation.scenario;
    let stream = Stream::new(emulation.seed);
    let interrupted = RefCell::new(interrupted);
    let mut is_interrupted = || (interrupted.borrow_mut())();
    let engines = engine_hosts(scenario, virtual_hosts)?;
    let mut sessions = Vec::new();
    for (number, flow) in scenario.flows.iter().enumerate() {
        let mut sockets = RemoteSockets::new(number, Protocol::of(&flow.workload));
        sockets.engines = engine_ends(emulation, (virtual_hosts.sender, &engines), number)?;
        sessions.push(Session::new(sockets, flow, stream));
    }
    let start_of = (virtual_hosts, engines.as_slice(), false);
    let (guests, mut hosts) = start(emulation, start_of, &mut is_interrupted)?;
    let flows = Flows::new(scenario, sessions);
    let size = (routes, scenario.nodes.len(), scenario.flows.len());
    let draws = (emulation.seed, scenario.measured);
    let mut network = EmulatedNetwork::new(size, draws, Log::new(MAX_PACKETS));
    network.withheld = withheld;
    let end = Instant::START + scenario.duration;
    let mut guest_run = guest_run((guests, scenario.nodes.len()), network, flows, Some(end));
    let zero = begin(guest_run.guests.now());
    guest_run.zero = Zero(Some(zero));
    guest_run.act(Flows::open)?;
    guest_run.wait(zero)?;
    let ended = guest_run.run(&|| (interrupted.borrow_mut())())?;
    let at = guest_run.now();
    guest_run.guests.catch_up();
    guest_run.act(Flows::request_reports)?;
    guest_run.take_reports();
    let now = guest_run.now();
    guest_run.actors.finish(now)?;
    count(&mut guest_run.guests, &mut hosts)?;
    let ending = ending(&guest_run, at);
    let GuestRun { network, actors: Flows { sessions, samples, effective, .. }, .. } = guest_run;
    let mut known = Vec::new();
    let mut observations = samples::replay(&network.log, &samples);
    for (flow, session) in sessions.iter().enumerate() {
        let mut info = FlowInfo::of(scenario, flow, session);
        if let Some(engine) = &session.sockets_ref().engines[Place::Sender.index()] {
            info.sender = scenario.flows[flow].sender_name(Some(virtual_hosts.sender)).into();
            observations[flow] = Some(engine.observations());
        }
        known.push(info);
    }
    Ok(FinishedRun { network, known, observations, effective, ended, ending, hosts })
}

/// Runs programs on guest kernels.
pub(crate) fn run_programs(
    emulation: &Emulator<'_>,
    virtual_hosts: &VirtualHosts<'_>,
    (programs, output): (&Programs<'_>, &mut OnOutput<'_>),
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    let scenario = emulation.scenario;
    workload::check_for_command(scenario)?;
    needs::check_command(&argv::substitute(scenario, programs.client))?;
    let routes = Routes::new(scenario)?;
    let interrupted = RefCell::new(interrupted);
    let mut is_interrupted = || (interrupted.borrow_mut())();
    let engines = engine_hosts(scenario, virtual_hosts)?;
    if let Some(engine) = virtual_hosts.engine.first() {
        let found = format!("host `{engine}` is the engine");
        return Err(Error::Unsupported { found, expected: "guests alone, beside programs" });
    }
    let start_of = (virtual_hosts, engines.as_slice(), true);
    let (guests, mut hosts) = start(emulation, start_of, &mut is_interrupted)?;
    let log = Log::new(match programs.logging {
        PacketLogging::Off => 0,
        PacketLogging::Headers => MAX_PACKETS,
    });
    let draws = (emulation.seed, (Instant::START, Instant::START + scenario.duration));
    let network = EmulatedNetwork::new((&routes, scenario.nodes.len(), 0), draws, log);
    let running = Running::new(scenario, programs, output);
    let mut guest_run = guest_run((guests, scenario.nodes.len()), network, running, None);
    let begin = begin(guest_run.guests.now());
    guest_run.wait(begin)?;
    guest_run.zero = Zero((scenario.emulation.begin == Begin::AtOnce).then_some(begin));
    let ended = guest_run.run(&|| (interrupted.borrow_mut())())?;
    let at = guest_run.now();
    if ended != EndReason::Interrupted {
        guest_run.guests.catch_up();
        count(&mut guest_run.guests, &mut hosts)?;
    }
    let ending = ending(&guest_run, at);
    let outcome = (ended, Vec::new(), hosts);
    let network = &mut guest_run.network;
    let mut report = recording::report((emulation, &routes), network, &ending, outcome);
    report.server_end = guest_run.actors.server_end();
    let run = Run { run: 0, seed: emulation.seed, sender: "linux".into() };
    let known = connections::find(&mut network.log);
    let recording = recording::recording((emulation, &routes), run, (network, at), (&known, &[]));
    if programs.log_folder.is_some() && ended != EndReason::Interrupted {
        // What programs send at their end is not part of the run.
        network.log = Log::new(0);
        guest_run.act(Running::archive)?;
        guest_run.run(&|| (interrupted.borrow_mut())())?;
    }
    Ok(EmulationResult { recording, report })
}

/// Time 0 of the links, in nanoseconds, for guests that are ready at `now`.
fn begin(now: u64) -> u64 {
    BEGIN.nanos() + now.saturating_sub(BEGIN.nanos()).next_multiple_of(AGAIN.nanos())
}

fn guest_run<'a, 'b, A: Actors>(
    (guests, hosts): (Guests<'b>, usize),
    network: EmulatedNetwork<'a>,
    actors: A,
    end: Option<Instant>,
) -> GuestRun<'a, 'b, A> {
    let waiting = vec![VecDeque::new(); hosts];
    GuestRun { guests, network, actors, zero: Zero(None), end, waiting, late: LatenessMeter::new() }
}

fn count(guests: &mut Guests<'_>, hosts: &mut [HostReport]) -> Result<(), Error> {
    for (number, host) in hosts.iter_mut().enumerate().filter(|(_, host)| host.kernel.is_some()) {
        host.exchange = guests.exchange(number);
        host.after = setup::counts(guests, number)?;
    }
    Ok(())
}

fn ending<A>(guest_run: &GuestRun<'_, '_, A>, at: Instant) -> Ending {
    Ending {
        at,
        refused: guest_run.guests.refused,
        lateness: guest_run.late.read(),
        waited: Lateness::default(),
        real_time: true,
    }
}
