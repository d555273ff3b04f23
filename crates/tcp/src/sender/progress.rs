//! How a sender stands, for whoever asks what a stack tells of itself (RFC 4898).

use super::Sender;

/// Where loss recovery stands, in Linux's words (`tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is suspicious.
    Open,
    /// Something was received out of order; it may be a loss.
    Disorder,
    /// The window comes down for another reason than a loss.
    Reducing,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged or the timeout is found
    /// spurious.
    Loss,
}

impl Sender {
    /// Where loss recovery stands.
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
