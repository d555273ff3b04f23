//! The transmitter of a direction: begin and end of the transmission of each frame.

use alloc::sync::Arc;

use rtolab_time::{Duration, Instant, Rate};

use crate::config::DirectionConfig;
use crate::opportunities::Slots;
use crate::pauses::Pauses;
use crate::priority::{Interruptions, PriorityPackets};
use crate::rates::Rates;
use crate::reseed::Visit;
use crate::stream::Stream;
use crate::timeline::{Interrupting, Timeline};

/// A transmitter, which sends one frame at a time.
#[derive(Clone, Debug)]
pub struct Transmitter {
    pace: Pace,
    pauses: Pauses,
    /// When it finishes all frames so far.
    pub(crate) idle_from: Instant,
}

/// The speed of a transmitter.
#[derive(Clone, Debug)]
enum Pace {
    Constant(Serialiser),
    Varying(Rates),
    Slots(Slots),
}

/// Transmission times at a constant rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serialiser {
    rate: Option<Rate>,
    /// The size and the transmission time of the last frame: most frames are as large as the one
    /// before, and a division costs more than everything else here.
    last_size: (u32, Duration),
}

impl Serialiser {
    #[inline(always)]
    pub(crate) const fn last_size(&self) -> (u32, Duration) {
        self.last_size
    }

    #[inline]
    pub(crate) fn time_for(&mut self, bytes: u32) -> Duration {
        if self.last_size.0 != bytes {
            let needed = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
            self.last_size = (bytes, needed);
        }
        self.last_size.1
    }
}

impl Transmitter {
    /// A transmitter with the rate, the rate changes and the scripted stalls of `config` alone.
    pub fn scripted(config: &DirectionConfig) -> Self {
        let stream = Stream::new(0);
        Self::new(config, None, Timeline::new(&config.stalls.scripted, None, stream), stream)
    }

    /// The end of the transmission of a frame that arrives at `entry`, after all earlier frames.
    pub fn transmit(&mut self, bytes: u32, entry: Instant) -> Instant {
        let start = self.begin(entry, entry);
        self.send(bytes, start)
    }

    /// `states` are the spans of the link's bad state, `stream` is the direction's.
    pub(crate) fn new(
        config: &DirectionConfig,
        states: Option<&Timeline>,
        stalls: Timeline,
        stream: Stream,
    ) -> Self {
        let packets =
            config.priority.as_ref().and_then(|source| PriorityPackets::new(source, stream));
        let (pace, interruptions) = match (&config.opportunities, packets) {
            (Some(trace), packets) => (
                { Pace::Slots(Slots::new(Arc::clone(trace), packets, config.light.clone())) },
                None,
            ),
            (None, None) => (Pace::at_rates(config, states), None),
            (None, Some(packets)) => {
                let rates = Rates::new(config, states);
                let rates = rates.unwrap_or_else(|| Rates::constant(config));
                let interruptions = Interruptions::new(packets, rates.clone(), stalls.clone());
                (Pace::Varying(rates), Some(interruptions))
            }
        };
        let pauses = Pauses::new(stalls, interruptions);
        Self { pace, pauses, idle_from: Instant::START }
    }

    /// When the transmission of a frame that arrived at `entry` and may be sent from `ready` on
    /// begins. No later call may have an earlier `ready`.
    #[inline]
    pub(crate) fn begin(&mut self, entry: Instant, ready: Instant) -> Instant {
        let idle_from = self.idle_from;
        let ready = ready.max(idle_from);
        match &mut self.pace {
            Pace::Constant(_) | Pace::Varying(_) => self.pauses.release(ready),
            Pace::Slots(slots) => {
                slots.prepare(ready, idle_from);
                slots.seek(entry, ready, &mut self.pauses.stalls)
            }
        }
    }

    /// When work other than a transmission that begins at `start` is done.
    pub(crate) fn hold(&mut self, start: Instant, work: Duration) -> Instant {
        self.pauses.work_through(start, work)
    }

    /// When a transmission ends that begins at `start`, as [`begin`](Self::begin) returned it.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32, start: Instant) -> Instant {
        let pauses = &mut self.pauses;
        self.idle_from = match &mut self.pace {
            Pace::Constant(serialiser) => pauses.work_through(start, serialiser.time_for(bytes)),
            Pace::Varying(rates) => rates.send(bytes, start, pauses),
            Pace::Slots(slots) => {
                slots.seek(Instant::START, start, &mut pauses.stalls);
                slots.send(bytes, &mut pauses.stalls)
            }
        };
        self.idle_from
    }

    /// The serialiser, if the rate is constant and there are no pauses.
    pub(crate) fn steady(&self) -> Option<Serialiser> {
        match self.pace {
            Pace::Constant(serialiser) if self.pauses.is_empty() => Some(serialiser),
            _ => None,
        }
    }

    /// Passes everything in it that is random to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        match &mut self.pace {
            Pace::Constant(_) => {}
            Pace::Varying(rates) => rates.visit(visit),
            Pace::Slots(slots) => slots.visit(visit),
        }
        self.pauses.visit(visit);
    }

    pub(crate) fn stalls(&mut self) -> &mut Timeline {
        &mut self.pauses.stalls
    }

    /// Discards the past before `at`.
    #[inline]
    pub(crate) fn forget_before(&mut self, at: Instant) {
        self.pauses.forget_before(at);
        if let Pace::Varying(rates) = &mut self.pace {
            rates.forget_before(at);
        }
    }
}

impl Pace {
    fn at_rates(config: &DirectionConfig, states: Option<&Timeline>) -> Self {
        match Rates::new(config, states) {
            Some(rates) => Self::Varying(rates),
            None => {
                Self::Constant(Serialiser { rate: config.rate, last_size: (0, Duration::ZERO) })
            }
        }
    }
}
