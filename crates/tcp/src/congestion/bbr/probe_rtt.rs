//! The smallest round trip, and `BBR_PROBE_RTT`, in which little data is in flight to measure it.

use rtolab_time::Duration;

use super::{CWND_MIN_TARGET, Mode, ModelContext, RateSample, State, packets};

/// The window of the smallest round trip (`bbr_min_rtt_win_sec`).
const MIN_RTT_WIN: Duration = Duration::from_secs(10);
/// The time with a small window (`bbr_probe_rtt_mode_ms`).
const PROBE_RTT_MODE: Duration = Duration::from_millis(200);

impl State {
    /// `bbr_check_probe_rtt_done`
    pub(super) fn check_probe_rtt_done(&mut self, cx: &mut ModelContext<'_>) {
        if self.probe_rtt_done_stamp.is_some_and(|done| cx.at > done) {
            self.min_rtt_stamp = cx.at;
            let cwnd = cx.window.cwnd().max(self.prior_cwnd);
            cx.window.set_cwnd(cwnd);
            self.reset_mode(cx);
        }
    }

    /// `bbr_update_min_rtt`
    pub(super) fn update_min_rtt(&mut self, rs: &RateSample, cx: &mut ModelContext<'_>) {
        let expired = cx.at > self.min_rtt_stamp + MIN_RTT_WIN;
        if let Some(rtt) = rs.rtt {
            let is_less = self.min_rtt.is_none_or(|least| rtt < least);
            if is_less || (expired && !rs.is_ack_delayed) {
                (self.min_rtt, self.min_rtt_stamp) = (Some(rtt), cx.at);
            }
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(cx.window.cwnd());
            self.probe_rtt_done_stamp = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(cx);
        }
        if rs.delivered.is_some_and(|(delivered, _)| delivered > 0) {
            self.idle_restart = false;
        }
    }

    /// The part of `bbr_update_min_rtt` for `BBR_PROBE_RTT`: it lasts 200 ms and a round trip.
    fn probe_rtt(&mut self, cx: &mut ModelContext<'_>) {
        // The low rates of this mode do not count.
        cx.rate.note_app_limited(cx.pipe);
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(cx);
            }
        } else if packets(cx.pipe, cx) <= CWND_MIN_TARGET {
            self.probe_rtt_done_stamp = Some(cx.at + PROBE_RTT_MODE);
            self.probe_rtt_round_done = false;
            self.next_rtt_delivered = cx.rate.delivered;
        }
    }
}
