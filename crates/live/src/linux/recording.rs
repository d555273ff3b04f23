//! The recording of an emulated run: the tables of a simulated one.

use std::sync::Arc;

use rtolab_link::{Direction, Stats};
use rtolab_net::ScoredDetectors;
use rtolab_net::workload::Task;
use rtolab_record::{
    ConnectionRow, DisturbanceRow, DuplicateRow, LinkRow, Measured, PacketEvent, Place, Recording,
    Run, SegmentRow, TaskRow, TimeoutKind, TimeoutRow, Truths, WindowRow,
};
use rtolab_scenario::Scenario;
use rtolab_time::{Duration, Instant};

use super::emulated_network::EmulatedNetwork;
use super::log::Sent;
use super::observed_packet::ObservedPacket;
use super::reading;
use super::routes::Routes;
use super::scored;
use super::session::Session;
use super::sockets::{Protocol, Sockets};
use super::tally::{Tally, tally};
use super::truth::truth;
use super::watch::{Episode, Observations, Sample};
use crate::emulation::Emulator;
use crate::report::{EffectiveSettings, EndReason, HostReport, Lateness, LinkReport, Report};

/// The value from which ssthresh counts as unlimited.
const NO_THRESHOLD: u32 = i32::MAX as u32;

/// The end of a run, with the lateness of packets.
pub(crate) struct Ending {
    pub at: Instant,
    /// Packets that left a link, but that the kernel refused.
    pub refused: u64,
    pub lateness: Lateness,
    pub waited: Lateness,
    pub real_time: bool,
}

