//! A prepared scenario, which runs with any number of seeds.

use std::sync::Arc;

use rtolab_link::{Channel, ChannelConfig, Direction, Distribution, Stream};
use rtolab_net::{Application, Middlebox};
use rtolab_record::{
    ConnectionRow, DisturbanceRow, LinkRow, Place, Recording, Run, TaskRow, TimeoutKind, Truths,
    count_timeouts,
};
use rtolab_scenario::{MiddleboxKind, Scenario, Workload};
use rtolab_tcp::Config;
use rtolab_tcp::profile::Sysctl;
use rtolab_tcp::sender::Negotiated;
use rtolab_tcp::specification::{self, CustomPolicies};
use rtolab_time::{Duration, Instant};

use crate::error::SimError;
use crate::flow::SimFlow;
use crate::links::{PlainLinks, SimLink};
use crate::outages::WatchedOutages;
use crate::plan::Plans;
use crate::sim::{
    Alternative, Branch, Branching, FlowApplication, Horizon, Measure, Parts, Scoring,
    ScoringRequest, Sim,
};
use crate::trace::Trace;

/// The rows to record in addition to connections, timeouts and links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observe {
    /// Every packet at both ends, the disturbances of links, and the ground truth of every timeout.
    pub trace: bool,
    /// The sender's windows at every event of a sender.
    pub windows: bool,
}

/// A prepared scenario with one sender, which runs with any number of seeds.
pub struct Lab {
    sender: Arc<str>,
    end: Instant,
    measured: (Instant, Instant),
    plans: Plans,
    custom_policies: CustomPolicies,
    starts: Vec<FlowStart>,
    middleboxes: Vec<MiddleboxKind>,
    plain_links: PlainLinks,
    /// Do links count the frames that wait?
    watches_queues: bool,
    /// The scoring of runs, if requested.
    request: Option<ScoringRequest>,
    /// The links with outages, if there are any.
    outages: Option<Box<WatchedOutages>>,
}

/// The start and the workload of a flow of the scenario.
struct FlowStart {
    name: Arc<str>,
    start: Instant,
    jitter: Duration,
    workload: Workload,
}

impl Lab {
    /// Prepares `scenario`. `sender` replaces the sender of every flow that names none.
    ///
    /// # Errors
    /// The sender is invalid, or no links lead from one end of a flow to the other.
    pub fn new(scenario: &Scenario, sender: Option<&str>) -> Result<Self, SimError> {
        Self::with(scenario, sender, &CustomPolicies::default())
    }

    /// As [`Lab::new`], with senders and detectors of the user.
    ///
    /// # Errors
    /// As for [`Lab::new`].
    pub fn with(
        scenario: &Scenario,
        sender: Option<&str>,
        custom_policies: &CustomPolicies,
    ) -> Result<Self, SimError> {
        let plans = Plans::new(scenario, sender, custom_policies)?;
        let flow_start =
            |(flow, (first, _)): (&rtolab_scenario::Flow, &(usize, usize))| FlowStart {
                // The only leg of a flow has the same name, which both share.
                name: match &plans.legs[*first].name {
                    name if **name == *flow.name => name.clone(),
                    _ => flow.name.as_str().into(),
                },
                start: flow.start,
                jitter: flow.start_jitter,
                workload: flow.workload.clone(),
            };
        let first = scenario.flows.first().map_or("", |flow| flow.sender_name(sender));
        Ok(Self {
            sender: sender.unwrap_or(first).into(),
            outages: WatchedOutages::new(&plans).map(Box::new),
            end: Instant::START + scenario.duration,
            measured: scenario.measured,
            starts: scenario.flows.iter().zip(&plans.flows).map(flow_start).collect(),
            plans,
            custom_policies: custom_policies.clone(),
            middleboxes: scenario
                .middleboxes
                .iter()
                .map(|middlebox| middlebox.kind.clone())
                .collect(),
            plain_links: PlainLinks::Pipes,
            watches_queues: false,
            request: None,
        })
    }

