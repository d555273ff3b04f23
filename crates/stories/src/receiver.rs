//! `Receiver` against a model that keeps every sequence number by itself.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use rtolab_tcp::config::ReceiverConfig;
use rtolab_tcp::receiver::{AckDue, Receiver, SackUse};
use rtolab_tcp::{Config, Flags, Segment, Seq, Timestamps};
use rtolab_time::{Duration, Instant};

const MSS: u32 = 5;

/// The FIN's sequence number: the stream has so many bytes.
const FIN: u64 = (1 << 32) + 1 + 120;

/// What happens to a receiver.
#[derive(Arbitrary, Clone, Debug)]
pub enum ReceiverOp {
    /// A segment from so far behind RCV.NXT, of so many bytes; the stream's end brings its FIN.
    Arrives {
        /// Bytes from RCV.NXT.
        offset: i8,
        /// Bytes.
        len: u8,
        /// Does the last byte bring the FIN?
        fin: bool,
    },
    /// So many bytes are read, or all of them.
    Read(Option<u8>),
    /// So many milliseconds pass.
    Wait(u16),
    /// An acknowledgment leaves with something else.
    Piggyback,
}

/// How it receives.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct ReceiverSetup {
    /// In bytes; at least six are taken.
    pub buffer: u8,
    /// Segments for an acknowledgment: one to four are taken, and as many SACK blocks.
    pub counts: [u8; 2],
    /// The delay of acknowledgments, in milliseconds.
    pub delay: u8,
    /// Is SACK in use, and D-SACK besides?
    pub sack: [bool; 2],
    /// Do timestamps take room beside the blocks?
    pub timestamps: bool,
}

impl ReceiverSetup {
    fn config(self) -> ReceiverConfig {
        let [ack_every, max_sack_blocks] = self.counts.map(|count| u32::from(count % 4) + 1);
        ReceiverConfig {
            buffer: u32::from(self.buffer).max(6),
            ack_every,
            delayed_ack: Duration::from_millis(u64::from(self.delay)),
            max_sack_blocks,
            ..Config::default().receiver
        }
    }

    const fn sack(self) -> SackUse {
        match self.sack {
            [false, _] => SackUse::None,
            [true, false] => SackUse::Blocks,
            [true, true] => SackUse::WithDuplicates,
        }
    }
}

struct Model {
    config: ReceiverConfig,
    /// Every sequence number received, and at which step last.
    received: BTreeMap<u64, usize>,
    nxt: u64,
    read: u64,
    edge: u64,
    /// In-order segments not acknowledged.
    pending: u32,
    due: AckDue,
    duplicate: Option<Range<u64>>,
    at: Instant,
}

impl Model {
    /// The runs received above RCV.NXT, that of the latest arrival first.
    fn runs(&self) -> Vec<Range<u64>> {
        let mut runs: Vec<(usize, Range<u64>)> = Vec::new();
        for (number, step) in self.received.range(self.nxt..) {
            match runs.last_mut() {
                Some((latest, run)) if run.end == *number => {
                    run.end += 1;
                    *latest = (*latest).max(*step);
                }
                _ => runs.push((*step, *number..*number + 1)),
            }
        }
        runs.sort_by_key(|(latest, _)| std::cmp::Reverse(*latest));
        runs.into_iter().map(|(_, run)| run).collect()
    }

    fn arrives(&mut self, range: Range<u64>, step: usize) {
        let expected = range.start == self.nxt && range.end <= self.edge;
        if expected && self.runs().is_empty() {
            self.pending += 1;
            let now = self.pending >= self.config.ack_every || range.contains(&FIN);
            self.due = match self.due {
                _ if now => AckDue::Now,
                AckDue::No => AckDue::At(self.at + self.config.delayed_ack),
                due => due,
            };
        } else {
            self.due = AckDue::Now;
            let known = |number: &u64| *number < self.nxt || self.received.contains_key(number);
            self.duplicate = range.clone().find(known).map(|start| {
                // Up to RCV.NXT, or else to the end of the run.
                let below = start < self.nxt;
                let in_run = |n: &u64| if below { *n < self.nxt } else { known(n) };
                start..(start..range.end).find(|n| !in_run(n)).unwrap_or(range.end)
            });
        }
        for number in range.start.max(self.nxt)..range.end.min(self.edge) {
            self.received.insert(number, step);
        }
        while self.received.contains_key(&self.nxt) {
            self.nxt += 1;
        }
    }

    fn available(&self) -> u64 {
        self.nxt.min(FIN) - self.read
    }

    /// The blocks of the next acknowledgment, without a limit of their number.
    fn blocks(&mut self, sack: SackUse) -> Vec<Range<u64>> {
        let mut blocks = self.runs();
        let duplicate = self.duplicate.take();
        if let (SackUse::WithDuplicates, Some(part)) = (sack, duplicate) {
            // The run that it lies in goes with it.
            blocks.sort_by_key(|run| !(run.start <= part.start && part.end <= run.end));
            blocks.insert(0, part);
        }
        if sack == SackUse::None { Vec::new() } else { blocks }
    }
}

struct Pair {
    receiver: Receiver,
    model: Model,
    sack: SackUse,
    timestamps: bool,
}

