//! A scenario's flows on guest kernels: Linux built as a program, whose clock is this side's.

mod agent;
mod device;
mod machine;
mod memory;
mod netlink;
mod offload;
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
use rtolab_time::Duration;

use super::carrier::Carrier;
use super::host::address;
use super::lateness::LatenessMeter;
use super::log::Log;
use super::recording::{self, Ending, Known};
use super::routes::Routes;
use super::session::Session;
use super::sockets::Protocol;
use super::workload;
use crate::emulation::{Emulator, Ran};
use crate::error::Error;
use crate::guest_kernel::GuestKernel;
use crate::report::{Counts, HostReport, Lateness};
use remote::RemoteSockets;
use stage::{Stage, Zero};
use world::World;

/// Further packets are not kept.
const MOST_PACKETS: usize = 20_000_000;
/// Time 0 of the links is a multiple of this after the guests' start.
const BEGIN: Duration = Duration::from_secs(1);

pub(crate) fn run(
    emulation: &Emulator<'_>,
    kernel: &GuestKernel,
    run: Run,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Ran, Error> {
    let scenario = emulation.scenario;
    workload::check(scenario)?;
    workload::check_hosts(scenario)?;
    let routes = Routes::new(scenario)?;
    let stream = Stream::new(emulation.seed);
    let asking = RefCell::new(interrupted);
    let mut ask = || (asking.borrow_mut())();
    let wanted = scenario.nodes.iter().enumerate().map(|(host, name)| {
        let sockets = scenario.flows.iter().filter(|flow| flow.from == host || flow.to == host);
        (name.as_str(), sockets.count(), stream.child("guest").child(name).rng().bits())
    });
    let wanted: Vec<_> = wanted.collect();
    let kernels = vec![kernel; wanted.len()];
    let mut world = World::new(&kernels, &wanted, &mut ask)?;
    let mut hosts = Vec::new();
    for (guest, (name, settings)) in scenario.nodes.iter().zip(&scenario.kernels).enumerate() {
        hosts.push(HostReport {
            name: name.clone(),
            address: address(guest),
            kernel: Some(kernel.title.clone()),
            effective: setup::set_up(&mut world, (guest, name), settings)?,
            before: setup::counts(&mut world, guest)?,
            after: Counts::new(),
        });
    }
    let size = (&routes, scenario.nodes.len(), scenario.flows.len());
    let draws = (emulation.seed, scenario.measured);
    let sessions = scenario.flows.iter().enumerate().map(|(number, flow)| {
        let sockets = RemoteSockets::new(number, Protocol::of(&flow.workload));
        Session::new(sockets, flow, stream)
    });
    let mut stage = Stage {
        scenario,
        zero: Zero(world.now().next_multiple_of(BEGIN.nanos())),
        world,
        carrier: Carrier::new(size, draws, Log::new(MOST_PACKETS)),
        sessions: sessions.collect(),
        samples: scenario.flows.iter().map(|_| Vec::new()).collect(),
        effective: Vec::new(),
        waiting: scenario.nodes.iter().map(|_| VecDeque::new()).collect(),
        late: LatenessMeter::new(),
    };
    stage.open()?;
    stage.wait()?;
    let ended = stage.play(&|| (asking.borrow_mut())())?;
    let at = stage.now();
    stage.finish()?;
    for (guest, host) in hosts.iter_mut().enumerate() {
        host.after = setup::counts(&mut stage.world, guest)?;
    }
    let ending = Ending {
        at,
        refused: stage.world.refused,
        lateness: stage.late.read(),
        waited: Lateness::default(),
        real_time: true,
    };
    let Stage { mut carrier, sessions, samples, effective, .. } = stage;
    let outcome = (ended, effective, hosts);
    let report = recording::report((emulation, &routes), &carrier, &ending, outcome);
    let known =
        sessions.iter().enumerate().map(|(flow, session)| Known::of(scenario, flow, session));
    let known: Vec<_> = known.collect();
    let watched = samples::replay(&carrier.log, &samples);
    let all = (known.as_slice(), watched.as_slice());
    let recording = recording::recording((scenario, &routes), run, (&mut carrier, at), all);
    Ok(Ran { recording, report })
}
