//! The undo of a loss recovery that was spurious (draft-ietf-ccwg-bbr-06 section 5.5.11).

use super::{BbrState, Model, ModelContext, Undo};

impl Model {
    /// `SaveStateUponLoss` (section 5.5.11.1). `SaveCwnd` precedes it.
    pub(super) const fn save_state_upon_loss(&mut self) {
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// `HandleSpuriousLossDetection` (section 5.5.11.2)
    pub(super) fn handle_spurious_loss_detection(&mut self, cx: &mut ModelContext<'_>) {
        self.restore_cwnd(cx);
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            Some(BbrState::Startup) if self.state != BbrState::Startup => {
                self.full_bw_reached = false;
                if self.state != BbrState::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(BbrState::ProbeBwUp)
                if !matches!(self.state, BbrState::ProbeBwUp | BbrState::ProbeRtt) =>
            {
                self.start_probe_bw_refill(cx);
            }
            _ => {}
        }
        self.recovering = false;
    }
}
