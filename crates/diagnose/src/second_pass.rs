//! The second pass over settled ranges: the fate of one range is evidence about others.

use rtolab_tcp::Seq;
use rtolab_time::{Duration, Instant};

use crate::ask::note;
use crate::evidence::{KINDS, Pair, Witness};
use crate::history::RetransmittedRange;
use crate::rtt::RoundTrips;

/// The most ranges, of those that begin before one ends, among which its next range is searched.
const NEARBY: usize = 1024;

/// Runs the second pass over all settled ranges of a direction, and leaves them in order.
pub(crate) fn run(settled: &mut [RetransmittedRange], trips: &RoundTrips, sack: bool) {
    settled.sort_by_key(|range| (range.start, range.copies.len()));
    pairs(settled, trips);
    if sack {
        forward(settled, trips.reordering());
        backward(settled, trips.reordering());
    } else {
        in_turn(settled, trips.reordering());
    }
}

/// Ranges whose expected next range was retransmitted too. The last comes first, because each is
/// evidence about the one before it.
fn pairs(settled: &mut [RetransmittedRange], trips: &RoundTrips) {
    for index in (0..settled.len()).rev() {
        let Some(other) = next(settled, index) else { continue };
        for (rows, of) in [(KINDS.of_next, other), (KINDS.of_first, index)] {
            for (kind, ask) in rows {
                let pair = Pair { range: &settled[index], next: &settled[other], trips };
                if let Some(found) = ask(&pair) {
                    settled[of].note(found.of(kind));
                }
            }
        }
    }
}

/// The range that the first covering ACK of this one expected next.
fn next(settled: &[RetransmittedRange], index: usize) -> Option<usize> {
    let next = settled[index].expected_next?;
    let end = settled.partition_point(|range| range.start <= next);
    let nearby = end.saturating_sub(NEARBY)..end;
    let found = settled[nearby.clone()].iter().rposition(|range| range.spans(next));
    found.map(|found| found + nearby.start).filter(|&other| other != index)
}

/// RFC 8985 without SACK: a copy of one range is known to have arrived when the next one, which its
/// ACK expected, had not. Each range is evidence about the next.
fn in_turn(settled: &mut [RetransmittedRange], reordering: Duration) {
    for index in 0..settled.len() {
        let (Some(covering), Some(other)) = (settled[index].covering_ack, next(settled, index))
        else {
            continue;
        };
        if let Some(sent) = settled[index].delivered_copy() {
            let witness = Witness { sent, frame: covering.frame, reordering };
            note(&mut settled[other], KINDS.after_witness, |look, range| look(range, &witness));
        }
    }
}

/// RFC 8985 again: the witness is the newest copy known to have arrived before the range did.
fn forward(settled: &mut [RetransmittedRange], reordering: Duration) {
    // The newest copy before the ACKs of this time, and among them.
    let (mut before, mut now) = (None, None);
    let mut at = Instant::START;
    for (covered, _, index) in by_covering_ack(settled) {
        if covered > at {
            (before, at) = (now, covered);
        }
        let range = &mut settled[index];
        if let Some((sent, frame)) = before {
            let witness = Witness { sent, frame, reordering };
            note(range, KINDS.after_witness, |look, range| look(range, &witness));
        }
        let frame = range.covering_ack.map_or(0, |ack| ack.frame);
        now = now.max(range.delivered_copy().map(|sent| (sent, frame)));
    }
}

/// The order of originals again: the witness is the first copy sent of those known to have arrived
/// after the range did.
fn backward(settled: &mut [RetransmittedRange], reordering: Duration) {
    // Without timestamps the order of arrivals is not certain enough.
    if !settled.iter().flat_map(|range| &range.copies).any(|copy| copy.timestamp.is_some()) {
        return;
    }
    // The first copy sent of those after the ACKs of this time, and among them.
    let (mut after, mut now) = (None::<(Instant, u64)>, None);
    let mut at = Instant::NEVER;
    for (covered, _, index) in by_covering_ack(settled).into_iter().rev() {
        if covered < at {
            (after, at) = (now, covered);
        }
        let range = &mut settled[index];
        if let Some((sent, frame)) = after {
            let witness = Witness { sent, frame, reordering };
            note(range, KINDS.before_witness, |look, range| look(range, &witness));
        }
        let frame = range.covering_ack.map_or(0, |ack| ack.frame);
        if let (Some(most), _) = range.bounds() {
            let sent = range.copies[most].at;
            if sent > Instant::START && now.is_none_or(|(earliest, _)| sent < earliest) {
                now = Some((sent, frame));
            }
        }
    }
}

/// The acknowledged ranges in the order of their first covering ACKs.
fn by_covering_ack(settled: &[RetransmittedRange]) -> Vec<(Instant, Seq, usize)> {
    let covered = settled.iter().enumerate();
    let mut order: Vec<(Instant, Seq, usize)> = covered
        .filter_map(|(index, range)| Some((range.covering_ack?.at, range.start, index)))
        .collect();
    order.sort_unstable();
    order
}
