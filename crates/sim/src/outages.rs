//! The measurement of how flows resume after outages.

use std::ops::Range;

use rtolab_link::{ChannelConfig, Direction, Disturbance, Outages};
use rtolab_net::{Departure, NewData, OutageMeter, Packet, RouteStep};
use rtolab_record::{OutageRow, Place};
use rtolab_time::{Duration, Instant};

use crate::flow::{FlowRoute, Plan, SimFlow};
use crate::links::SimLink;
use crate::plan::Plans;

/// All directions of outages: both at once, and each alone.
const DIRECTIONS: [Option<Direction>; 3] =
    [None, Some(Direction::Forward), Some(Direction::Backward)];

/// The links of a run that have outages, with the flows over them.
#[derive(Clone, Debug)]
pub struct WatchedOutages {
    timelines: Vec<OutageTimeline>,
    /// By flow, then by link.
    watches: Vec<Watch>,
    /// The watches of each flow.
    of_flow: Vec<Range<usize>>,
    /// When a segment last arrived at the sender of each flow.
    last_segment: Vec<Option<Instant>>,
}

/// The outages of a link: of one direction alone, or of both at once.
#[derive(Clone, Copy, Debug)]
struct OutageTimeline {
    link: usize,
    direction: Option<Direction>,
    /// The index of the next outage.
    next: usize,
}

/// A flow over a link.
#[derive(Clone, Debug)]
struct Watch {
    link: usize,
    /// For each direction: do packets of the flow pass the link in it, and how long data take from
    /// the end of their transmission there to their receiver?
    passes: [Option<Duration>; 2],
    meter: OutageMeter,
}

impl WatchedOutages {
    /// The links of `plans` that have outages, with their flows; `None` if no such link has any.
    pub fn new(plans: &Plans) -> Option<Self> {
        let Plans { channels, legs, .. } = plans;
        let timelines: Vec<_> = channels
            .iter()
            .enumerate()
            .flat_map(|(link, (_, config))| timelines(link, config))
            .collect();
        let mut links: Vec<_> = timelines.iter().map(|timeline| timeline.link).collect();
        links.dedup();
        let (mut watches, mut of_flow) = (Vec::new(), Vec::with_capacity(legs.len()));
        for leg in legs {
            let first = watches.len();
            for &link in &links {
                let passes = passes((link, leg), plans);
                if passes.iter().any(Option::is_some) {
                    let meter = OutageMeter::new(leg.name.clone(), channels[link].0.clone());
                    watches.push(Watch { link, passes, meter });
                }
            }
            of_flow.push(first..watches.len());
        }
        let last_segment = vec![None; legs.len()];
        (!watches.is_empty()).then_some(Self { timelines, watches, of_flow, last_segment })
    }

    /// Lets the links keep their outages. Call it before the run begins.
    pub fn keep_outages(&self, links: &mut [SimLink]) {
        for timeline in &self.timelines {
            if let Some(channel) = links[timeline.link].channel() {
                channel.keep_outages();
            }
        }
    }

    /// Finds the outages that have begun by `at`.
    pub fn advance(&mut self, links: &mut [SimLink], at: Instant) {
        for timeline in &mut self.timelines {
            let Some(channel) = links[timeline.link].channel() else { continue };
            while let Some(outage) = channel.outage(timeline.direction, (timeline.next, at)) {
                timeline.next += 1;
                let watches = self.watches.iter_mut().filter(|watch| watch.link == timeline.link);
                watches.for_each(|watch| watch.on_outage(outage));
            }
        }
    }

    /// A packet leaves its host.
    pub fn on_departure(&mut self, packet: &Packet, at: Instant) {
        let flow = packet.flow as usize;
        if !packet.to_receiver {
            return;
        }
        let is_response = self.last_segment[flow] == Some(at);
        let resends = packet.order > 0 || packet.segment.sequence_length() == 0;
        let is_probe = resends && !is_response && !packet.is_datagram();
        for watch in &mut self.watches[self.of_flow[flow].clone()] {
            watch.meter.on_departure(Departure { at, is_probe });
        }
    }

    /// A packet is about to be processed at its destination, an end of `flow`.
    pub fn before_arrival(&mut self, packet: &Packet, flow: &SimFlow, at: Instant) {
        let (index, segment) = (packet.flow as usize, &packet.segment);
        if !packet.to_receiver {
            if !packet.is_datagram() {
                self.last_segment[index] = Some(at);
            }
        } else if segment.len > 0 && !flow.end(Place::Receiver).holds(segment) {
            let data = NewData { at, sent: packet.sent, bytes: segment.len };
            for watch in &mut self.watches[self.of_flow[index].clone()] {
                watch.meter.on_new_data(data);
            }
        }
    }

    /// The rows of all `flows`: of the outages during which they were open.
    pub fn into_rows(self, flows: &[SimFlow]) -> Vec<OutageRow> {
        let mut watches = self.watches.into_iter();
        let mut all = Vec::new();
        for (flow, range) in flows.iter().zip(self.of_flow) {
            let end = flow.end(Place::Sender).close_acknowledged;
            let is_open = |row: &OutageRow| {
                flow.begin.is_some_and(|begin| begin < row.to)
                    && end.is_none_or(|end| end > row.from)
            };
            let rows = watches.by_ref().take(range.len()).flat_map(|watch| watch.meter.into_rows());
            all.extend(rows.filter(is_open));
        }
        all
    }
}

impl Watch {
    fn on_outage(&mut self, outage: Disturbance) {
        let lag = match outage.direction {
            Some(direction) => self.passes[direction.index()],
            None => self.passes.into_iter().flatten().max(),
        };
        if let Some(lag) = lag {
            self.meter.on_outage(outage, lag);
        }
    }
}

/// The outages of a link that has any.
fn timelines(
    link: usize,
    config: &ChannelConfig,
) -> impl Iterator<Item = OutageTimeline> + use<'_> {
    let outages = |direction: Option<Direction>| match direction {
        None => &config.outages,
        Some(direction) => &config.of(direction).outages,
    };
    DIRECTIONS
        .into_iter()
        .filter(move |direction| *outages(*direction) != Outages::default())
        .map(move |direction| OutageTimeline { link, direction, next: 0 })
}

/// The directions in which packets of a flow pass a link; zero for packets without data.
fn passes((link, leg): (usize, &Plan), plans: &Plans) -> [Option<Duration>; 2] {
    let Plans { channels, steps, .. } = plans;
    let mut passes = [None; 2];
    for (place, route) in Place::BOTH.into_iter().zip(&leg.routes) {
        let firsts = match route {
            FlowRoute::Fixed(first) => vec![*first],
            FlowRoute::Changing(changes) => changes.iter().map(|change| change.first).collect(),
        };
        for first in firsts {
            let hops = steps[first as usize..].iter().map_while(|step| match step {
                RouteStep::Arrival => None,
                RouteStep::Middlebox(_) => Some(None),
                RouteStep::Link { link, direction } => Some(Some((*link as usize, *direction))),
            });
            let mut rest = hops.flatten().skip_while(|(other, _)| *other != link).peekable();
            let Some((_, direction)) = rest.peek().copied() else { continue };
            let delay =
                |(link, direction): (usize, Direction)| channels[link].1.of(direction).delay;
            let lag = match place {
                Place::Sender => rest.map(delay).sum(),
                Place::Receiver => Duration::ZERO,
            };
            let known = &mut passes[direction.index()];
            *known = Some(known.map_or(lag, |known: Duration| known.min(lag)));
        }
    }
    passes
}
