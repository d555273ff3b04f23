//! D-SACK (RFC 2883). If D-SACKs report k duplicates of a range that was sent n times, at least
//! k + 1 copies arrived. At least one of them is among the first n - k.

use super::input::Findings;
use crate::history::{Ack, Bound, EvidenceKind, RetransmissionHistory};

pub(super) static KIND: EvidenceKind = EvidenceKind::new("d-sack", 0.995);

pub(super) fn on_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let Some(block) = ack.facts.dsack else { return Findings::new() };
    let reported = history.iter().enumerate().filter(|(_, range)| range.spans(block.start));
    let bound = |(index, range): (usize, &crate::history::RetransmittedRange)| {
        let retransmissions = range.copies.len() - 1;
        let upper = retransmissions.saturating_sub(range.duplicates);
        (index, Bound::AtMost(upper).shown_by(ack.frame))
    };
    reported.map(bound).collect()
}
