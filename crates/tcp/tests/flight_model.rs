//! `Flight` against a model that keeps every sequence number by itself and counts anew each time.

use proptest::prelude::*;
use rtolab_tcp::flight::{DuplicateRange, LossRule};
use rtolab_tcp::{AckFacts, Cause, Flags, Flight, Segment, Sent, Seq};
use rtolab_time::Instant;

const RULE: LossRule = LossRule { runs: 3, bytes: 16 };

#[derive(Clone, Debug)]
enum Op {
    /// A segment leaves: from so far behind SND.MAX, of so many bytes.
    Send {
        back: u32,
        len: u32,
    },
    /// An acknowledgment of so many bytes more, or fewer, with blocks from SND.UNA on.
    Ack {
        advance: i32,
        window: u32,
        len: u32,
        blocks: Vec<(i32, i32)>,
    },
    MarkLost,
    MarkRepaired(u32),
    ClearLosses,
    ClearScoreboard,
}

fn op() -> impl Strategy<Value = Op> {
    let back = prop_oneof![8 => Just(0_u32), 3 => 0..60_u32];
    let advance = prop_oneof![12 => Just(0), 4 => 1..6_i32, 1 => -3..60_i32];
    let block = prop_oneof![
        8 => (0..50_i32, 1..12_i32).prop_map(|(start, len)| (start, start + len)),
        1 => (-20..80_i32, -20..80_i32),
    ];
    let blocks = prop::collection::vec(block, 0..4);
    prop_oneof![
        10 => (back, 0..6_u32).prop_map(|(back, len)| Op::Send { back, len }),
        8 => (advance, 0..2_u32, 0..2_u32, blocks)
            .prop_map(|(advance, window, len, blocks)| Op::Ack { advance, window, len, blocks }),
        2 => Just(Op::MarkLost),
        2 => (0..60_u32).prop_map(Op::MarkRepaired),
        1 => prop_oneof![Just(Op::ClearLosses), Just(Op::ClearScoreboard)],
    ]
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

fn at_offset(una: u64, by: i32) -> Seq {
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

fn same_state(flight: &Flight, model: &Model) -> Result<(), TestCaseError> {
    prop_assert_eq!((flight.una().value(), flight.max().value()), (model.una, model.max));
    prop_assert_eq!(flight.size(), model.max - model.una);
    prop_assert_eq!(flight.sacked(), model.bytes(|p| p.sacked));
    prop_assert_eq!(flight.lost(), model.bytes(|p| p.lost));
    prop_assert_eq!(flight.repaired(), model.bytes(|p| p.repaired));
    prop_assert_eq!(flight.sacked_edge().value().max(model.una), model.sacked_edge());
    let same = |piece: Option<&Piece>, sent: Option<&Sent>| {
        piece.map(|p| p.start) == sent.map(|s| s.seq.value())
    };
    prop_assert!(same(model.pieces.first(), flight.head()));
    prop_assert!(same(model.pieces.iter().rfind(|p| !p.sacked), flight.last_unsacked()));
    for piece in &model.pieces {
        let sent = flight.segment_at(Seq::new(piece.start)).unwrap();
        prop_assert!(piece.matches(sent), "{sent:?} is {piece:?}");
        prop_assert_eq!(flight.segment_at(Seq::new(piece.end - 1)), Some(sent));
        // What is lost is all below one edge.
        let below = piece.start < flight.lost_edge().value();
        prop_assert!(piece.sacked || piece.lost == below, "{piece:?} {}", flight.lost_edge());
        let next = model.pieces.iter().find(|p| !p.sacked && p.end > piece.start);
        prop_assert!(same(next, flight.unsacked_from(Seq::new(piece.start))));
        let below = model.bytes(|p| p.sacked && p.start < piece.start);
        prop_assert_eq!(flight.sacked_below(Seq::new(piece.start)), below);
    }
    Ok(())
}

fn apply(
    flight: &mut Flight,
    model: &mut Model,
    op: &Op,
    at: Instant,
) -> Result<(), TestCaseError> {
    match op {
        Op::Send { back, len } => {
            let seq = flight.max() - *back;
            flight.sent(&Segment::new(seq, *len, Flags::NONE), at, Cause::Unknown);
            model.send(seq.value(), seq.value() + u64::from(*len), at);
        }
        Op::Ack { advance, window, len, blocks } => {
            let mut ack = Segment::new(Seq::FIRST, *len, Flags::ACK);
            ack.ack = at_offset(model.una, *advance).min(flight.max());
            ack.window = *window;
            for (start, end) in blocks {
                ack.push_sack(at_offset(model.una, *start)..at_offset(model.una, *end));
            }
            let facts = flight.acked(&ack, at);
            let expected = model.ack(&ack);
            prop_assert!(same_facts(&facts, &expected, &ack), "{facts:?} is {expected:?}");
        }
        Op::MarkLost => {
            flight.mark_lost(RULE);
            model.mark_lost();
        }
        Op::MarkRepaired(offset) => {
            flight.mark_repaired(flight.una() + *offset);
            model.mark_repaired(model.una + u64::from(*offset));
        }
        Op::ClearLosses | Op::ClearScoreboard => {
            let all = matches!(op, Op::ClearScoreboard);
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
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_flight_counts_as_its_segments_do(ops in prop::collection::vec(op(), 1..100)) {
        let first = Seq::FIRST.value();
        let mut flight = Flight::default();
        let mut model = Model { pieces: Vec::new(), una: first, max: first, window: None };
        for (step, op) in ops.iter().enumerate() {
            apply(&mut flight, &mut model, op, Instant::from_nanos(step as u64))?;
            same_state(&flight, &model)?;
        }
    }
}
