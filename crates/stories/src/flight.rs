//! `Flight` against a model that keeps every sequence number by itself and counts anew each time.

use arbitrary::{Arbitrary, Unstructured};
use rtolab_tcp::flight::{DuplicateRange, LossRule};
use rtolab_tcp::{AckFacts, Cause, Flags, Flight, Segment, Sent, Seq};
use rtolab_time::Instant;

const RULE: LossRule = LossRule { runs: 3, bytes: 16 };

/// What happens to a flight; bytes are counted from SND.UNA, or back from SND.MAX.
#[derive(Arbitrary, Clone, Debug)]
pub enum FlightOp {
    /// A segment leaves: from so far behind SND.MAX, of so many bytes.
    Send {
        /// Bytes back from SND.MAX.
        back: u8,
        /// Bytes.
        len: u8,
    },
    /// An acknowledgment of so many bytes more, or fewer, with blocks.
    Ack {
        /// Bytes from SND.UNA.
        advance: i8,
        /// What is offered.
        window: u8,
        /// Bytes that it carries.
        len: u8,
        /// SACK blocks, from SND.UNA; four are taken.
        blocks: Vec<(i8, i8)>,
    },
    /// Losses are looked for.
    MarkLost,
    /// The segment there was sent again.
    MarkRepaired(u8),
    /// Nothing counts as lost any more.
    ClearLosses,
    /// Nor as SACKed.
    ClearScoreboard,
}

/// A segment of the model.
#[derive(Clone, Debug)]
struct Piece {
    start: u64,
    end: u64,
    first_sent: Instant,
    last_sent: Instant,
    transmissions: u16,
    sacked: bool,
    lost: bool,
    repaired: bool,
}

impl Piece {
    fn matches(&self, sent: &Sent) -> bool {
        (self.start, self.end) == (sent.seq.value(), sent.end().value())
            && (self.first_sent, self.last_sent) == (sent.first_sent, sent.last_sent)
            && self.transmissions == sent.transmissions
            && (self.sacked, self.lost) == (sent.is_sacked(), sent.is_lost())
            && self.repaired == sent.is_repaired()
    }
}

#[derive(Debug)]
struct Model {
    pieces: Vec<Piece>,
    una: u64,
    max: u64,
    window: Option<u32>,
}

impl Model {
    fn send(&mut self, start: u64, end: u64, at: Instant) {
        for piece in &mut self.pieces {
            if piece.start < end && start < piece.end {
                piece.last_sent = at;
                piece.transmissions += 1;
            }
        }
        if end > self.max {
            self.pieces.push(Piece {
                start: self.max,
                end,
                first_sent: at,
                last_sent: at,
                transmissions: 1,
                sacked: false,
                lost: false,
                repaired: false,
            });
            self.max = end;
        }
    }

    /// What the acknowledgment says: bytes newly acknowledged and newly SACKed, the pieces that it
    /// covers wholly, and whether it is a duplicate.
    fn ack(&mut self, ack: &Segment) -> (u64, u64, Vec<Piece>, bool) {
        let number = ack.ack.value();
        let duplicate = number == self.una
            && self.max > self.una
            && ack.len == 0
            && self.window == Some(ack.window);
        self.window = Some(ack.window);
        let advanced = number.saturating_sub(self.una);
        self.una = self.una.max(number);
        let covered = self.pieces.iter().filter(|piece| piece.end <= number).cloned().collect();
        self.pieces.retain(|piece| piece.end > number);
        if let Some(head) = self.pieces.first_mut() {
            head.start = head.start.max(number);
        }
        let skip = usize::from(duplicate_range(ack).is_some());
        let mut newly_sacked = 0;
        for block in ack.sack_blocks().skip(skip) {
            let (start, end) = (block.start.value(), block.end.value());
            if start < self.una || end > self.max {
                continue;
            }
            for piece in &mut self.pieces {
                if start <= piece.start && piece.end <= end && !piece.sacked {
                    (piece.sacked, piece.lost, piece.repaired) = (true, false, false);
                    newly_sacked += piece.end - piece.start;
                }
            }
        }
        (advanced, newly_sacked, covered, duplicate)
    }

    /// IsLost of RFC 6675 for each piece by itself.
    fn mark_lost(&mut self) {
        for index in 0..self.pieces.len() {
            let above = &self.pieces[index + 1..];
            let bytes: u64 = above.iter().filter(|p| p.sacked).map(|p| p.end - p.start).sum();
            let begins = |i: usize| above[i].sacked && (i == 0 || !above[i - 1].sacked);
            let runs = (0..above.len()).filter(|i| begins(*i)).count();
            if !self.pieces[index].sacked && (runs >= RULE.runs as usize || bytes >= RULE.bytes) {
                self.pieces[index].lost = true;
            }
        }
    }

    fn mark_repaired(&mut self, seq: u64) {
        for piece in &mut self.pieces {
            if piece.start <= seq && seq < piece.end && !piece.sacked {
                piece.repaired = true;
            }
        }
    }

    fn bytes(&self, counts: impl Fn(&Piece) -> bool) -> u64 {
        self.pieces.iter().filter(|p| counts(p)).map(|p| p.end - p.start).sum()
    }

    fn sacked_edge(&self) -> u64 {
        self.pieces.iter().filter(|p| p.sacked).map(|p| p.end).max().unwrap_or(self.una)
    }
}

