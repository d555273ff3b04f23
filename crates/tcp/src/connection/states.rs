//! The states of a connection, and how it can fail.

use core::fmt;

use thiserror::Error;

/// The states of RFC 9293 section 3.3.2 that a connection can be in; who is in LISTEN is a
/// [`Listener`](crate::Listener).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN arrived and was answered.
    SynReceived,
    /// Data flows.
    Established,
    /// This end has closed; its FIN is not acknowledged.
    FinWait1,
    /// This end's FIN is acknowledged.
    FinWait2,
    /// The peer has closed.
    CloseWait,
    /// Both have closed; this end's FIN is not acknowledged.
    Closing,
    /// The peer closed first; this end's FIN is not acknowledged.
    LastAck,
    /// Over, but late segments may still come.
    TimeWait,
    /// Over.
    Closed,
}

impl State {
    /// May the application still write?
    pub const fn takes_data(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived | Self::Established | Self::CloseWait)
    }
}

impl fmt::Display for State {
    /// The RFC's spelling, such as `FIN-WAIT-1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
            Self::Closed => "CLOSED",
        })
    }
}

/// Why a connection is over before both ends have closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Failure {
    /// The peer answered the SYN by a reset (`ECONNREFUSED`).
    #[error("connection refused")]
    Refused,
    /// The peer reset it (`ECONNRESET`).
    #[error("connection reset by peer")]
    Reset,
    /// The peer did not answer for too long (`ETIMEDOUT`).
    #[error("connection timed out")]
    TimedOut,
    /// This end gave it up, or got data that nobody will read (`ECONNABORTED`).
    #[error("connection aborted")]
    Aborted,
}

/// Who opened a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// This end sent the first SYN, or thought so.
    Actively,
    /// It answered one.
    Passively,
}

/// Which fast path the connection is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FastPath {
    /// None: the next segment may change anything.
    #[default]
    None,
    /// Data leave, and their acknowledgments arrive.
    Send,
    /// Data arrive in order and are acknowledged; there is nothing to send.
    Receive,
    /// The same, but a gap lies before some of the data.
    ReceiveOutOfOrder,
}
