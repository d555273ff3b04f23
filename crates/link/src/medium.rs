//! The transmission of the frame at the head of the queue, which stalls and sources of higher
//! priority interrupt; then loss and propagation, which depend on the link's state at the end of
//! the transmission.

use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::config::{ChannelConfig, Outages, SpikeHolds, StallHolds};
use crate::delays::Delays;
use crate::frame::{Direction, DropCause};
use crate::impairments::{FrameImpairments, Impairments, State};
use crate::report::{Disturbance, DisturbanceKind};
use crate::reseed::Visit;
use crate::stage::RunningStage;
use crate::stream::Stream;
use crate::timeline::{Span, Timeline};
use crate::transmitter::{Serialiser, Transmitter};

/// A transmitter and the line after it. It stores no frames: its user asks when it is free and
/// passes one frame after the other.
#[derive(Clone, Debug)]
pub(crate) struct Medium {
    direction: Direction,
    /// All frames have the same delay and no impairments. It is checked first, so that a plain link
    /// has no cost.
    is_plain: bool,
    pub(crate) transmitter: Transmitter,
    impairments: Impairments,
    delays: Delays,
    spike_holds: SpikeHolds,
    /// When the link is in its bad state.
    states: Timeline,
    /// The outages of this direction alone.
    outages: Timeline,
    stage: Option<RunningStage>,
    spikes: Option<Vec<Disturbance>>,
}

/// The transmission and propagation of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineTransit {
    pub(crate) end: Instant,
    /// Why it was lost then; `None` if it was not.
    pub(crate) cause: Option<DropCause>,
    pub(crate) propagation: Duration,
    /// When it reaches the far end, before its spike and the wait for earlier frames.
    pub(crate) arrival: Instant,
    /// When its second copy reaches the far end, if there is one.
    pub(crate) second: Option<Instant>,
    /// The spike that held service.
    pub(crate) service: Duration,
    /// The spike that holds delivery.
    pub(crate) spike: Duration,
    pub(crate) corrupt: bool,
}

impl LineTransit {
    /// The transit of an undisturbed frame whose transmission ended at `end`.
    #[inline]
    const fn undisturbed(end: Instant, arrival: Instant, propagation: Duration) -> Self {
        Self {
            end,
            cause: None,
            propagation,
            arrival,
            second: None,
            service: Duration::ZERO,
            spike: Duration::ZERO,
            corrupt: false,
        }
    }

    /// The transit of a frame that is too old when its transmission would begin.
    pub(crate) const fn expired(at: Instant) -> Self {
        Self {
            end: at,
            cause: Some(DropCause::Lifetime),
            propagation: Duration::ZERO,
            arrival: at,
            second: None,
            service: Duration::ZERO,
            spike: Duration::ZERO,
            corrupt: false,
        }
    }
}

impl Medium {
    /// `link` is the stream of the whole link.
    pub(crate) fn new(config: &ChannelConfig, direction: Direction, link: Stream) -> Self {
        let stream = link.child(direction.name());
        let states = config.states.as_ref().map(|states| {
            // Both directions have the same states if they draw from the same stream.
            let stream = if states.shared { link } else { stream };
            Timeline::new(&[], Some(&states.residence), stream.child("states"))
        });
        let config = config.of(direction);
        let stalls = match config.stalls.holds {
            StallHolds::Entry => Timeline::empty(),
            StallHolds::Transmitter => Timeline::stalls(config, stream),
        };
        let (outages, impairments) = (&config.outages, Impairments::new(config, stream));
        let stage = config.stage.as_ref();
        let stage = stage.map(|own| RunningStage::new(own, direction, stream.child("stage").rng()));
        Self {
            direction,
            transmitter: Transmitter::new(config, states.as_ref(), stalls, stream),
            delays: Delays::new(config),
            spike_holds: config.spikes.as_ref().map(|spikes| spikes.holds).unwrap_or_default(),
            is_plain: impairments.is_plain()
                && states.is_none()
                && config.delays.is_none()
                && stage.is_none()
                && *outages == Outages::default(),
            impairments,
            states: states.unwrap_or_else(Timeline::empty),
            outages: Timeline::new(
                &outages.scripted,
                outages.random.as_ref(),
                stream.child("outages"),
            ),
            stage,
            spikes: None,
        }
    }

