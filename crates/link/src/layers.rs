//! The ARQ layers between a node's queue and its transmitter.

use rtolab_time::{Duration, Instant};

use crate::arq::{Arq, Block, Content, Control, Data, End, NodeTime, Payload, Purpose, earlier};
use crate::config::ChannelConfig;
use crate::frame::{Direction, DropCause, Frame};
use crate::waiting::{FrameQueue, Outcomes, QueuedFrame};

/// The layers of both directions.
pub(crate) trait ArqLayers<F: Frame>: Clone {
    /// The unit that the transmitter sends.
    type Wire: Frame;

    fn new(config: &ChannelConfig) -> Self;

    /// Is there something to send in this direction, new frames included?
    fn has_work(&self, direction: Direction, waiting: &FrameQueue<F>) -> bool;

    /// Does the window have space for a new frame of this size?
    fn has_window_for(&self, direction: Direction, bytes: u32) -> bool;

    /// The next unit to send.
    fn next(
        &mut self,
        time: NodeTime,
        waiting: &mut FrameQueue<F>,
        outcomes: &mut Outcomes<F>,
    ) -> Option<Self::Wire>;

    fn purpose(wire: &Self::Wire) -> Purpose;

    /// A transmission has been scheduled.
    fn on_sent(&mut self, direction: Direction, wire: &Self::Wire, times: TransmissionTimes);

    /// A transmission arrives or is lost.
    fn on_line_event(
        &mut self,
        event: LineEvent<Self::Wire>,
        now: Instant,
        outcomes: &mut [Outcomes<F>; 2],
    );

    /// Control information that takes no bandwidth.
    fn signal(&mut self, direction: Direction, now: Instant) -> Option<Signal>;

    fn on_timer(&mut self, now: Instant, outcomes: &mut [Outcomes<F>; 2]);

    /// When to call [`ArqLayers::on_timer`] for this direction's frames.
    fn next_event(&self, direction: Direction) -> Instant;
}

/// The times of a transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransmissionTimes {
    pub(crate) end: Instant,
    /// When it arrives without disturbances.
    pub(crate) undisturbed: Instant,
}

#[derive(Clone, Debug)]
pub(crate) struct LineEvent<W> {
    pub(crate) direction: Direction,
    pub(crate) kind: LineEventKind<W>,
}

#[derive(Clone, Debug)]
pub(crate) enum LineEventKind<W> {
    /// It arrives, `held` later than without disturbances.
    Arrived {
        wire: W,
        held: Duration,
        duplicate: bool,
    },
    Lost {
        wire: W,
        cause: DropCause,
        at: Instant,
    },
    /// It arrives damaged, with only its number legible. Its loss was reported before.
    Damaged(W),
    Signal(Signal),
}

/// Control information that takes no bandwidth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    level: Level,
    control: Control,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Upper,
    Lower,
}

/// No layers: frames are sent unchanged.
#[derive(Clone, Debug)]
pub(crate) struct Direct;

impl<F: Frame> ArqLayers<F> for Direct {
    type Wire = QueuedFrame<F>;

    fn new(_: &ChannelConfig) -> Self {
        Self
    }

    fn has_work(&self, _: Direction, waiting: &FrameQueue<F>) -> bool {
        waiting.first_bytes().is_some()
    }

    fn has_window_for(&self, _: Direction, _: u32) -> bool {
        true
    }

    fn next(
        &mut self,
        time: NodeTime,
        waiting: &mut FrameQueue<F>,
        outcomes: &mut Outcomes<F>,
    ) -> Option<QueuedFrame<F>> {
        let mut queued = waiting.take(time.now, outcomes)?;
        let stalled = time.stalled.saturating_sub(queued.stalled);
        queued.stalled = queued.entry.since(queued.offered) + stalled;
        Some(queued)
    }

    fn purpose(_: &QueuedFrame<F>) -> Purpose {
        Purpose::New
    }

    fn on_sent(&mut self, _: Direction, _: &QueuedFrame<F>, _: TransmissionTimes) {}

    fn on_line_event(
        &mut self,
        event: LineEvent<QueuedFrame<F>>,
        now: Instant,
        outcomes: &mut [Outcomes<F>; 2],
    ) {
        let outcomes = &mut outcomes[event.direction.index()];
        match event.kind {
            LineEventKind::Arrived { wire, held, duplicate } => {
                let held = wire.stalled + held;
                outcomes.deliver((wire, duplicate), held, now);
            }
            LineEventKind::Lost { wire, cause, at } => outcomes.drop(wire, cause, [at, now]),
            LineEventKind::Damaged(_) | LineEventKind::Signal(_) => {}
        }
    }

