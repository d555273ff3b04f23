//! A scenario's flows, or programs, on guest kernels: Linux built as a program, with a virtual
//! clock that this process controls.

mod agent;
mod device;
mod flows;
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
mod world;

use std::cell::RefCell;
use std::collections::VecDeque;

use rtolab_link::Stream;
use rtolab_record::Run;
use rtolab_scenario::Begin;
use rtolab_time::{Duration, Instant};

use super::argv;
use super::carrier::Carrier;
use super::connections;
use super::host::address;
use super::lateness::LatenessMeter;
use super::log::Log;
use super::needs;
use super::recording::{self, Ending, FlowInfo};
use super::routes::Routes;
use super::session::Session;
use super::sockets::Protocol;
use super::workload;
use crate::emulation::{EmulationResult, Emulator, PacketLogging};
use crate::error::Error;
use crate::guest_kernel::GuestKernel;
use crate::programs::{OnOutput, Programs};
use crate::report::{Counts, EndReason, HostReport, Lateness};
use flows::Flows;
use machine::CLOCK;
use programs::Running;
use remote::RemoteSockets;
use stage::{Actors, GuestRun, Zero};
use world::{GuestSpec, World};

/// The maximum number of packets recorded.
const MAX_PACKETS: usize = 20_000_000;
/// The granularity of time 0 of the links, after the guests' start.
const BEGIN: Duration = Duration::from_secs(1);

/// Flows.
pub(crate) fn run(
    emulation: &Emulator<'_>,
    kernel: &GuestKernel,
    run: Run,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    let scenario = emulation.scenario;
    workload::check(scenario)?;
    workload::check_hosts(scenario)?;
    let routes = Routes::new(scenario)?;
    let stream = Stream::new(emulation.seed);
    let interrupted = RefCell::new(interrupted);
    let mut is_interrupted = || (interrupted.borrow_mut())();
    let (world, mut hosts) = start(emulation, (kernel, false), &mut is_interrupted)?;
    let sessions = scenario.flows.iter().enumerate().map(|(number, flow)| {
        let sockets = RemoteSockets::new(number, Protocol::of(&flow.workload));
        Session::new(sockets, flow, stream)
    });
    let flows = Flows::new(scenario, sessions.collect());
    let size = (&routes, scenario.nodes.len(), scenario.flows.len());
    let draws = (emulation.seed, scenario.measured);
    let carrier = Carrier::new(size, draws, Log::new(MAX_PACKETS));
    let end = Instant::START + scenario.duration;
    let mut guest_run = guest_run(world, carrier, flows, Some(end));
    let zero = guest_run.world.now().next_multiple_of(BEGIN.nanos());
    guest_run.zero = Zero(Some(zero));
    guest_run.act(Flows::open)?;
    guest_run.wait(zero)?;
    let ended = guest_run.run(&|| (interrupted.borrow_mut())())?;
    let at = guest_run.now();
    guest_run.world.catch_up();
    guest_run.act(Flows::request_reports)?;
    guest_run.take_reports();
    let now = guest_run.now();
    guest_run.actors.finish(now)?;
    count(&mut guest_run.world, &mut hosts)?;
    let ending = ending(&guest_run, at);
    let GuestRun { mut carrier, actors: Flows { sessions, samples, effective, .. }, .. } =
        guest_run;
    let outcome = (ended, effective, hosts);
    let report = recording::report((emulation, &routes), &carrier, &ending, outcome);
    let known =
        sessions.iter().enumerate().map(|(flow, session)| FlowInfo::of(scenario, flow, session));
    let known: Vec<_> = known.collect();
    let observations = samples::replay(&carrier.log, &samples);
    let all = (known.as_slice(), observations.as_slice());
    let recording = recording::recording((scenario, &routes), run, (&mut carrier, at), all);
    Ok(EmulationResult { recording, report })
}

