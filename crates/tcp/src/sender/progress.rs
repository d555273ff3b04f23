//! The state of loss recovery, as a stack reports it (RFC 4898).

use super::Sender;

/// The state of loss recovery under Linux's names (`tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// `TCP_CA_Open`: no sign of a loss.
    Open,
    /// `TCP_CA_Disorder`: segments arrived out of order, perhaps because of a loss.
    Disorder,
    /// `TCP_CA_CWR`: cwnd is reduced for another reason than a loss.
    Reducing,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged or the timeout is found
    /// spurious.
    Loss,
}

impl Sender {
    /// The state of loss recovery.
    pub fn standing(&self) -> Standing {
        if self.recovery.is_fast() {
            Standing::Recovery
        } else if self.flight.una() < self.recovery.recover {
            Standing::Loss
        } else if self.reduction.cwr_end().is_some() || self.is_reducing_for_echo() {
            Standing::Reducing
        } else if self.recovery.dupacks > 0 || self.flight.sacked() > 0 {
            Standing::Disorder
        } else {
            Standing::Open
        }
    }
}
