//! One direction of a link: each key from the direction, else from the link, else the default.

use std::sync::Arc;

use rtolab_link::{
    BadState, DelayTrace, DirectionConfig, Discipline, LightOpportunities, Limit, NamedStage,
    Opportunities, Outages, RateChange,
};
use rtolab_time::{Duration, Instant, Rate};

use super::key::Key;
use super::run::{Packets, Run};
use super::trace::RateTrace;
use super::{queue, spans, trace};
use crate::Result;
use crate::files::Folder;
use crate::raw::Direction;

/// The keys of a direction in one table: of the direction, or of the link for both.
pub(super) struct Layer<'a> {
    keys: &'a Direction,
    at: Key<'a>,
    rates: Option<RateTrace>,
    light: Option<Arc<LightOpportunities>>,
    delays: Option<Arc<DelayTrace>>,
    stage: Option<NamedStage>,
}

impl<'a> Layer<'a> {
    /// Checks the keys of the layer and reads the traces that they name.
    pub(super) fn new(keys: &'a Direction, at: Key<'a>, run: &Run<'_>) -> Result<Self> {
        check_room(keys, run.packets().largest, &at)?;
        check_memory(keys, &at)?;
        if let Some(stalls) = &keys.stalls {
            spans::check_stalls(stalls, run.duration, &at.key("stalls"))?;
        }
        let (rates, delays) = traces(keys, run.folder, &at)?;
        let light = keys.light_trace.as_deref();
        let light = light.map(|file| trace::light(file, run.folder, &at.key("light_trace")));
        let light = light.transpose()?;
        let stage = keys.stage.as_ref().map(|name| {
            run.prototypes.stage(name).map_err(|expected| at.key("stage").found(&expected))
        });
        let stage = stage.transpose()?.flatten();
        Ok(Self { keys, at, rates, light, delays, stage })
    }

    /// The place of `key`, if this layer has it.
    pub(super) fn place(&self, key: &str) -> Option<Key<'a>> {
        Some(self.at.key(key)).filter(Key::exists)
    }
}

type Traces = (Option<RateTrace>, Option<Arc<DelayTrace>>);

fn traces(keys: &Direction, folder: Folder<'_>, at: &Key<'_>) -> Result<Traces> {
    let rates = keys.rate_trace.as_deref();
    let rates = rates.map(|file| trace::rates(file, folder, &at.key("rate_trace")));
    let delays = keys.delay_trace.as_ref();
    let delays = delays.map(|written| trace::delays(written, folder, &at.key("delay_trace")));
    Ok((rates.transpose()?, delays.transpose()?))
}

/// The largest packet must fit each queue and buffer.
fn check_room(keys: &Direction, largest: u32, at: &Key<'_>) -> Result<()> {
    let Direction { queue, send_buffer, receive_buffer, .. } = keys;
    let rooms =
        [("queue", queue), ("send_buffer", send_buffer), ("receive_buffer", receive_buffer)];
    for (key, room) in rooms {
        match room {
            Some(Limit::Bytes(bytes)) if *bytes < largest => {
                let expected = format!("room for the largest packet, {largest} B with its headers");
                return Err(at.key(key).found(&expected));
            }
            _ => (),
        }
    }
    Ok(())
}

/// A memory of 1 would have no effect but that of the first frame.
fn check_memory(keys: &Direction, at: &Key<'_>) -> Result<()> {
    match keys.loss_memory {
        Some(memory) if memory.value() >= 1.0 => {
            let expected = "less than 1, or all would fare as the first frame does";
            Err(at.key("loss_memory").found(expected))
        }
        _ => Ok(()),
    }
}

/// The rate of a direction and its changes, or the trace that replaces both.
#[derive(Default)]
struct Pace {
    rate: Option<Rate>,
    changes: Vec<RateChange>,
    period: Option<Duration>,
    opportunities: Option<Arc<Opportunities>>,
}

/// The keys of a direction, then those of its link.
pub(super) struct Layers<'a> {
    pub(super) own: &'a Layer<'a>,
    pub(super) link: &'a Layer<'a>,
}

impl<'a> Layers<'a> {
    /// One direction of a link, with its own `outages`.
    pub(super) fn resolve(&self, outages: &Outages, packets: Packets) -> Result<DirectionConfig> {
        let Pace { rate, changes: rate_changes, period: rate_period, opportunities } =
            self.pace()?;
        let light = self.light(opportunities.is_some())?;
        let (delay, delays) = self.delay();
        let config = DirectionConfig {
            rate,
            rate_changes,
            rate_period,
            opportunities,
            light,
            delay,
            delays,
            jitter: self.key(|keys| keys.jitter.clone()),
            jitter_correlation: self.key(|keys| keys.jitter_correlation),
            order: self.key(|keys| keys.order).unwrap_or_default(),
            queue: self.key(|keys| keys.queue).unwrap_or_default(),
            priority: self.key(|keys| keys.priority.clone()),
            lifetime: self.key(|keys| keys.lifetime),
            send_buffer: self.key(|keys| keys.send_buffer).unwrap_or_default(),
            receive_buffer: self.key(|keys| keys.receive_buffer).unwrap_or_default(),
            loss: self.key(|keys| keys.loss).unwrap_or_default(),
            loss_memory: self.key(|keys| keys.loss_memory).unwrap_or_default(),
            drops: self.drops(),
            bad: self.bad()?,
            duplication: self.key(|keys| keys.duplication).unwrap_or_default(),
            corruption: self.key(|keys| keys.corruption).unwrap_or_default(),
            spikes: self.key(|keys| keys.spikes.clone()),
            stalls: self.key(|keys| keys.stalls.clone()).unwrap_or_default(),
            stage: self.stage(),
            header_compression: self.key(|keys| keys.header_compression).unwrap_or_default(),
            outages: outages.clone(),
            ..DirectionConfig::default()
        };
        let discipline = self.discipline(&config, packets)?;
        if let Some((priority, at)) = self.find(|keys| keys.priority.as_ref()) {
            queue::check_priority(priority, config.rate, &at.key("priority"))?;
        }
        Ok(DirectionConfig { discipline, ..config })
    }

