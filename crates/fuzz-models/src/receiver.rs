//! Comparison of `Receiver` with a model, which has the set of all received sequence numbers.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use rtolab_tcp::config::ReceiverConfig;
use rtolab_tcp::receiver::{AckDue, Receiver, SackUse};
use rtolab_tcp::{Config, Flags, Segment, Seq, Timestamps};
use rtolab_time::{Duration, Instant};

const MSS: u32 = 5;

/// The FIN's sequence number: the stream crosses 2³² and has 120 bytes beyond.
const FIN: u64 = (1 << 32) + 1 + 120;

/// An operation on a receiver.
#[derive(Arbitrary, Clone, Debug)]
pub enum ReceiverOp {
    /// A segment arrives.
    Segment {
        /// Bytes from RCV.NXT to its start.
        offset: i8,
        /// Its length in bytes.
        len: u8,
        /// Does it carry the FIN if it holds the stream's last byte?
        fin: bool,
    },
    /// The application reads at most this number of bytes, or all.
    Read(Option<u8>),
    /// Milliseconds pass.
    Wait(u16),
    /// An acknowledgment leaves with data.
    Piggyback,
}

/// The settings of a receiver.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct ReceiverSetup {
    /// The receive buffer in bytes; at least six are used.
    pub buffer: u8,
    /// Segments per acknowledgment and SACK blocks in one, each modulo four plus one.
    pub counts: [u8; 2],
    /// The delayed-ACK timeout in milliseconds.
    pub delay: u8,
    /// Is SACK in use? Is D-SACK in use?
    pub sack: [bool; 2],
    /// Do acknowledgments carry timestamps, which leave room for three SACK blocks?
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
    /// Every sequence number received, with the step at which it last arrived.
    received: BTreeMap<u64, usize>,
    nxt: u64,
    read: u64,
    edge: u64,
    /// In-order segments not yet acknowledged.
    pending: u32,
    due: AckDue,
    duplicate: Option<Range<u64>>,
    at: Instant,
}

impl Model {
    /// The ranges received above RCV.NXT, the one with the latest arrival first.
    fn ranges(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<(usize, Range<u64>)> = Vec::new();
        for (number, step) in self.received.range(self.nxt..) {
            match ranges.last_mut() {
                Some((latest, run)) if run.end == *number => {
                    run.end += 1;
                    *latest = (*latest).max(*step);
                }
                _ => ranges.push((*step, *number..*number + 1)),
            }
        }
        ranges.sort_by_key(|(latest, _)| std::cmp::Reverse(*latest));
        ranges.into_iter().map(|(_, run)| run).collect()
    }

    fn receive(&mut self, range: Range<u64>, step: usize) {
        let expected = range.start == self.nxt && range.end <= self.edge;
        if expected && self.ranges().is_empty() {
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
                // A D-SACK block ends at RCV.NXT or at the end of the range already received.
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

    /// The SACK blocks of the next acknowledgment, without a limit on their number.
    fn blocks(&mut self, sack: SackUse) -> Vec<Range<u64>> {
        let mut blocks = self.ranges();
        let duplicate = self.duplicate.take();
        if let (SackUse::WithDuplicates, Some(part)) = (sack, duplicate) {
            // RFC 2883 section 4: the range that contains the duplicate part follows it.
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
            ReceiverOp::Segment { offset, len, fin } => self.segment(*offset, *len, *fin, step),
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

    fn segment(&mut self, offset: i8, len: u8, fin: bool, step: usize) {
        let start = self.model.nxt.saturating_add_signed(offset.into()).min(FIN);
        let start = start.max(Seq::FIRST.value() + 1);
        let len = u64::from(len).min(FIN - start) as u32;
        let fin = fin && start + u64::from(len) == FIN;
        let flags = if fin { Flags::FIN | Flags::ACK } else { Flags::ACK };
        let segment = Segment::new(Seq::new(start), len, flags);
        self.receiver.take(&segment, self.model.at);
        if segment.sequence_length() > 0 {
            self.model.receive(start..segment.end().value(), step);
        }
    }

    fn acknowledge(&mut self) {
        let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
        ack.ack = self.receiver.rcv_nxt();
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

    /// Checks the right edge of the window. It never retreats, avoids the silly window syndrome
    /// (RFC 9293 section 3.8.6.2.2), and stays within the buffer.
    fn check_window(&mut self, ack: &Segment) {
        let model = &mut self.model;
        let edge = model.nxt + u64::from(ack.window);
        let buffer = u64::from(model.config.buffer);
        assert!(edge >= model.edge, "{ack:?} retreats from {}", model.edge);
        let worth = u64::from(MSS).min(buffer / 2);
        let room = (model.read + buffer).max(model.edge);
        match edge - model.edge {
            0 => assert!(room < model.edge + worth, "{ack:?} withholds {room}"),
            step => assert!(step >= worth && edge == room, "{ack:?}, room up to {room}"),
        }
        model.edge = edge;
    }

    fn check(&self) {
        let (receiver, model) = (&self.receiver, &self.model);
        assert_eq!(receiver.rcv_nxt().value(), model.nxt);
        assert_eq!(receiver.available(), model.available());
        assert_eq!(receiver.has_received_fin(), model.nxt > FIN);
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
        assert_eq!(receiver.out_of_order_ranges(), model.ranges().len());
    }
}

/// Applies `ops` in turn to a receiver and to its model.
///
/// # Panics
/// If the receiver differs from its model.
pub fn receiver_ops(setup: ReceiverSetup, ops: &[ReceiverOp]) {
    let mut pair = Pair::new(setup);
    for (step, op) in ops.iter().enumerate() {
        pair.apply(op, step);
        pair.check();
    }
}

/// Applies the operations that `input` encodes.
///
/// # Panics
/// If the receiver differs from its model.
pub fn receiver(input: &[u8]) {
    if let Ok((setup, ops)) = <(_, Vec<_>)>::arbitrary_take_rest(Unstructured::new(input)) {
        receiver_ops(setup, &ops);
    }
}
