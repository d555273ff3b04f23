//! Whether data was lost while much of it was queued on the path.

use rtolab_time::{Duration, Instant};

use crate::connection::Connection;
use crate::evidence::{Necessity, assess};
use crate::half_connection::HalfConnection;

/// The minimum share of the round-trip time at a loss that must be queueing delay for the loss to
/// count as a queue's overflow.
const MIN_QUEUEING_SHARE: f64 = 0.3;
/// The minimum number of segments that wait in a queue when it overflows. Shorter waits before a
/// loss have other reasons, such as retransmissions of a radio.
const MIN_QUEUED_SEGMENTS: u64 = 5;
/// The minimum rank of that round-trip time: the share of all round-trip times that are shorter.
const MIN_RTT_RANK: f64 = 0.75;
/// A full queue lets hardly any packet wait longer than those before a loss: the factor by which it
/// would have to be, and the minimum share of all packets that waited less. The path held some of
/// the others, if it delays packets.
const LONGER: f64 = 1.1;
const MIN_NO_LONGER: f64 = 0.95;
const MIN_NO_LONGER_IF_DELAYED: f64 = 0.8;

/// A loss whose round-trip time is known: that of the newest sample before.
#[derive(Clone, Copy)]
struct LossAt {
    /// When it was repaired.
    repaired: Instant,
    rtt: Duration,
    /// The share of all round-trip times that are shorter.
    rank: f64,
    /// The share of all packets that waited hardly longer, or less.
    no_longer: f64,
    /// The share of the round-trip time that is queueing delay.
    queueing: f64,
    /// The bytes that waited, about.
    waiting: u64,
    segment: u64,
}

/// The median number of bytes that were queued on the path when data was lost: the outstanding
/// bytes, less those that fill the path in its shortest round trip. 0 if the losses do not come
/// from a queue; `None` if no loss has a known round-trip time. Then the bursts of losses during
/// which the round-trip time was long, and all bursts.
pub(super) fn queue(connection: &Connection, is_delayed: bool) -> (Option<u64>, [u64; 2]) {
    let mut losses = Vec::new();
    let mut bursts = [0, 0];
    for sending in connection.ends.iter().flatten() {
        let mut burst: Option<LossAt> = None;
        for loss in losses_at(sending) {
            if burst.is_none_or(|first| loss.repaired.since(first.repaired) > first.rtt) {
                burst = Some(loss);
                bursts[0] += u64::from(loss.rank >= MIN_RTT_RANK);
                bursts[1] += 1;
            }
            losses.push(loss);
        }
    }
    if losses.is_empty() {
        return (None, bursts);
    }
    let middle = losses.len() / 2;
    let mut median = |of: fn(&LossAt) -> f64| {
        losses.sort_by(|a, b| of(a).total_cmp(&of(b)));
        losses[middle]
    };
    let rank = median(|loss| loss.rank).rank;
    let no_longer = median(|loss| loss.no_longer).no_longer;
    let LossAt { queueing, waiting, segment, .. } = median(|loss| loss.queueing);
    let least = if is_delayed { MIN_NO_LONGER_IF_DELAYED } else { MIN_NO_LONGER };
    let is_queue = rank >= MIN_RTT_RANK
        && no_longer >= least
        && queueing >= MIN_QUEUEING_SHARE
        && waiting >= MIN_QUEUED_SEGMENTS * segment;
    (Some(if is_queue { waiting } else { 0 }), bursts)
}

/// The losses of an end's data whose round-trip time is known, in the order of their data.
fn losses_at(sending: &HalfConnection) -> Vec<LossAt> {
    let Some(min_rtt) = sending.rtt.min else { return Vec::new() };
    let mut found = Vec::new();
    for range in &sending.settled {
        for (index, copy, retransmission) in range.retransmissions() {
            let Some((outstanding, rtt)) = retransmission.queue.filter(|(_, rtt)| !rtt.is_zero())
            else {
                continue;
            };
            let wait = rtt.secs_f64() - min_rtt.secs_f64();
            let longer = min_rtt + Duration::from_secs_f64((LONGER * wait).max(0.0));
            let ranks = (sending.rtt.rank(rtt), sending.rtt.rank(longer));
            let (Some(rank), Some(no_longer)) = ranks else { continue };
            if assess(&range.evidence, index).verdict != Necessity::Needed {
                continue;
            }
            let queueing = wait / rtt.secs_f64();
            found.push(LossAt {
                repaired: copy.at,
                rtt,
                rank,
                no_longer,
                queueing,
                waiting: (outstanding as f64 * queueing) as u64,
                segment: sending.segment_size(),
            });
        }
    }
    found
}
