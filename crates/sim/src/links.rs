//! Simulated links, and the steps of all routes through them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::{Channel, Direction, Disturbance, Limit, Pipe, QueueLength, Stats};
use rtolab_net::{Packet, RouteStep};
use rtolab_time::{Duration, Instant};

/// The simulation of plain links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainLinks {
    /// As pipes.
    Pipes,
    /// As general channels, with the same results.
    Channels,
}

/// A simulated link.
#[derive(Clone, Debug)]
pub enum SimLink {
    /// A link that is plain in both directions, with the index of the first of its two pipes.
    Pipes(u32),
    /// Any other link.
    Channel(Box<Channel<Packet>>),
}

impl SimLink {
    /// The simulation of a link. Appends its pipes, if it has any, to `pipes`.
    pub fn new(channel: Channel<Packet>, plain_links: PlainLinks, pipes: &mut Vec<Pipe>) -> Self {
        match channel.pipes().filter(|_| plain_links == PlainLinks::Pipes) {
            Some(both) => {
                pipes.extend(both);
                Self::Pipes(pipes.len() as u32 - 2)
            }
            None => Self::Channel(Box::new(channel)),
        }
    }

    /// The index of the pipe of that direction, if the link is simulated as pipes.
    fn pipe_index(&self, direction: usize) -> Option<u32> {
        match self {
            Self::Pipes(first) => Some(first + direction as u32),
            Self::Channel(_) => None,
        }
    }

    /// The channel, unless the link is simulated as pipes.
    pub fn channel(&mut self) -> Option<&mut Channel<Packet>> {
        match self {
            Self::Channel(channel) => Some(channel),
            Self::Pipes(_) => None,
        }
    }

    /// The frames of a direction that wait for their transmission, and all that are in the link;
    /// none in pipes, which store no frames.
    pub fn frames_at(&mut self, direction: Direction, at: Instant) -> (QueueLength, usize) {
        let frames = |channel: &mut Channel<Packet>| {
            (channel.queue_length(direction, at), channel.frames_inside(direction))
        };
        self.channel().map(frames).unwrap_or_default()
    }

    /// The statistics of one direction up to now.
    pub fn stats(&self, direction: Direction, pipes: &[Pipe], now: Instant) -> Stats {
        match self {
            Self::Pipes(first) => pipes[*first as usize + direction.index()].stats(now),
            Self::Channel(channel) => *channel.stats(direction),
        }
    }

    /// The disturbances that began before `until`; pipes have none.
    pub fn disturbances(&mut self, until: Instant) -> Vec<Disturbance> {
        self.channel().map(|channel| channel.disturbances(until)).unwrap_or_default()
    }
}

/// A step of a route, with the simulation of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimStep {
    /// A pipe: its number, which is twice the index of its link plus the direction, its index among
    /// the pipes, and the run of its packets.
    Pipe {
        pipe: u32,
        pipe_index: u32,
        run: u32,
    },
    /// A pipe that is the only feeder of the next one. A packet enters both at once, because the
    /// time at which it leaves the first is known when it enters.
    PipeToPipe {
        pipe: u32,
        pipe_index: u32,
    },
    Channel {
        link: u32,
        direction: Direction,
    },
    Middlebox(u32),
    Arrival,
}

/// The steps of all routes.
#[derive(Clone, Debug)]
pub struct SimSteps {
    pub all: Arc<[SimStep]>,
    pub runs: Arc<[SortedRun]>,
}

/// The next steps of the packets in one run. A run, as in a merge sort, is a queue sorted by time.
#[derive(Clone, Copy, Debug)]
pub struct SortedRun {
    /// Is the destination the next step of some of them?
    pub has_arrivals: bool,
    /// Is the destination the next step of all of them?
    pub all_arrive: bool,
    /// The time for which all arrivals at the next pipes are known in advance: the shortest delay
    /// of the pipes that feed them. Zero if anything else feeds them.
    pub lookahead: Duration,
}

/// The feeder of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nothing,
    Pipe(u32),
    Others,
}

/// The key of the pipes that share a run. Packets leave them nearly in the order in which they
/// enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RunKey {
    /// Pipes of the same delay without a limit, in which queues are rare.
    Delay(Duration),
    /// Pipes at the same delay from the same first pipe, which alone feeds them.
    Root(u32, Duration),
}