/// The report of links and hosts.
pub(crate) fn report(
    (emulation, routes): (&Emulator<'_>, &Routes),
    network: &EmulatedNetwork<'_>,
    ending: &Ending,
    (ended, connections, hosts): (EndReason, Vec<(String, EffectiveSettings)>, Vec<HostReport>),
) -> Report {
    let scenario = emulation.scenario;
    let round_trip = routes.round_trip(scenario);
    let link = |(index, (name, _)): (usize, &(Arc<str>, _))| {
        let ends = scenario
            .links
            .get(index)
            .map(|link| [link.ends.0, link.ends.1].map(|node| scenario.nodes[node].clone()));
        let [forward, backward] = network.link_stats(index);
        LinkReport {
            name: name.to_string(),
            ends,
            stats: [forward.0, backward.0],
            inside: [forward.1, backward.1],
        }
    };
    Report {
        ended,
        elapsed: ending.at.since(Instant::START),
        links: routes.links.iter().enumerate().map(link).collect(),
        hosts,
        connections,
        refused: ending.refused,
        lateness: ending.lateness,
        waited: ending.waited,
        allowed: scenario.emulation.lateness.unwrap_or_else(|| allowed(round_trip)),
        round_trip,
        real_time: ending.real_time,
        server_end: None,
        withheld: Vec::new(),
    }
}

/// The default of the allowed lateness: 1 ms, or 5 % of the round-trip time if that is longer.
fn allowed(round_trip: Duration) -> Duration {
    Duration::from_millis(1).max(round_trip / 20)
}

/// The properties of a flow that its packets do not show.
pub(crate) struct FlowInfo {
    pub name: Arc<str>,
    /// The sender's name in tables.
    pub sender: Arc<str>,
    /// The set to which it belongs.
    pub set: Option<Arc<str>>,
    /// The bytes that the receiving application read; `None` if only the packets show them.
    pub bytes: Option<u64>,
    /// Its pages, or its requests with responses.
    pub tasks: Vec<Task>,
}

impl FlowInfo {
    /// The properties of a flow of the scenario.
    pub(crate) fn of<S: Sockets>(scenario: &Scenario, index: usize, session: &Session<S>) -> Self {
        let flow = &scenario.flows[index];
        let sender = match session.protocol() {
            Protocol::Udp => "udp".into(),
            Protocol::Tcp => format!("linux {}", scenario.kernels[flow.from].congestion).into(),
        };
        Self {
            name: flow.name.as_str().into(),
            sender,
            set: flow.set.as_deref().map(Arc::from),
            bytes: Some(session.bytes()),
            tasks: session.tasks().to_vec(),
        }
    }
}

pub(crate) fn recording(
    (emulation, routes): (&Emulator<'_>, &Routes),
    run: Run,
    (network, until): (&mut EmulatedNetwork<'_>, Instant),
    (flows, observations): (&[FlowInfo], &[Option<Observations>]),
) -> Recording {
    let scenario = emulation.scenario;
    let mut recording = Recording { run, ..Recording::default() };
    for (index, seen) in reading::read_flows(&network.log, flows.len()).iter().enumerate() {
        let watch = observations.get(index).and_then(Option::as_ref);
        let info = &flows[index];
        let name = &info.name;
        recording.flows.push(name.clone());
        let episodes = watch.map_or(&[][..], |watch| watch.episodes.as_slice());
        let timeouts = episodes.iter().filter_map(|it| Some((it.copy, timeout(name, seen, it)?)));
        let (copies, timeouts): (Vec<_>, Vec<_>) = timeouts.unzip();
        if let (Some(watch), false) = (watch, emulation.judges.is_empty()) {
            let path = scenario.flows[index].tcp.dualrtt.path;
            let mut detectors = ScoredDetectors::new(path, emulation.judges);
            let packets = (seen.as_slice(), network.log.second.as_slice());
            let decisions = (timeouts.as_slice(), copies.as_slice(), watch.probes.as_slice());
            recording.verdicts.extend(scored::verdicts(&mut detectors, packets, decisions, until));
        }
        let has_truth = watch.is_some();
        let (tally, parts) = tally(seen, scenario.measured);
        recording.duplicates.extend(duplicates(name, &tally));
        let counted = (tally, scenario.measured, parts);
        recording.connections.extend(connection(info, counted, &timeouts, has_truth));
        let samples = watch.map_or(&[][..], |watch| watch.samples.as_slice());
        recording.windows.extend(samples.iter().map(|sample| window(name, sample)));
        recording.segments.extend(segments(index, seen, &network.log.second));
        recording.tasks.extend(tasks(info));
        recording.timeouts.extend(timeouts);
    }
    recording.segments.sort_by_key(|row| row.at);
    recording.heads = network.log.sent.iter().map(Sent::padded_head).collect();
    for (index, (name, _)) in routes.links.iter().enumerate() {
        recording.links.extend(links(name, network, index));
        recording.disturbances.extend(disturbances(name, network, (index, until)));
    }
    recording
}

fn connection(
    info: &FlowInfo,
    (tally, (from, to), parts): (Tally, (Instant, Instant), [Measured; 2]),
    timeouts: &[TimeoutRow],
    has_truth: bool,
) -> Option<ConnectionRow> {
    let of = |kind| timeouts.iter().filter(move |row| row.kind == kind);
    let [timed, fast] = [TimeoutKind::Timeout, TimeoutKind::FastRetransmit];
    let within = |kind| of(kind).filter(|row| (from..=to).contains(&row.at)).count() as u64;
    let measured = Measured {
        timeouts: within(timed),
        fast_retransmits: within(fast),
        ..parts[1].since(&parts[0], to.since(from))
    };
    let truths = [timed, fast].map(|kind| {
        let mut truths = Truths::default();
        of(kind).filter_map(|row| row.truth).for_each(|truth| truths.count(truth));
        truths
    });
    Some(ConnectionRow {
        flow: info.name.clone(),
        flow_sender: info.sender.clone(),
        set: info.set.clone(),
        start: tally.start?,
        end: tally.end,
        bytes: info.bytes.unwrap_or(tally.counts.bytes),
        segments: tally.counts.segments,
        header_bytes: tally.header_bytes,
        acked_segments: tally.counts.acked_segments,
        retransmissions: tally.retransmissions,
        unneeded: tally.unneeded,
        lost: tally.lost,
        absorbed: 0,
        local: 0,
        timeouts: of(timed).count() as u64,
        fast_retransmits: of(fast).count() as u64,
        truths: has_truth.then_some(truths),
        found_spurious: of(timed).filter(|row| row.verdict.is_some()).count() as u64,
        acks: tally.acks,
        dupacks: tally.dupacks.len() as u64,
        delay: tally.delay,
        measured,
    })
}

/// The rows of duplicate ACKs. Their causes are known only in simulations.
fn duplicates(name: &Arc<str>, tally: &Tally) -> impl Iterator<Item = DuplicateRow> {
    tally.dupacks.iter().map(|(at, ack)| DuplicateRow {
        flow: name.clone(),
        at: *at,
        ack: *ack,
        cause: None,
    })
}

fn timeout(name: &Arc<str>, seen: &[ObservedPacket], episode: &Episode) -> Option<TimeoutRow> {
    let index = seen.binary_search_by_key(&episode.copy, |one| one.copy).ok()?;
    let one = &seen[index];
    Some(TimeoutRow {
        flow: name.clone(),
        end: Place::Sender,
        at: episode.at,
        kind: episode.kind,
        seq: one.segment.seq.relative(),
        rto: episode.rto,
        backoff: episode.backoff,
        cwnd: episode.cwnd,
        needed: !one.unneeded,
        truth: Some(episode.truth.unwrap_or_else(|| truth(seen, index))),
        cost: None,
        verdict: episode.undone.map(|_| "spurious"),
        detector: episode.undone.map(|(detector, _)| detector),
        verdict_at: episode.undone.map(|(_, at)| at),
    })
}

fn window(name: &Arc<str>, Sample { at, info }: &Sample) -> WindowRow {
    let bytes = |segments: u32| u64::from(segments) * u64::from(info.snd_mss);
    let sampled = !info.srtt.is_zero();
    WindowRow {
        flow: name.clone(),
        at: *at,
        cwnd: bytes(info.cwnd),
        ssthresh: Some(info.ssthresh).filter(|it| *it < NO_THRESHOLD).map(bytes),
        flight: bytes(info.unacked),
        srtt: sampled.then_some(info.srtt),
        rttvar: sampled.then_some(info.rttvar),
        rto: info.rto,
    }
}

/// The rows of packets: two for a packet that arrived, one for a packet that did not.
fn segments<'a>(
    index: usize,
    seen: &'a [ObservedPacket],
    second: &'a [(u64, Instant)],
) -> impl Iterator<Item = SegmentRow> + 'a {
    seen.iter().flat_map(move |one| {
        let row = move |at, place, event| SegmentRow {
            flow: index as u32,
            at,
            place,
            event,
            copy: one.copy,
            segment: one.segment,
            bytes: one.bytes,
            retransmission: one.retransmission,
            unneeded: one.unneeded,
            fate: one.fate,
            fate_at: one.fate_at,
            held: one.held,
        };
        let second_arrivals =
            second.iter().filter(|(copy, _)| *copy == one.copy).map(|(_, at)| *at);
        let arrivals = one.arrived().into_iter().chain(second_arrivals);
        let received = arrivals.map(move |at| row(at, one.from.other(), PacketEvent::Received));
        [row(one.sent, one.from, PacketEvent::Sent)].into_iter().chain(received)
    })
}

fn tasks(info: &FlowInfo) -> impl Iterator<Item = TaskRow> {
    info.tasks.iter().zip(1..).map(|(task, number)| TaskRow {
        flow: info.name.clone(),
        number,
        due: task.due,
        start: task.start,
        end: task.end,
        bytes: task.bytes,
    })
}

fn links(
    name: &Arc<str>,
    network: &EmulatedNetwork<'_>,
    index: usize,
) -> impl Iterator<Item = LinkRow> {
    let parts = network.measured(index);
    let stats = network.link_stats(index).map(|(stats, _)| stats);
    let name = name.clone();
    Direction::BOTH.into_iter().map(move |direction| {
        let [from, to]: [Stats; 2] = parts.map(|part| part[direction.index()]);
        LinkRow {
            link: name.clone(),
            direction,
            stats: stats[direction.index()],
            measured_transmitted_bytes: to.transmitted_bytes - from.transmitted_bytes,
            measured_delivered_bytes: to.bytes - from.bytes,
        }
    })
}

fn disturbances(
    name: &Arc<str>,
    network: &mut EmulatedNetwork<'_>,
    (index, until): (usize, Instant),
) -> impl Iterator<Item = DisturbanceRow> {
    let name = name.clone();
    let all = network.disturbances(index, until);
    all.into_iter().map(move |one| DisturbanceRow {
        link: name.clone(),
        direction: one.direction,
        kind: one.kind,
        from: one.from,
        to: one.to,
    })
}