impl Pair {
    fn new(setup: ReceiverSetup) -> Self {
        let config = setup.config();
        let whole = Config { receiver: config, ..Config::default() };
        let mut receiver = Receiver::new(Arc::new(whole));
        receiver.synchronise(&Segment::new(Seq::FIRST, 0, Flags::SYN));
        let nxt = (Seq::FIRST + 1).value();
        let model = Model {
            config,
            received: BTreeMap::new(),
            nxt,
            read: nxt,
            edge: nxt + u64::from(config.buffer),
            pending: 0,
            due: AckDue::No,
            duplicate: None,
            at: Instant::START,
        };
        Self { receiver, model, sack: setup.sack(), timestamps: setup.timestamps }
    }

    fn apply(&mut self, op: &ReceiverOp, step: usize) {
        match op {
            ReceiverOp::Arrives { offset, len, fin } => self.arrives(*offset, *len, *fin, step),
            ReceiverOp::Read(bytes) => {
                let bytes = bytes.map_or(u64::MAX, u64::from);
                self.receiver.read(bytes);
                self.model.read += self.model.available().min(bytes);
            }
            ReceiverOp::Wait(millis) => {
                self.model.at += Duration::from_millis(u64::from(*millis));
                self.receiver.on_timer(self.model.at);
                if matches!(self.model.due, AckDue::At(at) if at <= self.model.at) {
                    self.model.due = AckDue::Now;
                }
            }
            ReceiverOp::Piggyback => self.acknowledge(),
        }
        assert_eq!(self.receiver.ack_due(), self.model.due);
        if self.model.due == AckDue::Now {
            self.acknowledge();
        }
    }

    fn arrives(&mut self, offset: i8, len: u8, fin: bool, step: usize) {
        let start = self.model.nxt.saturating_add_signed(offset.into()).min(FIN);
        let start = start.max(Seq::FIRST.value() + 1);
        let len = u64::from(len).min(FIN - start) as u32;
        let fin = fin && start + u64::from(len) == FIN;
        let flags = if fin { Flags::FIN | Flags::ACK } else { Flags::ACK };
        let segment = Segment::new(Seq::new(start), len, flags);
        self.receiver.take(&segment, self.model.at);
        if segment.sequence_length() > 0 {
            self.model.arrives(start..segment.end().value(), step);
        }
    }

    fn acknowledge(&mut self) {
        let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
        ack.ack = self.receiver.nxt();
        ack.window = self.receiver.window(MSS);
        if self.timestamps {
            ack.set_timestamps(Timestamps::default());
        }
        self.receiver.acknowledge(&mut ack, self.sack);
        let blocks = self.model.blocks(self.sack);
        let room = if self.timestamps { 3 } else { 4 };
        let room = room.min(self.model.config.max_sack_blocks as usize);
        let reported: Vec<_> = ack.sack_blocks().map(|b| b.start.value()..b.end.value()).collect();
        assert_eq!(reported, blocks.into_iter().take(room).collect::<Vec<_>>());
        self.check_window(&ack);
        (self.model.pending, self.model.due) = (0, AckDue::No);
        assert_eq!(self.receiver.ack_due(), AckDue::No);
    }

    /// The right edge never goes back, moves in worthwhile steps, and only as far as there is room.
    fn check_window(&mut self, ack: &Segment) {
        let model = &mut self.model;
        let edge = model.nxt + u64::from(ack.window);
        let buffer = u64::from(model.config.buffer);
        assert!(edge >= model.edge, "{ack:?} takes back {}", model.edge);
        let worth = u64::from(MSS).min(buffer / 2);
        let room = (model.read + buffer).max(model.edge);
        match edge - model.edge {
            0 => assert!(room < model.edge + worth, "{ack:?} keeps {room} back"),
            step => assert!(step >= worth && edge == room, "{ack:?}, room to {room}"),
        }
        model.edge = edge;
    }

    fn check(&self) {
        let (receiver, model) = (&self.receiver, &self.model);
        assert_eq!(receiver.nxt().value(), model.nxt);
        assert_eq!(receiver.available(), model.available());
        assert_eq!(receiver.finished(), model.nxt > FIN);
        for start in [model.nxt - 1, model.nxt, model.nxt + 7, model.nxt + 20] {
            let range = start..start + 3;
            let holds = range.clone().all(|n| n < model.nxt || model.received.contains_key(&n));
            assert_eq!(receiver.holds(&(Seq::new(range.start)..Seq::new(range.end))), holds);
        }
        let span = model.nxt - 3..model.nxt + 40;
        let missing: Vec<u64> = receiver
            .missing(Seq::new(span.start)..Seq::new(span.end))
            .flat_map(|part| part.start.value()..part.end.value())
            .collect();
        let lacks = |n: &u64| *n >= model.nxt && !model.received.contains_key(n);
        assert_eq!(missing, span.filter(lacks).collect::<Vec<_>>());
        assert_eq!(receiver.pieces(), model.runs().len());
    }
}

/// All that, one after the other.
///
/// # Panics
/// If the receiver differs from the model.
pub fn receiver_ops(setup: ReceiverSetup, ops: &[ReceiverOp]) {
    let mut pair = Pair::new(setup);
    for (step, op) in ops.iter().enumerate() {
        pair.apply(op, step);
        pair.check();
    }
}

/// One story, told by arbitrary bytes.
///
/// # Panics
/// If the receiver differs from the model.
pub fn receiver(input: &[u8]) {
    if let Ok((setup, ops)) = <(_, Vec<_>)>::arbitrary_take_rest(Unstructured::new(input)) {
        receiver_ops(setup, &ops);
    }
}