    /// Sends a frame whose transmission begins at `start`; `outages` are those of both directions.
    // ARQ nodes call it too, so the compiler would not inline it by itself.
    #[inline(always)]
    pub(crate) fn transmit(
        &mut self,
        bytes: u32,
        start: Instant,
        outages: &mut Timeline,
    ) -> LineTransit {
        if self.is_plain && outages.is_empty() {
            let end = self.transmitter.send(bytes, start);
            let propagation = self.delays.constant();
            return LineTransit::undisturbed(end, end + propagation, propagation);
        }
        let mut impaired = self.impairments.draw(start);
        let (service, mut spike) = match self.spike_holds {
            SpikeHolds::Service => (impaired.spike, Duration::ZERO),
            SpikeHolds::Delivery => (Duration::ZERO, impaired.spike),
        };
        let begin = self.serve_spike(service, start);
        let end = self.transmitter.send(bytes, begin);
        if let Some(stage) = &mut self.stage {
            let (lost, held) = stage.decide(bytes, end);
            (impaired.script, spike) = (impaired.script | lost, spike + held);
        }
        let state = self.state(end);
        let propagation = self.delays.at(end, state);
        let error = self.impairments.is_error(impaired, state);
        let cause = match impaired {
            FrameImpairments { script: true, .. } => Some(DropCause::Script),
            _ if outages.covers(end) || self.outages.covers(end) => Some(DropCause::Outage),
            _ if error => Some(DropCause::Error),
            _ => None,
        };
        let arrival = end + propagation + impaired.jitter;
        if !spike.is_zero() && cause.is_none() {
            self.note_spike(arrival, arrival + spike);
        }
        LineTransit {
            end,
            cause,
            propagation,
            arrival,
            second: impaired
                .duplicate
                .filter(|_| cause.is_none())
                .map(|jitter| end + propagation + jitter),
            service,
            spike,
            corrupt: impaired.corrupt,
        }
    }

    /// Are all timelines empty, so that none needs to be checked?
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.states.is_empty() && self.outages.is_empty() && self.transmitter.steady().is_some()
    }

    /// The serialiser and the propagation delay, if both are the same for all frames.
    pub(crate) fn plain(&self) -> Option<(Serialiser, Duration)> {
        let serialiser =
            self.transmitter.steady().filter(|_| self.is_plain && self.is_undisturbed())?;
        Some((serialiser, self.delays.constant()))
    }

    /// The propagation delay of a frame sent at `at`.
    pub(crate) fn propagation(&mut self, at: Instant) -> Duration {
        let state = self.state(at);
        self.delays.at(at, state)
    }

    /// Passes everything in it that is random to `visit`, except a user-defined stage.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        self.transmitter.visit(visit);
        self.impairments.visit(visit);
        self.states.visit(visit);
        self.outages.visit(visit);
    }

    /// The outages of this direction alone.
    pub(crate) const fn outages(&mut self) -> &mut Timeline {
        &mut self.outages
    }

    /// Is this direction alone in an outage?
    pub(crate) fn is_out(&mut self, at: Instant) -> bool {
        self.outages.covers(at)
    }

    #[inline]
    fn state(&mut self, at: Instant) -> State {
        if self.states.covers(at) { State::Bad } else { State::Good }
    }

    #[inline]
    fn serve_spike(&mut self, spike: Duration, start: Instant) -> Instant {
        if spike.is_zero() {
            return start;
        }
        let end = self.transmitter.hold(start, spike);
        self.note_spike(start, end);
        end
    }

    fn note_spike(&mut self, from: Instant, to: Instant) {
        if let Some(spikes) = &mut self.spikes {
            let direction = Some(self.direction);
            spikes.push(Disturbance { kind: DisturbanceKind::Spike, direction, from, to });
        }
    }

    /// Discards the past before `at`.
    #[inline]
    pub(crate) fn forget_before(&mut self, at: Instant) {
        self.transmitter.forget_before(at);
        self.states.forget_before(at);
        self.outages.forget_before(at);
    }

    pub(crate) fn record_disturbances(&mut self) {
        self.transmitter.stalls().keep();
        self.outages.keep();
        self.spikes.get_or_insert_default();
    }

    /// The recorded stalls, outages and spikes that began before `until`.
    pub(crate) fn disturbances(&mut self, until: Instant, into: &mut Vec<Disturbance>) {
        let Some(spikes) = &self.spikes else { return };
        into.extend(spikes.iter().filter(|spike| spike.from < until));
        let direction = Some(self.direction);
        let stalls = (DisturbanceKind::Stall, self.transmitter.stalls());
        for (kind, timeline) in [stalls, (DisturbanceKind::Outage, &mut self.outages)] {
            into.extend(timeline.until(until).map(|Span { from, to }| Disturbance {
                kind,
                direction,
                from,
                to,
            }));
        }
    }
}
