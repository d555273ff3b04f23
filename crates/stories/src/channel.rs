//! Whatever a channel loses, delays and reorders, a transfer ends, and both ends close.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use rtolab_tcp::{Config, Connection, Segment, State, refuse, sum};
use rtolab_time::{Duration, Instant};

/// More events than any of these transfers has need of.
const MOST: usize = 200_000;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Fate {
    Lost,
    Arrives { millis: u16 },
    Twice { millis: u16, later: u16 },
}

#[derive(Arbitrary, Debug)]
struct Story {
    terms: [u8; 3],
    bytes: [u16; 2],
    fates: Vec<Fate>,
}

fn config(terms: [u8; 3]) -> Option<Config> {
    let known: Vec<_> = sum::terms().collect();
    let base = Config { timestamps: true, dsack: true, ..Config::default() };
    let named: Vec<_> = terms.iter().map(|term| known[usize::from(*term) % known.len()]).collect();
    (1..=3).rev().find_map(|count| sum::sender(&named[..count].join("+"), &base).ok())
}

/// Two ends, and what is under way between them.
struct World {
    ends: [Option<Connection>; 2],
    config: Arc<Config>,
    bytes: [u16; 2],
    under_way: Vec<(Instant, usize, Segment)>,
    fates: std::vec::IntoIter<Fate>,
    at: Instant,
}

impl World {
    fn drain(&mut self, from: usize) {
        loop {
            let Some(end) = &mut self.ends[from] else { return };
            end.read(u64::MAX);
            while end.poll_event().is_some() {}
            let Some(segment) = end.poll_transmit(self.at) else { return };
            self.leaves(from, segment);
        }
    }

    fn leaves(&mut self, from: usize, segment: Segment) {
        // Once all fates are used up the channel is a perfect one.
        let fate = self.fates.next().unwrap_or(Fate::Arrives { millis: 20 });
        let due = |millis: u16| self.at + Duration::from_millis(u64::from(millis % 8_192) + 1);
        match fate {
            Fate::Lost => {}
            Fate::Arrives { millis } => self.under_way.push((due(millis), 1 - from, segment)),
            Fate::Twice { millis, later } => {
                self.under_way.push((due(millis), 1 - from, segment));
                self.under_way.push((due(later), 1 - from, segment));
            }
        }
    }

    fn arrives(&mut self, to: usize, segment: &Segment) {
        match &mut self.ends[to] {
            // A host has forgotten what is closed, and refuses what comes for it: a FIN, say, whose
            // acknowledgment was lost until TIME-WAIT was over.
            Some(end) if end.state() == State::Closed => {
                if let Some(refusal) = refuse(segment) {
                    self.leaves(to, refusal);
                }
            }
            Some(end) => end.on_segment(segment, self.at),
            none => {
                let mut end = Connection::accept(self.config.clone(), segment);
                end.write(u64::from(self.bytes[to]));
                end.close();
                *none = Some(end);
            }
        }
        self.drain(to);
    }

    /// The next thing that happens, if any does.
    fn step(&mut self) -> bool {
        let first = (0..self.under_way.len()).min_by_key(|index| self.under_way[*index].0);
        let arrival = first.map(|index| self.under_way[index].0);
        let timers = [0, 1].map(|end| self.ends[end].as_ref().and_then(Connection::next_timer));
        let timer = timers.iter().flatten().min().copied();
        match (arrival, timer) {
            (None, None) => return false,
            (Some(at), timer) if timer.is_none_or(|timer| at <= timer) => {
                self.at = self.at.max(at);
                let (_, to, segment) = self.under_way.remove(first.unwrap_or(0));
                self.arrives(to, &segment);
            }
            (_, timer) => {
                self.at = self.at.max(timer.unwrap_or(self.at));
                for end in 0..2 {
                    if let Some(connection) = &mut self.ends[end] {
                        connection.on_timer(self.at);
                    }
                    self.drain(end);
                }
            }
        }
        true
    }

    fn is_over(&self) -> bool {
        let over = |end: &Option<Connection>| {
            end.as_ref().is_some_and(|end| matches!(end.state(), State::Closed | State::TimeWait))
        };
        self.ends.iter().all(over)
    }
}

/// One story, told by arbitrary bytes.
///
/// # Panics
/// If it ends as none may.
pub fn channel(input: &[u8]) {
    let Ok(story) = Story::arbitrary_take_rest(Unstructured::new(input)) else { return };
    let Some(config) = config(story.terms) else { return };
    let config = Arc::new(config);
    let mut opens = Connection::open(config.clone());
    opens.write(u64::from(story.bytes[0]));
    opens.close();
    let mut world = World {
        ends: [Some(opens), None],
        config,
        bytes: story.bytes,
        under_way: Vec::new(),
        fates: story.fates.into_iter(),
        at: Instant::START,
    };
    world.drain(0);
    for _ in 0..MOST {
        if world.is_over() || !world.step() {
            break;
        }
    }
    assert!(world.is_over(), "it hangs");
}
