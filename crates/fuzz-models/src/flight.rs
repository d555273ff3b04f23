//! Comparison of `Flight` with a model, which has a list of segments and recounts it after every
//! operation.

use arbitrary::{Arbitrary, Unstructured};
use rtolab_tcp::flight::{DsackBlock, LossRule};
use rtolab_tcp::{AckFacts, Cause, Flags, Flight, Segment, Sent, Seq};
use rtolab_time::Instant;

const RULE: LossRule = LossRule { sacked_ranges: 3, bytes: 16 };

/// An operation on a flight.
#[derive(Arbitrary, Clone, Debug)]
pub enum FlightOp {
    /// A segment is sent, at SND.MAX or below it.
    Send {
        /// Bytes from its start to SND.MAX.
        back: u8,
        /// Its length in bytes.
        len: u8,
    },
    /// An acknowledgment arrives.
    Ack {
        /// Bytes from SND.UNA to its number.
        advance: i8,
        /// The advertised window in bytes.
        window: u8,
        /// Bytes of data that it carries.
        len: u8,
        /// SACK blocks as distances from SND.UNA; the first four are used.
        blocks: Vec<(i8, i8)>,
    },
    /// Losses are detected as in RFC 6675.
    MarkLost,
    /// The segment this many bytes above SND.UNA was retransmitted.
    MarkRetransmitted(u8),
    /// All marks of lost segments are cleared.
    ClearLosses,
    /// All marks of lost and of SACKed segments are cleared.
    ClearScoreboard,
}

#[derive(Clone, Debug)]
struct ModelSegment {
    start: u64,
    end: u64,
    first_sent: Instant,
    last_sent: Instant,
    transmissions: u16,
    sacked: bool,
    lost: bool,
    retransmitted: bool,
}

impl ModelSegment {
    fn matches(&self, sent: &Sent) -> bool {
        (self.start, self.end) == (sent.seq.value(), sent.end().value())
            && (self.first_sent, self.last_sent) == (sent.first_sent, sent.last_sent)
            && self.transmissions == sent.transmissions
            && (self.sacked, self.lost) == (sent.is_sacked(), sent.is_lost())
            && self.retransmitted == sent.is_retrans_out()
    }
}

#[derive(Debug)]
struct Model {
    segments: Vec<ModelSegment>,
    una: u64,
    max: u64,
    window: Option<u32>,
}

impl Model {
    fn send(&mut self, start: u64, end: u64, at: Instant) {
        for segment in &mut self.segments {
            if segment.start < end && start < segment.end {
                segment.last_sent = at;
                segment.transmissions += 1;
            }
        }
        if end > self.max {
            self.segments.push(ModelSegment {
                start: self.max,
                end,
                first_sent: at,
                last_sent: at,
                transmissions: 1,
                sacked: false,
                lost: false,
                retransmitted: false,
            });
            self.max = end;
        }
    }

    /// Applies an acknowledgment. Returns the bytes newly acknowledged, the bytes newly SACKed, the
    /// segments that it acknowledges completely, and whether it is a duplicate ACK.
    fn ack(&mut self, ack: &Segment) -> (u64, u64, Vec<ModelSegment>, bool) {
        let number = ack.ack.value();
        let duplicate = number == self.una
            && self.max > self.una
            && ack.len == 0
            && self.window == Some(ack.window);
        self.window = Some(ack.window);
        let advanced = number.saturating_sub(self.una);
        self.una = self.una.max(number);
        let covered =
            self.segments.iter().filter(|segment| segment.end <= number).cloned().collect();
        self.segments.retain(|segment| segment.end > number);
        if let Some(head) = self.segments.first_mut() {
            head.start = head.start.max(number);
        }
        let skip = usize::from(dsack_block(ack).is_some());
        let mut newly_sacked = 0;
        for block in ack.sack_blocks().skip(skip) {
            let (start, end) = (block.start.value(), block.end.value());
            if start < self.una || end > self.max {
                continue;
            }
            for segment in &mut self.segments {
                if start <= segment.start && segment.end <= end && !segment.sacked {
                    (segment.sacked, segment.lost, segment.retransmitted) = (true, false, false);
                    newly_sacked += segment.end - segment.start;
                }
            }
        }
        (advanced, newly_sacked, covered, duplicate)
    }

    /// Marks the segments that are lost by IsLost of RFC 6675.
    fn mark_lost(&mut self) {
        for index in 0..self.segments.len() {
            let above = &self.segments[index + 1..];
            let bytes: u64 = above.iter().filter(|p| p.sacked).map(|p| p.end - p.start).sum();
            let begins = |i: usize| above[i].sacked && (i == 0 || !above[i - 1].sacked);
            let runs = (0..above.len()).filter(|i| begins(*i)).count();
            if !self.segments[index].sacked
                && (runs >= RULE.sacked_ranges as usize || bytes >= RULE.bytes)
            {
                self.segments[index].lost = true;
            }
        }
    }

    fn mark_retransmitted(&mut self, seq: u64) {
        for segment in &mut self.segments {
            if segment.start <= seq && seq < segment.end && !segment.sacked {
                segment.retransmitted = true;
            }
        }
    }

