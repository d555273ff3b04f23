//! Simulated links, and the steps of all routes through them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::{Channel, Direction, Disturbance, Limit, Pipe, Stats};
use rtolab_net::{Packet, RouteStep};
use rtolab_time::{Duration, Instant};

/// How plain links are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// As pipes.
    Pipes,
    /// As general channels, with the same results.
    Channels,
}

/// A simulated link. Most are pipes, and these have to be fast.
#[derive(Clone, Debug)]
pub enum SimLink {
    /// A link that is plain in both directions: the index of the first of its two pipes.
    Pipes(u32),
    /// Any other link.
    Channel(Box<Channel<Packet>>),
}

impl SimLink {
    /// The simulated link; its pipes, if it has any, are appended to `pipes`.
    pub fn new(channel: Channel<Packet>, plain: Plain, pipes: &mut Vec<Pipe>) -> Self {
        match channel.pipes().filter(|_| plain == Plain::Pipes) {
            Some(both) => {
                pipes.extend(both);
                Self::Pipes(pipes.len() as u32 - 2)
            }
            None => Self::Channel(Box::new(channel)),
        }
    }

    /// The index of the pipe of that direction, if it is one.
    fn place(&self, direction: usize) -> Option<u32> {
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

/// A step of a route, resolved to how its link is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimStep {
    /// A pipe: twice the index of its link plus the direction, its index among the pipes, and the
    /// run in which its packets wait.
    Pipe {
        pipe: u32,
        place: u32,
        run: u32,
    },
    /// A pipe that is the only feeder of the next one. A packet enters both at once: when it leaves
    /// this one is known as soon as it enters.
    PipeToPipe {
        pipe: u32,
        place: u32,
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

/// The next steps of the packets in one run. A run, as in a merge sort, is a queue in order of
/// time.
#[derive(Clone, Copy, Debug)]
pub struct SortedRun {
    /// Do some of them arrive at their destination? Either on all routes or, where delays differ,
    /// on none.
    pub has_arrivals: bool,
    /// Do all of them?
    pub all_arrive: bool,
    /// How far ahead all arrivals at the next pipes are known: the shortest delay of the pipes that
    /// feed them. Zero if something else feeds them.
    pub lookahead: Duration,
}

/// What feeds a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nothing,
    Pipe(u32),
    Others,
}

/// The pipes that share a run, because packets leave them nearly in the order in which they enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RunKey {
    /// Pipes of the same delay without a limit, where queues are rare.
    Delay(Duration),
    /// Pipes that the same pipe feeds alone, over the same delay.
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
                let place = place(pipe, links).unwrap_or(u32::MAX);
                if alone {
                    return SimStep::PipeToPipe { pipe, place };
                }
                let (known, run_key) = (runs.len() as u32, run_key(pipe, (links, pipes), &feeders));
                SimStep::Pipe { pipe, place, run: *runs.entry(run_key).or_insert(known) }
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

/// The step's pipe, if it is one.
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

/// For each pipe the shortest delay of the pipes before it; zero where something else feeds it.
fn lookaheads(steps: &[RouteStep], links: &[SimLink], pipes: &[Pipe]) -> Vec<Duration> {
    let mut lookaheads = vec![Duration::MAX; 2 * links.len()];
    let mut before = Duration::ZERO;
    for step in steps {
        let pipe = pipe(*step, links);
        if let Some(pipe) = pipe {
            let lookahead = &mut lookaheads[pipe as usize];
            *lookahead = before.min(*lookahead);
        }
        let place = pipe.and_then(|pipe| place(pipe, links));
        before = place.map_or(Duration::ZERO, |place| pipes[place as usize].delay_and_limit().0);
    }
    lookaheads
}

/// The index of the pipe of that number.
pub fn place(pipe: u32, links: &[SimLink]) -> Option<u32> {
    links[pipe as usize / 2].place(pipe as usize % 2)
}

fn run_key(pipe: u32, (links, pipes): (&[SimLink], &[Pipe]), feeders: &[Feeder]) -> RunKey {
    let facts = |pipe: u32| match place(pipe, links) {
        Some(place) => pipes[place as usize].delay_and_limit(),
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
