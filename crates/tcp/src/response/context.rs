//! The context of a response, and the action that it returns.

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

/// The state of the sender when a detector has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseContext {
    /// When the acknowledgment arrived.
    pub at: Instant,
    /// The detector that decided.
    pub detector: DetectorId,
    /// The episode about which it decided, as it was before the acknowledgment.
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
    /// The number of bytes that the acknowledgment newly acknowledges.
    pub acked: u64,
    /// SMSS, in bytes.
    pub smss: u64,
    /// The initial window, in bytes.
    pub initial_window: u64,
    /// The granularity of the retransmission timer.
    pub granularity: Duration,
    /// Has an ECE flag arrived since the episode began?
    pub congestion_echoed: bool,
    /// Has cwnd grown to its value before the reduction again (CUBIC, RFC 9438 section 4.9.2)?
    pub cwnd_has_regrown: bool,
    /// Was the sender in fast recovery before the episode?
    pub was_recovering: bool,
    /// Was a loss recovery under way when the timer expired, about whose losses F-RTO gives no
    /// information (RFC 5682 section 6)?
    pub losses_under_way: bool,
}

impl ResponseContext {
    /// Did the episode begin with a fast retransmit?
    pub fn is_of_fast_retransmit(&self) -> bool {
        self.episode.is_some_and(|episode| episode.kind == EpisodeKind::FastRetransmit)
    }
}

/// The action of a response. The default only ends go-back-N.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseAction {
    /// The new congestion window, in bytes, at least a segment; `None`: unchanged.
    pub cwnd: Option<u64>,
    /// The new slow-start threshold, in bytes, at least two segments; `None`: unchanged.
    pub ssthresh: Option<u64>,
    /// The new SRTT and RTTVAR; `None`: unchanged.
    pub estimate: Option<Estimate>,
    /// The lower bounds of SRTT and RTTVAR after the first round trip of new data (RFC 4015 section
    /// 3.2 step 11).
    pub adapt_from: Option<Estimate>,
    /// Does congestion window validation restart (RFC 4015 section 3.2 step 10)?
    pub restarts_validation: bool,
    /// Is `cwnd` limited to the outstanding data and `dupthresh` segments (Linux:
    /// `tcp_moderate_cwnd`)?
    pub moderates_cwnd: bool,
    /// Are `recover` and fast recovery restored? Fast recovery is not, if this acknowledgment
    /// completes it.
    pub restores_recovery: bool,
    /// The change of the window reduction.
    pub reduction: ReductionOutcome,
    /// Does the window grow for this acknowledgment?
    pub growth: Growth,
}

impl ResponseAction {
    /// An action that sets both windows, in bytes.
    pub(super) fn windows(cwnd: u64, ssthresh: u64) -> Self {
        Self { cwnd: Some(cwnd), ssthresh: Some(ssthresh), ..Self::default() }
    }
}

/// The change of the window reduction by a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReductionOutcome {
    /// None: the reduction stays.
    #[default]
    Stands,
    /// The reduction is undone: the curve of CUBIC is restored, and no CWR is pending.
    Undone,
    /// Rate halving reduces `cwnd` to `ssthresh`.
    RateHalving,
    /// Slow start begins from one segment.
    SlowStart,
}

/// Does the window grow for the acknowledgment that ended the episode?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// No.
    #[default]
    None,
    /// As for any acknowledgment.
    Normal,
}

/// The `action` of a response that undoes the reduction, unless the reduction must stay: because
/// F-RTO gives no information about the losses under way (RFC 5682 section 6), because of an ECE
/// flag, or because CUBIC has outgrown it (RFC 9438 section 4.9.2).
pub(crate) fn reversal(
    context: &ResponseContext,
    action: ResponseAction,
) -> Option<ResponseAction> {
    Some(match context {
        _ if context.losses_under_way => {
            ResponseAction { reduction: ReductionOutcome::SlowStart, ..ResponseAction::default() }
        }
        _ if context.congestion_echoed || context.cwnd_has_regrown => ResponseAction::default(),
        _ => ResponseAction { reduction: ReductionOutcome::Undone, ..action },
    })
}