    fn bytes(&self, counts: impl Fn(&ModelSegment) -> bool) -> u64 {
        self.segments.iter().filter(|p| counts(p)).map(|p| p.end - p.start).sum()
    }

    fn sacked_end(&self) -> u64 {
        self.segments.iter().filter(|p| p.sacked).map(|p| p.end).max().unwrap_or(self.una)
    }
}

/// The D-SACK block (RFC 2883 section 4): below the acknowledgment number or in the second block.
fn dsack_block(ack: &Segment) -> Option<DsackBlock> {
    let blocks: Vec<_> = ack.sack_blocks().collect();
    let (start, end) = (blocks.first()?.start, blocks.first()?.end);
    let within = blocks.get(1).is_some_and(|b| b.start <= start && end <= b.end);
    (start < end && (end <= ack.ack || within)).then_some(DsackBlock { start, end })
}

fn at_offset(una: u64, by: i8) -> Seq {
    Seq::new(una.wrapping_add_signed(by.into()))
}

fn same_facts(
    facts: &AckFacts,
    model: &(u64, u64, Vec<ModelSegment>, bool),
    ack: &Segment,
) -> bool {
    let (advanced, newly_sacked, covered, duplicate) = model;
    let same = |segment: Option<&ModelSegment>, sent: Option<Sent>| match (segment, sent) {
        (Some(segment), Some(sent)) => segment.matches(&sent),
        (None, None) => true,
        _ => false,
    };
    let retransmitted = covered.iter().any(|segment| !segment.sacked && segment.transmissions > 1);
    (facts.advanced, facts.newly_sacked, facts.duplicate) == (*advanced, *newly_sacked, *duplicate)
        && same(covered.first(), facts.oldest_acked)
        && same(covered.last(), facts.newest_acked)
        && facts.acks_retransmission == retransmitted
        && facts.dsack == dsack_block(ack)
}

fn same_state(flight: &Flight, model: &Model) {
    assert_eq!((flight.una().value(), flight.max().value()), (model.una, model.max));
    assert_eq!(flight.size(), model.max - model.una);
    assert_eq!(flight.sacked(), model.bytes(|p| p.sacked));
    assert_eq!(flight.lost(), model.bytes(|p| p.lost));
    assert_eq!(flight.retrans_out(), model.bytes(|p| p.retransmitted));
    assert_eq!(flight.sacked_end().value().max(model.una), model.sacked_end());
    let same = |segment: Option<&ModelSegment>, sent: Option<&Sent>| {
        segment.map(|p| p.start) == sent.map(|s| s.seq.value())
    };
    assert!(same(model.segments.first(), flight.head()));
    assert!(same(model.segments.iter().rfind(|p| !p.sacked), flight.last_unsacked()));
    for segment in &model.segments {
        let sent = flight.segment_at(Seq::new(segment.start)).unwrap();
        assert!(segment.matches(sent), "{sent:?} is {segment:?}");
        assert_eq!(flight.segment_at(Seq::new(segment.end - 1)), Some(sent));
        // A segment that is not SACKed is lost exactly if it starts below this edge.
        let below = segment.start < flight.lost_end().value();
        assert!(segment.sacked || segment.lost == below, "{segment:?} {}", flight.lost_end());
        let next = model.segments.iter().find(|p| !p.sacked && p.end > segment.start);
        assert!(same(next, flight.unsacked_from(Seq::new(segment.start))));
        let below = model.bytes(|p| p.sacked && p.start < segment.start);
        assert_eq!(flight.sacked_below(Seq::new(segment.start)), below);
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
            let facts = flight.on_ack(&ack, at);
            let expected = model.ack(&ack);
            assert!(
                same_facts(&facts, &expected, &ack),
                "{facts:?}, but the model has {expected:?}"
            );
        }
        FlightOp::MarkLost => {
            flight.mark_lost(RULE);
            model.mark_lost();
        }
        FlightOp::MarkRetransmitted(offset) => {
            flight.mark_retransmitted(flight.una() + u32::from(*offset));
            model.mark_retransmitted(model.una + u64::from(*offset));
        }
        FlightOp::ClearLosses | FlightOp::ClearScoreboard => {
            let all = matches!(op, FlightOp::ClearScoreboard);
            if all {
                flight.clear_scoreboard();
            } else {
                flight.clear_losses();
            }
            for segment in &mut model.segments {
                (segment.lost, segment.retransmitted) = (false, false);
                segment.sacked &= !all;
            }
        }
    }
}

/// Applies `ops` in turn to a flight and to its model.
///
/// # Panics
/// If the flight differs from its model.
pub fn flight_ops(ops: &[FlightOp]) {
    let first = Seq::FIRST.value();
    let mut flight = Flight::default();
    let mut model = Model { segments: Vec::new(), una: first, max: first, window: None };
    for (step, op) in ops.iter().enumerate() {
        apply(&mut flight, &mut model, op, Instant::from_nanos(step as u64));
        same_state(&flight, &model);
    }
}

/// Applies the operations that `input` encodes.
///
/// # Panics
/// If the flight differs from its model.
pub fn flight(input: &[u8]) {
    if let Ok(ops) = Vec::arbitrary_take_rest(Unstructured::new(input)) {
        flight_ops(&ops);
    }
}
