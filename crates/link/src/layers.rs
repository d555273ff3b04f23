//! What stands between a station's queue and its transmitter.

use rtolab_time::{Duration, Instant};

use crate::arq::{Arq, Block, Content, Control, Data, End, Moment, Payload, Purpose, earlier};
use crate::config::ChannelConfig;
use crate::frame::{Direction, DropCause, Frame};
use crate::waiting::{Delivery, QueuedFrame, Waiting};

/// The levels of both directions.
pub(crate) trait Layers<F: Frame>: Clone {
    /// What the transmitter sends.
    type Wire: Frame;

    fn new(config: &ChannelConfig) -> Self;

    /// Is there something to send this way, new frames included?
    fn has_work(&self, direction: Direction, waiting: &Waiting<F>) -> bool;

    /// Would a new frame of this size be taken from the queue now?
    fn takes(&self, direction: Direction, bytes: u32) -> bool;

    /// What to send now.
    fn next(
        &mut self,
        moment: Moment,
        waiting: &mut Waiting<F>,
        exit: &mut Delivery<F>,
    ) -> Option<Self::Wire>;

    /// What it is sent for.
    fn purpose(wire: &Self::Wire) -> Purpose;

    /// Its transmission ends at `end`; without a disturbance it arrives at `undisturbed`.
    fn on_sent(&mut self, direction: Direction, wire: &Self::Wire, times: Sent);

    /// Something reaches the other end, or comes to nothing.
    fn on_heard(
        &mut self,
        heard: Heard<Self::Wire>,
        now: Instant,
        delivery_queue: &mut [Delivery<F>; 2],
    );

    /// What rides for nothing this way.
    fn signal(&mut self, direction: Direction, now: Instant) -> Option<Signal>;

    fn on_timer(&mut self, now: Instant, delivery_queue: &mut [Delivery<F>; 2]);

    /// When [`Layers::on_timer`] has something to do for this direction's frames.
    fn next_event(&self, direction: Direction) -> Instant;
}

/// A transmission's times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// When it ends.
    pub(crate) end: Instant,
    /// When it arrives without a disturbance.
    pub(crate) undisturbed: Instant,
}

/// What comes of a transmission.
#[derive(Clone, Debug)]
pub(crate) struct Heard<W> {
    pub(crate) direction: Direction,
    pub(crate) what: What<W>,
}

#[derive(Clone, Debug)]
pub(crate) enum What<W> {
    /// It arrives, held back for so long.
    Arrived { wire: W, held: Duration, duplicate: bool },
    /// It was lost at that time.
    Lost { wire: W, cause: DropCause, at: Instant },
    /// It comes to the other end so damaged that no more than its number can be read; that it is
    /// lost was said before.
    Damaged(W),
    /// Something that rode for nothing.
    Signal(Signal),
}

/// Something of no size that one end says to the other.
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

/// Nothing: frames are sent as they are.
#[derive(Clone, Debug)]
pub(crate) struct Direct;

impl<F: Frame> Layers<F> for Direct {
    type Wire = QueuedFrame<F>;

    fn new(_: &ChannelConfig) -> Self {
        Self
    }

    fn has_work(&self, _: Direction, waiting: &Waiting<F>) -> bool {
        waiting.first_bytes().is_some()
    }

    fn takes(&self, _: Direction, _: u32) -> bool {
        true
    }

    fn next(
        &mut self,
        moment: Moment,
        waiting: &mut Waiting<F>,
        exit: &mut Delivery<F>,
    ) -> Option<QueuedFrame<F>> {
        let mut queued = waiting.take(moment.now, exit)?;
        let stalled = moment.stalled.saturating_sub(queued.stalled);
        queued.stalled = queued.entry.since(queued.offered) + stalled;
        Some(queued)
    }

    fn purpose(_: &QueuedFrame<F>) -> Purpose {
        Purpose::New
    }

    fn on_sent(&mut self, _: Direction, _: &QueuedFrame<F>, _: Sent) {}

    fn on_heard(
        &mut self,
        heard: Heard<QueuedFrame<F>>,
        now: Instant,
        delivery_queue: &mut [Delivery<F>; 2],
    ) {
        let exit = &mut delivery_queue[heard.direction.index()];
        match heard.what {
            What::Arrived { wire, held, duplicate: false } => {
                let held = wire.stalled + held;
                exit.deliver(wire, held, now);
            }
            What::Arrived { wire, held, duplicate: true } => {
                let held = wire.stalled + held;
                exit.duplicate(wire, held, now);
            }
            What::Lost { wire, cause, at } => exit.drop(wire, cause, [at, now]),
            What::Damaged(_) | What::Signal(_) => {}
        }
    }

    fn signal(&mut self, _: Direction, _: Instant) -> Option<Signal> {
        None
    }

    fn on_timer(&mut self, _: Instant, _: &mut [Delivery<F>; 2]) {}

    fn next_event(&self, _: Direction) -> Instant {
        Instant::NEVER
    }
}

