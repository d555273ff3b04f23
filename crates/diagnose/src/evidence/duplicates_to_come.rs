//! An unneeded copy causes a duplicate ACK. Until that ACK arrives, no copy sent after the unneeded
//! one has arrived either.

use rtolab_time::Instant;

use super::input::Findings;
use super::{ack_too_soon, timestamps};
use crate::history::{
    Ack, Bound, EvidenceKind, Original, RetransmissionHistory, RetransmittedRange,
};

pub(super) static KIND: EvidenceKind = EvidenceKind::new("duplicates-to-come", 0.95);

pub(super) fn after_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let facts = ack.facts;
    let mut found = Findings::new();
    let covers = |range: &RetransmittedRange| range.is_covered_at(facts.at);
    if !facts.is_new() || !history.iter().any(covers) {
        return found;
    }
    let Some(first) = first_awaited(history, ack) else { return found };
    for (index, range) in history.iter().enumerate() {
        if !covers(range) || range.end > facts.ack || has_older_timestamp(range) {
            continue;
        }
        let after = range.copies.iter().skip(1).position(|copy| copy.at > first);
        found.extend(after.map(|upper| (index, Bound::AtMost(upper).shown_by(ack.frame))));
    }
    found
}

/// When the first unneeded copy that has not arrived yet was sent. If this ACK has a D-SACK: when
/// the newest unneeded copy that has arrived was sent.
fn first_awaited(history: &RetransmissionHistory, ack: &Ack<'_>) -> Option<Instant> {
    let facts = ack.facts;
    if let Some(block) = facts.dsack {
        let reported = history.iter().filter(|range| range.spans(block.start));
        return reported.filter_map(|range| Some(range.copies.last()?.at)).max();
    }
    let since = history.last_duplicate;
    let unneeded = |range: &&RetransmittedRange| match range.covering_ack {
        // Later data has arrived, so a duplicate ACK can no longer arrive.
        Some(_) if range.due <= facts.at => false,
        _ if range.is_syn => false,
        // The ACK may be a delayed ACK, which answers the copy, too.
        Some(covering) if covering.may_be_delayed => false,
        // The echoed timestamp shows that none of the copies had arrived yet.
        Some(covering) if covering.at == facts.at => has_older_timestamp(range),
        Some(_) => {
            range.original() == Original::Arrived
                || ack_too_soon::soonest(range, ack.rtt) == Some(0)
        }
        None => false,
    };
    let copies = history.iter().filter(unneeded).flat_map(|range| range.copies.iter().skip(1));
    copies.map(|copy| copy.at).filter(|&at| since.is_none_or(|since| at > since)).min()
}

/// Was the echoed timestamp older than those of all retransmissions?
fn has_older_timestamp(range: &RetransmittedRange) -> bool {
    let first = Bound::AtMost(0);
    range.evidence.iter().any(|piece| piece.kind == &timestamps::OLDER && piece.bound == first)
}
