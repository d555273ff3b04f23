//! How is cwnd reduced to `ssthresh` after a loss or a congestion mark?
//!
//! Each algorithm answers what `cwnd` becomes; `sender/reducing.rs` asks it and sets the window.

mod prr;
mod rate_halving;

pub(crate) use prr::Prr;
pub(crate) use rate_halving::RateHalving;

use crate::congestion::Window;
use crate::seq::Seq;

/// Reduces `cwnd` to `ssthresh`, ACK by ACK.
pub(crate) trait ReductionAlgorithm {
    /// An ACK arrives during the reduction. Returns `cwnd`.
    fn on_ack(&mut self, ack: &ReductionAck, window: &Window) -> u64;

    /// `bytes` leave during the reduction.
    fn on_sent(&mut self, bytes: u64) {
        let _ = bytes;
    }
}

/// What an ACK means to a reduction, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReductionAck {
    /// What counts against `cwnd` after it.
    pub pipe: u64,
    /// What it newly reports as received: DeliveredData of RFC 9937.
    pub delivered_data: u64,
    /// Does it advance SND.UNA and report no further loss (SafeACK of RFC 9937)?
    pub safe_ack: bool,
    /// Does fast recovery begin with it?
    pub begins: bool,
}

/// The reduction under way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum WindowReduction {
    /// None, or one that needs no state: `cwnd` becomes `ssthresh` at once (RFC 5681 section 3.2).
    #[default]
    AtOnce,
    RateHalving(RateHalving),
    Prr(Prr),
}

impl WindowReduction {
    /// The end of a rate halving outside fast recovery: it is over once more than this is
    /// acknowledged.
    pub const fn cwr_end(&self) -> Option<Seq> {
        match self {
            Self::RateHalving(halving) => halving.cwr_end(),
            Self::AtOnce | Self::Prr(_) => None,
        }
    }

    /// Ends proportional rate reduction, if it is under way.
    pub fn end_prr(&mut self) -> bool {
        let ends = matches!(self, Self::Prr(_));
        if ends {
            *self = Self::AtOnce;
        }
        ends
    }

    /// Goes on with the rate halving that `before` was.
    pub const fn resume(&mut self, before: Self) {
        if let Self::RateHalving(_) = before {
            *self = before;
        }
    }
}

impl ReductionAlgorithm for WindowReduction {
    fn on_ack(&mut self, ack: &ReductionAck, window: &Window) -> u64 {
        match self {
            Self::AtOnce => window.cwnd(),
            Self::RateHalving(halving) => halving.on_ack(ack, window),
            Self::Prr(prr) => prr.on_ack(ack, window),
        }
    }

    fn on_sent(&mut self, bytes: u64) {
        match self {
            Self::AtOnce | Self::RateHalving(_) => {}
            Self::Prr(prr) => prr.on_sent(bytes),
        }
    }
}
