//! A scenario made ready to run, many times.

use std::sync::Arc;

use rtolab_link::{Channel, ChannelConfig, Direction, Distribution, DisturbanceKind, Stream};
use rtolab_net::{Agent, Application};
use rtolab_record::{
    ConnectionRow, Disturbance, DisturbanceRow, LinkRow, Place, Recording, Run, TaskRow,
    TimeoutKind, Truths,
};
use rtolab_scenario::{AgentKind, Scenario, Workload};
use rtolab_tcp::sender::Negotiated;
use rtolab_tcp::specification::CustomPolicies;
use rtolab_tcp::spurious::{Detector, DetectorError, DetectorId};
use rtolab_time::{Duration, Instant};

use crate::attend::Attended;
use crate::error::Error;
use crate::flow::Flow;
use crate::judging::{Alternative, Asked, Judging};
use crate::links::{Link, Plain};
use crate::measure::Measure;
use crate::plan::Plans;
use crate::sim::{Branch, Branching, Parts, Sim};
use crate::trace::Trace;
use crate::truth::Reach;

/// What to record beside the connections, timeouts and links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observe {
    /// Every packet at both ends, what disturbed the links, and the truth about every timeout.
    pub trace: bool,
    /// The sender's windows at every event.
    pub windows: bool,
}

/// A scenario with one sender, ready for any number of seeds.
pub struct Lab {
    sender: Arc<str>,
    end: Instant,
    measured: (Instant, Instant),
    plans: Plans,
    prototypes: CustomPolicies,
    departures: Vec<Departure>,
    agents: Vec<AgentKind>,
    plain: Plain,
    /// What judged runs are asked, if they are.
    asked: Option<Asked>,
}

/// When a flow of the scenario begins, and what it transports.
struct Departure {
    name: Arc<str>,
    start: Instant,
    jitter: Duration,
    workload: Workload,
}

impl Lab {
    /// Makes `scenario` ready; `sender` replaces the sender of every flow that does not name its
    /// own.
    pub fn new(scenario: &Scenario, sender: Option<&str>) -> Result<Self, Error> {
        Self::with(scenario, sender, &CustomPolicies::default())
    }

    /// The same where senders and judges may name `prototypes`, too.
    pub fn with(
        scenario: &Scenario,
        sender: Option<&str>,
        prototypes: &CustomPolicies,
    ) -> Result<Self, Error> {
        let plans = Plans::new(scenario, sender, prototypes)?;
        let departure = |(flow, (first, _)): (&rtolab_scenario::Flow, &(usize, usize))| Departure {
            // A flow of one leg has the name of that.
            name: match &plans.legs[*first].name {
                name if **name == *flow.name => name.clone(),
                _ => flow.name.as_str().into(),
            },
            start: flow.start,
            jitter: flow.start_jitter,
            workload: flow.workload,
        };
        let first = scenario.flows.first().map_or("", |flow| flow.sender_name(sender));
        Ok(Self {
            sender: sender.unwrap_or(first).into(),
            end: Instant::START + scenario.duration,
            measured: scenario.measured,
            departures: scenario.flows.iter().zip(&plans.flows).map(departure).collect(),
            plans,
            prototypes: prototypes.clone(),
            agents: scenario.agents.iter().map(|agent| agent.kind).collect(),
            plain: Plain::Pipes,
            asked: None,
        })
    }

    /// The same with plain links simulated as any other. The results are the same but for the count
    /// of events: so that a test can say that they are.
    #[must_use]
    pub fn without_pipes(mut self) -> Self {
        self.plain = Plain::Channels;
        self
    }

