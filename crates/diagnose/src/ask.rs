//! Asks the kinds of evidence about the history of one direction, as it grows.

use crate::evidence::{End, Findings, KINDS, Retransmitting, Row};
use crate::history::{Ack, Found, RetransmissionHistory, RetransmittedRange};
use crate::vantage::Vantage;

/// Notes what each of these kinds finds of a range.
pub(crate) fn note<F: Copy>(
    range: &mut RetransmittedRange,
    rows: &[Row<F>],
    ask: impl Fn(F, &RetransmittedRange) -> Option<Found>,
) {
    for &(kind, look) in rows {
        if let Some(found) = ask(look, range) {
            range.note(found.of(kind));
        }
    }
}

/// The range is retransmitted.
pub(crate) fn on_retransmission(range: &mut RetransmittedRange, now: &Retransmitting) {
    note(range, KINDS.on_retransmission, |look, range| look(range, now));
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
            note(range, KINDS.on_first_ack, |look, range| look(range, ack));
        }
    }
    history.note_delivered(ack, covers);
    if awaits_ack || history.order.followed(history.delivered.answered).next().is_some() {
        ask(KINDS.after_ack, history, ack);
    }
    history.finish_ack(ack);
}

/// No more comes of it.
pub(crate) fn at_end(range: &mut RetransmittedRange, vantage: Vantage, end: &End<'_>) {
    if vantage != Vantage::Receiver {
        note(range, KINDS.at_end, |look, range| look(range, end));
        return;
    }
    let mut signs = Vec::new();
    for (index, _, copy) in range.retransmissions() {
        let rows = KINDS.at_receiver.iter();
        signs.extend(rows.filter_map(|(kind, look)| Some(look(index, copy)?.of(kind))));
    }
    range.signs = signs;
}

type OfHistory = fn(&RetransmissionHistory, &Ack<'_>) -> Findings;

fn ask(rows: &[Row<OfHistory>], history: &mut RetransmissionHistory, ack: &Ack<'_>) {
    for (kind, look) in rows {
        for (index, found) in look(history, ack) {
            history.note(index, found.of(kind));
        }
    }
}
