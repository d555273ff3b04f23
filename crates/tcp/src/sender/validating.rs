//! The sender's part of congestion window validation: it reports the use of the window, and asks
//! whether the window may grow.

use rtolab_time::Instant;

use super::Sender;
use crate::flight::{AckFacts, Cause};
use crate::segment::Segment;
use crate::validation::{DataAcked, DataSent, WindowValidation};

impl Sender {
    /// A segment was sent for this `cause`.
    #[inline(always)]
    pub(super) fn validate_sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        if segment.len > 0 && self.validation.is_some() {
            self.validate_data(segment, at, cause);
        }
    }

    /// Data was sent.
    #[inline(never)]
    fn validate_data(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        let is_new = cause == Cause::New;
        if matches!(self.validation.as_deref(), Some(WindowValidation::Linux(_))) {
            let pipe = self.outstanding();
            if let (Some(WindowValidation::Linux(usage)), true) =
                (self.validation.as_deref_mut(), is_new)
            {
                usage.on_sent(pipe, &self.flight, &self.window);
            }
            return;
        }
        let sent = DataSent {
            at,
            len: u64::from(segment.len),
            flight_size: self.flight.size(),
            rwnd: self.wnd_edge.since(self.flight.una()),
            rto: self.rto(),
            initial_window: self.initial_window(),
            is_new,
            in_recovery: self.recovery.is_in_fast_recovery(),
            has_more: self.has_unsent(),
        };
        match self.validation.as_deref_mut() {
            Some(WindowValidation::Rfc2861(validation)) => {
                validation.on_sent(&mut self.window, &sent);
            }
            Some(WindowValidation::Rfc7661(validation)) => {
                // A segment counts once, however often it is retransmitted.
                let known = self.flight.segment_at(segment.seq);
                if !is_new && known.is_none_or(|known| known.transmissions == 2) {
                    validation.on_retransmission(sent.len);
                }
                validation.on_sent(&mut self.window, &sent);
            }
            Some(WindowValidation::Linux(_)) | None => {}
        }
    }

    /// Nothing can be sent now. In Linux, new data that waits for cwnd after an acknowledgment
    /// shows that cwnd limits the sender (`tcp_data_snd_check`, `tcp_write_xmit`); after a timer it
    /// does not.
    #[inline]
    pub(super) fn validate_blocked(&mut self, at: Instant) {
        let is_after_ack = self.last_activity.received == Some(at);
        if self.validation.is_some() && is_after_ack && self.has_unsent() {
            let pipe = self.outstanding();
            if let Some(WindowValidation::Linux(usage)) = self.validation.as_deref_mut() {
                usage.on_blocked(pipe, &self.flight, &self.window);
            }
        }
    }

    /// New data is acknowledged: may the window grow? It may only if it was used.
    pub(super) fn validate_ack(&mut self, facts: &AckFacts) -> bool {
        match self.validation.as_deref() {
            None => return true,
            Some(WindowValidation::Rfc2861(validation)) => return validation.is_full,
            Some(WindowValidation::Linux(usage)) => return usage.can_grow(&self.window),
            // RFC 7661 takes no sample in fast recovery.
            Some(WindowValidation::Rfc7661(_)) if self.recovery.is_in_fast_recovery() => {
                return true;
            }
            Some(WindowValidation::Rfc7661(_)) => {}
        }
        let AckFacts { at, ack: una, max, .. } = *facts;
        let (srtt, initial_window) = (self.srtt(), self.initial_window());
        let acked = DataAcked { at, una, max, srtt, initial_window };
        match self.validation.as_deref_mut() {
            Some(WindowValidation::Rfc7661(validation)) => {
                validation.on_ack(&mut self.window, &acked)
            }
            _ => true,
        }
    }

    /// Reduces `ssthresh` at a loss with `flight_size` bytes outstanding, and returns the new value
    /// in bytes, not rounded.
    pub(crate) fn halve_at_loss(&mut self, flight_size: u64, at: Instant) -> u64 {
        if self.has_ece_reduction() {
            return self.window.ssthresh();
        }
        self.save_control();
        let srtt = self.srtt();
        let used = match self.validation.as_deref_mut() {
            Some(WindowValidation::Rfc7661(validation)) => {
                validation.on_loss(&self.window, flight_size, (at, srtt))
            }
            _ => None,
        };
        match used {
            Some(used) => self.on_loss(used),
            None => self.reduce_ssthresh(flight_size),
        }
    }

    /// Fast recovery is over.
    pub(super) fn validate_recovered(&mut self) {
        if let Some(WindowValidation::Rfc7661(validation)) = self.validation.as_deref_mut() {
            validation.on_recovered(&mut self.window, self.flight.una(), self.flight.max());
        }
    }

    /// The retransmission timer expired.
    pub(super) fn validate_timeout(&mut self) {
        if let Some(WindowValidation::Rfc7661(validation)) = self.validation.as_deref_mut() {
            validation.on_timeout(self.flight.una(), self.flight.max());
        }
    }

    /// Restarts validation after a spurious timeout, because the sender was neither idle nor short
    /// of data. RFC 4015 section 3.2 step 10 sets `T_last`; otherwise the first segment would halve
    /// the window. It does not name `T_prev`, with which the last segment would do the same.
    pub(super) fn restart_validation(&mut self, at: Instant) {
        match self.validation.as_deref_mut() {
            Some(WindowValidation::Rfc2861(validation)) => {
                (validation.t_last, validation.t_prev) = (Some(at), Some(at));
            }
            Some(WindowValidation::Rfc7661(validation)) => validation.valid = Some(at),
            Some(WindowValidation::Linux(_)) | None => {}
        }
    }
}
