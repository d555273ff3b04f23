//! A scenario made ready to run, many times.

use std::sync::Arc;

use rtolab_link::{Channel, ChannelConfig, Direction, Distribution, DisturbanceKind, Stream};
use rtolab_net::{Hop, Packet, route};
use rtolab_record::{Disturbance, DisturbanceRow, LinkRow, Recording, Run};
use rtolab_scenario::{Scenario, Workload};
use rtolab_tcp::sum::SumError;
use rtolab_time::{Duration, Instant};
use thiserror::Error;

use crate::flow::{Flow, Plan};
use crate::sim::Sim;
use crate::trace::Trace;

/// What to record beside the connections, timeouts and links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observe {
    /// Every packet at both ends, what disturbed the links, and the truth about every timeout.
    pub trace: bool,
    /// The sender's windows at every event.
    pub windows: bool,
}

/// Why a scenario cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The sender is no sum of policies.
    #[error(transparent)]
    Sender(#[from] SumError),
    /// No links lead from one end of a flow to the other.
    #[error("flow `{flow}`: no links lead from `{from}` to `{to}`")]
    NoRoute {
        /// The flow.
        flow: String,
        /// Its sender's node.
        from: String,
        /// Its receiver's node.
        to: String,
    },
}

/// A scenario with one sender, ready for any number of seeds.
pub struct Lab {
    sender: Arc<str>,
    end: Instant,
    channels: Vec<(Arc<str>, ChannelConfig)>,
    flows: Vec<Departure>,
}

/// When a flow begins.
struct Departure {
    plan: Arc<Plan>,
    start: Instant,
    jitter: Duration,
}

impl Lab {
    /// Makes `scenario` ready; `sender` replaces the sender of every flow that does not name its
    /// own.
    pub fn new(scenario: &Scenario, sender: Option<&str>) -> Result<Self, Error> {
        let mut channels: Vec<(Arc<str>, ChannelConfig)> = scenario
            .links
            .iter()
            .map(|link| (Arc::from(link.name.as_str()), link.channel.clone()))
            .collect();
        let ends: Vec<_> = scenario.links.iter().map(|link| link.ends).collect();
        let mut flows = Vec::new();
        for flow in &scenario.flows {
            let no_route = || Error::NoRoute {
                flow: flow.name.clone(),
                from: scenario.nodes[flow.from].clone(),
                to: scenario.nodes[flow.to].clone(),
            };
            let mut hops = route(&ends, flow.from, flow.to).ok_or_else(no_route)?;
            if let Some(access) = &flow.access {
                hops.insert(0, Hop { link: channels.len(), direction: Direction::Forward });
                channels.push((format!("{} access", flow.name).into(), access.clone()));
            }
            let back = |hop: &Hop| Hop { link: hop.link, direction: hop.direction.reverse() };
            let plan = Plan {
                name: flow.name.as_str().into(),
                sender: flow.sender_name(sender).into(),
                sender_config: Arc::new(flow.sender_config(sender)?),
                receiver_config: Arc::new(flow.receiver.clone()),
                hops_back: hops.iter().rev().map(back).collect(),
                hops,
                bytes: match flow.workload {
                    Workload::Bulk { bytes } => bytes,
                    _ => None,
                },
            };
            let (start, jitter) = (flow.start, flow.start_jitter);
            flows.push(Departure { plan: Arc::new(plan), start, jitter });
        }
        let first = flows.first().map_or("".into(), |flow| flow.plan.sender.clone());
        let sender = sender.map_or(first, Arc::from);
        Ok(Self { sender, end: Instant::START + scenario.duration, channels, flows })
    }

    /// The run with `seed` at its beginning.
    pub fn start(&self, seed: u64, observe: Observe) -> Sim {
        let stream = Stream::new(seed);
        let channel = |(name, config): &(Arc<str>, ChannelConfig)| {
            let mut channel = Channel::new(config, &stream.child(name));
            if observe.trace {
                channel.record_disturbances();
            }
            channel
        };
        let flow = |departure: &Departure| {
            let Departure { plan, start, jitter } = departure;
            let spread = Distribution::Uniform(Duration::ZERO, *jitter);
            let jitter = stream.child(&plan.name).child("start").rng().span(spread);
            Flow::new(plan.clone(), *start + jitter)
        };
        let flows = self.flows.iter().map(flow).collect();
        let trace = Trace::new(observe.trace, observe.windows);
        let mut sim = Sim::new(self.channels.iter().map(channel).collect(), flows, trace);
        sim.judging = observe.trace.then_some(self.end);
        sim
    }

    /// When a run ends at the latest.
    pub const fn end(&self) -> Instant {
        self.end
    }

    /// Runs with `seed` to the end; `run` numbers the run.
    pub fn run(&self, run: u32, seed: u64, observe: Observe) -> Recording {
        let mut sim = self.start(seed, observe);
        sim.run_until(self.end);
        self.record(sim, Run { run, seed, sender: self.sender.clone() })
    }

    /// What the run leaves.
    pub fn record(&self, mut sim: Sim, run: Run) -> Recording {
        let mut recording = Recording { run, ..Recording::default() };
        for flow in &sim.flows {
            let (connection, timeouts) = flow.rows();
            recording.connections.push(connection);
            recording.timeouts.extend(timeouts);
        }
        let now = sim.now();
        for ((name, _), channel) in self.channels.iter().zip(&mut sim.channels) {
            for direction in Direction::BOTH {
                recording.links.push(link_row(name, channel, direction));
            }
            recording.disturbances.extend(disturbance_rows(name, channel, now));
        }
        (recording.segments, recording.windows) = sim.trace.into_rows(&sim.flows);
        recording
    }
}

fn link_row(name: &Arc<str>, channel: &Channel<Packet>, direction: Direction) -> LinkRow {
    let stats = channel.stats(direction);
    LinkRow {
        link: name.clone(),
        direction,
        offered: stats.offered,
        delivered: stats.delivered,
        delivered_bytes: stats.bytes,
        dropped_queue: stats.drops.queue,
        dropped_error: stats.drops.error + stats.drops.script,
        dropped_outage: stats.drops.outage,
        total_delay: stats.total_delay,
        max_delay: stats.max_delay,
        max_queue: stats.max_queue,
    }
}

fn disturbance_rows<'a>(
    name: &'a Arc<str>,
    channel: &mut Channel<Packet>,
    until: Instant,
) -> impl Iterator<Item = DisturbanceRow> + use<'a> {
    channel.disturbances(until).into_iter().map(|disturbance| DisturbanceRow {
        link: name.clone(),
        direction: disturbance.direction,
        kind: match disturbance.kind {
            DisturbanceKind::Stall => Disturbance::Stall,
            DisturbanceKind::Outage => Disturbance::Outage,
            DisturbanceKind::Spike => Disturbance::Spike,
        },
        from: disturbance.from,
        to: disturbance.to,
    })
}
