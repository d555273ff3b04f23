//! ProbeBW (draft-ietf-ccwg-bbr-06 section 5.3.3).

use rtolab_time::Duration;

use super::{AckPhase, BbrState, INFINITY, MIN_PIPE_CWND, Model, ModelContext, RateSample};
use crate::congestion::model::spread;

/// The least time between two probes for bandwidth (section 5.3.3.5.3).
const MIN_WAIT: Duration = Duration::from_secs(2);
/// The most round trips between two probes.
const MOST_ROUNDS: u64 = 63;
/// `BBR.Headroom`, in hundredths.
const HEADROOM: u64 = 15;
/// The most doublings of the growth of `inflight_longterm`.
const MOST_UP_ROUNDS: u32 = 30;

impl Model {
    /// `IsTimeToProbeBW` (section 5.3.3.5.3)
    fn is_time_to_probe_bw(&mut self, cx: &ModelContext<'_>) -> bool {
        let waited = cx.at > self.cycle_stamp + self.bw_probe_wait;
        // IsRenoCoexistenceProbeTime
        let reno_rounds = self.target_inflight(cx) / cx.window.smss();
        let due = waited || self.rounds_since_probe_up >= reno_rounds.min(MOST_ROUNDS);
        if due {
            self.start_probe_bw_refill(cx);
        }
        due
    }

    /// `PickProbeWait` (section 5.3.3.5.3)
    fn pick_probe_wait(&mut self, cx: &ModelContext<'_>) {
        let drawn = spread(cx, 2_000_000);
        self.rounds_since_probe_up = drawn % 2;
        self.bw_probe_wait = MIN_WAIT + Duration::from_micros(drawn / 2);
    }

    /// `TargetInflight` (section 5.3.3.5.3)
    pub(super) fn target_inflight(&self, cx: &ModelContext<'_>) -> u64 {
        self.bdp_multiple(100, cx).min(cx.window.cwnd())
    }

    /// `StartProbeBW_DOWN` (section 5.3.3.6)
    pub(super) fn start_probe_bw_down(&mut self, cx: &ModelContext<'_>) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = INFINITY;
        self.pick_probe_wait(cx);
        self.cycle_stamp = cx.at;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round(cx);
        self.state = BbrState::ProbeBwDown;
    }

    /// `StartProbeBW_REFILL` (section 5.3.3.6)
    pub(super) fn start_probe_bw_refill(&mut self, cx: &ModelContext<'_>) {
        self.reset_short_term_model();
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (0, 0);
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round(cx);
        self.state = BbrState::ProbeBwRefill;
    }

    /// `StartProbeBW_UP` (section 5.3.3.6)
    fn start_probe_bw_up(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round(cx);
        self.reset_full_bw();
        self.full_bw = rs.delivery_rate();
        self.state = BbrState::ProbeBwUp;
        self.raise_inflight_longterm_slope(cx);
    }

    /// `UpdateProbeBWCyclePhase` (section 5.3.3.6)
    pub(super) fn update_probe_bw_cycle_phase(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        if !self.full_bw_reached || self.adapt_long_term_model(rs, cx) {
            return;
        }
        match self.state {
            BbrState::ProbeBwDown => self.update_probe_bw_down(cx),
            BbrState::ProbeBwCruise => {
                self.is_time_to_probe_bw(cx);
            }
            BbrState::ProbeBwRefill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up(rs, cx);
            }
            BbrState::ProbeBwUp => self.update_probe_bw_up(rs, cx),
            _ => {}
        }
    }

    /// The part of `UpdateProbeBWCyclePhase` for ProbeBW_DOWN.
    fn update_probe_bw_down(&mut self, cx: &ModelContext<'_>) {
        if !self.is_time_to_probe_bw(cx) && self.is_time_to_cruise(cx) {
            self.state = BbrState::ProbeBwCruise;
        }
    }

    /// The part of `UpdateProbeBWCyclePhase` for ProbeBW_UP.
    fn update_probe_bw_up(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        if self.is_time_to_go_down(rs, cx) {
            self.prev_probe_too_high = false;
            self.start_probe_bw_down(cx);
        }
    }

    /// `IsTimeToCruise` (section 5.3.3.6)
    fn is_time_to_cruise(&self, cx: &ModelContext<'_>) -> bool {
        cx.pipe <= self.inflight_with_headroom(cx) && cx.pipe <= self.inflight_of_max_bw(cx)
    }

    /// `IsTimeToGoDown` (section 5.3.3.6)
    fn is_time_to_go_down(&mut self, rs: &RateSample, cx: &ModelContext<'_>) -> bool {
        if self.prev_probe_too_high && cx.pipe >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited.0 && cx.window.cwnd() >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = rs.delivery_rate();
            return false;
        }
        self.full_bw_now
    }

    /// `InflightWithHeadroom` (section 5.3.3.6)
    pub(super) fn inflight_with_headroom(&self, cx: &ModelContext<'_>) -> u64 {
        if self.inflight_longterm == INFINITY {
            return INFINITY;
        }
        let smss = cx.window.smss();
        let headroom = (self.inflight_longterm / 100 * HEADROOM).max(smss);
        self.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE_CWND * smss)
    }

    /// `RaiseInflightLongtermSlope` (section 5.3.3.6)
    fn raise_inflight_longterm_slope(&mut self, cx: &ModelContext<'_>) {
        let growth_this_round = 1 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(MOST_UP_ROUNDS);
        let per_inc = cx.window.cwnd() / growth_this_round;
        self.probe_up_acked_per_inc = per_inc.max(cx.window.smss());
    }

    /// `ProbeInflightLongtermUpward` (section 5.3.3.6)
    fn probe_inflight_longterm_upward(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        if !self.is_cwnd_limited.0 || cx.window.cwnd() < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += rs.acked_sacked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta * cx.window.smss();
        }
        if self.round_start {
            self.raise_inflight_longterm_slope(cx);
        }
    }

    /// `AdaptLongTermModel` (section 5.3.3.6): returns whether it decided a transition.
    fn adapt_long_term_model(&mut self, rs: &RateSample, cx: &ModelContext<'_>) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_a_probe_bw_state() && !rs.is_app_limited {
                self.advance_max_bw_filter();
            }
            let was_safe = self.prev_probe_precautionary && !self.prev_probe_too_high;
            if self.is_in_a_probe_bw_state() && was_safe {
                self.start_probe_bw_refill(cx);
                return true;
            }
        }
        if !Self::is_inflight_too_high(rs, cx) && self.inflight_longterm < INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
            if self.state == BbrState::ProbeBwUp {
                self.probe_inflight_longterm_upward(rs, cx);
            }
        }
        false
    }
}