/// RFC 2883 section 4: below the acknowledgment number, or within the second block.
fn duplicate_range(ack: &Segment) -> Option<DuplicateRange> {
    let blocks: Vec<_> = ack.sack_blocks().collect();
    let (start, end) = (blocks.first()?.start, blocks.first()?.end);
    let within = blocks.get(1).is_some_and(|b| b != &blocks[0] && b.start <= start && end <= b.end);
    (start < end && (end <= ack.ack || within)).then_some(DuplicateRange { start, end })
}

fn at_offset(una: u64, by: i8) -> Seq {
    Seq::new(una.wrapping_add_signed(by.into()))
}

fn same_facts(facts: &AckFacts, model: &(u64, u64, Vec<Piece>, bool), ack: &Segment) -> bool {
    let (advanced, newly_sacked, covered, duplicate) = model;
    let same = |piece: Option<&Piece>, sent: Option<Sent>| match (piece, sent) {
        (Some(piece), Some(sent)) => piece.matches(&sent),
        (None, None) => true,
        _ => false,
    };
    let retransmitted = covered.iter().any(|piece| !piece.sacked && piece.transmissions > 1);
    (facts.advanced, facts.newly_sacked, facts.duplicate) == (*advanced, *newly_sacked, *duplicate)
        && same(covered.first(), facts.oldest_acked)
        && same(covered.last(), facts.newest_acked)
        && facts.acks_retransmission == retransmitted
        && facts.dsack == duplicate_range(ack)
}

fn same_state(flight: &Flight, model: &Model) {
    assert_eq!((flight.una().value(), flight.max().value()), (model.una, model.max));
    assert_eq!(flight.size(), model.max - model.una);
    assert_eq!(flight.sacked(), model.bytes(|p| p.sacked));
    assert_eq!(flight.lost(), model.bytes(|p| p.lost));
    assert_eq!(flight.repaired(), model.bytes(|p| p.repaired));
    assert_eq!(flight.sacked_edge().value().max(model.una), model.sacked_edge());
    let same = |piece: Option<&Piece>, sent: Option<&Sent>| {
        piece.map(|p| p.start) == sent.map(|s| s.seq.value())
    };
    assert!(same(model.pieces.first(), flight.head()));
    assert!(same(model.pieces.iter().rfind(|p| !p.sacked), flight.last_unsacked()));
    for piece in &model.pieces {
        let sent = flight.segment_at(Seq::new(piece.start)).unwrap();
        assert!(piece.matches(sent), "{sent:?} is {piece:?}");
        assert_eq!(flight.segment_at(Seq::new(piece.end - 1)), Some(sent));
        // What is lost is all below one edge.
        let below = piece.start < flight.lost_edge().value();
        assert!(piece.sacked || piece.lost == below, "{piece:?} {}", flight.lost_edge());
        let next = model.pieces.iter().find(|p| !p.sacked && p.end > piece.start);
        assert!(same(next, flight.unsacked_from(Seq::new(piece.start))));
        let below = model.bytes(|p| p.sacked && p.start < piece.start);
        assert_eq!(flight.sacked_below(Seq::new(piece.start)), below);
    }
}

fn apply(flight: &mut Flight, model: &mut Model, op: &FlightOp, at: Instant) {
    match op {
        FlightOp::Send { back, len } => {
            let (seq, len) = (flight.max() - u32::from(*back), u32::from(*len));
            flight.sent(&Segment::new(seq, len, Flags::NONE), at, Cause::Unknown);
            model.send(seq.value(), seq.value() + u64::from(len), at);
        }
        FlightOp::Ack { advance, window, len, blocks } => {
            let mut ack = Segment::new(Seq::FIRST, u32::from(*len), Flags::ACK);
            ack.ack = at_offset(model.una, *advance).min(flight.max());
            ack.window = u32::from(*window);
            for (start, end) in blocks.iter().take(4) {
                ack.push_sack(at_offset(model.una, *start)..at_offset(model.una, *end));
            }
            let facts = flight.acked(&ack, at);
            let expected = model.ack(&ack);
            assert!(same_facts(&facts, &expected, &ack), "{facts:?} is {expected:?}");
        }
        FlightOp::MarkLost => {
            flight.mark_lost(RULE);
            model.mark_lost();
        }
        FlightOp::MarkRepaired(offset) => {
            flight.mark_repaired(flight.una() + u32::from(*offset));
            model.mark_repaired(model.una + u64::from(*offset));
        }
        FlightOp::ClearLosses | FlightOp::ClearScoreboard => {
            let all = matches!(op, FlightOp::ClearScoreboard);
            if all {
                flight.clear_scoreboard();
            } else {
                flight.clear_losses();
            }
            for piece in &mut model.pieces {
                (piece.lost, piece.repaired) = (false, false);
                piece.sacked &= !all;
            }
        }
    }
}

/// All that, one after the other.
///
/// # Panics
/// If the flight differs from the model.
pub fn flight_ops(ops: &[FlightOp]) {
    let first = Seq::FIRST.value();
    let mut flight = Flight::default();
    let mut model = Model { pieces: Vec::new(), una: first, max: first, window: None };
    for (step, op) in ops.iter().enumerate() {
        apply(&mut flight, &mut model, op, Instant::from_nanos(step as u64));
        same_state(&flight, &model);
    }
}

/// One story, told by arbitrary bytes.
///
/// # Panics
/// If the flight differs from the model.
pub fn flight(input: &[u8]) {
    if let Ok(ops) = Vec::arbitrary_take_rest(Unstructured::new(input)) {
        flight_ops(&ops);
    }
}
