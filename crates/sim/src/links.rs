//! Links as they are simulated, and the ways through them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::{Channel, Direction, Disturbance, Limit, Pipe, Stats};
use rtolab_net::{Packet, Step};
use rtolab_time::{Duration, Instant};

/// How links are simulated that are plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// As pipes.
    Pipes,
    /// As any other link: the result is the same.
    Channels,
}

/// A link. The first kind is the one that has to be fast, and the common one.
#[derive(Clone, Debug)]
pub enum Link {
    /// One that is plain both ways: where its two pipes lie, side by side, among those of all links.
    Pipes(u32),
    /// Any other.
    Channel(Box<Channel<Packet>>),
}

impl Link {
    /// The link as it is simulated; where as pipes, behind those of other links.
    pub fn new(channel: Channel<Packet>, plain: Plain, pipes: &mut Vec<Pipe>) -> Self {
        match channel.pipes().filter(|_| plain == Plain::Pipes) {
            Some(both) => {
                pipes.extend(both);
                Self::Pipes(pipes.len() as u32 - 2)
            }
            None => Self::Channel(Box::new(channel)),
        }
    }

    /// Where the pipe of that direction lies, if it is one.
    fn place(&self, direction: usize) -> Option<u32> {
        match self {
            Self::Pipes(first) => Some(first + direction as u32),
            Self::Channel(_) => None,
        }
    }

    /// It, unless it is simulated as pipes.
    pub fn channel(&mut self) -> Option<&mut Channel<Packet>> {
        match self {
            Self::Channel(channel) => Some(channel),
            Self::Pipes(_) => None,
        }
    }

    /// What happened to the packets of one direction up to now.
    pub fn stats(&self, direction: Direction, pipes: &[Pipe], now: Instant) -> Stats {
        match self {
            Self::Pipes(first) => pipes[*first as usize + direction.index()].stats(now),
            Self::Channel(channel) => *channel.stats(direction),
        }
    }

    /// The disturbances that began before `until`; pipes know none.
    pub fn disturbances(&mut self, until: Instant) -> Vec<Disturbance> {
        self.channel().map(|channel| channel.disturbances(until)).unwrap_or_default()
    }
}

/// What a packet meets at a step of its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A pipe: twice the number of its link, one more for the way back, and where it lies. Packets
    /// wait in this run until they come out.
    Pipe {
        pipe: u32,
        place: u32,
        run: u32,
    },
    /// A pipe behind which is another, to which nothing but this one leads: a packet's way through
    /// that is known as soon as its way through this one is.
    PipeToPipe {
        pipe: u32,
        place: u32,
    },
    Channel {
        link: u32,
        direction: Direction,
    },
    Agent(u32),
    Arrival,
}

/// All stages of all ways, by the numbers of the steps.
#[derive(Clone, Debug)]
pub struct Stages {
    pub all: Arc<[Stage]>,
    /// The runs that packets wait in.
    pub runs: Arc<[Run]>,
}

/// What packets come to that come out of one run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Are some of them where they were for? So it is in all ways, or in none, where delays differ.
    pub is_last: bool,
    /// Are all of them?
    pub is_end: bool,
    /// All come to pipes, to which packets come only out of pipes, on their way for so long at least: of
    /// what comes there within that time from now all is under way. Zero if it is otherwise.
    pub notice: Duration,
}

/// What leads to a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nothing,
    Pipe(u32),
    Others,
}

/// The pipes whose packets wait in one run, for they come out nearly in the order in which they
/// enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kin {
    /// Those without a limit, where queues are rare, that have the same delay.
    Delay(Duration),
    /// Those to which one pipe alone leads, over the same delay.
    Root(u32, Duration),
}

impl Stages {
    pub fn new(steps: &[Step], links: &[Link], pipes: &[Pipe]) -> Self {
        let feeders = feeders(steps, links);
        let mut runs = BTreeMap::new();
        let stage = |(number, step): (usize, &Step)| match (pipe(*step, links), *step) {
            (Some(pipe), _) => {
                let next = steps.get(number + 1).and_then(|step| self::pipe(*step, links));
                let alone = next.is_some_and(|next| feeders[next as usize] == Feeder::Pipe(pipe));
                let place = place(pipe, links).unwrap_or(u32::MAX);
                if alone {
                    return Stage::PipeToPipe { pipe, place };
                }
                let (known, kin) = (runs.len() as u32, kin(pipe, (links, pipes), &feeders));
                Stage::Pipe { pipe, place, run: *runs.entry(kin).or_insert(known) }
            }
            (None, Step::Link { link, direction }) => Stage::Channel { link, direction },
            (None, Step::Agent(agent)) => Stage::Agent(agent),
            (None, Step::Arrival) => Stage::Arrival,
        };
        let stages: Arc<[Stage]> = steps.iter().enumerate().map(stage).collect();
        let notices = notices(steps, links, pipes);
        let run = Run { is_last: false, is_end: true, notice: Duration::MAX };
        let mut runs = vec![run; runs.len()];
        for pair in stages.windows(2) {
            let [Stage::Pipe { run, .. }, next] = pair else { continue };
            let run = &mut runs[*run as usize];
            run.is_last |= *next == Stage::Arrival;
            run.is_end &= *next == Stage::Arrival;
            run.notice = run.notice.min(match next {
                Stage::Pipe { pipe, .. } | Stage::PipeToPipe { pipe, .. } => {
                    notices[*pipe as usize]
                }
                _ => Duration::ZERO,
            });
        }
        Self { runs: runs.into(), all: stages }
    }
}

/// The step's pipe, if it is one.
fn pipe(step: Step, links: &[Link]) -> Option<u32> {
    match step {
        Step::Link { link, direction } => match links[link as usize] {
            Link::Pipes(_) => Some(2 * link + direction.index() as u32),
            Link::Channel(_) => None,
        },
        Step::Agent(_) | Step::Arrival => None,
    }
}

fn feeders(steps: &[Step], links: &[Link]) -> Vec<Feeder> {
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

/// By the numbers of pipes, how long packets are at least in the pipe before: not at all where they
/// come from elsewhere.
fn notices(steps: &[Step], links: &[Link], pipes: &[Pipe]) -> Vec<Duration> {
    let mut notices = vec![Duration::MAX; 2 * links.len()];
    let mut before = Duration::ZERO;
    for step in steps {
        let pipe = pipe(*step, links);
        if let Some(pipe) = pipe {
            let notice = &mut notices[pipe as usize];
            *notice = before.min(*notice);
        }
        let place = pipe.and_then(|pipe| place(pipe, links));
        before = place.map_or(Duration::ZERO, |place| pipes[place as usize].delay_and_limit().0);
    }
    notices
}

/// Where the pipe of that number lies.
pub fn place(pipe: u32, links: &[Link]) -> Option<u32> {
    links[pipe as usize / 2].place(pipe as usize % 2)
}

fn kin(pipe: u32, (links, pipes): (&[Link], &[Pipe]), feeders: &[Feeder]) -> Kin {
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
        Limit::Unlimited if root == pipe => Kin::Delay(delay),
        _ => Kin::Root(root, delay),
    }
}
