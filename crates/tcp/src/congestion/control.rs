//! The interface of a congestion control.

use rtolab_time::{Duration, Instant};

use super::{ModelState, PathModel, Window};
use crate::seq::Seq;

/// A congestion control: the growth of the window in congestion avoidance, and its reduction at a
/// loss.
pub(crate) trait CongestionControl {
    /// Grows `window` for an ACK of new data in congestion avoidance.
    fn congestion_avoidance(&mut self, window: &mut Window, acked: &Acked);

    /// Processes a loss or an ECE flag. Returns the new `ssthresh` in bytes, as a part of `bytes`,
    /// which is FlightSize unless configured otherwise. `cwnd` is the window before the loss,
    /// without the inflation of fast recovery.
    fn on_loss(&mut self, bytes: u64, cwnd: u64, window: &Window) -> u64;

    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}

    /// Processes a round-trip sample.
    fn on_rtt(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// Does it ignore round-trip samples at `at`?
    fn ignores_rtt(&self, at: Instant) -> bool {
        let _ = at;
        false
    }

    /// Data sent at `until` is acknowledged; the data before it was sent at `since`, and was
    /// acknowledged before `until`.
    fn after_idle(&mut self, since: Instant, until: Instant) {
        let _ = (since, until);
    }

    /// Saves the state before a reduction that may prove spurious.
    fn save(&mut self) {}

    /// Restores the saved state after a spurious reduction.
    fn undo(&mut self) {}

    /// Must the window of `cwnd` bytes stay although its reduction from `before` bytes was spurious
    /// (RFC 9438 section 4.9.2)?
    fn keeps_window(&self, before: u64, cwnd: u64) -> bool {
        let _ = (before, cwnd);
        false
    }

    /// Does cwnd limit the outstanding data?
    fn is_limiting(&self) -> bool {
        true
    }

    /// The model of the path that sets cwnd and the pacing rate, if it is one. Of the methods above
    /// only [`Self::on_loss`] then matters.
    fn model(&mut self) -> Option<&mut dyn PathModel> {
        None
    }

    /// What the model knows; `smss` is the length of a segment in bytes.
    fn model_state(&self, smss: u64) -> Option<ModelState> {
        let _ = smss;
        None
    }
}

/// An ACK of new data, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub at: Instant,
    /// The number of bytes that it acknowledges.
    pub bytes: u64,
    /// SRTT, zero before the first sample.
    pub srtt: Duration,
    /// SND.UNA after it.
    pub una: Seq,
    /// SND.MAX after it.
    pub max: Seq,
    /// When the oldest segment that it acknowledges was first sent.
    pub oldest_sent: Option<Instant>,
}
