//! What a congestion control is asked.

use rtolab_time::{Duration, Instant};

use super::Window;
use crate::seq::Seq;

/// A congestion control: how the window grows in congestion avoidance, and what a loss leaves of
/// it.
pub(crate) trait CongestionControl {
    /// New data are acknowledged in congestion avoidance: `window` grows.
    fn congestion_avoidance(&mut self, window: &mut Window, acked: &Acked);

    /// A loss or a congestion mark: what remains of `bytes` for `ssthresh`, in bytes. `cwnd` is the
    /// window before it, without what fast recovery added to it.
    fn on_loss(&mut self, bytes: u64, cwnd: u64, window: &Window) -> u64;

    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}

    /// A round trip was measured.
    fn on_rtt(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// Does it ignore round trips at `at`?
    fn ignores_rtt(&self, at: Instant) -> bool {
        let _ = at;
        false
    }

    /// Nothing was outstanding for `idle`.
    fn after_idle(&mut self, idle: Duration) {
        let _ = idle;
    }

    /// A reduction that may prove spurious is about to begin.
    fn save(&mut self) {}

    /// The reduction was spurious, and the windows are as before it.
    fn undo(&mut self) {}

    /// Does the window of `cwnd` bytes stay, though its reduction from `before` bytes was spurious?
    fn keeps_window(&self, before: u64, cwnd: u64) -> bool {
        let _ = (before, cwnd);
        false
    }

    /// Does the congestion window limit what is outstanding?
    fn is_limiting(&self) -> bool {
        true
    }
}

/// An ACK of new data, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub at: Instant,
    /// How many bytes it acknowledges.
    pub bytes: u64,
    /// The smoothed round trip, zero before there is one.
    pub srtt: Duration,
    /// SND.UNA and SND.MAX after it.
    pub una: Seq,
    pub max: Seq,
    /// When the oldest segment that it acknowledges was first sent.
    pub oldest_sent: Option<Instant>,
}
