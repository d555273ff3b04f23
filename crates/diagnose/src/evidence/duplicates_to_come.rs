//! An unneeded copy leads to a duplicate ACK. As long as none has come, copies sent after it have
//! not arrived either.

use rtolab_time::Instant;

use super::input::Findings;
use super::{ack_too_soon, timestamps};
use crate::history::{Ack, Bound, Kind, Original, RetransmissionHistory, RetransmittedRange};

pub(super) static KIND: Kind = Kind::new("duplicates-to-come", 0.95);

pub(super) fn after_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let facts = ack.facts;
    let mut found = Findings::new();
    let covers = |range: &RetransmittedRange| range.is_covered_at(facts.at);
    if !facts.is_new() || !history.iter().any(covers) {
        return found;
    }
    let Some(first) = first_to_come(history, ack) else { return found };
    for (index, range) in history.iter().enumerate() {
        if !covers(range) || range.end > facts.ack || has_older_timestamp(range) {
            continue;
        }
        let after = range.copies.iter().skip(1).position(|copy| copy.at > first);
        found.extend(after.map(|most| (index, Bound::AtMost(most).shown_by(ack.frame))));
    }
    found
}

/// When the first unneeded copy left that had not arrived, or that is the newest to have arrived.
fn first_to_come(history: &RetransmissionHistory, ack: &Ack<'_>) -> Option<Instant> {
    let facts = ack.facts;
    if let Some(block) = facts.dsack {
        let reported = history.iter().filter(|range| range.spans(block.start));
        return reported.filter_map(|range| Some(range.copies.last()?.at)).max();
    }
    let since = history.last_duplicate;
    let unneeded = |range: &&RetransmittedRange| match range.covering_ack {
        // Later data has arrived since: no duplicate ACK of it is to come.
        Some(_) if range.due <= facts.at => false,
        _ if range.is_syn => false,
        // The delayed ACK answers the copy, too.
        Some(covering) if covering.may_be_delayed => false,
        // The echo says that none of its copies had come yet.
        Some(covering) if covering.at == facts.at => has_older_timestamp(range),
        Some(_) => {
            range.original() == Original::Arrived
                || ack_too_soon::soonest(range, ack.trips) == Some(0)
        }
        None => false,
    };
    let copies = history.iter().filter(unneeded).flat_map(|range| range.copies.iter().skip(1));
    copies.map(|copy| copy.at).filter(|&at| since.is_none_or(|since| at > since)).min()
}

/// Was a timestamp echoed that is older than every retransmission's?
fn has_older_timestamp(range: &RetransmittedRange) -> bool {
    let first = Bound::AtMost(0);
    range.signs.iter().any(|sign| sign.kind == &timestamps::OLDER && sign.bound == first)
}