    /// Prepares `scenario` for a sender, which must be valid even if every flow has its own. Runs
    /// are scored if there are names of `detectors` or senders of `what_if`.
    ///
    /// # Errors
    /// As for [`Lab::new`] and [`Lab::scored`].
    pub fn evaluated(
        (scenario, sender): (&Scenario, Option<&str>),
        custom_policies: &CustomPolicies,
        (detectors, what_if): (&[String], &[String]),
    ) -> Result<Self, SimError> {
        let base =
            scenario.flows.first().map_or_else(Config::default, |flow| Config::clone(&flow.tcp));
        for name in sender.into_iter().chain(what_if.iter().map(String::as_str)) {
            specification::sender_with(name, &base, &Sysctl::default(), custom_policies)?;
        }
        let lab = Self::with(scenario, sender, custom_policies)?;
        match detectors.is_empty() && what_if.is_empty() {
            true => Ok(lab),
            false => lab.scored(scenario, detectors, what_if),
        }
    }

    /// Simulates plain links as general channels, so that tests can compare the results. Only the
    /// number of events differs.
    #[must_use]
    pub fn without_pipes(mut self) -> Self {
        self.plain_links = PlainLinks::Channels;
        self
    }

    /// Watches the queues of all links, for [`Sim::frames_in_links`].
    #[must_use]
    pub fn watching_queues(mut self) -> Self {
        self.watches_queues = true;
        self.without_pipes()
    }

