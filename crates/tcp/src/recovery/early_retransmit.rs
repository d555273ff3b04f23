//! Early retransmit: RFC 5827.

use super::{Context, Recovery};
use crate::config::{Algorithm, RecoveryConfig};

/// The number of duplicate acknowledgments that currently indicates a loss. Early retransmit (RFC
/// 5827 section 3.1): with two or three segments outstanding and no new data to send, it is one
/// less than the number of segments; with SACK, all but one of them must be SACKed.
pub(super) fn dupthresh(recovery: &Recovery, cx: &Context<'_>) -> u32 {
    let RecoveryConfig { early_retransmit, algorithm, .. } = cx.config.recovery;
    let dupthresh = recovery.dupthresh(&cx.config.recovery);
    let (ownd, smss) = (cx.flight.data(), cx.window.smss());
    let few = (2..=3).contains(&ownd.div_ceil(smss));
    if !early_retransmit || !few || cx.can_send_new {
        return dupthresh;
    }
    match algorithm {
        Algorithm::Sack if cx.flight.unsacked_data() > smss => dupthresh,
        // The SACKed bytes decide, because acknowledgments may have been lost.
        Algorithm::Sack => dupthresh.min(recovery.dupacks),
        _ => dupthresh.min(ownd.div_ceil(smss) as u32 - 1),
    }
}
