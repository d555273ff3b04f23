//! The second pass over settled ranges: the fate of one range is evidence about others.

#[cfg(test)]
mod tests;

use rtolab_tcp::Seq;
use rtolab_time::{Duration, Instant};

use crate::collect::note;
use crate::evidence::{ArrivedCopy, KINDS, Pair};
use crate::history::RetransmittedRange;
use crate::rtt::RttStatistics;

/// The maximum number of ranges that are searched for the one that an ACK expected next.
const NEARBY: usize = 1024;

/// Runs the second pass over all settled ranges of a direction, and sorts them by sequence number.
pub(crate) fn run(settled: &mut [RetransmittedRange], rtt: &RttStatistics, sack: bool) {
    settled.sort_by_key(|range| (range.start, range.copies.len()));
    pairs(settled, rtt);
    if sack {
        forward(settled, rtt.reordering_window());
        backward(settled, rtt.reordering_window());
    } else {
        in_turn(settled, rtt.reordering_window());
    }
}

/// Collects the evidence of pairs: ranges whose expected next range was retransmitted too. The last
/// range comes first, because each range is evidence about the one before it.
fn pairs(settled: &mut [RetransmittedRange], rtt: &RttStatistics) {
    for index in (0..settled.len()).rev() {
        let Some(other) = next(settled, index) else { continue };
        for (rows, of) in [(KINDS.of_next, other), (KINDS.of_first, index)] {
            for (kind, look) in rows {
                let pair = Pair { range: &settled[index], next: &settled[other], rtt };
                if let Some(found) = look(&pair) {
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

/// Collects the evidence of RACK (RFC 8985) without SACK. Each range is evidence about the next: a
/// copy of the first arrived before the range that its ACK expected next.
fn in_turn(settled: &mut [RetransmittedRange], reordering_window: Duration) {
    for index in 0..settled.len() {
        let (Some(covering), Some(other)) = (settled[index].covering_ack, next(settled, index))
        else {
            continue;
        };
        if let Some(sent) = settled[index].delivered_copy() {
            let arrived = ArrivedCopy { sent, frame: covering.frame, reordering_window };
            note(&mut settled[other], KINDS.by_earlier_arrival, |look, range| {
                look(range, &arrived)
            });
        }
    }
}

/// Collects the evidence of RACK (RFC 8985) with SACK: compares each range with the newest copy of
/// any range known to have arrived before it.
fn forward(settled: &mut [RetransmittedRange], reordering_window: Duration) {
    // The newest copy that ACKs before `at` reported, and the newest including the ACKs at `at`.
    let (mut before, mut now) = (None, None);
    let mut at = Instant::START;
    for (covered, _, index) in by_covering_ack(settled) {
        if covered > at {
            (before, at) = (now, covered);
        }
        let range = &mut settled[index];
        if let Some((sent, frame)) = before {
            let arrived = ArrivedCopy { sent, frame, reordering_window };
            note(range, KINDS.by_earlier_arrival, |look, range| look(range, &arrived));
        }
        let frame = range.covering_ack.map_or(0, |ack| ack.frame);
        now = now.max(range.delivered_copy().map(|sent| (sent, frame)));
    }
}

/// Compares each range with the earliest copy of any range known to have arrived after it.
fn backward(settled: &mut [RetransmittedRange], reordering_window: Duration) {
    // Without timestamps the order of arrivals is not certain enough.
    if !settled.iter().flat_map(|range| &range.copies).any(|copy| copy.timestamp.is_some()) {
        return;
    }
    // The earliest copy that ACKs after `at` reported, and the earliest including the ACKs at `at`.
    let (mut after, mut now) = (None::<(Instant, u64)>, None);
    let mut at = Instant::NEVER;
    for (covered, _, index) in by_covering_ack(settled).into_iter().rev() {
        if covered < at {
            (after, at) = (now, covered);
        }
        let range = &mut settled[index];
        if let Some((sent, frame)) = after {
            let arrived = ArrivedCopy { sent, frame, reordering_window };
            note(range, KINDS.by_later_arrival, |look, range| look(range, &arrived));
        }
        let frame = range.covering_ack.map_or(0, |ack| ack.frame);
        if let (Some(first), _) = range.bounds() {
            let sent = range.copies[first].at;
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
