//! The timeouts, fast retransmits and tail loss probes of one end of a flow, with ground truth and
//! verdicts.

use std::sync::Arc;

use rtolab_net::Copies;
use rtolab_record::{Comparison, Place, TimeoutKind, TimeoutRow, TransferOutcome, Truth};
use rtolab_tcp::spurious::{DetectorId, Verdict};
use rtolab_tcp::{Retransmission, Seq};
use rtolab_time::Instant;

/// The timeouts, fast retransmits and tail loss probes of one end. Most flows have few, and most
/// are not scored, so the types are small.
#[derive(Clone, Debug, Default)]
pub struct RetransmissionLog {
    all: Vec<Decision>,
    /// The number of decisions that [`RetransmissionLog::next_unscored`] has returned.
    scored: usize,
}

/// The result of a fork without the retransmission.
#[derive(Clone, Copy, Debug)]
pub struct Counterfactual {
    pub truth: Truth,
    /// The end of the transfer in the fork, if it was requested and the retransmission is spurious.
    pub outcome: Option<TransferOutcome>,
}

/// A decision to retransmit.
#[derive(Clone, Debug)]
struct Decision {
    retransmission: Retransmission,
    kind: TimeoutKind,
    /// The number of earlier transmissions of the segment.
    earlier_transmissions: u16,
    evaluation: Option<Box<Evaluation>>,
}

/// The ground truth and the verdict on a decision.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    truth: Option<Truth>,
    /// The end of the transfer without the retransmission.
    without_retransmission: Option<TransferOutcome>,
    /// The verdict of the sender's detector, the detector, and the time of the verdict.
    pub verdict: Option<(Verdict, DetectorId, Instant)>,
}

impl RetransmissionLog {
    /// Adds a decision to retransmit a segment that had been sent `earlier_transmissions` times.
    pub fn push(
        &mut self,
        kind: TimeoutKind,
        retransmission: Retransmission,
        earlier_transmissions: u16,
    ) {
        if self.all.len() == self.all.capacity() {
            // A vector would begin with a capacity of four.
            self.all.reserve_exact(self.all.len().max(1));
        }
        self.all.push(Decision { retransmission, kind, earlier_transmissions, evaluation: None });
    }

    /// The number of back-offs and the ground truth of each timeout.
    pub fn timeouts(&self) -> impl Iterator<Item = (u32, Option<Truth>)> + '_ {
        let timeouts = self.all.iter().filter(|decision| decision.kind == TimeoutKind::Timeout);
        timeouts.map(|decision| {
            let truth = decision.evaluation.as_deref().and_then(|evaluation| evaluation.truth);
            (decision.retransmission.backoff, truth)
        })
    }

    /// Removes the decisions from this number on. Returns their kinds.
    pub fn truncate(&mut self, number: usize) -> impl Iterator<Item = TimeoutKind> + '_ {
        self.scored = self.scored.min(number);
        self.all.drain(number..).map(|decision| decision.kind)
    }

    /// The evaluation of the last decision of this kind.
    pub fn last_of(&mut self, kind: TimeoutKind) -> Option<&mut Evaluation> {
        self.all.iter_mut().rev().find(|decision| decision.kind == kind).map(Decision::evaluation)
    }

    /// Sets the result of the fork without the decision of this number.
    pub fn set_counterfactual(&mut self, number: usize, counterfactual: Counterfactual) {
        let evaluation = self.all[number].evaluation();
        (evaluation.truth, evaluation.without_retransmission) =
            (Some(counterfactual.truth), counterfactual.outcome);
    }

    /// The next decision that is not scored: its number, its row and its segment.
    pub fn next_unscored(&mut self, owner: (&Arc<str>, Place)) -> Option<(usize, TimeoutRow, Seq)> {
        let number = self.scored;
        let decision = self.all.get(number)?;
        self.scored += 1;
        Some((number, decision.row(owner), decision.retransmission.seq))
    }

    /// The rows. Call this after the run, with the end of the original transfer.
    pub fn rows<'a>(
        &'a self,
        owner: (&'a Arc<str>, Place),
        copies: &'a Copies,
        original: TransferOutcome,
    ) -> impl Iterator<Item = TimeoutRow> + 'a {
        self.all.iter().map(move |decision| {
            let row = decision.row(owner);
            let Decision { earlier_transmissions, .. } = *decision;
            let needed =
                !copies.earlier_copy_delivered(decision.retransmission.seq, earlier_transmissions);
            let cost = row.cost.map(|cost| Comparison { original, ..cost });
            TimeoutRow { needed, cost, ..row }
        })
    }
}

impl Decision {
    fn evaluation(&mut self) -> &mut Evaluation {
        self.evaluation.get_or_insert_with(Box::default)
    }

    /// The row; `needed` is always true here, `rows` computes it.
    fn row(&self, (flow, end): (&Arc<str>, Place)) -> TimeoutRow {
        let Retransmission { at, seq, rto, backoff, cwnd } = self.retransmission;
        let evaluation = self.evaluation.as_deref();
        let verdict = evaluation.and_then(|evaluation| evaluation.verdict);
        let without_retransmission =
            evaluation.and_then(|evaluation| evaluation.without_retransmission);
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
            truth: evaluation.and_then(|evaluation| evaluation.truth),
            cost: without_retransmission.map(|other| Comparison { other, ..Comparison::default() }),
            verdict: verdict.map(|(verdict, ..)| verdict.name()),
            detector: verdict.map(|(_, detector, _)| detector),
            verdict_at: verdict.map(|(.., at)| at),
        }
    }
}
