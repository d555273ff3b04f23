//! Tail loss probes (RFC 8985 section 7). After two round trips without an acknowledgment the
//! sender sends a segment whose acknowledgment reveals losses before the retransmission timer
//! expires.

use rtolab_time::Duration;

use crate::config::RackConfig;
use crate::flight::AckFacts;
use crate::seq::Seq;

/// The probe timeout without a round-trip sample (section 7.2).
const INITIAL: Duration = Duration::from_secs(1);

/// The action after the probe timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeStep {
    /// A probe is sent.
    Send,
    /// No probe is sent, and the retransmission timer restarts.
    RestartTimer,
    /// No probe is sent, and the retransmission timer runs from the last transmission of the oldest
    /// segment.
    RestartTimerFromHead,
}

/// The variables of TLP (section 5.3).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TailLossProbe {
    /// SND.MAX after the probe, while it is in flight (`TLP.end_seq`).
    tlp_end_seq: Option<Seq>,
    /// Was the probe a retransmission (`TLP.is_retrans`)?
    tlp_is_retrans: bool,
    /// Was a round trip measured since the last probe, or since the connection began?
    sampled: bool,
    /// Is a probe to be sent next?
    due: bool,
}

impl TailLossProbe {
    /// `TLP_process_ack` (section 7.4.2). Returns whether the probe repaired a loss, so that the
    /// window must be reduced.
    pub fn on_ack(&mut self, ack: &AckFacts) -> bool {
        let Some(end) = self.tlp_end_seq.filter(|end| ack.ack >= *end) else { return false };
        let dsack = ack.dsack.is_some_and(|range| range.end == end);
        // The probe was new data; or a DSACK matches TLP.end_seq (case 1); or the ACK is a
        // duplicate without SACK (case 3): nothing was lost.
        if !self.tlp_is_retrans || dsack || ack.repeats {
            self.tlp_end_seq = None;
            return false;
        }
        // "Repaired the single loss" (case 2)
        if ack.ack > end {
            self.tlp_end_seq = None;
        }
        ack.ack > end
    }

    /// `TLP_calc_PTO` (section 7.2); `single`: one segment is outstanding.
    pub fn pto(srtt: Option<Duration>, single: bool, config: &RackConfig) -> Duration {
        let Some(srtt) = srtt else { return INITIAL };
        // PTO = 2 * SRTT; if FlightSize is one segment, PTO += TLP.max_ack_delay
        srtt * 2 + if single { config.max_ack_delay } else { config.timer_slack }
    }

    /// The probe timer expired: returns whether a probe is sent. At most one is in flight (section
    /// 7.3). If `once_a_round_trip`, a round trip must have been measured since the last one.
    pub const fn on_timer(&mut self, once_a_round_trip: bool) -> bool {
        let may = self.tlp_end_seq.is_none() && (self.sampled || !once_a_round_trip);
        if may {
            (self.due, self.sampled) = (true, false);
        }
        may
    }

    /// A round trip was measured.
    pub const fn on_rtt_sample(&mut self) {
        self.sampled = true;
    }

    pub const fn is_due(&self) -> bool {
        self.due
    }

    /// Takes the due probe: returns whether it is sent now.
    pub const fn take(&mut self) -> bool {
        core::mem::replace(&mut self.due, false)
    }

    /// The probe is sent, and SND.MAX is `end` after it.
    pub const fn on_sent(&mut self, end: Seq, is_retrans: bool) {
        (self.tlp_end_seq, self.tlp_is_retrans) = (Some(end), is_retrans);
    }

    /// Is `end` the `TLP.end_seq` of the probe in flight?
    pub fn ends_at(&self, end: Seq) -> bool {
        self.tlp_end_seq == Some(end)
    }

    /// Ends the probe, because another recovery has begun.
    pub const fn stop(&mut self) {
        (self.tlp_end_seq, self.due) = (None, false);
    }
}
