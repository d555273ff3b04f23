//! What RACK is in Linux beyond RFC 8985: when a D-SACK counts, and how far segments overtook each other
//! (`net/ipv4/tcp_recovery.c`, `tcp_input.c`).

use rtolab_time::Instant;

use super::{PERSISTENCE, Rack};
use crate::config::RackRules;
use crate::flight::{AckFacts, DuplicateRange};
use crate::sender::Sender;
use crate::seq::Seq;

/// Linux does not widen the reordering window beyond so many quarters of a round trip.
const MOST_QUARTERS: u64 = 255;

/// Linux does not count reordering beyond so many segments (`tcp_max_reordering`).
const MOST_REORDERING: u64 = 300;

/// What an acknowledgment has told that is not looked at yet (Linux).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending {
    /// Something has arrived (`advanced`): without that, nothing new is lost.
    pub advanced: bool,
    /// A D-SACK came, and the reordering window is to widen (`dsack_seen`).
    pub dsack: bool,
    /// Does the acknowledgment at hand report what cannot have been sent twice?
    pub doubted: bool,
    /// Of what the acknowledgment at hand delivers, when the last left.
    pub delivered: Option<Instant>,
    /// When a D-SACK last widened the reordering window (`last_delivered`).
    pub widened: Option<Instant>,
}

/// Segments, since the connection began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copies {
    /// That were sent again (`total_retrans`).
    resent: u32,
    /// That were reported as received twice (`dsack_dups`).
    reported: u32,
}

impl Rack {
    /// A segment leaves again.
    pub(super) const fn note_resent(&mut self) {
        self.copies.resent = self.copies.resent.saturating_add(1);
    }

    /// May what is reported as received twice be what was sent again? Whatever is reported beyond
    /// that is the network's doing, or the peer's (`tcp_dsack_seen`).
    pub(super) fn believes(&mut self, range: &DuplicateRange, smss: u64) -> bool {
        let segments = range.end.since(range.start).div_ceil(smss) as u32;
        self.copies.reported = self.copies.reported.saturating_add(segments);
        self.copies.reported <= self.copies.resent
    }

    /// D-SACKs widen the reordering window (`tcp_rack_update_reo_wnd`): once something is delivered, and
    /// not if that had left before the window widened last.
    pub(super) fn adapt_as_linux(&mut self, at: Instant, recovered: bool) {
        if let Some(left) = self.pending.delivered {
            if self.pending.widened.is_some_and(|widened| left < widened) {
                self.pending.dsack = false;
            }
            if core::mem::take(&mut self.pending.dsack) {
                self.quarters = (self.quarters + 1).min(MOST_QUARTERS);
                self.pending.widened = Some(at);
                self.persists = PERSISTENCE;
            } else if self.persists == 0 {
                self.quarters = 1;
            }
        }
        self.persists = self.persists.saturating_sub(u32::from(recovered));
    }

    /// An original that begins at `low` arrived late (`tcp_check_sack_reordering`).
    pub(super) fn note_reordering(&mut self, low: Seq, smss: u64) {
        if low < self.fack {
            self.reordering_seen = true;
            let degree = self.fack.since(low).div_ceil(smss);
            self.degree = self.degree.max(degree.min(MOST_REORDERING));
        }
    }
}

impl Sender {
    /// Is what the acknowledgment at hand reports as received twice nothing to go by?
    pub(crate) fn rack_doubts(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.pending.doubted)
    }

    /// Was a segment overtaken by so many that the window grows for what arrives out of order, too
    /// (Linux, `tcp_may_raise_cwnd`)?
    pub(crate) fn grows_out_of_order(&self, facts: &AckFacts) -> bool {
        let most = u64::from(self.config.recovery.dupthresh);
        let linux = self.config.recovery.rack.rules == RackRules::Linux;
        let reordered = self.rack.as_ref().is_some_and(|rack| rack.degree > most);
        linux && reordered && facts.newly_sacked > 0
    }

    /// The retransmission timer expired. If enough was SACKed for a loss, and none was seen, the
    /// reordering was taken for more than it is (Linux, `tcp_enter_loss`).
    pub(crate) fn doubt_reordering(&mut self) {
        let (fast, enough) = (self.recovery.is_fast(), self.has_sacked_enough());
        if let Some(rack) = &mut self.rack {
            if !fast && !rack.timed_out && enough {
                rack.degree = 0;
            }
        }
    }

    /// What was taken for lost is not: RACK looks anew (`tcp_undo_cwnd_reduction`).
    pub(crate) fn rack_looks_anew(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.pending.advanced = true;
        }
    }
}