/// Both directions of a level: the reports of one ride the other.
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
        moment: Moment,
        source: impl FnOnce() -> Option<P>,
    ) -> Option<Block> {
        let report = self.of_mut(direction.reverse()).report(moment.now);
        report.or_else(|| self.of_mut(direction).next(moment, source))
    }

    fn signal(&mut self, direction: Direction, now: Instant) -> Option<Control> {
        let report = self.of_mut(direction.reverse()).report_for_nothing(now);
        report.or_else(|| self.of_mut(direction).alive_for_nothing())
    }

    fn on_block(&mut self, direction: Direction, block: &Block, [now, undisturbed]: [Instant; 2]) {
        match block.content {
            Content::Data(data) => {
                self.of_mut(direction).on_data(&data, block.corrupt, undisturbed);
            }
            // Its own checksum finds it.
            Content::Control(_) if block.corrupt => {}
            Content::Control(control) => self.on_control(direction, control, now),
        }
    }

    fn on_control(&mut self, direction: Direction, control: Control, now: Instant) {
        match control {
            Control::Report(report) => self.of_mut(direction.reverse()).on_report(report, now),
            Control::Alive(alive) => self.of_mut(direction).on_alive(alive),
        }
    }

    fn on_lost(&mut self, direction: Direction, block: &Block, now: Instant) {
        if let Content::Data(data) = &block.content {
            self.of_mut(direction).on_lost(data, now);
        }
    }
}

/// One level of local retransmission, or two: the blocks of the upper are what the lower carries.
#[derive(Clone, Debug)]
pub(crate) struct Repeating<F> {
    upper: Pair<QueuedFrame<F>>,
    lower: Option<Pair<Block>>,
}

impl<F: Frame> Layers<F> for Repeating<F> {
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

    fn has_work(&self, direction: Direction, waiting: &Waiting<F>) -> bool {
        self.lower.as_ref().is_some_and(|lower| lower.has_work(direction))
            || self.upper.has_work(direction)
            || waiting.first_bytes().is_some_and(|bytes| self.takes(direction, bytes))
    }

    fn takes(&self, direction: Direction, bytes: u32) -> bool {
        self.upper.of(direction).takes(bytes)
    }

    fn next(
        &mut self,
        moment: Moment,
        waiting: &mut Waiting<F>,
        exit: &mut Delivery<F>,
    ) -> Option<Block> {
        let direction = exit.direction;
        let takes = waiting.first_bytes().is_some_and(|bytes| self.takes(direction, bytes));
        let Self { upper, lower } = self;
        let mut frame = || if takes { waiting.take(moment.now, exit) } else { None };
        match lower {
            None => upper.next(direction, moment, &mut frame),
            Some(lower) => {
                lower.next(direction, moment, || upper.next(direction, moment, &mut frame))
            }
        }
    }

    fn purpose(block: &Block) -> Purpose {
        block.purpose
    }

    fn on_sent(&mut self, direction: Direction, block: &Block, Sent { end, undisturbed }: Sent) {
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

    fn on_heard(
        &mut self,
        heard: Heard<Block>,
        now: Instant,
        delivery_queue: &mut [Delivery<F>; 2],
    ) {
        let Heard { direction, what } = heard;
        match what {
            What::Arrived { duplicate: true, .. } => return,
            What::Arrived { wire, held, .. } => {
                self.on_wire(direction, &wire, [now, earlier(now, held)]);
            }
            What::Lost { wire, .. } => match &mut self.lower {
                None => self.upper.on_lost(direction, &wire, now),
                Some(lower) => lower.on_lost(direction, &wire, now),
            },
            What::Damaged(wire) => {
                if let Content::Data(data) = wire.content {
                    self.on_damaged(direction, &data);
                }
            }
            What::Signal(Signal { level, control }) => match (&mut self.lower, level) {
                (Some(lower), Level::Lower) => lower.on_control(direction, control, now),
                _ => self.upper.on_control(direction, control, now),
            },
        }
        self.hand_on(now, delivery_queue);
    }

    fn signal(&mut self, direction: Direction, now: Instant) -> Option<Signal> {
        let lower = self.lower.as_mut().and_then(|lower| lower.signal(direction, now));
        if let Some(control) = lower {
            return Some(Signal { level: Level::Lower, control });
        }
        let control = self.upper.signal(direction, now)?;
        Some(Signal { level: Level::Upper, control })
    }

    fn on_timer(&mut self, now: Instant, delivery_queue: &mut [Delivery<F>; 2]) {
        for direction in Direction::BOTH {
            if let Some(lower) = &mut self.lower {
                lower.of_mut(direction).on_timer(now);
            }
            self.upper.of_mut(direction).on_timer(now);
        }
        self.hand_on(now, delivery_queue);
    }

    fn next_event(&self, direction: Direction) -> Instant {
        let lower = self.lower.as_ref().map(|lower| lower.of(direction).next_event());
        self.upper.of(direction).next_event().min(lower.unwrap_or(Instant::NEVER))
    }
}

impl<F: Frame> Repeating<F> {
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

    /// What came out of the lower level goes to the upper one, and from there out.
    fn hand_on(&mut self, now: Instant, delivery_queue: &mut [Delivery<F>; 2]) {
        let Self { upper, lower } = self;
        for direction in Direction::BOTH {
            let Some(lower) = lower else { break };
            while let Some(settled) = lower.of_mut(direction).take_settled() {
                let block = &settled.payload;
                match settled.end {
                    End::Delivered { undisturbed } => {
                        upper.on_block(direction, block, [now, undisturbed]);
                    }
                    End::GivenUp(_) => upper.on_lost(direction, block, now),
                }
            }
        }
        for exit in delivery_queue {
            while let Some(settled) = upper.of_mut(exit.direction).take_settled() {
                let queued = settled.payload;
                match settled.end {
                    End::Delivered { undisturbed } => {
                        let stalled_at_entry = queued.entry.since(queued.offered);
                        let held = stalled_at_entry + now.since(undisturbed);
                        exit.deliver(queued, held, now);
                    }
                    End::GivenUp(at) => exit.drop(queued, DropCause::Retries, [at, now]),
                }
            }
        }
    }
}
