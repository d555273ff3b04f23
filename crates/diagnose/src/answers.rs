//! Duplicate acknowledgments, counted against the retransmissions that they may answer.
//!
//! A receiver acknowledges at once what it has already. With SACK such an acknowledgment tells of
//! nothing new, and nothing else makes one: if there are as many of them as retransmissions, each
//! retransmission was in vain, whether or not the receiver reports duplicates (RFC 2883).

use std::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use crate::acks::{Context, Delivered, TOO_SOON, delivered_original};
use crate::evidence::{Bound, Evidence};
use crate::ledger::{Copy, Cover, Echo, Ledger};

/// So many retransmissions wait for their answers at most.
const MOST_WAITING: usize = 4096;

/// The retransmissions whose answers may still come, and what came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    /// When they left.
    waiting: VecDeque<Instant>,
    /// Duplicate acknowledgments since the last of what arrived.
    duplicates: usize,
}

impl Answers {
    /// Something is sent again.
    pub fn resent(&mut self, at: Instant) {
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(at);
    }

    /// A duplicate acknowledgment comes that tells of nothing new; nothing is answered sooner than
    /// `soonest`.
    pub fn duplicate(&mut self, at: Instant, soonest: Duration) {
        let answers = self.waiting.front().is_some_and(|&sent| at.since(sent) >= soonest);
        self.duplicates += usize::from(answers);
    }

    /// Something arrived that was sent once, at this time: what was sent before it has been answered,
    /// or never will be. When the retransmissions left, from first to last, of which each was answered
    /// by a duplicate acknowledgment.
    pub fn arrived(&mut self, sent: Instant) -> Option<(Instant, Instant)> {
        let first = *self.waiting.front().filter(|&&first| first < sent)?;
        let count = self.waiting.partition_point(|&at| at < sent);
        let last = self.waiting[count - 1];
        let at_once = self.waiting.get(count) == Some(&sent);
        self.waiting.drain(..count);
        let answered = std::mem::take(&mut self.duplicates) == count;
        (answered && !at_once).then_some((first, last))
    }
}

/// Does it acknowledge once more what it did before, and tell of nothing new?
fn repeats(context: &Context<'_>) -> bool {
    let facts = context.facts;
    let nothing_new = facts.ack == facts.una_before && facts.newly_sacked == 0;
    nothing_new && (facts.duplicate || facts.dsack.is_some())
}

/// Counts duplicate acknowledgments, and concludes when what was sent later arrives.
pub(crate) fn count(ledger: &mut Ledger, context: &Context<'_>) {
    if !context.flight.uses_sack() {
        return;
    }
    if repeats(context) {
        let soonest = context.trips.least.unwrap_or_default() * TOO_SOON / 100;
        ledger.answers.duplicate(context.facts.at, soonest);
    }
    let arrived = delivered_original(context);
    let Some((first, last)) = arrived.and_then(|sent| ledger.answers.arrived(sent)) else { return };
    for resent in ledger.iter_mut().filter(|resent| !resent.is_syn) {
        let of_these = |copy: &Copy| copy.again.is_some() && (first..=last).contains(&copy.at);
        if let Some(index @ 1..) = resent.copies.iter().position(of_these) {
            resent.note(Evidence::DuplicateEach, Bound::AtMost(index - 1), context.frame);
        }
    }
}

/// A duplicate acknowledgment comes, or what was sent later arrives: what came of ranges that had been
/// acknowledged before?
pub(crate) fn echoes(ledger: &mut Ledger, context: &Context<'_>, delivered: Delivered) {
    let repeats = repeats(context);
    let covered = ledger.iter_mut().filter_map(|resent| {
        let last = resent.copies.last()?.at;
        resent.cover.as_mut().map(|cover| (last, cover))
    });
    let before = |cover: &Cover| cover.at < context.facts.at;
    for (last, cover) in covered.filter(|(_, cover)| cover.is_awaited() && before(cover)) {
        if delivered.any.is_some_and(|sent| sent > last) {
            cover.echo = Echo::Missing;
        } else if repeats {
            cover.echo = Echo::Came;
        }
    }
}