    /// The names of the links: the scenario's, then the access links of its flows.
    pub fn link_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.plans.channels.iter().map(|(name, _)| name)
    }

    /// Scores every run. The recording then has the ground truth of each timeout and fast
    /// retransmit, the cost of each spurious one, the verdicts of the passive `detectors`, and the
    /// end of the transfer if a sender of `what_if` continues from a timeout.
    ///
    /// # Errors
    /// The name of a detector or sender is invalid, or a sender of `what_if` cannot continue the
    /// connections.
    pub fn scored(
        mut self,
        scenario: &Scenario,
        detectors: &[String],
        what_if: &[String],
    ) -> Result<Self, SimError> {
        let detectors = detectors.iter().map(|name| self.custom_policies.passive_detector(name));
        let detectors = detectors.collect::<Result<_, _>>()?;
        let alternatives = what_if.iter().map(|name| self.alternative(scenario, name));
        let alternatives = alternatives.collect::<Result<_, _>>()?;
        self.request = Some(ScoringRequest { horizon: Horizon::Transfer, detectors, alternatives });
        Ok(self)
    }

    /// Finds the ground truth of every timeout and fast retransmit, without costs.
    #[must_use]
    pub fn with_truth(mut self) -> Self {
        self.request = Some(truth_alone());
        self
    }

    fn alternative(&self, scenario: &Scenario, name: &str) -> Result<Alternative, SimError> {
        let plans = Plans::new(scenario, Some(name), &self.custom_policies)?;
        let configs: Vec<_> = plans.legs.iter().map(|leg| leg.configs.clone()).collect();
        for (leg, [config, _]) in self.plans.legs.iter().zip(&configs) {
            let [sender, receiver] = &leg.configs;
            let negotiated = Negotiated {
                timestamps: sender.timestamps && receiver.timestamps,
                sack: sender.sack && receiver.sack,
            };
            negotiated.supports(config).map_err(|error| SimError::WhatIf {
                what_if: name.into(),
                sender: leg.sender.to_string(),
                error,
            })?;
        }
        Ok(Alternative { name: name.into(), configs })
    }

    /// The run with `seed` at time 0.
    pub fn start(&self, seed: u64, observe: Observe) -> Sim {
        let stream = Stream::new(seed);
        let mut pipes = Vec::with_capacity(2 * self.plans.channels.len());
        let link = |(name, config): &(Arc<str>, Arc<ChannelConfig>)| {
            let mut channel = Channel::new(config, &stream.child(name));
            if observe.trace {
                channel.record_disturbances();
            }
            if self.watches_queues {
                channel.watch_queues();
            }
            // Each channel is converted at once, because it is large and most links are pipes.
            SimLink::new(channel, self.plain_links, &mut pipes)
        };
        let mut parts = Parts {
            links: self.plans.channels.iter().map(link).collect(),
            pipes: Vec::new(),
            steps: self.plans.steps.clone(),
            flows: Vec::with_capacity(self.plans.legs.len()),
            applications: Vec::with_capacity(self.plans.applications),
            middleboxes: self.middleboxes.iter().cloned().map(Middlebox::new).collect(),
        };
        parts.pipes = pipes;
        for (flow_start, ends) in self.starts.iter().zip(&self.plans.flows) {
            self.add_flow(flow_start, *ends, (&stream, &mut parts));
        }
        let trace = Trace::new(observe.trace, observe.windows);
        let outages = self.outages.clone();
        if let Some(outages) = &outages {
            outages.keep_outages(&mut parts.links);
        }
        let mut sim = Sim::new(parts, trace, Measure::new(self.measured));
        sim.outages = outages;
        sim.scoring = self.scoring(observe.trace).map(Box::new);
        sim
    }

    /// The scoring of a run. A trace needs the ground truth, but no costs.
    fn scoring(&self, traced: bool) -> Option<Scoring> {
        let truth = truth_alone();
        let request = self.request.as_ref().or(traced.then_some(&truth))?;
        Some(Scoring::new(self.end, request, self.plans.legs.iter().map(|leg| &leg.configs)))
    }

    /// Adds a flow with its legs from `first` to `last`.
    fn add_flow(
        &self,
        flow_start: &FlowStart,
        (first, last): (usize, usize),
        (stream, parts): (&Stream, &mut Parts),
    ) {
        let stream = stream.child(&flow_start.name);
        let jitter = Distribution::Uniform(Duration::ZERO, flow_start.jitter);
        let start = flow_start.start + stream.child("start").rng().span(&jitter);
        let legs = &self.plans.legs[first..=last];
        let segment = u32::from(legs[0].configs[0].mss);
        let own = stream.child("workload");
        if let Some(application) = Application::new(&flow_start.workload, start, segment, &own) {
            let flow = flow_start.name.clone();
            parts.applications.push(FlowApplication {
                flow,
                application,
                first,
                last,
                is_deferred: false,
            });
        }
        for leg in legs {
            let start = (leg.previous_leg.is_none()).then_some(start);
            parts.flows.push(SimFlow::new(leg.clone(), start));
        }
    }

    /// The recording of a fork that differs from a timeout on. In it `sender` continues the
    /// connection. Without `sender` the timer does not expire, and no recovery begins until the
    /// next cumulative ACK.
    ///
    /// Returns `None` if there is no such timeout or if the handshake was not complete.
    ///
    /// # Errors
    /// The sender is invalid or cannot continue the connections.
    pub fn branch(
        &self,
        scenario: &Scenario,
        (branch, sender): (Branch, Option<&str>),
        (run, observe): (Run, Observe),
    ) -> Result<Option<Recording>, SimError> {
        let other = sender.map(|name| self.alternative(scenario, name)).transpose()?;
        let mut sim = self.start(run.seed, observe);
        let Some(scoring) = &mut sim.scoring else { return Ok(None) };
        scoring.branching = Some(Branching::new(branch, other.map(|other| other.configs.into())));
        sim.run_until(self.end);
        let branching = sim.scoring.and_then(|scoring| scoring.branching);
        Ok(branching.and_then(|branching| branching.found).map(|mut found| {
            found.run_until(self.end);
            self.record(*found, run)
        }))
    }

    /// The time at which a run ends at the latest.
    pub const fn end(&self) -> Instant {
        self.end
    }

    /// Simulates the run with this number and seed to its end.
    pub fn run(&self, run: u32, seed: u64, observe: Observe) -> Recording {
        let mut sim = self.start(seed, observe);
        sim.run_until(self.end);
        self.record(sim, self.named(run, seed))
    }

    /// The description of the run with this number and seed.
    pub fn named(&self, run: u32, seed: u64) -> Run {
        Run { run, seed, sender: self.sender.clone() }
    }

    /// The recording of a run.
    pub fn record(&self, mut sim: Sim, run: Run) -> Recording {
        let (flows, links) = sim.measured();
        let mut recording = Recording { run, ..Recording::default() };
        for (flow, measured) in sim.flows.iter().zip(flows) {
            let row = flow.row().map(|row| ConnectionRow { measured, ..row });
            recording.connections.extend(row);
        }
        record_timeouts(&mut sim, &mut recording);
        if let Some(outages) = sim.outages.take() {
            recording.outages = outages.into_rows(&sim.flows);
            count_timeouts(&mut recording);
        }
        recording.tasks = sim.applications.iter().flat_map(task_rows).collect();
        let now = sim.now();
        for (((name, _), link), measured) in
            self.plans.channels.iter().zip(&mut sim.links).zip(links)
        {
            for direction in Direction::BOTH {
                let (transmitted, delivered) = measured[direction.index()];
                recording.links.push(LinkRow {
                    link: name.clone(),
                    direction,
                    stats: link.stats(direction, &sim.pipes, now),
                    measured_transmitted_bytes: transmitted,
                    measured_delivered_bytes: delivered,
                });
            }
            recording.disturbances.extend(disturbance_rows(name, link, now));
        }
        (recording.segments, recording.windows) = sim.trace.into_rows(&sim.flows);
        if !recording.segments.is_empty() {
            recording.flows = sim.flows.iter().map(|flow| flow.plan.name.clone()).collect();
        }
        recording
    }
}

