//! The kinds of evidence, one file each, and how they are weighed.
//!
//! Each is a pure function: it reads the history and says which copies it bounds. [`KINDS`] says
//! when which one is asked. The reasoning assumes that the path keeps the order of packets, as
//! almost all do. Where the receiver reports duplicates or echoes timestamps, no such assumption
//! is needed, and that evidence is stronger.

mod ack_too_soon;
mod already_acknowledged;
mod arrival;
mod arrived_before;
mod d_sack;
mod duplicate_each;
mod duplicate_followed;
mod duplicates_to_come;
mod gap_filled;
mod input;
mod no_duplicate;
mod no_gap;
mod original_missing;
mod originals_in_order;
mod overtaken_copies;
mod timestamps;
mod weigh;

use std::collections::BTreeMap;

pub(crate) use input::{End, Findings, Pair, Retransmitting, Witness};
pub(crate) use no_gap::NO_GAP_REPORTED;
pub use weigh::Necessity;
pub(crate) use weigh::{Weighed, weigh};

use crate::history::{Ack, Found, Kind, Retransmission, RetransmissionHistory, RetransmittedRange};

/// A kind of evidence, and the function that looks for it.
pub(crate) type Row<F> = (&'static Kind, F);

/// When each kind of evidence is asked, and in which order.
#[allow(clippy::type_complexity, reason = "each moment shows what its functions are given")]
pub(crate) struct Kinds {
    /// A range is retransmitted.
    pub on_retransmission:
        &'static [Row<fn(&RetransmittedRange, &Retransmitting) -> Option<Found>>],
    /// An ACK comes: its duplicates are counted, and nothing else is noted of it yet.
    pub on_ack: &'static [Row<fn(&RetransmissionHistory, &Ack<'_>) -> Findings>],
    /// An ACK is the first to cover a range.
    pub on_first_ack: &'static [Row<fn(&RetransmittedRange, &Ack<'_>) -> Option<Found>>],
    /// An ACK came, and the ranges that it covers are noted.
    pub after_ack: &'static [Row<fn(&RetransmissionHistory, &Ack<'_>) -> Findings>],
    /// No more comes, in a capture at the receiver: asked of each retransmission.
    pub at_receiver: &'static [Row<fn(usize, &Retransmission) -> Option<Found>>],
    /// No more comes, in any other capture: asked of each range.
    pub at_end: &'static [Row<fn(&RetransmittedRange, &End<'_>) -> Option<Found>>],
    /// Second pass: what two successive ranges say of the second.
    pub of_next: &'static [Row<fn(&Pair<'_>) -> Option<Found>>],
    /// Second pass: what two successive ranges say of the first.
    pub of_first: &'static [Row<fn(&Pair<'_>) -> Option<Found>>],
    /// Second pass: the witness arrived no later than the range was acknowledged.
    pub after_witness: &'static [Row<fn(&RetransmittedRange, &Witness) -> Option<Found>>],
    /// Second pass: the witness arrived after the range was acknowledged.
    pub before_witness: &'static [Row<fn(&RetransmittedRange, &Witness) -> Option<Found>>],
}

/// A kind has a row wherever it may show.
pub(crate) static KINDS: Kinds = Kinds {
    on_retransmission: &[
        (&already_acknowledged::KIND, already_acknowledged::on_retransmission),
        (&overtaken_copies::KIND, overtaken_copies::on_retransmission),
    ],
    on_ack: &[(&d_sack::KIND, d_sack::on_ack), (&duplicate_each::KIND, duplicate_each::on_ack)],
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
        (&already_acknowledged::KIND, already_acknowledged::at_receiver),
    ],
    at_end: &[
        (&ack_too_soon::KIND, ack_too_soon::at_end),
        (&no_duplicate::KIND, no_duplicate::at_end),
    ],
    of_next: &[(&original_missing::KIND, original_missing::of_next)],
    of_first: &[(&originals_in_order::KIND, originals_in_order::of_first)],
    after_witness: &[(&overtaken_copies::KIND, overtaken_copies::by_witness)],
    before_witness: &[(&arrived_before::KIND, arrived_before::by_witness)],
};

/// Evidence that an ACK of the original and one of a copy would both give.
pub(crate) static OF_EITHER_ACK: [&Kind; 3] =
    [&timestamps::OLDER, &NO_GAP_REPORTED, &arrived_before::KIND];

/// All kinds of evidence, by name.
pub fn kinds() -> BTreeMap<&'static str, &'static Kind> {
    fn of<F>(rows: &'static [Row<F>]) -> impl Iterator<Item = (&'static str, &'static Kind)> {
        rows.iter().map(|&(kind, _)| (kind.name, kind))
    }
    let table = &KINDS;
    let while_open = of(table.on_retransmission).chain(of(table.on_ack));
    let while_open = while_open.chain(of(table.on_first_ack)).chain(of(table.after_ack));
    let at_end = of(table.at_receiver).chain(of(table.at_end));
    let of_pairs = of(table.of_next).chain(of(table.of_first));
    let by_witness = of(table.after_witness).chain(of(table.before_witness));
    while_open.chain(at_end).chain(of_pairs).chain(by_witness).collect()
}