    fn signal(&mut self, _: Direction, _: Instant) -> Option<Signal> {
        None
    }

    fn on_timer(&mut self, _: Instant, _: &mut [Outcomes<F>; 2]) {}

    fn next_event(&self, _: Direction) -> Instant {
        Instant::NEVER
    }
}

/// Both directions of one layer: reports of one travel in the other.
#[derive(Clone, Debug)]
struct Pair<P> {
    arqs: [Arq<P>; 2],
}

impl<P: Payload> Pair<P> {
    fn of(&self, direction: Direction) -> &Arq<P> {
        &self.arqs[direction.index()]
    }

    fn of_mut(&mut self, direction: Direction) -> &mut Arq<P> {
        &mut self.arqs[direction.index()]
    }

    fn has_work(&self, direction: Direction) -> bool {
        self.of(direction.reverse()).has_report() || self.of(direction).has_work()
    }

    fn next(
        &mut self,
        direction: Direction,
        time: NodeTime,
        source: impl FnOnce() -> Option<P>,
    ) -> Option<Block> {
        let report = self.of_mut(direction.reverse()).report(time.now);
        report.or_else(|| self.of_mut(direction).next(time, source))
    }

    fn signal(&mut self, direction: Direction, now: Instant) -> Option<Control> {
        let report = self.of_mut(direction.reverse()).free_report(now);
        report.or_else(|| self.of_mut(direction).free_move_window())
    }

    fn on_block(&mut self, direction: Direction, block: &Block, [now, undisturbed]: [Instant; 2]) {
        match block.content {
            Content::Data(data) => {
                self.of_mut(direction).on_data(&data, block.corrupt, undisturbed);
            }
            // Its own checksum detects the damage.
            Content::Control(_) if block.corrupt => {}
            Content::Control(control) => self.on_control(direction, control, now),
        }
    }

    fn on_control(&mut self, direction: Direction, control: Control, now: Instant) {
        match control {
            Control::Report(report) => self.of_mut(direction.reverse()).on_report(report, now),
            Control::MoveWindow(start) => self.of_mut(direction).on_move_window(start),
        }
    }

    fn on_lost(&mut self, direction: Direction, block: &Block, now: Instant) {
        if let Content::Data(data) = &block.content {
            self.of_mut(direction).on_lost(data, now);
        }
    }
}

/// One or two ARQ layers: the lower carries the blocks of the upper.
#[derive(Clone, Debug)]
pub(crate) struct Retransmitting<F> {
    upper: Pair<QueuedFrame<F>>,
    lower: Option<Pair<Block>>,
}

impl<F: Frame> ArqLayers<F> for Retransmitting<F> {
    type Wire = Block;

    fn new(config: &ChannelConfig) -> Self {
        let window = |direction| {
            let direction = config.of(direction);
            [direction.send_buffer, direction.receive_buffer]
        };
        let upper = config.arq.first().expect("a channel without it has no such layers");
        let arqs = Direction::BOTH.map(|direction| Arq::new(*upper, window(direction)));
        let lower = config.arq.get(1).map(|lower| {
            let arqs = Direction::BOTH.map(|_| Arq::new(*lower, Default::default()));
            Pair { arqs }
        });
        Self { upper: Pair { arqs }, lower }
    }

    fn has_work(&self, direction: Direction, waiting: &FrameQueue<F>) -> bool {
        self.lower.as_ref().is_some_and(|lower| lower.has_work(direction))
            || self.upper.has_work(direction)
            || waiting.first_bytes().is_some_and(|bytes| self.has_window_for(direction, bytes))
    }

    fn has_window_for(&self, direction: Direction, bytes: u32) -> bool {
        self.upper.of(direction).has_window_for(bytes)
    }

    fn next(
        &mut self,
        time: NodeTime,
        waiting: &mut FrameQueue<F>,
        outcomes: &mut Outcomes<F>,
    ) -> Option<Block> {
        let direction = outcomes.direction;
        let fits = waiting.first_bytes().is_some_and(|bytes| self.has_window_for(direction, bytes));
        let Self { upper, lower } = self;
        let mut frame = || if fits { waiting.take(time.now, outcomes) } else { None };
        match lower {
            None => upper.next(direction, time, &mut frame),
            Some(lower) => lower.next(direction, time, || upper.next(direction, time, &mut frame)),
        }
    }

    fn purpose(block: &Block) -> Purpose {
        block.purpose
    }

