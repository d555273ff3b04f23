//! The hosts of a run: guest kernels, and hosts whose TCP is the engine.

use std::sync::Arc;

use rtolab_link::Stream;
use rtolab_record::Place;
use rtolab_scenario::Scenario;
use rtolab_settings::names::suggest;

use super::super::host::address;
use super::super::packet::port;
use super::super::sockets::Protocol;
use super::engine::EngineEnd;
use super::guests::{GuestSpec, Guests};
use super::machine::CLOCK;
use super::setup;
use crate::emulation::Emulator;
use crate::error::Error;
use crate::guest_kernel::VirtualHosts;
use crate::report::{Counts, EffectiveSettings, HostReport};

/// Returns, for each host, whether the engine is its TCP. All hosts that are named must be in the
/// scenario.
pub(super) fn engine_hosts(
    scenario: &Scenario,
    hosts: &VirtualHosts<'_>,
) -> Result<Vec<bool>, Error> {
    let names = || scenario.nodes.iter().map(String::as_str);
    let mut named = hosts.engine.iter().chain(hosts.others.iter().map(|(name, _)| name));
    if let Some(unknown) = named.find(|name| !scenario.nodes.contains(name)) {
        return Err(Error::NoHost { found: unknown.clone(), expected: suggest(unknown, names()) });
    }
    let engines: Vec<_> = names().map(|name| hosts.engine.iter().any(|one| one == name)).collect();
    match engines.iter().all(|engine| *engine) {
        true => Err(Error::NoGuest),
        false => Ok(engines),
    }
}

/// The ends of a flow at hosts whose TCP is the engine.
pub(super) fn engine_ends(
    emulation: &Emulator<'_>,
    (sender, engines): (&str, &[bool]),
    number: usize,
) -> Result<[Option<EngineEnd>; 2], Error> {
    let flow = &emulation.scenario.flows[number];
    let unsupported =
        |found: String, expected: &'static str| Error::Unsupported { found, expected };
    let stream = Stream::new(emulation.seed).child("engine").child(&flow.name);
    let hosts = [flow.from, flow.to];
    let socket_address = |place: Place| (address(hosts[place.index()]), port(number, place));
    let end = |place: Place| {
        let host = hosts[place.index()];
        if !engines[host] {
            return Ok(None);
        }
        if Protocol::of(&flow.workload) == Protocol::Udp {
            let found = format!("flow `{}` sends datagrams to or from the engine", flow.name);
            return Err(unsupported(found, "TCP at hosts that are the engine"));
        }
        let config = match place {
            Place::Sender => flow
                .sender_config(Some(sender))
                .map(Arc::new)
                .map_err(|error| unsupported(error.to_string(), "a sender of the engine"))?,
            Place::Receiver => flow.receiver.clone(),
        };
        let isn = stream.child(place.name()).rng().bits() as u32;
        let ends = (socket_address(place), socket_address(place.other()));
        Ok(Some(EngineEnd::new((config, isn), host, ends)))
    };
    let [sender, receiver] = Place::BOTH.map(end);
    Ok([sender?, receiver?])
}

/// Starts a guest for each host whose TCP is not the engine, and sets it up.
pub(super) fn start<'a>(
    emulation: &Emulator<'_>,
    (virtual_hosts, engines, programs): (&VirtualHosts<'_>, &[bool], bool),
    interrupted: &'a mut dyn FnMut() -> bool,
) -> Result<(Guests<'a>, Vec<HostReport>), Error> {
    let scenario = emulation.scenario;
    let stream = Stream::new(emulation.seed);
    let nodes = scenario.nodes.iter().enumerate().filter(|(host, _)| !engines[*host]);
    let specs = nodes.map(|(host, name)| {
        let sockets = scenario.flows.iter().filter(|flow| flow.from == host || flow.to == host);
        let seed = stream.child("guest").child(name).rng().bits();
        GuestSpec { host, name, sockets: sockets.count(), programs, seed }
    });
    let specs: Vec<_> = specs.collect();
    let clock = if programs { clock()? } else { CLOCK };
    let kernels: Vec<_> = specs.iter().map(|spec| virtual_hosts.kernel_of(spec.name)).collect();
    let mut guests = Guests::new(&kernels, (&specs, clock), interrupted)?;
    let mut hosts = Vec::new();
    for (host, (name, settings)) in scenario.nodes.iter().zip(&scenario.kernels).enumerate() {
        let mut report = HostReport {
            name: name.clone(),
            address: address(host),
            kernel: None,
            exchange: None,
            effective: EffectiveSettings::new(),
            before: Counts::new(),
            after: Counts::new(),
        };
        if !engines[host] {
            let kernel = virtual_hosts.kernel_of(name);
            if programs {
                setup::show_files(&mut guests, host, kernel)?;
            }
            report.kernel = Some(kernel.title.clone());
            report.effective = setup::set_up(&mut guests, (host, name), settings)?;
            report.before = setup::counts(&mut guests, host)?;
        }
        hosts.push(report);
    }
    Ok((guests, hosts))
}

/// The real-time clock of guests with programs: that of `SOURCE_DATE_EPOCH`, as in reproducible
/// builds.
fn clock() -> Result<u64, Error> {
    let Some(given) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(CLOCK) };
    let seconds = given.to_str().and_then(|text| text.parse::<u64>().ok());
    // 2^32 s in nanoseconds leaves room in 64 bits for timers that expire centuries later.
    seconds.filter(|seconds| *seconds < 1 << 32).map(|seconds| seconds * 1_000_000_000).ok_or_else(
        || Error::Unsupported {
            found: format!("SOURCE_DATE_EPOCH: found {}", given.to_string_lossy()),
            expected: "whole seconds since 1970, below 2^32",
        },
    )
}
