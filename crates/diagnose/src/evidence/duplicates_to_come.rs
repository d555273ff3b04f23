//! An unneeded copy causes a duplicate ACK. Until that ACK arrives, no copy sent after the unneeded
//! one has arrived either.

use rtolab_time::Instant;

use super::ack_too_soon;
use super::either_ack::OF_EITHER_ACK;
use super::input::Findings;
use crate::history::{
    Ack, Bound, Evidence, EvidenceKind, Finding, Original, RetransmissionHistory,
    RetransmittedRange, TooSoon,
};

pub(super) static KIND: EvidenceKind = EvidenceKind::new("duplicates-to-come", 0.95);

/// The evidence of a D-SACK about the ranges that earlier ACKs covered.
pub(super) fn on_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let at = ack.facts.at;
    let covered = |range: &RetransmittedRange| range.is_covered_before(at);
    newest_reported(history, ack).map_or_else(Findings::new, |newest| {
        bounds(history, ack, (newest + ack.rtt.reordering_window(), None), covered)
    })
}

/// The evidence about the ranges that this ACK covers.
pub(super) fn after_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let facts = ack.facts;
    let covered =
        |range: &RetransmittedRange| range.is_covered_at(facts.at) && range.end <= facts.ack;
    if !facts.is_new() || !history.iter().any(covered) {
        return Findings::new();
    }
    let first = match newest_reported(history, ack) {
        Some(newest) => Some((newest, None)),
        None => first_awaited(history, ack),
    };
    first.map_or_else(Findings::new, |first| bounds(history, ack, first, covered))
}

/// The bounds of these ranges: none of their copies that were sent after `first` had arrived.
fn bounds(
    history: &RetransmissionHistory,
    ack: &Ack<'_>,
    (first, premise): (Instant, Option<TooSoon>),
    covered: impl Fn(&RetransmittedRange) -> bool,
) -> Findings {
    let bound = |range: &RetransmittedRange| {
        let upper = range.copies.iter().skip(1).position(|copy| copy.at > first)?;
        Some(Finding { premise, ..Bound::AtMost(upper).shown_by(ack.frame) })
    };
    let ranges = history.iter().enumerate().filter(|(_, range)| covered(range));
    ranges.filter_map(|(index, range)| Some((index, bound(range)?))).collect()
}

/// When the newest copy of the range was sent that a D-SACK of this ACK reports.
fn newest_reported(history: &RetransmissionHistory, ack: &Ack<'_>) -> Option<Instant> {
    let block = ack.facts.dsack?;
    let reported = history.iter().filter(|range| range.spans(block.start) && !range.is_syn);
    reported.filter_map(|range| Some(range.copies.last()?.at)).max()
}

/// When the first unneeded copy was sent whose duplicate ACK has not arrived yet, and the premise
/// that it is unneeded, if that needs confirmation.
fn first_awaited(
    history: &RetransmissionHistory,
    ack: &Ack<'_>,
) -> Option<(Instant, Option<TooSoon>)> {
    let since = history.last_duplicate;
    let is_awaited = |sent: Instant| since.is_none_or(|since| sent > since);
    let awaited = history.iter().filter_map(|range| {
        let covering = range.covering_ack?;
        // Once later data has arrived, a duplicate ACK can no longer arrive. A delayed ACK answers
        // the copy, too.
        let is_over = range.due <= ack.facts.at || covering.may_be_delayed || range.is_syn;
        if is_over || covering.at == ack.facts.at {
            return None;
        }
        let sent = range.first_retransmitted().filter(|&sent| is_awaited(sent))?;
        if let Some(piece) = own_ack_of_original(range) {
            return Some((sent, piece.premise));
        }
        let is_unneeded = ack_too_soon::soonest(range, ack.rtt) == Some(0);
        is_unneeded.then_some((sent, Some(TooSoon { sent, acked: covering.at })))
    });
    awaited.min_by_key(|(sent, _)| *sent)
}

/// The evidence that the original arrived and that the first covering ACK answers it and not a
/// copy, if any: that without a premise first.
fn own_ack_of_original(range: &RetransmittedRange) -> Option<&Evidence> {
    if range.original() != Original::Arrived {
        return None;
    }
    let of_original = range.evidence.iter().filter(|piece| {
        let may_answer_copy = OF_EITHER_ACK.contains(&piece.kind);
        piece.bound == Bound::AtMost(0) && piece.kind.supports_inference && !may_answer_copy
    });
    of_original.min_by_key(|piece| piece.premise.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::samples::range;

    /// Is a piece of this kind and bound, beside the proof that the original arrived, evidence that
    /// the first covering ACK answers it?
    fn is_own_ack(kind: &'static EvidenceKind, bound: Bound) -> bool {
        let mut found = range(&[10, 1000]);
        found.note(bound.shown_by(9).of(kind));
        own_ack_of_original(&found).is_some()
    }

    #[test]
    fn only_evidence_that_no_copy_gives_shows_the_own_ack_of_an_original() {
        assert!(is_own_ack(&super::super::d_sack::KIND, Bound::AtMost(0)));
        for kind in OF_EITHER_ACK {
            assert!(!is_own_ack(kind, Bound::AtMost(0)), "{}", kind.name);
        }
        assert!(!is_own_ack(&super::super::d_sack::KIND, Bound::AtMost(1)));
        assert!(!is_own_ack(&super::super::d_sack::KIND, Bound::AtLeast(1)));
    }

    #[test]
    fn evidence_without_a_premise_comes_first() {
        let mut found = range(&[10, 1000]);
        let premise = TooSoon { sent: Instant::START, acked: Instant::START };
        let shown = Bound::AtMost(0).shown_by(9);
        found.note(Finding { premise: Some(premise), ..shown }.of(&ack_too_soon::KIND));
        found.note(shown.of(&KIND));
        assert_eq!(own_ack_of_original(&found).map(|one| one.kind.name), Some(KIND.name));
    }
}
