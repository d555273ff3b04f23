//! What a response sees of the sender, and what it has the sender do.

use rtolab_time::{Duration, Instant};

use crate::episode::{DetectorId, Episode, EpisodeKind};
use crate::estimate::Estimate;

/// The windows and the round-trip estimate of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// The congestion window, in bytes.
    pub cwnd: u64,
    /// The slow-start threshold, in bytes.
    pub ssthresh: u64,
    /// FlightSize, in bytes.
    pub flight: u64,
    /// SRTT and RTTVAR, if there was a sample.
    pub estimate: Option<Estimate>,
}

/// What a response may look at, when a detector has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseContext {
    /// When the acknowledgment arrived.
    pub at: Instant,
    /// Which detector decided.
    pub detector: DetectorId,
    /// The episode that it decided about, as it was before the acknowledgment.
    pub episode: Option<Episode>,
    /// The sender now.
    pub now: SenderState,
    /// The sender before the timeout or fast retransmit.
    pub before: SenderState,
    /// The larger of `cwnd` and `ssthresh` at the last timeout of the episode (`pipe_prev_` of
    /// ns-2), in bytes.
    pub pipe_prev: u64,
    /// FlightSize before the acknowledgment, in bytes.
    pub flight_before_ack: u64,
    /// How many bytes the acknowledgment acknowledges.
    pub acked: u64,
    /// SMSS, in bytes.
    pub smss: u64,
    /// The initial window, in bytes.
    pub initial_window: u64,
    /// The granularity of the retransmission timer.
    pub granularity: Duration,
    /// Has the peer echoed congestion since?
    pub congestion_echoed: bool,
    /// Has CUBIC made up for the reduction already (RFC 9438 section 4.9.2)?
    pub outgrown: bool,
    /// Was the sender in fast recovery before?
    pub was_recovering: bool,
    /// Were losses being repaired as the timer expired, of which F-RTO cannot tell (RFC 5682
    /// section 6)?
    pub losses_under_way: bool,
}

impl ResponseContext {
    /// Was a fast retransmit spurious, and not a timeout?
    pub fn is_of_fast_retransmit(&self) -> bool {
        self.episode.is_some_and(|episode| episode.kind == EpisodeKind::FastRetransmit)
    }
}

/// What a response has the sender do. By default nothing but the end of go-back-N.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseAction {
    /// The new congestion window, in bytes, at least a segment; `None`: unchanged.
    pub cwnd: Option<u64>,
    /// The new slow-start threshold, in bytes, at least two segments; `None`: unchanged.
    pub ssthresh: Option<u64>,
    /// The new SRTT and RTTVAR; `None`: unchanged.
    pub estimate: Option<Estimate>,
    /// The values that the first round trip of new data does not lower SRTT and RTTVAR below
    /// (RFC 4015 section 3.2 step 11).
    pub adapt_from: Option<Estimate>,
    /// Congestion window validation starts anew (RFC 4015 section 3.2 step 10).
    pub restarts_validation: bool,
    /// `cwnd` is at most the outstanding data and `dupthresh` segments (`tcp_moderate_cwnd`).
    pub moderates_cwnd: bool,
    /// `recover` is as before, and so is fast recovery, unless this acknowledgment completes it.
    pub restores_recovery: bool,
    /// What becomes of the reduction of the window.
    pub reduction: ReductionOutcome,
    /// Does the window grow for this acknowledgment?
    pub growth: Growth,
}

impl ResponseAction {
    /// New windows, in bytes.
    pub(super) fn windows(cwnd: u64, ssthresh: u64) -> Self {
        Self { cwnd: Some(cwnd), ssthresh: Some(ssthresh), ..Self::default() }
    }
}

/// What becomes of the reduction of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReductionOutcome {
    /// It stands.
    #[default]
    Stands,
    /// It is undone: CUBIC's curve is as before, and no CWR is pending.
    Undone,
    /// `cwnd` comes down to `ssthresh` by rate halving.
    RateHalving,
    /// Slow start begins from one segment.
    SlowStart,
}

/// Does the window grow for the acknowledgment that ended the episode?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// No.
    #[default]
    Withheld,
    /// As for any acknowledgment.
    Usual,
}

/// The `action` of a response that reverses the reduction, unless it may not: losses were being
/// repaired, of which F-RTO says nothing (RFC 5682 section 6), or the reduction was due for a
/// congestion mark, or CUBIC has made up for it (RFC 9438 section 4.9.2).
pub(crate) fn reversal(
    context: &ResponseContext,
    action: ResponseAction,
) -> Option<ResponseAction> {
    Some(match context {
        _ if context.losses_under_way => {
            ResponseAction { reduction: ReductionOutcome::SlowStart, ..ResponseAction::default() }
        }
        _ if context.congestion_echoed || context.outgrown => ResponseAction::default(),
        _ => ResponseAction { reduction: ReductionOutcome::Undone, ..action },
    })
}