    /// The same with every run judged: the truth about each timeout and fast retransmit, what a
    /// spurious one cost, what the detectors `judges` say of it, and what each of the senders
    /// `what_if` would have made of each timeout.
    pub fn judged(
        mut self,
        scenario: &Scenario,
        judges: &[String],
        what_if: &[String],
    ) -> Result<Self, Error> {
        let detectors = judges.iter().map(|name| self.judge(name)).collect::<Result<_, _>>()?;
        let alternatives = what_if.iter().map(|name| self.alternative(scenario, name));
        let alternatives = alternatives.collect::<Result<_, _>>()?;
        self.asked = Some(Asked { reach: Reach::Transfer, detectors, alternatives });
        Ok(self)
    }

    fn judge(&self, name: &str) -> Result<(DetectorId, Box<dyn Detector>), DetectorError> {
        let mut own = self.prototypes.detectors.iter();
        if let Some(own) = own.find(|own| own.name == name) {
            return Ok((own.id(), own.detector.clone()));
        }
        DetectorId::passive(name)
    }

    fn alternative(&self, scenario: &Scenario, name: &str) -> Result<Alternative, Error> {
        let plans = Plans::new(scenario, Some(name), &self.prototypes)?;
        let configs: Vec<_> = plans.legs.iter().map(|leg| leg.configs.clone()).collect();
        for (leg, [config, _]) in self.plans.legs.iter().zip(&configs) {
            let [sender, receiver] = &leg.configs;
            let negotiated = Negotiated {
                timestamps: sender.timestamps && receiver.timestamps,
                sack: sender.sack && receiver.sack,
            };
            negotiated.supports(config).map_err(|error| Error::WhatIf {
                what_if: name.into(),
                sender: leg.sender.to_string(),
                error,
            })?;
        }
        Ok(Alternative { name: name.into(), configs })
    }

    /// The run with `seed` at its beginning.
    pub fn start(&self, seed: u64, observe: Observe) -> Sim {
        let stream = Stream::new(seed);
        let mut pipes = Vec::with_capacity(2 * self.plans.channels.len());
        let link = |(name, config): &(Arc<str>, Arc<ChannelConfig>)| {
            let mut channel = Channel::new(config, &stream.child(name));
            if observe.trace {
                channel.record_disturbances();
            }
            // At once, for a channel is large and most are pipes.
            Link::new(channel, self.plain, &mut pipes)
        };
        let mut parts = Parts {
            links: self.plans.channels.iter().map(link).collect(),
            pipes: Vec::new(),
            steps: self.plans.steps.clone(),
            flows: Vec::with_capacity(self.plans.legs.len()),
            applications: Vec::with_capacity(self.plans.applications),
            agents: self.agents.iter().copied().map(Agent::new).collect(),
        };
        parts.pipes = pipes;
        for (departure, ends) in self.departures.iter().zip(&self.plans.flows) {
            self.begin(departure, *ends, (&stream, &mut parts));
        }
        let trace = Trace::new(observe.trace, observe.windows);
        let mut sim = Sim::new(parts, trace, Measure::new(self.measured));
        sim.judging = self.judging(observe.trace).map(Box::new);
        sim
    }

    /// A traced run is told the truth, too, but not what would have come of it.
    fn judging(&self, traced: bool) -> Option<Judging> {
        let (detectors, alternatives) = (Vec::new(), Arc::new([]));
        let truth = Asked { reach: Reach::Answer, detectors, alternatives };
        let asked = self.asked.as_ref().or(traced.then_some(&truth))?;
        Some(Judging::new(self.end, asked, self.plans.legs.iter().map(|leg| &leg.configs)))
    }

    /// Adds a flow of the scenario, with its legs from `first` to `last`.
    fn begin(
        &self,
        departure: &Departure,
        (first, last): (usize, usize),
        (stream, parts): (&Stream, &mut Parts),
    ) {
        let stream = stream.child(&departure.name);
        let spread = Distribution::Uniform(Duration::ZERO, departure.jitter);
        let start = departure.start + stream.child("start").rng().span(spread);
        let legs = &self.plans.legs[first..=last];
        let segment = u32::from(legs[0].configs[0].mss);
        let own = stream.child("workload");
        if let Some(application) = Application::new(&departure.workload, start, segment, &own) {
            let flow = departure.name.clone();
            parts.applications.push(Attended { flow, application, first, last });
        }
        for leg in legs {
            let start = (leg.before.is_none()).then_some(start);
            parts.flows.push(Flow::new(leg.clone(), start));
        }
    }

