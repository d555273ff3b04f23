//! With hindsight: what acknowledgments say of ranges that were sent more than once, when all has
//! become known that ever will.

use rtolab_tcp::Seq;
use rtolab_time::{Duration, Instant};

use crate::acks::{DELAYED_ACK, TOO_SOON, delivered_copy, order, reordering};
use crate::evidence::{Bound, Evidence};
use crate::ledger::{Original, Resent};
use crate::rtt::RoundTrips;

/// Ranges overlap so many others at most, where the next one is looked for.
const NEARBY: usize = 1024;

/// What became of the ranges that acknowledgments expected next, where these were sent again, too: the
/// last one first, for each says something of the one before it.
pub(crate) fn chain(settled: &mut [Resent], trips: &RoundTrips) {
    settled.sort_by_key(|resent| (resent.start, resent.copies.len()));
    for index in (0..settled.len()).rev() {
        if let Some(other) = behind(settled, index) {
            link(settled, (index, other), trips);
        }
    }
}

/// The range that was expected next when this one was acknowledged; all are in order.
fn behind(settled: &[Resent], index: usize) -> Option<usize> {
    let next = settled[index].next?;
    let behind = settled.partition_point(|resent| resent.start <= next);
    let nearby = behind.saturating_sub(NEARBY)..behind;
    let found = settled[nearby.clone()].iter().rposition(|resent| resent.spans(next));
    found.map(|found| found + nearby.start).filter(|&other| other != index)
}

/// The range at `index` and the one behind it.
fn link(settled: &mut [Resent], (index, other): (usize, usize), trips: &RoundTrips) {
    let (Some(cover), Some(next)) = (settled[index].cover, settled[other].cover) else { return };
    let originals = [index, other].map(|at| settled[at].copies[0].at);
    if settled[other].original() == Original::Unknown && originals[0] > Instant::START {
        let apart = originals[1].since(originals[0]);
        let wait = trips.least.map(|least| (least * TOO_SOON / 100).max(DELAYED_ACK));
        if wait.is_some_and(|wait| next.at.since(cover.at) >= wait && apart < wait) {
            settled[other].note(Evidence::OriginalMissing, Bound::AtLeast(1), next.frame);
        }
    }
    if settled[other].original() == Original::Arrived && next.at > cover.at {
        order(&mut settled[index], originals[1], next.frame);
    }
}

/// RFC 8985 without SACK: when a copy had arrived of which only that can have arrived, what was expected
/// next had not, so those of its copies were lost that were sent before. Each range that is told so
/// tells of the next.
pub(crate) fn overtaken_in_turn(settled: &mut [Resent], trips: &RoundTrips) {
    let reordering = reordering(trips);
    for index in 0..settled.len() {
        let (Some(cover), Some(other)) = (settled[index].cover, behind(settled, index)) else {
            continue;
        };
        if let Some(sent) = delivered_copy(&settled[index]) {
            lose_before(&mut settled[other], sent, reordering, cover.frame);
        }
    }
}

/// RFC 8985 once more, with what has become known since: when a copy arrived of which only that can
/// have arrived, what was sent before it and had not arrived was lost.
pub(crate) fn overtaken_later(settled: &mut [Resent], trips: &RoundTrips) {
    let reordering = reordering(trips);
    // The newest copy known to have arrived before the acknowledgments of this time, and at it.
    let (mut before, mut now) = (None, None);
    let mut at = Instant::START;
    for (covered, _, index) in by_cover(settled) {
        if covered > at {
            (before, at) = (now, covered);
        }
        let resent = &mut settled[index];
        if let Some((sent, frame)) = before {
            lose_before(resent, sent, reordering, frame);
        }
        let frame = resent.cover.map_or(0, |cover| cover.frame);
        now = now.max(delivered_copy(resent).map(|sent| (sent, frame)));
    }
}

/// Copies that were sent well before this time are lost.
fn lose_before(resent: &mut Resent, sent: Instant, reordering: Duration, frame: u64) {
    let lost = resent.copies.iter().take_while(|copy| copy.at + reordering < sent).count();
    let lost = lost.min(resent.copies.len() - 1);
    if lost > 0 && resent.copies[0].at > Instant::START {
        resent.note(Evidence::OvertakenCopies, Bound::AtLeast(lost), frame);
    }
}

/// The order of originals once more, with what has become known since: when a copy arrived that was
/// sent at some time, nothing had arrived before it that was sent well after it.
pub(crate) fn in_order_later(settled: &mut [Resent], trips: &RoundTrips) {
    // Without timestamps what came first is not known well enough to conclude from it.
    if !settled.iter().flat_map(|resent| &resent.copies).any(|copy| copy.timestamp.is_some()) {
        return;
    }
    let reordering = reordering(trips);
    // The earliest sent of what arrived after acknowledgments of this time, and with them.
    let (mut behind, mut now) = (None::<(Instant, u64)>, None);
    let mut at = Instant::NEVER;
    for (covered, _, index) in by_cover(settled).into_iter().rev() {
        if covered < at {
            (behind, at) = (now, covered);
        }
        let resent = &mut settled[index];
        if let Some((sent, frame)) = behind {
            let later = resent.copies.iter().position(|copy| copy.at > sent + reordering);
            if let Some(copy @ 1..) = later.filter(|_| !resent.is_syn) {
                resent.note(Evidence::ArrivedBefore, Bound::AtMost(copy - 1), frame);
            }
        }
        let frame = resent.cover.map_or(0, |cover| cover.frame);
        if let (Some(most), _) = resent.bounds() {
            let sent = resent.copies[most].at;
            if sent > Instant::START && now.is_none_or(|(earliest, _)| sent < earliest) {
                now = Some((sent, frame));
            }
        }
    }
}

/// The ranges that were acknowledged, by when they were.
fn by_cover(settled: &[Resent]) -> Vec<(Instant, Seq, usize)> {
    let covered = settled.iter().enumerate();
    let mut order: Vec<(Instant, Seq, usize)> = covered
        .filter_map(|(index, resent)| Some((resent.cover?.at, resent.start, index)))
        .collect();
    order.sort_unstable();
    order
}

/// A receiver that reports duplicates has reported none of it, though it was heard for long enough: all
/// copies but one were lost, and the last came when an answer to it was due.
pub(crate) fn unreported(resent: &mut Resent, trips: &RoundTrips, last_heard: Instant) {
    let (Some(cover), Some(least), [_, .., again]) =
        (resent.cover, trips.least, &resent.copies[..])
    else {
        return;
    };
    let answered = cover.at.since(again.at) >= least;
    let heard = last_heard.since(cover.at) >= trips.smoothed.unwrap_or(least) * 2;
    if resent.duplicates == 0 && !resent.is_syn && answered && heard {
        let last = resent.copies.len() - 1;
        resent.note(Evidence::NoDuplicateReported, Bound::AtLeast(last), cover.frame);
    }
}
