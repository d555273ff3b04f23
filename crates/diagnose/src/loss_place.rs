//! The part of the path on which a segment was lost, as seen from the capture points.

use crate::history::{Arrival, Retransmission};
use crate::paired_verdict::PairedVerdict;
use crate::vantage::Vantage;

/// The part of the path on which the copy before a needed retransmission was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossPlace {
    /// Between the sender and the first capture point.
    Before,
    /// Between the two capture points.
    Between,
    /// Between the last capture point and the receiver.
    After,
}

impl LossPlace {
    /// The place of the loss that a needed retransmission shows, if a capture in the middle of the
    /// path shows it.
    pub fn of(
        retransmission: &Retransmission,
        paired: Option<PairedVerdict>,
        vantage: Vantage,
    ) -> Option<Self> {
        match paired {
            Some(paired) if paired.is_certain() => {
                return (!paired.is_after_capture).then_some(Self::Between);
            }
            Some(_) => return Some(Self::After),
            None if vantage != Vantage::Between => return None,
            None => {}
        }
        match retransmission.arrival {
            Arrival::FillsHole => Some(Self::Before),
            Arrival::SeenBefore => Some(Self::After),
            _ => None,
        }
    }
}
