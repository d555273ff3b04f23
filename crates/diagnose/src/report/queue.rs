//! Whether data was lost because a queue was full: then losses happen only while it is long.

use rtolab_tcp::Seq;
use rtolab_time::{Duration, Instant};

use crate::connection::Connection;
use crate::evidence::{Necessity, assess};
use crate::half_connection::HalfConnection;
use crate::history::RetransmittedRange;

/// The minimum share of the round-trip time at a loss that is queueing delay.
const MIN_QUEUEING_SHARE: f64 = 0.3;
/// The minimum number of segments that wait in a queue when it overflows. Shorter waits before a
/// loss have other reasons, such as retransmissions of a radio.
const MIN_QUEUED_SEGMENTS: u64 = 5;
/// The minimum rank of a long round-trip time: the share of all round-trip times that are shorter.
const MIN_LONG_RANK: f64 = 0.75;
/// A packet waited longer than the one before a loss if it waited this many times as long.
const TIMES_LONGER: f64 = 1.1;
/// The minimum share of packets that did not wait longer. A full queue lets none wait longer.
const MIN_NOT_LONGER: f64 = 0.95;
/// The same on a path that holds packets, too.
const MIN_NOT_LONGER_IF_DELAYED: f64 = 0.8;
/// The minimum number of gaps in a window between which packets arrived. Slow start overflows a
/// queue in this way; an outage discards all packets.
const MIN_GAPS: usize = 4;

/// What fast retransmits show of the queue when data was lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueAtLosses {
    /// The median number of bytes that were queued on the path: the outstanding bytes, less those
    /// that fill the path in its shortest round trip. `None` if no round trip is known.
    queued: Option<u64>,
    /// Did many packets wait at most losses?
    pub(crate) is_long: bool,
    /// Do the losses depend on the queue, as far as their number shows?
    is_cause: bool,
    /// The times of the fast retransmits, in seconds, and whether the round trip before was long.
    pub(crate) fast_retransmits: Vec<(f64, bool)>,
    /// Did packets arrive between the lost ones of a window?
    pub(crate) is_interleaved: bool,
}

/// A fast retransmit of lost data.
#[derive(Clone, Copy)]
struct LossAt {
    retransmitted: Instant,
    /// The rank of the latest round-trip time before.
    rank: f64,
    /// The share of packets that did not wait longer.
    not_longer: f64,
    /// The share of that round-trip time that is queueing delay.
    queueing: f64,
    /// The bytes that waited, about.
    waiting: u64,
    /// The payload of a segment, in bytes.
    segment: u64,
    is_interleaved: bool,
}

impl QueueAtLosses {
    /// The losses of both ends. `is_delayed`: does the path hold packets, too?
    pub(super) fn of(connection: &Connection, is_delayed: bool) -> Self {
        let ends = connection.ends.iter().flatten();
        let mut losses: Vec<LossAt> = ends.flat_map(|sending| losses_at(sending)).collect();
        if losses.is_empty() {
            return Self::default();
        }
        let fast_retransmits =
            losses.iter().map(|loss| (loss.retransmitted.secs_f64(), loss.rank >= MIN_LONG_RANK));
        let fast_retransmits = fast_retransmits.collect();
        let is_interleaved = losses.iter().any(|loss| loss.is_interleaved);
        // Of two the smaller one.
        let middle = (losses.len() - 1) / 2;
        let mut median = |of: fn(&LossAt) -> f64| {
            losses.sort_by(|a, b| of(a).total_cmp(&of(b)));
            losses[middle]
        };
        let rank = median(|loss| loss.rank).rank;
        let not_longer = median(|loss| loss.not_longer).not_longer;
        let LossAt { queueing, waiting, segment, .. } = median(|loss| loss.queueing);
        let is_long = queueing >= MIN_QUEUEING_SHARE && waiting >= MIN_QUEUED_SEGMENTS * segment;
        let least = if is_delayed { MIN_NOT_LONGER_IF_DELAYED } else { MIN_NOT_LONGER };
        let is_cause = is_long && rank >= MIN_LONG_RANK && not_longer >= least;
        Self { queued: Some(waiting), is_long, is_cause, fast_retransmits, is_interleaved }
    }

