//! RFC 8985: copies sent before a packet that arrived, and that have not arrived themselves, are
//! lost.
//!
//! RACK asks whether to retransmit; here the question is which copy arrived.

use rtolab_time::{Duration, Instant};

use super::input::{Findings, Retransmitting, Witness};
use crate::history::{Ack, Bound, Found, Kind, RetransmissionHistory, RetransmittedRange};

pub(super) static KIND: Kind = Kind::new("overtaken-copies", 0.95);

/// Without SACK nothing is known of data after the first gap.
pub(super) fn on_retransmission(range: &RetransmittedRange, now: &Retransmitting) -> Option<Found> {
    let (sent, frame) = now.newest.filter(|_| !now.is_known && !range.is_syn)?;
    lost(range, sent, now.reordering, is_seen(range)).map(|lost| lost.shown_by(frame))
}

pub(super) fn after_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let (delivered, sack) = (history.delivered, ack.flight.uses_sack());
    let reordering = ack.trips.reordering();
    let mut found = Findings::new();
    for (index, range) in history.iter().enumerate() {
        let sent = match range.is_covered_at(ack.facts.at) {
            false if range.covering_ack.is_some() => None,
            // SACK would have reported an arrival before that of the other retransmission. Without
            // it nothing is known of data after the first gap.
            false if sack || range.start <= ack.facts.ack => delivered.any,
            true if sack => delivered.copy,
            _ => None,
        };
        if let Some(bound) = sent.and_then(|sent| lost(range, sent, reordering, true)) {
            let known = range.signs.iter().any(|sign| sign.kind == &KIND && sign.bound == bound);
            if !known {
                found.push((index, bound.shown_by(ack.frame)));
            }
        }
    }
    found
}

/// In the second pass, by what has become known since.
pub(super) fn by_witness(range: &RetransmittedRange, witness: &Witness) -> Option<Found> {
    let lost = lost(range, witness.sent, witness.reordering, is_seen(range))?;
    Some(lost.shown_by(witness.frame))
}

fn is_seen(range: &RetransmittedRange) -> bool {
    range.copies[0].at > Instant::START
}

/// Copies sent well before this time are lost; the last one is not, as one arrived.
fn lost(
    range: &RetransmittedRange,
    sent: Instant,
    reordering: Duration,
    seen: bool,
) -> Option<Bound> {
    let lost = range.copies.iter().take_while(|copy| copy.at + reordering < sent).count();
    let lost = lost.min(range.copies.len() - 1);
    (lost > 0 && seen).then_some(Bound::AtLeast(lost))
}