    /// What a run with `seed` leaves that goes another way from one timeout on: by `sender`, or, if
    /// none is named, as if the timer had not expired and no recovery begun before something more is
    /// acknowledged. `None`: there is no such timeout, or the connection was not open yet.
    pub fn branch(
        &self,
        scenario: &Scenario,
        (branch, sender): (Branch, Option<&str>),
        (run, observe): (Run, Observe),
    ) -> Result<Option<Recording>, Error> {
        let other = sender.map(|name| self.alternative(scenario, name)).transpose()?;
        let mut sim = self.start(run.seed, observe);
        let Some(judging) = &mut sim.judging else { return Ok(None) };
        judging.branching = Some(Branching::new(branch, other.map(|other| other.configs.into())));
        sim.run_until(self.end);
        let branching = sim.judging.and_then(|judging| judging.branching);
        Ok(branching.and_then(|branching| branching.found).map(|mut found| {
            found.run_until(self.end);
            self.record(*found, run)
        }))
    }

    /// When a run ends at the latest.
    pub const fn end(&self) -> Instant {
        self.end
    }

    /// Runs with `seed` to the end; `run` numbers the run.
    pub fn run(&self, run: u32, seed: u64, observe: Observe) -> Recording {
        let mut sim = self.start(seed, observe);
        sim.run_until(self.end);
        self.record(sim, self.named(run, seed))
    }

    /// The run of this number with this seed, by its name.
    pub fn named(&self, run: u32, seed: u64) -> Run {
        Run { run, seed, sender: self.sender.clone() }
    }

    /// What the run leaves.
    pub fn record(&self, mut sim: Sim, run: Run) -> Recording {
        let (flows, links) = sim.measured();
        let mut recording = Recording { run, ..Recording::default() };
        for (flow, measured) in sim.flows.iter().zip(flows) {
            let row = flow.row().map(|row| ConnectionRow { measured, ..row });
            recording.connections.extend(row);
        }
        record_timeouts(&mut sim, &mut recording);
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
        recording
    }
}

/// The timeouts and fast retransmits of all ends, and what is known about them.
fn record_timeouts(sim: &mut Sim, recording: &mut Recording) {
    let now = sim.now();
    let ends = (0..sim.flows.len()).flat_map(|flow| Place::BOTH.map(|place| (flow, place)));
    for (flow, place) in ends {
        let rows: Vec<_> = sim.flows[flow].timeouts(place).collect();
        if let Some(judging) = &mut sim.judging {
            recording.verdicts.extend(judging.verdicts((flow, place), &rows, now));
        }
        recording.timeouts.extend(rows);
    }
    if sim.judging.is_some() {
        count_truths(recording);
    }
    if let Some(judging) = &sim.judging {
        recording.duplicates = judging.duplicates().collect();
        recording.what_ifs = judging.what_ifs(&sim.flows).collect();
    }
}

/// Counts what the senders' retransmissions were in the rows of their connections.
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

fn task_rows(attended: &Attended) -> impl Iterator<Item = TaskRow> {
    let tasks = attended.application.tasks().iter().zip(1..);
    tasks.map(|(task, number)| TaskRow {
        flow: attended.flow.clone(),
        number,
        due: task.due,
        start: task.start,
        end: task.end,
        bytes: task.bytes,
    })
}

fn disturbance_rows<'a>(
    name: &'a Arc<str>,
    link: &mut Link,
    until: Instant,
) -> impl Iterator<Item = DisturbanceRow> + use<'a> {
    link.disturbances(until).into_iter().map(|disturbance| DisturbanceRow {
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
