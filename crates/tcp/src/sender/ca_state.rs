//! The state of loss recovery, as in Linux's `TCP_INFO`.

use super::Sender;

/// The state of loss recovery under Linux's names (`tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// `TCP_CA_Open`: no sign of a loss.
    Open,
    /// `TCP_CA_Disorder`: segments arrived out of order, perhaps because of a loss.
    Disorder,
    /// `TCP_CA_CWR`: cwnd is being reduced for a reason other than a loss.
    Cwr,
    /// `TCP_CA_Recovery`: fast recovery.
    Recovery,
    /// `TCP_CA_Loss`: after a timeout, until the data outstanding at the timeout is acknowledged or
    /// a detector finds the timeout spurious.
    Loss,
}

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
