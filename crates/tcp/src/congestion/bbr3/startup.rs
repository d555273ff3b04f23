//! Startup and Drain (draft-ietf-ccwg-bbr-06 sections 5.3.1 and 5.3.2).

use super::{BbrState, Model, ModelContext, RateSample};
use crate::ca_state::CaState;

/// The number of rounds without growth after which the pipe is full.
const FULL_BW_ROUNDS: u32 = 3;
/// `BBRStartupFullLossCnt`: the number of separate ranges lost in a round trip that end Startup.
const FULL_LOSS_CNT: u32 = 6;
/// The most round trips in Drain.
const DRAIN_ROUNDS: u64 = 3;

impl Model {
    /// `ResetFullBW` (section 5.3.1.2)
    pub(super) const fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0, 0, false);
    }

    /// `CheckFullBWReached` (section 5.3.1.2)
    pub(super) fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_now || !self.round_start || rs.is_app_limited {
            return;
        }
        let rate = rs.delivery_rate();
        if u128::from(rate) * 4 >= u128::from(self.full_bw) * 5 {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `EnterStartup` (section 5.3.1.1)
    pub(super) const fn enter_startup(&mut self) {
        self.state = BbrState::Startup;
    }

    /// `CheckStartupDone` (section 5.3.1.1)
    pub(super) fn check_startup_done(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        self.check_startup_high_loss(rs, cx);
        if self.state == BbrState::Startup && self.full_bw_reached {
            self.enter_drain();
        }
    }

    /// `CheckStartupHighLoss` (section 5.3.1.3): at the end of a round trip of fast recovery with
    /// too many losses.
    fn check_startup_high_loss(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        let (events, _) = self.loss_events;
        let in_fast_recovery = cx.ca_state == CaState::Recovery;
        let too_high = match cx.has_selective_acks {
            true => {
                self.loss_round_start
                    && events >= FULL_LOSS_CNT
                    && Self::is_inflight_too_high(rs, cx)
            }
            false => rs.losses > 0,
        };
        if self.loss_round_start {
            self.loss_events.0 = 0;
        }
        if self.state == BbrState::Startup && in_fast_recovery && too_high {
            self.undo.state = Some(BbrState::Startup);
            (self.full_bw_now, self.full_bw_reached) = (true, true);
            self.inflight_longterm = self.bdp_multiple(100, cx).max(self.inflight_latest);
        }
    }

    /// `EnterDrain` (section 5.3.2)
    fn enter_drain(&mut self) {
        self.state = BbrState::Drain;
        self.drain_start_round = self.round_count;
    }

    /// `CheckDrainDone` (section 5.3.2)
    pub(super) fn check_drain_done(&mut self, cx: &ModelContext<'_>) {
        let drained = || cx.pipe <= self.inflight(100, cx);
        let late = || self.round_count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == BbrState::Drain && (drained() || late()) {
            self.start_probe_bw_down(cx);
        }
    }
}
