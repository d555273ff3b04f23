//! The timeouts and fast retransmits of one end of a flow, and what became known of each.

use std::sync::Arc;

use rtolab_net::Copies;
use rtolab_record::{Comparison, Place, Rest, TimeoutKind, TimeoutRow, Truth};
use rtolab_tcp::spurious::{DetectorId, Verdict};
use rtolab_tcp::{Retransmission, Seq};
use rtolab_time::Instant;

use crate::truth::Finding;

/// All of one end. Most flows of many have few of them, and nothing more is known of most: they take
/// little room.
#[derive(Clone, Debug, Default)]
pub struct Timeouts {
    all: Vec<Decided>,
    /// How many of them have been looked at by [`Timeouts::unjudged`].
    judged: usize,
}

/// A retransmission that was decided.
#[derive(Clone, Debug)]
struct Decided {
    what: Retransmission,
    kind: TimeoutKind,
    /// How often the segment had been sent before.
    order: u16,
    known: Option<Box<Known>>,
}

/// What became known of one.
#[derive(Clone, Debug, Default)]
pub struct Known {
    truth: Option<Truth>,
    /// How the transfer ends without it.
    without: Option<Rest>,
    /// What a detector of the sender said, which, and when.
    pub said: Option<(Verdict, DetectorId, Instant)>,
}

impl Timeouts {
    /// The sender has decided it; the segment had been sent as often as `order` says.
    pub fn note(&mut self, kind: TimeoutKind, what: Retransmission, order: u16) {
        if self.all.len() == self.all.capacity() {
            // A vector would begin with room for four.
            self.all.reserve_exact(self.all.len().max(1));
        }
        self.all.push(Decided { what, kind, order, known: None });
    }

    /// Those from this number on have not happened: of which kinds they were.
    pub fn forget_from(&mut self, number: usize) -> impl Iterator<Item = TimeoutKind> + '_ {
        self.judged = self.judged.min(number);
        self.all.drain(number..).map(|decided| decided.kind)
    }

    /// What is known of the last one of that kind, if there is one.
    pub fn last_of(&mut self, kind: TimeoutKind) -> Option<&mut Known> {
        self.all.iter_mut().rev().find(|decided| decided.kind == kind).map(Decided::known)
    }

    /// The truth about one, and how the transfer ends without it.
    pub fn note_finding(&mut self, number: usize, finding: Finding) {
        let known = self.all[number].known();
        (known.truth, known.without) = (Some(finding.truth), finding.rest);
    }

    /// The next one about which the truth is not known: its number, its row and its segment.
    pub fn unjudged(&mut self, whose: (&Arc<str>, Place)) -> Option<(usize, TimeoutRow, Seq)> {
        let number = self.judged;
        let decided = self.all.get(number)?;
        self.judged += 1;
        Some((number, decided.row(whose), decided.what.seq))
    }

    /// Their rows, now that the fate of every copy is known and the transfer has ended like this.
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

impl Decided {
    fn known(&mut self) -> &mut Known {
        self.known.get_or_insert_with(Box::default)
    }

    /// Its row, as if it had been needed.
    fn row(&self, (flow, end): (&Arc<str>, Place)) -> TimeoutRow {
        let Retransmission { at, seq, rto, backoff, cwnd } = self.what;
        let known = self.known.as_deref();
        let said = known.and_then(|known| known.said);
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
            verdict: said.map(|(verdict, ..)| verdict.name()),
            detector: said.map(|(_, detector, _)| detector),
            verdict_at: said.map(|(.., at)| at),
        }
    }
}