    /// The first value found, with the place of its table.
    fn find<T>(&self, find: impl Fn(&'a Direction) -> Option<T>) -> Option<(T, &Key<'a>)> {
        let layers = [self.own, self.link];
        layers.into_iter().find_map(|layer| Some((find(layer.keys)?, &layer.at)))
    }

    fn key<T>(&self, find: impl Fn(&Direction) -> Option<T>) -> Option<T> {
        self.find(find).map(|(found, _)| found)
    }

    /// A trace in one layer replaces the rate and its changes of the other, and vice versa.
    fn pace(&self) -> Result<Pace> {
        let has_rate = |layer: &&&Layer<'_>| {
            let Direction { rate, rate_changes, rate_trace, .. } = layer.keys;
            rate.is_some() || rate_changes.is_some() || rate_trace.is_some()
        };
        let nearest = [&self.own, &self.link].into_iter().find(|layer| has_rate(layer));
        match nearest.and_then(|layer| layer.rates.clone()) {
            Some(RateTrace::Opportunities(trace)) => {
                return Ok(Pace { opportunities: Some(trace), ..Pace::default() });
            }
            Some(RateTrace::Rates(changes, period)) => {
                let rate = changes.first().and_then(|first| first.rate);
                return Ok(Pace { rate, changes, period, opportunities: None });
            }
            None => (),
        }
        let rate = self.key(|keys| keys.rate);
        let changes = self.find(|keys| keys.rate_changes.as_ref());
        let Some((changes, at)) = changes else { return Ok(Pace { rate, ..Pace::default() }) };
        match changes.first() {
            Some(first) if rate.is_none() && first.at > Instant::START => {
                let found = format!("found no rate before {}", first.at.since(Instant::START));
                let expected = "expected rate beside rate_changes, or a change at 0 s";
                Err(at.key("rate_changes").error(format!("{found}; {expected}")))
            }
            _ => Ok(Pace { rate, changes: changes.clone(), ..Pace::default() }),
        }
    }

    /// The opportunities of trains, which need those of the saturated link.
    fn light(&self, is_traced: bool) -> Result<Option<Arc<LightOpportunities>>> {
        let nearest = [self.own, self.link].into_iter().find(|layer| layer.light.is_some());
        match nearest {
            Some(layer) if !is_traced => {
                let expected =
                    "expected rate_trace, a trace of mahimahi, for the packets after them";
                let problem = format!("found opportunities of first packets alone; {expected}");
                Err(layer.at.key("light_trace").error(problem))
            }
            nearest => Ok(nearest.and_then(|layer| layer.light.clone())),
        }
    }

    /// A trace of delays in one layer replaces the delay of the other, and vice versa.
    fn delay(&self) -> (Duration, Option<Arc<DelayTrace>>) {
        let layers = [self.own, self.link];
        let nearest =
            layers.into_iter().find_map(|layer| match (layer.keys.delay, &layer.delays) {
                (_, Some(trace)) => Some((Duration::ZERO, Some(trace.clone()))),
                (Some(delay), None) => Some((delay, None)),
                (None, None) => None,
            });
        nearest.unwrap_or_default()
    }

    fn stage(&self) -> Option<NamedStage> {
        let layers = [self.own, self.link];
        let nearest = layers.into_iter().find(|layer| layer.keys.stage.is_some());
        nearest.and_then(|layer| layer.stage.clone())
    }

    fn drops(&self) -> Vec<u32> {
        let mut drops = self.key(|keys| keys.drops.clone()).unwrap_or_default();
        drops.sort_unstable();
        drops.dedup();
        drops
    }

    fn bad(&self) -> Result<BadState> {
        let Some((bad, at)) = self.find(|keys| keys.bad) else { return Ok(BadState::default()) };
        if bad.rate.is_some() && self.pace()?.opportunities.is_some() {
            let problem = "found a rate beside rate_trace; expected only one of them";
            return Err(at.key("bad").key("rate").error(problem));
        }
        Ok(bad)
    }

    /// The discipline of the direction, else that of the link.
    fn discipline(&self, config: &DirectionConfig, packets: Packets) -> Result<Discipline> {
        for Layer { keys, at, .. } in [self.own, self.link] {
            match (&keys.red, &keys.codel) {
                (Some(red), _) => return queue::red(red, config, packets, &at.key("red")),
                (None, Some(codel)) => return queue::codel(*codel, &at.key("codel")),
                (None, None) => (),
            }
        }
        Ok(Discipline::DropTail)
    }
}
