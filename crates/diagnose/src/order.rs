//! Which of what was sent again had arrived, told without SACK by how many duplicate acknowledgments
//! come between two that acknowledge something new.
//!
//! Where packets keep their order, each duplicate acknowledgment answers something that was sent
//! before what the next new one answers. As many as came, so many of the last things sent before that
//! had not arrived when the earlier one left.

use std::collections::VecDeque;

use rtolab_tcp::{Segment, Seq};
use rtolab_time::Instant;

use crate::acks::{Context, delivered_copy};
use crate::evidence::{Bound, Evidence};
use crate::ledger::Ledger;

/// So much of what was sent is remembered.
const MOST_SENT: usize = 4096;

/// What was sent, in order, since something was sent again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    sent: VecDeque<(Seq, Instant)>,
    /// Duplicate acknowledgments since the last new one.
    duplicates: usize,
}

impl Order {
    /// Something is sent, new or again.
    pub fn sent(&mut self, segment: &Segment, at: Instant) {
        if segment.sequence_length() == 0 {
            return;
        }
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back((segment.seq, at));
    }

    /// Nothing was sent again, or the capture lacks something, or a probe was sent: the order is not
    /// known any more.
    pub fn forget(&mut self) {
        self.sent.clear();
        self.duplicates = 0;
    }

    /// Something new is acknowledged, on the arrival of what was sent as `answered`: what of the rest
    /// had not arrived when something new was acknowledged before.
    fn answers(&mut self, answered: Option<(Seq, Instant)>) -> Vec<(Seq, Instant)> {
        let duplicates = std::mem::take(&mut self.duplicates);
        let place =
            answered.and_then(|answered| self.sent.iter().position(|&sent| sent == answered));
        let Some(place) = place else { return Vec::new() };
        let before: Vec<(Seq, Instant)> = self.sent.drain(..=place).take(place).collect();
        before[place.saturating_sub(duplicates)..].to_vec()
    }
}

/// An acknowledgment came, and what it covers is noted.
pub(crate) fn on_ack(ledger: &mut Ledger, context: &Context<'_>) {
    let facts = context.facts;
    if context.flight.uses_sack() {
        return;
    }
    if !facts.is_new() {
        ledger.order.duplicates += usize::from(facts.duplicate);
        return;
    }
    let una = facts.una_before;
    let again = ledger.iter().find(|resent| resent.start == una && resent.covered_at(facts.at));
    let answered = match (again, facts.oldest_acked) {
        (Some(resent), _) => delivered_copy(resent).map(|at| (una, at)),
        (None, Some(oldest)) if oldest.seq == una && !oldest.was_retransmitted() => {
            Some((una, oldest.first_sent))
        }
        (None, _) => None,
    };
    for (start, at) in ledger.order.answers(answered) {
        let known = ledger.iter_mut().filter(|resent| resent.start == start && !resent.is_syn);
        for resent in known.filter(|resent| resent.cover.is_some_and(|cover| cover.at < facts.at)) {
            let copy = resent.copies.iter().position(|copy| copy.again.is_some() && copy.at == at);
            if let Some(copy @ 1..) = copy {
                let most = Bound::AtMost(copy - 1);
                resent.note(Evidence::DuplicateFollowed, most, context.frame);
            }
        }
    }
}