/// Runs programs on guest kernels.
pub(crate) fn run_programs(
    emulation: &Emulator<'_>,
    kernel: &GuestKernel,
    (programs, output): (&Programs<'_>, &mut OnOutput<'_>),
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    let scenario = emulation.scenario;
    workload::check(scenario)?;
    needs::check_command(&argv::substitute(scenario, programs.client))?;
    let routes = Routes::new(scenario)?;
    let interrupted = RefCell::new(interrupted);
    let mut is_interrupted = || (interrupted.borrow_mut())();
    let (world, mut hosts) = start(emulation, (kernel, true), &mut is_interrupted)?;
    let log = Log::new(match programs.logging {
        PacketLogging::Off => 0,
        PacketLogging::Headers => MAX_PACKETS,
    });
    let draws = (emulation.seed, (Instant::START, Instant::START + scenario.duration));
    let carrier = Carrier::new((&routes, scenario.nodes.len(), 0), draws, log);
    let mut guest_run = guest_run(world, carrier, Running::new(scenario, programs, output), None);
    let begin = guest_run.world.now().next_multiple_of(BEGIN.nanos());
    guest_run.wait(begin)?;
    guest_run.zero = Zero((scenario.emulation.begin == Begin::AtOnce).then_some(begin));
    let ended = guest_run.run(&|| (interrupted.borrow_mut())())?;
    let at = guest_run.now();
    if ended != EndReason::Interrupted {
        guest_run.world.catch_up();
        count(&mut guest_run.world, &mut hosts)?;
    }
    let ending = ending(&guest_run, at);
    let GuestRun { mut carrier, .. } = guest_run;
    let outcome = (ended, Vec::new(), hosts);
    let report = recording::report((emulation, &routes), &carrier, &ending, outcome);
    let run = Run { run: 0, seed: emulation.seed, sender: "linux".into() };
    let known = connections::find(&mut carrier.log);
    let recording =
        recording::recording((scenario, &routes), run, (&mut carrier, at), (&known, &[]));
    Ok(EmulationResult { recording, report })
}

/// Starts a guest for each host, and sets it up.
fn start<'a>(
    emulation: &Emulator<'_>,
    (kernel, programs): (&GuestKernel, bool),
    interrupted: &'a mut dyn FnMut() -> bool,
) -> Result<(World<'a>, Vec<HostReport>), Error> {
    let scenario = emulation.scenario;
    let stream = Stream::new(emulation.seed);
    let guests = scenario.nodes.iter().enumerate().map(|(host, name)| {
        let sockets = scenario.flows.iter().filter(|flow| flow.from == host || flow.to == host);
        let seed = stream.child("guest").child(name).rng().bits();
        GuestSpec { name, sockets: sockets.count(), programs, seed }
    });
    let guests: Vec<_> = guests.collect();
    let clock = if programs { clock()? } else { CLOCK };
    let mut world = World::new(&vec![kernel; guests.len()], (&guests, clock), interrupted)?;
    let mut hosts = Vec::new();
    for (guest, (name, settings)) in scenario.nodes.iter().zip(&scenario.kernels).enumerate() {
        if programs {
            setup::show_files(&mut world, guest, kernel)?;
        }
        hosts.push(HostReport {
            name: name.clone(),
            address: address(guest),
            kernel: Some(kernel.title.clone()),
            effective: setup::set_up(&mut world, (guest, name), settings)?,
            before: setup::counts(&mut world, guest)?,
            after: Counts::new(),
        });
    }
    Ok((world, hosts))
}

/// The real-time clock of guests with programs: that of `SOURCE_DATE_EPOCH`, as in reproducible
/// builds.
fn clock() -> Result<u64, Error> {
    let Some(given) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(CLOCK) };
    let seconds = given.to_str().and_then(|text| text.parse::<u64>().ok());
    // A timer of the guest may end some centuries later.
    seconds.filter(|seconds| *seconds < 1 << 32).map(|seconds| seconds * 1_000_000_000).ok_or_else(
        || Error::Unsupported {
            found: format!("SOURCE_DATE_EPOCH: found {}", given.to_string_lossy()),
            expected: "whole seconds since 1970, below 2^32",
        },
    )
}

fn guest_run<'a, 'b, A: Actors>(
    world: World<'b>,
    carrier: Carrier<'a>,
    actors: A,
    end: Option<Instant>,
) -> GuestRun<'a, 'b, A> {
    let waiting = vec![VecDeque::new(); world.number()];
    GuestRun { world, carrier, actors, zero: Zero(None), end, waiting, late: LatenessMeter::new() }
}

fn count(world: &mut World<'_>, hosts: &mut [HostReport]) -> Result<(), Error> {
    for (guest, host) in hosts.iter_mut().enumerate() {
        host.after = setup::counts(world, guest)?;
    }
    Ok(())
}

fn ending<A>(guest_run: &GuestRun<'_, '_, A>, at: Instant) -> Ending {
    Ending {
        at,
        refused: guest_run.world.refused,
        lateness: guest_run.late.read(),
        waited: Lateness::default(),
        real_time: true,
    }
}
