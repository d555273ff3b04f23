//! The state of loss recovery, as in Linux's `TCP_INFO`.

use super::Sender;
use crate::ca_state::CaState;

impl Sender {
    /// The state of loss recovery.
    pub fn ca_state(&self) -> CaState {
        if self.recovery.is_in_fast_recovery() {
            CaState::Recovery
        } else if self.flight.una() < self.recovery.recover {
            CaState::Loss
        } else if self.reduction.cwr_end().is_some() || self.is_in_prr_for_ece() {
            CaState::Cwr
        } else if self.recovery.dupacks > 0 || self.flight.sacked() > 0 {
            CaState::Disorder
        } else {
            CaState::Open
        }
    }
}