impl SimSteps {
    pub fn new(steps: &[RouteStep], links: &[SimLink], pipes: &[Pipe]) -> Self {
        let feeders = feeders(steps, links);
        let mut runs = BTreeMap::new();
        let step = |(number, step): (usize, &RouteStep)| match (pipe(*step, links), *step) {
            (Some(pipe), _) => {
                let next = steps.get(number + 1).and_then(|step| self::pipe(*step, links));
                let alone = next.is_some_and(|next| feeders[next as usize] == Feeder::Pipe(pipe));
                let pipe_index = pipe_index(pipe, links).unwrap_or(u32::MAX);
                if alone {
                    return SimStep::PipeToPipe { pipe, pipe_index };
                }
                let (known, run_key) = (runs.len() as u32, run_key(pipe, (links, pipes), &feeders));
                SimStep::Pipe { pipe, pipe_index, run: *runs.entry(run_key).or_insert(known) }
            }
            (None, RouteStep::Link { link, direction }) => SimStep::Channel { link, direction },
            (None, RouteStep::Middlebox(middlebox)) => SimStep::Middlebox(middlebox),
            (None, RouteStep::Arrival) => SimStep::Arrival,
        };
        let all: Arc<[SimStep]> = steps.iter().enumerate().map(step).collect();
        let lookaheads = lookaheads(steps, links, pipes);
        let run = SortedRun { has_arrivals: false, all_arrive: true, lookahead: Duration::MAX };
        let mut runs = vec![run; runs.len()];
        for pair in all.windows(2) {
            let [SimStep::Pipe { run, .. }, next] = pair else { continue };
            let run = &mut runs[*run as usize];
            run.has_arrivals |= *next == SimStep::Arrival;
            run.all_arrive &= *next == SimStep::Arrival;
            run.lookahead = run.lookahead.min(match next {
                SimStep::Pipe { pipe, .. } | SimStep::PipeToPipe { pipe, .. } => {
                    lookaheads[*pipe as usize]
                }
                _ => Duration::ZERO,
            });
        }
        Self { runs: runs.into(), all }
    }
}

/// The number of the step's pipe, if it is one.
fn pipe(step: RouteStep, links: &[SimLink]) -> Option<u32> {
    match step {
        RouteStep::Link { link, direction } => match links[link as usize] {
            SimLink::Pipes(_) => Some(2 * link + direction.index() as u32),
            SimLink::Channel(_) => None,
        },
        RouteStep::Middlebox(_) | RouteStep::Arrival => None,
    }
}

fn feeders(steps: &[RouteStep], links: &[SimLink]) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::Nothing; 2 * links.len()];
    let mut before = None;
    for step in steps {
        let pipe = pipe(*step, links);
        if let Some(pipe) = pipe {
            let feeder = &mut feeders[pipe as usize];
            *feeder = match (*feeder, before) {
                (Feeder::Nothing, Some(before)) => Feeder::Pipe(before),
                (Feeder::Pipe(known), Some(before)) if known == before => Feeder::Pipe(known),
                _ => Feeder::Others,
            };
        }
        before = pipe;
    }
    feeders
}

/// The shortest delay of the pipes that feed each pipe; zero if anything else feeds it.
fn lookaheads(steps: &[RouteStep], links: &[SimLink], pipes: &[Pipe]) -> Vec<Duration> {
    let mut lookaheads = vec![Duration::MAX; 2 * links.len()];
    let mut before = Duration::ZERO;
    for step in steps {
        let pipe = pipe(*step, links);
        if let Some(pipe) = pipe {
            let lookahead = &mut lookaheads[pipe as usize];
            *lookahead = before.min(*lookahead);
        }
        let pipe_index = pipe.and_then(|pipe| pipe_index(pipe, links));
        before = pipe_index
            .map_or(Duration::ZERO, |pipe_index| pipes[pipe_index as usize].delay_and_limit().0);
    }
    lookaheads
}

/// The index among the pipes of the pipe with this number.
pub fn pipe_index(pipe: u32, links: &[SimLink]) -> Option<u32> {
    links[pipe as usize / 2].pipe_index(pipe as usize % 2)
}

fn run_key(pipe: u32, (links, pipes): (&[SimLink], &[Pipe]), feeders: &[Feeder]) -> RunKey {
    let facts = |pipe: u32| match pipe_index(pipe, links) {
        Some(pipe_index) => pipes[pipe_index as usize].delay_and_limit(),
        None => (Duration::ZERO, Limit::Unlimited),
    };
    let (mut delay, limit) = facts(pipe);
    let mut root = pipe;
    while let Feeder::Pipe(before) = feeders[root as usize] {
        root = before;
        delay += facts(root).0;
    }
    match limit {
        Limit::Unlimited if root == pipe => RunKey::Delay(delay),
        _ => RunKey::Root(root, delay),
    }
}
