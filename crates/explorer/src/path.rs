//! The frames in each link over time: those that wait, and those that are on the way.

use std::collections::VecDeque;

use rtolab_link::{Direction, QueueLength};
use rtolab_record::Recording;
use rtolab_scenario::Scenario;
use rtolab_sim::{KeepRunning, Lab, RunStatus, Sim};
use rtolab_time::{Duration, Instant};
use serde_json::{Value, json};

use crate::packing::Packing;

/// The most samples of a run. If there are more, every second one is left out.
const MOST_SAMPLES: usize = 1000;
/// The time between samples at first.
const FIRST_STEP: Duration = Duration::from_millis(1);
/// The most links in an answer.
const MOST_LINKS: usize = 12;

/// The frames in one direction of a link.
#[derive(Clone, Copy, Default)]
struct Frames {
    waiting: QueueLength,
    inside: usize,
}

/// The frames in the links of a run, sampled at equal intervals.
pub(crate) struct PathSamples {
    at: Vec<Instant>,
    /// By link, then direction.
    links: Vec<[Vec<Frames>; 2]>,
    step: Duration,
}

impl PathSamples {
    /// No samples yet, of this number of links.
    pub(crate) fn of(links: usize) -> Self {
        Self { at: Vec::new(), links: vec![Default::default(); links], step: FIRST_STEP }
    }

    /// Runs to `end`, and samples the links on the way.
    pub(crate) fn run(
        &mut self,
        sim: &mut Sim,
        end: Instant,
        keep_running: KeepRunning<'_>,
    ) -> RunStatus {
        let mut next = Instant::START;
        while next < end {
            let status = sim.run_while(next, keep_running);
            if status == RunStatus::Stopped || !keep_running(sim) {
                return RunStatus::Stopped;
            }
            if sim.now() < next {
                // No event is left.
                return RunStatus::Finished;
            }
            self.sample(sim);
            next += self.step;
        }
        sim.run_while(end, keep_running)
    }

    fn sample(&mut self, sim: &mut Sim) {
        if self.at.len() == MOST_SAMPLES {
            self.step = self.step * 2;
            halve(&mut self.at);
            self.links.iter_mut().flatten().for_each(halve);
        }
        self.at.push(sim.now());
        for (link, now) in self.links.iter_mut().zip(sim.frames_in_links()) {
            for (samples, (waiting, inside)) in link.iter_mut().zip(now) {
                samples.push(Frames { waiting, inside });
            }
        }
    }

    /// The links that had frames, in order of their distance from the flow's sender, with their
    /// samples until `until` as columns. Each is named from its near to its far end.
    pub(crate) fn seen(
        &self,
        (scenario, lab): (&Scenario, &Lab),
        (flow, recording): (&str, &Recording),
        packing: &mut Packing,
    ) -> Value {
        let distances = distances(scenario, flow);
        let until = recording.segments.iter().map(|row| row.fate_at.unwrap_or(row.at)).max();
        let shown = self.at.partition_point(|at| Some(*at) <= until);
        let own_access = format!("{flow} access");
        let mut links = Vec::new();
        for (index, (name, samples)) in lab.link_names().zip(&self.links).enumerate() {
            let ends = scenario.links.get(index).map(|link| link.ends);
            let is_others_access = ends.is_none() && **name != *own_access;
            if is_others_access || samples.iter().flatten().all(|frames| frames.inside == 0) {
                continue;
            }
            let (first, second) = ends.unwrap_or_default();
            let is_turned = ends.is_some() && distances[second] < distances[first];
            let (near, far) = if is_turned { (second, first) } else { (first, second) };
            // Links that the scenario does not list are access links.
            let distance = ends.map_or(0, |_| 1 + distances[near]);
            links.push((distance, index, name, ends.map(|_| (near, far)), is_turned));
        }
        links.sort_by_key(|(distance, index, ..)| (*distance, *index));
        links.truncate(MOST_LINKS);
        let links: Vec<_> = links
            .into_iter()
            .map(|(_, index, name, ends, is_turned)| {
                let mut directions = Direction::BOTH.map(|direction| {
                    columns(&self.links[index][direction.index()][..shown], packing)
                });
                if is_turned {
                    directions.reverse();
                }
                let [data, acks] = directions;
                let node = |index: usize| scenario.nodes[index].as_str();
                json!({
                    "name": &**name,
                    "from": ends.map(|(near, _)| node(near)),
                    "to": ends.map(|(_, far)| node(far)),
                    "there": data,
                    "back": acks,
                })
            })
            .collect();
        let times = self.at[..shown].iter().map(|at| at.secs_f64());
        json!({"at_s": packing.numbers(times), "links": links})
    }
}

/// Leaves out every second one.
fn halve<T>(samples: &mut Vec<T>) {
    let mut place = 0;
    samples.retain(|_| {
        place += 1;
        place % 2 == 1
    });
}

fn columns(samples: &[Frames], packing: &mut Packing) -> Value {
    let waiting = |frames: &Frames| frames.waiting.packets;
    json!({
        "waiting": packing.numbers(samples.iter().map(|frames| f64::from(waiting(frames)))),
        "bytes": packing.numbers(samples.iter().map(|frames| frames.waiting.bytes as f64)),
        "moving": packing.numbers(
            samples.iter().map(|frames| frames.inside.saturating_sub(waiting(frames) as usize) as f64)
        ),
    })
}

/// The number of links between the flow's sender and each node; `usize::MAX - 1` without a path.
fn distances(scenario: &Scenario, flow: &str) -> Vec<usize> {
    let mut distances = vec![usize::MAX - 1; scenario.nodes.len()];
    // Flows of one entry with a count are named after it: `ftp-1`.
    let named = scenario.flows.iter().find(|one| one.name == flow).or(scenario.flows.first());
    let Some(named) = named else { return distances };
    distances[named.from] = 0;
    let mut reached = VecDeque::from([named.from]);
    while let Some(node) = reached.pop_front() {
        for (one, other) in scenario.links.iter().map(|link| link.ends) {
            for (near, far) in [(one, other), (other, one)] {
                if near == node && distances[far] == usize::MAX - 1 {
                    distances[far] = distances[near] + 1;
                    reached.push_back(far);
                }
            }
        }
    }
    distances
}
