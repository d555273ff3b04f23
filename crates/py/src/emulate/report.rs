//! The report of an emulation, as a dictionary.

use std::collections::BTreeMap;
use std::process::ExitStatus;

use pyo3::prelude::*;
use rtolab_link::{Direction, Stats};
use rtolab_live::{EndReason, HostReport, LinkReport, Report, ServerEnd, WithheldRetransmission};
use rtolab_time::{Duration, Instant};

/// The exit status of `timeout`.
const TIMED_OUT: i32 = 124;

/// A [`Report`] as a dictionary.
#[derive(IntoPyObject)]
pub(crate) struct EmulationReport {
    round_trip_s: f64,
    returncode: Option<i32>,
    interrupted: bool,
    elapsed_s: f64,
    links: Vec<LinkDirectionReport>,
    hosts: Vec<Host>,
    connections: BTreeMap<String, BTreeMap<String, String>>,
    refused: u64,
    lateness: Lateness,
    waited: WaitingTimes,
    real_time: bool,
    server_end: Option<EmulatedServerEnd>,
    withheld: Vec<Withheld>,
}

impl EmulationReport {
    pub(crate) fn new(report: &Report, interrupted: bool) -> Self {
        let directions = report.links.iter().flat_map(|link| {
            Direction::BOTH.map(|direction| LinkDirectionReport::new(link, direction))
        });
        let connections = report
            .connections
            .iter()
            .map(|(flow, settings)| (flow.clone(), settings.iter().cloned().collect()));
        Self {
            round_trip_s: report.round_trip.secs_f64(),
            returncode: match report.ended {
                EndReason::Exited(status) => returncode(status),
                EndReason::FlowsCompleted | EndReason::Duration => Some(0),
                EndReason::TimedOut => Some(TIMED_OUT),
                EndReason::Interrupted | EndReason::ServerEnded => None,
            },
            interrupted,
            elapsed_s: report.elapsed.secs_f64(),
            links: directions.collect(),
            hosts: report.hosts.iter().map(Host::new).collect(),
            connections: connections.collect(),
            refused: report.refused,
            lateness: Lateness::new(report),
            waited: WaitingTimes::new(&report.waited),
            real_time: report.real_time,
            server_end: report.server_end.map(EmulatedServerEnd::new),
            withheld: report.withheld.iter().map(Withheld::new).collect(),
        }
    }
}

/// The exit status of a process as in Python's `subprocess`: a signal is a negative number.
#[cfg(unix)]
fn returncode(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| -signal))
}

#[cfg(not(unix))]
fn returncode(status: ExitStatus) -> Option<i32> {
    status.code()
}

#[derive(IntoPyObject)]
struct EmulatedServerEnd {
    code: i32,
    before_client: bool,
}

impl EmulatedServerEnd {
    const fn new(end: ServerEnd) -> Self {
        Self { code: end.code, before_client: end.before_client }
    }
}

#[derive(IntoPyObject)]
struct Exchange {
    shared_memory: bool,
    messages: u64,
}

#[derive(IntoPyObject)]
struct Host {
    name: String,
    address: String,
    kernel: Option<String>,
    exchange: Option<Exchange>,
    effective: BTreeMap<String, String>,
    counters_before: BTreeMap<String, u64>,
    counters_after: BTreeMap<String, u64>,
    counted: BTreeMap<String, u64>,
}

impl Host {
    fn new(host: &HostReport) -> Self {
        Self {
            name: host.name.clone(),
            address: host.address.to_string(),
            kernel: host.kernel.clone(),
            exchange: host
                .exchange
                .map(|it| Exchange { shared_memory: it.shared_memory, messages: it.messages }),
            effective: host.effective.iter().cloned().collect(),
            counters_before: host.before.clone(),
            counters_after: host.after.clone(),
            counted: host.counted(),
        }
    }
}

/// The statistics of a link direction, as in the table `links`.
#[derive(IntoPyObject)]
struct LinkDirectionReport {
    link: String,
    from_host: Option<String>,
    to_host: Option<String>,
    offered: u64,
    delivered: u64,
    delivered_bytes: u64,
    dropped_queue: u64,
    dropped_error: u64,
    dropped_outage: u64,
    dropped_script: u64,
    dropped_early: u64,
    dropped_lifetime: u64,
    dropped_retries: u64,
    inside: usize,
    mean_delay_s: Option<f64>,
    max_delay_s: Option<f64>,
    max_queue: u32,
}

impl LinkDirectionReport {
    fn new(link: &LinkReport, direction: Direction) -> Self {
        let stats = &link.stats[direction.index()];
        let Stats { offered, delivered, bytes, drops, max_delay, max_queue, .. } = *stats;
        let host =
            |direction: Direction| link.ends.as_ref().map(|ends| ends[direction.index()].clone());
        Self {
            link: link.name.clone(),
            from_host: host(direction),
            to_host: host(direction.reverse()),
            offered,
            delivered,
            delivered_bytes: bytes,
            dropped_queue: drops.queue,
            dropped_error: drops.error,
            dropped_outage: drops.outage,
            dropped_script: drops.script,
            dropped_early: drops.early,
            dropped_lifetime: drops.lifetime,
            dropped_retries: drops.retries,
            inside: link.inside[direction.index()],
            mean_delay_s: stats.mean_delay().map(Duration::secs_f64),
            max_delay_s: (delivered > 0).then(|| max_delay.secs_f64()),
            max_queue,
        }
    }
}

/// The truth about a retransmission that a repeated run withheld.
#[derive(IntoPyObject)]
struct Withheld {
    flow: String,
    at_s: f64,
    kind: &'static str,
    by_fates: &'static str,
    by_withholding: &'static str,
}

impl Withheld {
    fn new(one: &WithheldRetransmission) -> Self {
        Self {
            flow: one.flow.clone(),
            at_s: one.at.since(Instant::START).secs_f64(),
            kind: one.kind.name(),
            by_fates: one.by_fates.name(),
            by_withholding: one.by_withholding.name(),
        }
    }
}

/// The lateness of packets that left links, compared with `allowed_s`.
#[derive(IntoPyObject)]
struct Lateness {
    packets: u64,
    p50_s: f64,
    p99_s: f64,
    max_s: f64,
    allowed_s: f64,
}

impl Lateness {
    fn new(report: &Report) -> Self {
        let late = &report.lateness;
        Self {
            packets: late.packets,
            p50_s: late.p50.secs_f64(),
            p99_s: late.p99.secs_f64(),
            max_s: late.max.secs_f64(),
            allowed_s: report.allowed.secs_f64(),
        }
    }
}

/// The times for which packets may have waited in a host's device.
#[derive(IntoPyObject)]
struct WaitingTimes {
    packets: u64,
    p50_s: f64,
    p99_s: f64,
    max_s: f64,
}

impl WaitingTimes {
    fn new(waited: &rtolab_live::Lateness) -> Self {
        Self {
            packets: waited.packets,
            p50_s: waited.p50.secs_f64(),
            p99_s: waited.p99.secs_f64(),
            max_s: waited.max.secs_f64(),
        }
    }
}