    fn on_sent(
        &mut self,
        direction: Direction,
        block: &Block,
        TransmissionTimes { end, undisturbed }: TransmissionTimes,
    ) {
        let Content::Data(data) = &block.content else { return };
        let Self { upper, lower } = self;
        let Some(lower) = lower else {
            upper.of_mut(direction).on_sent(data, end, undisturbed);
            return;
        };
        let completed = lower.of_mut(direction).on_sent(data, end, undisturbed);
        if let Some((Block { content: Content::Data(data), .. }, undisturbed)) = completed {
            upper.of_mut(direction).on_sent(data, end, undisturbed);
        }
    }

    fn on_line_event(
        &mut self,
        event: LineEvent<Block>,
        now: Instant,
        outcomes: &mut [Outcomes<F>; 2],
    ) {
        let LineEvent { direction, kind } = event;
        match kind {
            LineEventKind::Arrived { duplicate: true, .. } => return,
            LineEventKind::Arrived { wire, held, .. } => {
                self.on_wire(direction, &wire, [now, earlier(now, held)]);
            }
            LineEventKind::Lost { wire, .. } => match &mut self.lower {
                None => self.upper.on_lost(direction, &wire, now),
                Some(lower) => lower.on_lost(direction, &wire, now),
            },
            LineEventKind::Damaged(wire) => {
                if let Content::Data(data) = wire.content {
                    self.on_damaged(direction, &data);
                }
            }
            LineEventKind::Signal(Signal { level, control }) => match (&mut self.lower, level) {
                (Some(lower), Level::Lower) => lower.on_control(direction, control, now),
                _ => self.upper.on_control(direction, control, now),
            },
        }
        self.deliver_up(now, outcomes);
    }

    fn signal(&mut self, direction: Direction, now: Instant) -> Option<Signal> {
        let lower = self.lower.as_mut().and_then(|lower| lower.signal(direction, now));
        if let Some(control) = lower {
            return Some(Signal { level: Level::Lower, control });
        }
        let control = self.upper.signal(direction, now)?;
        Some(Signal { level: Level::Upper, control })
    }

    fn on_timer(&mut self, now: Instant, outcomes: &mut [Outcomes<F>; 2]) {
        for direction in Direction::BOTH {
            if let Some(lower) = &mut self.lower {
                lower.of_mut(direction).on_timer(now);
            }
            self.upper.of_mut(direction).on_timer(now);
        }
        self.deliver_up(now, outcomes);
    }

    fn next_event(&self, direction: Direction) -> Instant {
        let lower = self.lower.as_ref().map(|lower| lower.of(direction).next_event());
        self.upper.of(direction).next_event().min(lower.unwrap_or(Instant::NEVER))
    }
}

impl<F: Frame> Retransmitting<F> {
    fn on_wire(&mut self, direction: Direction, block: &Block, times: [Instant; 2]) {
        match &mut self.lower {
            None => self.upper.on_block(direction, block, times),
            Some(lower) => lower.on_block(direction, block, times),
        }
    }

    fn on_damaged(&mut self, direction: Direction, data: &Data) {
        match &mut self.lower {
            None => self.upper.of_mut(direction).on_damaged(data),
            Some(lower) => lower.of_mut(direction).on_damaged(data),
        }
    }

    /// Passes the blocks that the lower layer delivers to the upper one, and delivers the frames of
    /// the upper layer.
    fn deliver_up(&mut self, now: Instant, outcomes: &mut [Outcomes<F>; 2]) {
        let Self { upper, lower } = self;
        for direction in Direction::BOTH {
            let Some(lower) = lower else { break };
            while let Some(sdu) = lower.of_mut(direction).take_outcome() {
                let block = &sdu.payload;
                match sdu.end {
                    End::Delivered { undisturbed } => {
                        upper.on_block(direction, block, [now, undisturbed]);
                    }
                    End::GivenUp(_) => upper.on_lost(direction, block, now),
                }
            }
        }
        for outcomes in outcomes {
            while let Some(sdu) = upper.of_mut(outcomes.direction).take_outcome() {
                let queued = sdu.payload;
                match sdu.end {
                    End::Delivered { undisturbed } => {
                        let stalled_at_entry = queued.entry.since(queued.offered);
                        let held = stalled_at_entry + now.since(undisturbed);
                        outcomes.deliver((queued, false), held, now);
                    }
                    End::GivenUp(at) => outcomes.drop(queued, DropCause::Retries, [at, now]),
                }
            }
        }
    }
}
