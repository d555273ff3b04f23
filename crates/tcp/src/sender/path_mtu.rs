//! The reaction to a path MTU that has become smaller (RFC 9293 section 3.7.5).

use rtolab_time::Instant;

use super::Sender;
use crate::reduction::WindowReduction;

impl Sender {
    /// Lowers SMSS to `smss` bytes, and retransmits from the first longer segment on. Its loss is
    /// no sign of congestion, so cwnd stays (RFC 1191 section 6.4). Otherwise the retransmission
    /// proceeds as after a timeout (Linux: `tcp_simple_retransmit`).
    pub(crate) fn lower_smss(&mut self, smss: u32, at: Instant) {
        self.on_fast_path = false;
        self.window.lower_smss(smss);
        self.flight.set_smss(smss);
        let Some(first) = self.flight.split_longer_than(smss) else { return };
        self.stop_frto();
        self.window.set_cwnd(self.recovery.deflated(self.window.cwnd()));
        self.reduction = WindowReduction::AtOnce;
        self.go_back_from(first);
        match self.has_probe_timeout() {
            // Loss recovery does not process timeouts.
            true => self.nxt = self.flight.max(),
            false => self.recover_from_timeout(at),
        }
        // Only go-back-N does not follow the marks.
        if self.nxt == self.flight.max() {
            self.flight.mark_lost_from(first);
        }
        self.burst = u32::MAX;
        self.restart_retransmission_timer(at);
    }
}
