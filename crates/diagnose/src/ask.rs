//! Asks the kinds of evidence about the history of one direction, as it grows.

use crate::evidence::{End, Findings, KINDS, Retransmitting, Row};
use crate::history::{Ack, RetransmissionHistory, RetransmittedRange};
use crate::vantage::Vantage;

/// The range is retransmitted.
pub(crate) fn on_retransmission(range: &mut RetransmittedRange, now: &Retransmitting) {
    for (kind, ask) in KINDS.on_retransmission {
        if let Some(found) = ask(range, now) {
            range.note(found.of(kind));
        }
    }
}

/// An ACK came.
pub(crate) fn on_ack(history: &mut RetransmissionHistory, ack: &Ack<'_>) {
    history.count_duplicates(ack);
    ask(KINDS.on_ack, history, ack);
    if let Some(sent) = ack.delivered_original.filter(|_| ack.flight.uses_sack()) {
        history.unanswered.forget_before(sent);
    }
    let awaits_ack = history.awaits_ack();
    let covers = awaits_ack && history.cover(ack);
    if covers {
        for range in history.iter_mut().filter(|range| range.is_covered_by(ack.frame)) {
            for (kind, ask) in KINDS.on_first_ack {
                if let Some(found) = ask(range, ack) {
                    range.note(found.of(kind));
                }
            }
        }
    }
    history.note_delivered(ack, covers);
    if awaits_ack || !ack.flight.uses_sack() {
        ask(KINDS.after_ack, history, ack);
        history.finish_ack(ack);
    }
}

/// No more comes of it.
pub(crate) fn at_end(range: &mut RetransmittedRange, vantage: Vantage, end: &End<'_>) {
    let mut signs = Vec::new();
    if vantage == Vantage::Receiver {
        range.signs.clear();
        for (index, _, copy) in range.retransmissions() {
            for (kind, ask) in KINDS.at_receiver {
                signs.extend(ask(index, copy).map(|found| found.of(kind)));
            }
        }
    } else {
        for (kind, ask) in KINDS.at_end {
            signs.extend(ask(range, end).map(|found| found.of(kind)));
        }
    }
    signs.into_iter().for_each(|sign| range.note(sign));
}

type OfHistory = fn(&RetransmissionHistory, &Ack<'_>) -> Findings;

fn ask(rows: &[Row<OfHistory>], history: &mut RetransmissionHistory, ack: &Ack<'_>) {
    for (kind, ask) in rows {
        for (index, found) in ask(history, ack) {
            history.note(index, found.of(kind));
        }
    }
}
