//! Both directions of a link and what they share.

use alloc::vec::Vec;

use rtolab_time::Instant;

use crate::config::ChannelConfig;
use crate::frame::{Direction, Frame, Outcome};
use crate::lane::Lane;
use crate::report::{Disturbance, DisturbanceKind, Stats};
use crate::stream::Stream;
use crate::timeline::{Span, Timeline};

/// A link between two ends, sans-IO: it is told of frames and of the time, and says which come out,
/// when, and what became of the others.
///
/// Time must not go backwards: no `at` may be earlier than one before it. A frame's fate is settled
/// when it is sent, and its outcome waits inside until it is due. Where order is kept, each
/// direction gives the outcomes of the frames that entered in their order: a lost one is told when
/// it was lost or, if frames before it are still inside, right after these; a frame that the queue
/// did not take is told at once. Where order is free, outcomes are told as they are due, and of two
/// that are due together the one of the earlier frame first.
///
/// Its random processes draw from children of the stream it is given:
///
/// - `outages` and, if both directions change together, `states`;
/// - for either direction `forward/stalls`, `forward/outages`, `forward/priority` and, if each
///   changes by itself, `forward/states`: these happen at the same times whatever the traffic is;
/// - `forward/loss`, `forward/memory`, `forward/spikes`, `forward/jitter`, `forward/corruption`,
///   `forward/duplication`, `forward/duplicate-jitter`: these hit the n-th transmitted frame
///   whenever that comes;
/// - `forward/red`: it hits the n-th frame that comes to the queue.
#[derive(Clone, Debug)]
pub struct Channel<F> {
    lanes: [Lane<F>; 2],
    outages: Timeline,
    recording: bool,
}

impl<F: Frame> Channel<F> {
    /// An empty link at the start of a run. `stream` belongs to this link alone.
    pub fn new(config: &ChannelConfig, stream: &Stream) -> Self {
        let outages = &config.outages;
        Self {
            lanes: [
                Lane::new(config, Direction::Forward, *stream),
                Lane::new(config, Direction::Backward, *stream),
            ],
            outages: Timeline::new(&outages.scripted, outages.random, stream.child("outages")),
            recording: false,
        }
    }

    /// A frame comes to the link.
    pub fn send(&mut self, direction: Direction, frame: F, at: Instant) {
        let lane = &mut self.lanes[direction.index()];
        self.outages.forget_before(at);
        lane.forget_before(at);
        lane.send(frame, at, &mut self.outages);
    }

    /// The next outcome due at or before `at`, of either direction; the forward one first of two
    /// that are due together.
    pub fn poll(&mut self, at: Instant) -> Option<Outcome<F>> {
        let [forward, backward] = &mut self.lanes;
        match forward.due() <= backward.due() {
            true => forward.poll(at),
            false => backward.poll(at),
        }
    }

    /// The next outcome of one direction due at or before `at`.
    #[inline]
    pub fn poll_direction(&mut self, direction: Direction, at: Instant) -> Option<Outcome<F>> {
        self.lanes[direction.index()].poll(at)
    }

    /// When [`Channel::poll`] next has something to say.
    pub fn next_event(&self) -> Option<Instant> {
        let [forward, backward] = &self.lanes;
        Some(forward.due().min(backward.due())).filter(|due| *due < Instant::NEVER)
    }

    /// When [`Channel::poll_direction`] next has something to say.
    #[inline]
    pub fn next_event_of(&self, direction: Direction) -> Option<Instant> {
        Some(self.lanes[direction.index()].due()).filter(|due| *due < Instant::NEVER)
    }

    /// How many frames of this direction are inside, their outcomes still to be told.
    pub fn inside(&self, direction: Direction) -> usize {
        self.lanes[direction.index()].inside()
    }

    /// What happened to this direction's frames so far.
    pub fn stats(&self, direction: Direction) -> &Stats {
        self.lanes[direction.index()].stats()
    }

    /// From now on, remember disturbances for [`Channel::disturbances`]. Ask before the first
    /// frame.
    pub fn record_disturbances(&mut self) {
        self.recording = true;
        self.outages.keep();
        self.lanes.iter_mut().for_each(Lane::record_disturbances);
    }

    /// The stalls, outages and spikes that began before `until`, in the order of their beginnings;
    /// none unless they are recorded. Stalls and outages that touch are one.
    pub fn disturbances(&mut self, until: Instant) -> Vec<Disturbance> {
        let mut all = Vec::new();
        if !self.recording {
            return all;
        }
        let (kind, direction) = (DisturbanceKind::Outage, None);
        let outages = self.outages.until(until);
        all.extend(outages.map(|Span { from, to }| Disturbance { kind, direction, from, to }));
        for lane in &mut self.lanes {
            lane.disturbances(until, &mut all);
        }
        all.sort_by_key(|disturbance| disturbance.from);
        all
    }
}
