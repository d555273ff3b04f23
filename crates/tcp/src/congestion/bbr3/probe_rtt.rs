//! ProbeRTT and the smallest round trip (draft-ietf-ccwg-bbr-06 section 5.3.4).

use rtolab_time::Duration;

use super::{AckPhase, BbrState, Model, ModelContext, RateSample};

/// `BBR.MinRTTFilterLen`
const MIN_RTT_FILTER_LEN: Duration = Duration::from_secs(10);
/// `BBR.ProbeRTTInterval`
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// `BBR.ProbeRTTDuration`
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

impl Model {
    /// `UpdateMinRTT` (section 5.3.4.3)
    pub(super) fn update_min_rtt(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        self.probe_rtt_expired = cx.at > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rs.rtt {
            let is_less = self.probe_rtt_min_delay.is_none_or(|least| rtt < least);
            if is_less || self.probe_rtt_expired {
                self.probe_rtt_min_delay = Some(rtt);
                self.probe_rtt_min_stamp = cx.at;
            }
        }
        let min_rtt_expired = cx.at > self.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        if let Some(delay) = self.probe_rtt_min_delay {
            if min_rtt_expired || self.min_rtt.is_none_or(|least| delay < least) {
                (self.min_rtt, self.min_rtt_stamp) = (Some(delay), self.probe_rtt_min_stamp);
            }
        }
    }

    /// `CheckProbeRTT` (section 5.3.4.3)
    pub(super) fn check_probe_rtt(&mut self, rs: &RateSample, cx: &mut ModelContext<'_>) {
        if self.state != BbrState::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(cx.window.cwnd());
            self.state = BbrState::ProbeRtt;
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round(cx);
        }
        if self.state == BbrState::ProbeRtt {
            self.handle_probe_rtt(cx);
        }
        if rs.delivered.is_some_and(|(delivered, _)| delivered > 0) {
            self.idle_restart = false;
        }
    }

    /// `HandleProbeRTT` (section 5.3.4.3)
    fn handle_probe_rtt(&mut self, cx: &mut ModelContext<'_>) {
        // The low rates of this state do not count.
        cx.rate.note_app_limited(cx.pipe);
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(cx);
            }
        } else if cx.pipe <= self.probe_rtt_cwnd(cx) {
            self.probe_rtt_done_stamp = Some(cx.at + PROBE_RTT_DURATION);
            self.probe_rtt_round_done = false;
            self.start_round(cx);
        }
    }

    /// `CheckProbeRTTDone` (section 5.3.4.3)
    pub(super) fn check_probe_rtt_done(&mut self, cx: &mut ModelContext<'_>) {
        if self.probe_rtt_done_stamp.is_some_and(|done| cx.at > done) {
            self.probe_rtt_min_stamp = cx.at;
            self.restore_cwnd(cx);
            self.exit_probe_rtt(cx);
        }
    }

    /// `ExitProbeRTT` (section 5.3.4.4)
    fn exit_probe_rtt(&mut self, cx: &ModelContext<'_>) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(cx);
            self.state = BbrState::ProbeBwCruise;
        } else {
            self.enter_startup();
        }
    }
}