/// The scoring that finds the ground truth alone.
fn truth_alone() -> ScoringRequest {
    let (detectors, alternatives) = (Vec::new(), Arc::new([]));
    ScoringRequest { horizon: Horizon::Truth, detectors, alternatives }
}

/// Records the timeouts and fast retransmits of all ends, with ground truth and verdicts.
fn record_timeouts(sim: &mut Sim, recording: &mut Recording) {
    let now = sim.now();
    let ends = (0..sim.flows.len()).flat_map(|flow| Place::BOTH.map(|place| (flow, place)));
    for (flow, place) in ends {
        let rows: Vec<_> = sim.flows[flow].timeouts(place).collect();
        if let Some(scoring) = &mut sim.scoring {
            recording.verdicts.extend(scoring.verdicts((flow, place), &rows, now));
        }
        recording.timeouts.extend(rows);
    }
    if sim.scoring.is_some() {
        count_truths(recording);
    }
    if let Some(scoring) = &sim.scoring {
        recording.duplicates = scoring.duplicates().collect();
        recording.what_ifs = scoring.what_ifs(&sim.flows).collect();
    }
}

/// Counts the senders' timeouts and fast retransmits by ground truth, in the rows of their
/// connections.
fn count_truths(recording: &mut Recording) {
    for connection in &mut recording.connections {
        let mut truths = [Truths::default(); 2];
        let own = recording.timeouts.iter().filter(|row| row.flow == connection.flow);
        for row in own.filter(|row| row.end == Place::Sender) {
            let of_kind = match row.kind {
                TimeoutKind::Timeout => &mut truths[0],
                TimeoutKind::FastRetransmit => &mut truths[1],
                TimeoutKind::Probe => continue,
            };
            row.truth.into_iter().for_each(|truth| of_kind.count(truth));
        }
        connection.truths = Some(truths);
    }
}

fn task_rows(used: &FlowApplication) -> impl Iterator<Item = TaskRow> {
    let tasks = used.application.tasks().iter().zip(1..);
    tasks.map(|(task, number)| TaskRow {
        flow: used.flow.clone(),
        number,
        due: task.due,
        start: task.start,
        end: task.end,
        bytes: task.bytes,
    })
}

fn disturbance_rows<'a>(
    name: &'a Arc<str>,
    link: &mut SimLink,
    until: Instant,
) -> impl Iterator<Item = DisturbanceRow> + use<'a> {
    link.disturbances(until).into_iter().map(|disturbance| DisturbanceRow {
        link: name.clone(),
        direction: disturbance.direction,
        kind: disturbance.kind,
        from: disturbance.from,
        to: disturbance.to,
    })
}
