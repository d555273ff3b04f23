//! The reduction of cwnd to `ssthresh` after a loss or a congestion mark.
//!
//! Each algorithm returns the new `cwnd` at an ACK; `sender/reducing.rs` sets it.

mod prr;
mod rate_halving;

pub(crate) use prr::Prr;
pub(crate) use rate_halving::RateHalving;

use crate::congestion::Window;
use crate::seq::Seq;

/// A window reduction that takes several ACKs.
pub(crate) trait ReductionAlgorithm {
    /// Processes an ACK during the reduction. Returns the new `cwnd` in bytes.
    fn on_ack(&mut self, ack: &ReductionAck, window: &Window) -> u64;

    /// Records that `bytes` bytes are sent during the reduction.
    fn on_sent(&mut self, bytes: u64) {
        let _ = bytes;
    }
}

/// The facts of an ACK that a reduction needs, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReductionAck {
    /// The pipe after it.
    pub pipe: u64,
    /// DeliveredData of RFC 9937: the data that it newly reports as received.
    pub delivered_data: u64,
    /// Does it advance SND.UNA and report no further loss (SafeACK of RFC 9937)?
    pub safe_ack: bool,
    /// Does fast recovery begin with it?
    pub begins: bool,
}

/// The current reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum WindowReduction {
    /// None: `cwnd` is set to `ssthresh` at once (RFC 5681 section 3.2).
    #[default]
    AtOnce,
    RateHalving(RateHalving),
    Prr(Prr),
}

impl WindowReduction {
    /// The end of rate halving outside fast recovery, if it is running: it ends once more than this
    /// is acknowledged.
    pub const fn cwr_end(&self) -> Option<Seq> {
        match self {
            Self::RateHalving(halving) => halving.cwr_end(),
            Self::AtOnce | Self::Prr(_) => None,
        }
    }

    /// Ends proportional rate reduction. Returns whether it was running.
    pub fn end_prr(&mut self) -> bool {
        let ends = matches!(self, Self::Prr(_));
        if ends {
            *self = Self::AtOnce;
        }
        ends
    }

    /// Resumes the saved reduction `before`, if it is rate halving.
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