    /// The bytes that waited; 0 if the losses do not depend on the queue.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.queued.map(|queued| if self.is_cause { queued } else { 0 })
    }
}

/// The fast retransmits of lost data of an end.
fn losses_at(sending: &HalfConnection) -> Vec<LossAt> {
    let Some(min_rtt) = sending.rtt.min else { return Vec::new() };
    let gaps = gaps(&sending.settled);
    let mut found = Vec::new();
    for range in &sending.settled {
        for (index, copy, retransmission) in range.retransmissions() {
            let Some((outstanding, rtt)) = retransmission.queue.filter(|(_, rtt)| !rtt.is_zero())
            else {
                continue;
            };
            let wait = rtt.secs_f64() - min_rtt.secs_f64();
            let longer = min_rtt + Duration::from_secs_f64((TIMES_LONGER * wait).max(0.0));
            let ranks = (sending.rtt.rank(rtt), sending.rtt.share_below(longer));
            let (Some(rank), Some(not_longer)) = ranks else { continue };
            if assess(&range.evidence, index).verdict != Necessity::Needed {
                continue;
            }
            let queueing = wait / rtt.secs_f64();
            let window_end = range.start + u32::try_from(outstanding).unwrap_or(u32::MAX);
            let before = |end: Seq| gaps.partition_point(|gap| *gap < end);
            found.push(LossAt {
                retransmitted: copy.at,
                rank,
                not_longer,
                queueing,
                waiting: (outstanding as f64 * queueing) as u64,
                segment: sending.segment_size(),
                is_interleaved: before(window_end) - before(range.start) >= MIN_GAPS,
            });
        }
    }
    found
}

/// Where gaps of lost data begin, in order.
fn gaps(ranges: &[RetransmittedRange]) -> Vec<Seq> {
    let is_lost = |range: &&RetransmittedRange| {
        let mut copies = range.retransmissions();
        copies.any(|(index, ..)| assess(&range.evidence, index).verdict == Necessity::Needed)
    };
    let mut lost: Vec<(Seq, Seq)> =
        ranges.iter().filter(is_lost).map(|range| (range.start, range.end)).collect();
    lost.sort_unstable();
    let mut gaps = Vec::new();
    let mut end = None;
    for (start, to) in lost {
        if end.is_none_or(|end| start > end) {
            gaps.push(start);
        }
        end = end.max(Some(to));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::kinds;
    use crate::history::Bound;
    use crate::history::samples::range;

    /// Retransmitted segments from these numbers on, whose originals were lost or arrived.
    fn retransmitted(segments: &[(u32, bool)]) -> Vec<RetransmittedRange> {
        let of = |&(number, is_lost): &(u32, bool)| {
            let start = Seq::FIRST + 1000 * number;
            let mut range = RetransmittedRange { start, end: start + 1000, ..range(&[10, 500]) };
            let bound = if is_lost { Bound::AtLeast(1) } else { Bound::AtMost(0) };
            range.note(bound.shown_by(9).of(kinds()["overtaken-copies"]));
            range
        };
        segments.iter().map(of).collect()
    }

    #[test]
    fn a_gap_is_a_run_of_lost_segments() {
        let found = |segments: &[(u32, bool)]| -> Vec<u64> {
            let gaps = gaps(&retransmitted(segments));
            gaps.iter().map(|gap| gap.since(Seq::FIRST) / 1000).collect()
        };
        assert_eq!(found(&[(1, true), (2, true), (4, true), (6, true)]), [1, 4, 6]);
        assert_eq!(found(&[(6, true), (1, true), (4, true)]), [1, 4, 6], "they are in order");
        assert_eq!(found(&[(1, true), (4, false), (6, true)]), [1, 6], "4 had arrived");
        assert!(found(&[]).is_empty());
    }
}
