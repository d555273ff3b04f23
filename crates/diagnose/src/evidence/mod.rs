//! The kinds of evidence, one file per kind, and the verdict that follows from them.
//!
//! Each kind is a pure function that reads the history and returns bounds. [`KINDS`] lists the
//! functions by the event at which they apply. Most kinds assume that the path keeps the order of
//! packets, as almost all paths do. D-SACK and timestamps need no such assumption, so evidence from
//! them is stronger.

mod ack_too_soon;
mod already_acknowledged;
mod arrival;
mod arrived_before;
mod assess;
mod d_sack;
mod duplicate_each;
mod duplicate_followed;
mod duplicates_to_come;
mod either_ack;
mod gap_filled;
mod input;
mod no_duplicate;
mod no_gap;
mod original_missing;
mod originals_in_order;
mod overtaken_copies;
mod still_missing;
#[cfg(test)]
mod tests;
mod timestamps;

use std::collections::BTreeMap;

pub(crate) use arrival::ORIGINAL_DISCARDED;
pub use assess::Necessity;
pub(crate) use assess::{Assessment, assess};
pub(crate) use either_ack::OF_EITHER_ACK;
pub(crate) use input::{ArrivedCopy, Findings, Pair, Retransmitting, SettledDirection};
pub(crate) use no_gap::NO_GAP_REPORTED;
pub(crate) use still_missing::{KIND as OF_STILL_MISSING, NAME as STILL_MISSING};

use crate::history::{
    Ack, EvidenceKind, Finding, Retransmission, RetransmissionHistory, RetransmittedRange,
};

/// A kind of evidence, and the function that looks for it.
pub(crate) type Row<F> = (&'static EvidenceKind, F);

/// The kinds of evidence by the event at which they apply, in the order of their evaluation.
#[allow(clippy::type_complexity, reason = "each event shows the arguments of its functions")]
pub(crate) struct Kinds {
    /// A range is retransmitted.
    pub on_retransmission:
        &'static [Row<fn(&RetransmittedRange, &Retransmitting) -> Option<Finding>>],
    /// An ACK arrives; the history has counted its duplicates only.
    pub on_ack: &'static [Row<fn(&RetransmissionHistory, &Ack<'_>) -> Findings>],
    /// An ACK is the first to cover a range.
    pub on_first_ack: &'static [Row<fn(&RetransmittedRange, &Ack<'_>) -> Option<Finding>>],
    /// An ACK has arrived; the history has recorded the ranges that it covers.
    pub after_ack: &'static [Row<fn(&RetransmissionHistory, &Ack<'_>) -> Findings>],
    /// A range is settled in a capture at the receiver; evaluated for each retransmission.
    pub at_receiver:
        &'static [Row<fn(&RetransmittedRange, usize, &Retransmission) -> Option<Finding>>],
    /// A range is settled in any other capture.
    pub at_end: &'static [Row<fn(&RetransmittedRange, &SettledDirection<'_>) -> Option<Finding>>],
    /// Second pass: evidence of two successive ranges about the second.
    pub of_next: &'static [Row<fn(&Pair<'_>) -> Option<Finding>>],
    /// Second pass: evidence of two successive ranges about the first.
    pub of_first: &'static [Row<fn(&Pair<'_>) -> Option<Finding>>],
    /// Second pass: a copy of another range arrived before this range was acknowledged.
    pub by_earlier_arrival:
        &'static [Row<fn(&RetransmittedRange, &ArrivedCopy) -> Option<Finding>>],
    /// Second pass: a copy of another range arrived after this range was acknowledged.
    pub by_later_arrival:
        &'static [Row<fn(&RetransmittedRange, &ArrivedCopy) -> Option<Finding>>],
}

/// All kinds of evidence. A kind has a row at each event that can show it.
pub(crate) static KINDS: Kinds = Kinds {
    on_retransmission: &[
        (&already_acknowledged::KIND, already_acknowledged::on_retransmission),
        (&overtaken_copies::KIND, overtaken_copies::on_retransmission),
    ],
    on_ack: &[
        (&d_sack::KIND, d_sack::on_ack),
        (&duplicate_each::KIND, duplicate_each::on_ack),
        (&duplicates_to_come::KIND, duplicates_to_come::on_ack),
    ],
    on_first_ack: &[
        (&timestamps::OLDER, timestamps::older),
        (&timestamps::OWN, timestamps::own),
        (&timestamps::OWN_OF_TAIL, timestamps::own_of_tail),
        (&no_gap::ANSWERED_DUPLICATE, no_gap::answered_duplicate),
        (&no_gap::NO_GAP_REPORTED, no_gap::no_gap_reported),
        (&gap_filled::KIND, gap_filled::on_first_ack),
    ],
    after_ack: &[
        (&duplicate_followed::KIND, duplicate_followed::after_ack),
        (&overtaken_copies::KIND, overtaken_copies::after_ack),
        (&duplicates_to_come::KIND, duplicates_to_come::after_ack),
        (&originals_in_order::KIND, originals_in_order::after_ack),
    ],
    at_receiver: &[
        (&arrival::BOTH_COPIES_SEEN, arrival::both_copies_seen),
        (&arrival::FILLS_HOLE, arrival::fills_hole),
        (&arrival::ORIGINAL_DISCARDED, arrival::original_discarded),
        (&still_missing::KIND, still_missing::at_receiver),
        (&already_acknowledged::KIND, already_acknowledged::at_receiver),
    ],
    at_end: &[
        (&ack_too_soon::KIND, ack_too_soon::at_end),
        (&no_duplicate::KIND, no_duplicate::at_end),
    ],
    of_next: &[(&original_missing::KIND, original_missing::of_next)],
    of_first: &[(&originals_in_order::KIND, originals_in_order::of_first)],
    by_earlier_arrival: &[(&overtaken_copies::KIND, overtaken_copies::by_arrived_copy)],
    by_later_arrival: &[(&arrived_before::KIND, arrived_before::by_arrived_copy)],
};

/// All kinds of evidence, by name.
pub fn kinds() -> BTreeMap<&'static str, &'static EvidenceKind> {
    fn of<F>(
        rows: &'static [Row<F>],
    ) -> impl Iterator<Item = (&'static str, &'static EvidenceKind)> {
        rows.iter().map(|&(kind, _)| (kind.name, kind))
    }
    let table = &KINDS;
    let while_open = of(table.on_retransmission).chain(of(table.on_ack));
    let while_open = while_open.chain(of(table.on_first_ack)).chain(of(table.after_ack));
    let at_end = of(table.at_receiver).chain(of(table.at_end));
    let of_pairs = of(table.of_next).chain(of(table.of_first));
    let by_arrivals = of(table.by_earlier_arrival).chain(of(table.by_later_arrival));
    while_open.chain(at_end).chain(of_pairs).chain(by_arrivals).collect()
}
