//! The states of a connection, and how it can fail.

use core::fmt;

use thiserror::Error;

/// The states of a connection (RFC 9293 section 3.3.2), except LISTEN, which is a
/// [`Listener`](crate::Listener).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// This end has sent a SYN.
    SynSent,
    /// A SYN has arrived, and its acknowledgment was sent.
    SynReceived,
    /// The connection is open in both directions.
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
    /// Both have closed, but late segments may still arrive.
    TimeWait,
    /// The connection has ended.
    Closed,
}

impl State {
    /// May the application still write?
    pub const fn can_write(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived | Self::Established | Self::CloseWait)
    }

    /// Linux's number of this state (`TCP_ESTABLISHED` to `TCP_CLOSING` in
    /// `include/net/tcp_states.h`), as in `tcpi_state` of `struct tcp_info`.
    pub const fn linux_number(self) -> u8 {
        match self {
            Self::Established => 1,
            Self::SynSent => 2,
            Self::SynReceived => 3,
            Self::FinWait1 => 4,
            Self::FinWait2 => 5,
            Self::TimeWait => 6,
            Self::Closed => 7,
            Self::CloseWait => 8,
            Self::LastAck => 9,
            Self::Closing => 11,
        }
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

/// Why a connection ended before both ends have closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Failure {
    /// The peer answered the SYN with a reset (`ECONNREFUSED`).
    #[error("connection refused")]
    Refused,
    /// The peer reset it (`ECONNRESET`).
    #[error("connection reset by peer")]
    Reset,
    /// The peer did not answer for too long (`ETIMEDOUT`).
    #[error("connection timed out")]
    TimedOut,
    /// This end aborted it, or received data after the application stopped reading
    /// (`ECONNABORTED`).
    #[error("connection aborted")]
    Aborted,
}

/// How a connection was opened (RFC 9293 section 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// By an active open.
    Actively,
    /// By a passive open.
    Passively,
}

/// The fast path that the connection is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FastPath {
    /// None: every segment takes the slow path.
    #[default]
    None,
    /// This end sends data, and ACKs arrive.
    Send,
    /// Data arrives in order and is acknowledged; this end has nothing to send.
    Receive,
    /// As [`FastPath::Receive`], but there is a gap in the data.
    ReceiveOutOfOrder,
}
