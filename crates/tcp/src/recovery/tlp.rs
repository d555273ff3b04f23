//! Tail loss probes: RFC 8985 section 7. After two round trips without an acknowledgment a segment
//! leaves, whose acknowledgment shows losses before the retransmission timer expires.

use rtolab_time::Duration;

use crate::config::RackConfig;
use crate::flight::AckFacts;
use crate::seq::Seq;

/// The probe timeout without a round-trip sample (section 7.2).
const INITIAL: Duration = Duration::from_secs(1);

/// What follows when the probe timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeStep {
    /// A probe leaves.
    Send,
    /// None may: the retransmission timer begins anew.
    RestartTimer,
    /// None may: the retransmission timer runs from the last transmission of the oldest segment.
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
    /// A probe leaves next.
    due: bool,
}

impl TailLossProbe {
    /// `TLP_process_ack` (section 7.4.2). Did the probe repair a loss? Then the window is reduced.
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

    /// The probe timer expired: may a probe leave? One is in flight at a time (section 7.3), and
    /// where `once_a_round_trip`, a round trip was measured since the last.
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

    /// Does the probe leave now?
    pub const fn take(&mut self) -> bool {
        core::mem::replace(&mut self.due, false)
    }

    /// The probe leaves, and SND.MAX is `end` after it.
    pub const fn on_sent(&mut self, end: Seq, is_retrans: bool) {
        (self.tlp_end_seq, self.tlp_is_retrans) = (Some(end), is_retrans);
    }

    /// Does the probe in flight, or what left before it, end at `end`?
    pub fn ends_at(&self, end: Seq) -> bool {
        self.tlp_end_seq == Some(end)
    }

    /// Another recovery has begun: the probe does not matter any more.
    pub const fn stop(&mut self) {
        (self.tlp_end_seq, self.due) = (None, false);
    }
}
