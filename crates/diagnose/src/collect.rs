//! Collects the evidence about the history of one direction as packets arrive.

use crate::evidence::{Findings, KINDS, Retransmitting, Row, SettledDirection};
use crate::history::{Ack, Finding, RetransmissionHistory, RetransmittedRange};
use crate::vantage::Vantage;

/// Adds the evidence of each of these kinds to a range.
pub(crate) fn note<F: Copy>(
    range: &mut RetransmittedRange,
    rows: &[Row<F>],
    apply: impl Fn(F, &RetransmittedRange) -> Option<Finding>,
) {
    for &(kind, look) in rows {
        if let Some(found) = apply(look, range) {
            range.note(found.of(kind));
        }
    }
}

/// Collects the evidence of a retransmission.
pub(crate) fn on_retransmission(range: &mut RetransmittedRange, now: &Retransmitting) {
    note(range, KINDS.on_retransmission, |look, range| look(range, now));
}

/// Records an ACK in the history, and collects its evidence.
pub(crate) fn on_ack(history: &mut RetransmissionHistory, ack: &Ack<'_>) {
    history.count_duplicates(ack);
    note_all(KINDS.on_ack, history, ack);
    if let Some(sent) = ack.delivered_original.filter(|_| ack.flight.uses_sack()) {
        history.unanswered.forget_before(sent);
    }
    let awaits_ack = history.awaits_ack();
    let covers = awaits_ack && history.cover(ack);
    if covers {
        for range in history.iter_mut().filter(|range| range.is_covered_by(ack.frame)) {
            note(range, KINDS.on_first_ack, |look, range| look(range, ack));
        }
    }
    history.note_delivered(ack, covers);
    if awaits_ack {
        history.note_still_missing(ack);
    }
    if awaits_ack
        || history.order.answered_by_duplicates(history.delivered.answered).next().is_some()
    {
        note_all(KINDS.after_ack, history, ack);
    }
    history.finish_ack(ack);
}

/// Collects the evidence of a settled range.
pub(crate) fn at_end(range: &mut RetransmittedRange, vantage: Vantage, end: &SettledDirection<'_>) {
    if vantage != Vantage::Receiver {
        note(range, KINDS.at_end, |look, range| look(range, end));
        return;
    }
    let mut evidence = Vec::new();
    for (index, _, copy) in range.retransmissions() {
        let rows = KINDS.at_receiver.iter();
        evidence.extend(rows.filter_map(|(kind, look)| Some(look(range, index, copy)?.of(kind))));
    }
    range.evidence = evidence;
}

type OfHistory = fn(&RetransmissionHistory, &Ack<'_>) -> Findings;

/// Adds the evidence of each of these kinds to the ranges of the history.
fn note_all(rows: &[Row<OfHistory>], history: &mut RetransmissionHistory, ack: &Ack<'_>) {
    for (kind, look) in rows {
        for (index, found) in look(history, ack) {
            history.note(index, found.of(kind));
        }
    }
}
