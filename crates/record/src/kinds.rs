//! The enumerations of the tables.

/// The kind of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// The retransmission timer expired.
    Timeout,
    /// Loss recovery began.
    FastRetransmit,
    /// A tail loss probe (RFC 8985 section 7).
    Probe,
}

impl TimeoutKind {
    /// Its name in the tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::FastRetransmit => "fast_retransmit",
            Self::Probe => "probe",
        }
    }
}

/// The ground truth about a retransmission, from a fork of the run that continues without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// An ACK that covers the segment arrives in the fork, so it was late.
    Spurious,
    /// No ACK arrives in the fork, although an earlier copy of the segment reached the receiver.
    AckLost,
    /// No ACK arrives in the fork, and no earlier copy reached the receiver.
    Genuine,
}

impl Truth {
    /// Its name in the tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spurious => "spurious",
            Self::AckLost => "ack-lost",
            Self::Genuine => "genuine",
        }
    }
}

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The host that sends the data.
    Sender,
    /// The host that receives the data.
    Receiver,
}

impl Place {
    /// Both ends, the sender first.
    pub const BOTH: [Self; 2] = [Self::Sender, Self::Receiver];

    /// The other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }

    /// 0 for the sender, 1 for the receiver.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name in the tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}
