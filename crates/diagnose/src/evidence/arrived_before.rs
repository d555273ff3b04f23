//! A copy that was sent at some time arrived after the range did: no copy of the range that was
//! sent well after it made the range arrive.

use super::input::Witness;
use crate::history::{Bound, Found, Kind, RetransmittedRange};

pub(crate) static KIND: Kind = Kind::new("arrived-before", 0.97);

pub(super) fn by_witness(range: &RetransmittedRange, witness: &Witness) -> Option<Found> {
    let sent = witness.sent + witness.reordering;
    match range.copies.iter().position(|copy| copy.at > sent).filter(|_| !range.is_syn)? {
        0 => None,
        copy => Some(Bound::AtMost(copy - 1).shown_by(witness.frame)),
    }
}
