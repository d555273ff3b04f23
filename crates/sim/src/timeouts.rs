//! The timeouts and fast retransmits of one end of a flow, with truth and verdicts.

use std::sync::Arc;

use rtolab_net::Copies;
use rtolab_record::{Comparison, Place, Rest, TimeoutKind, TimeoutRow, Truth};
use rtolab_tcp::spurious::{DetectorId, Verdict};
use rtolab_tcp::{Retransmission, Seq};
use rtolab_time::Instant;

/// The timeouts and fast retransmits of one end. Most flows have few, and most of those are not
/// scored, so both are kept small.
#[derive(Clone, Debug, Default)]
pub struct Timeouts {
    all: Vec<Decision>,
    /// How many [`Timeouts::next_unscored`] has returned.
    scored: usize,
}

/// What a fork without the retransmission shows.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    pub truth: Truth,
    /// How the transfer ends in the fork, if the retransmission is spurious and that was requested.
    pub rest: Option<Rest>,
}

/// A decided retransmission.
#[derive(Clone, Debug)]
struct Decision {
    what: Retransmission,
    kind: TimeoutKind,
    /// How often the segment was sent before.
    order: u16,
    known: Option<Box<Known>>,
}

/// What is known of a decision.
#[derive(Clone, Debug, Default)]
pub struct Known {
    truth: Option<Truth>,
    /// How the transfer ends without it.
    without: Option<Rest>,
    /// The verdict of the sender's detector, which detector, and when.
    pub verdict: Option<(Verdict, DetectorId, Instant)>,
}

impl Timeouts {
    /// The sender decided to retransmit a segment that had been sent `order` times.
    pub fn note(&mut self, kind: TimeoutKind, what: Retransmission, order: u16) {
        if self.all.len() == self.all.capacity() {
            // By default a vector begins with room for four.
            self.all.reserve_exact(self.all.len().max(1));
        }
        self.all.push(Decision { what, kind, order, known: None });
    }

    /// Forgets those from this number on; returns their kinds.
    pub fn forget_from(&mut self, number: usize) -> impl Iterator<Item = TimeoutKind> + '_ {
        self.scored = self.scored.min(number);
        self.all.drain(number..).map(|decided| decided.kind)
    }

    /// What is known of the last one of that kind.
    pub fn last_of(&mut self, kind: TimeoutKind) -> Option<&mut Known> {
        self.all.iter_mut().rev().find(|decided| decided.kind == kind).map(Decision::known)
    }

    /// Notes the finding about the decision of this number.
    pub fn note_finding(&mut self, number: usize, finding: Finding) {
        let known = self.all[number].known();
        (known.truth, known.without) = (Some(finding.truth), finding.rest);
    }

    /// The next one that is not scored: its number, its row and its segment.
    pub fn next_unscored(&mut self, whose: (&Arc<str>, Place)) -> Option<(usize, TimeoutRow, Seq)> {
        let number = self.scored;
        let decided = self.all.get(number)?;
        self.scored += 1;
        Some((number, decided.row(whose), decided.what.seq))
    }

    /// The rows; call this after the run, with the way in which the transfer ended.
    pub fn rows<'a>(
        &'a self,
        whose: (&'a Arc<str>, Place),
        copies: &'a Copies,
        original: Rest,
    ) -> impl Iterator<Item = TimeoutRow> + 'a {
        self.all.iter().map(move |decided| {
            let row = decided.row(whose);
            let needed = !copies.delivered_before(decided.what.seq, decided.order);
            let cost = row.cost.map(|cost| Comparison { original, ..cost });
            TimeoutRow { needed, cost, ..row }
        })
    }
}

impl Decision {
    fn known(&mut self) -> &mut Known {
        self.known.get_or_insert_with(Box::default)
    }

    /// Its row, with `needed` still to be set.
    fn row(&self, (flow, end): (&Arc<str>, Place)) -> TimeoutRow {
        let Retransmission { at, seq, rto, backoff, cwnd } = self.what;
        let known = self.known.as_deref();
        let verdict = known.and_then(|known| known.verdict);
        let without = known.and_then(|known| known.without);
        TimeoutRow {
            flow: flow.clone(),
            end,
            at,
            kind: self.kind,
            seq: seq.relative(),
            rto,
            backoff,
            cwnd,
            needed: true,
            truth: known.and_then(|known| known.truth),
            cost: without.map(|other| Comparison { other, ..Comparison::default() }),
            verdict: verdict.map(|(verdict, ..)| verdict.name()),
            detector: verdict.map(|(_, detector, _)| detector),
            verdict_at: verdict.map(|(.., at)| at),
        }
    }
}
