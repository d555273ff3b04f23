//! The states of loss recovery under Linux's names.

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
