//! What the words of the tables mean.

/// What made a sender retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// The retransmission timer expired.
    Timeout,
    /// Loss recovery began.
    FastRetransmit,
    /// A tail loss probe: nothing was heard for a while (RFC 8985 section 7).
    Probe,
}

impl TimeoutKind {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::FastRetransmit => "fast_retransmit",
            Self::Probe => "probe",
        }
    }
}

/// Was a retransmission right? Known from a copy of the run that goes on without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// An acknowledgment that covers the segment arrives in the copy, too: it was only late.
    Spurious,
    /// None does, though an earlier copy of the segment reached the receiver.
    AckLost,
    /// None does, and no earlier copy reached the receiver.
    Genuine,
}

impl Truth {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spurious => "spurious",
            Self::AckLost => "ack-lost",
            Self::Genuine => "genuine",
        }
    }
}

/// Where a packet was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// At the host that sends the data.
    Sender,
    /// At the host that receives the data.
    Receiver,
}

impl Place {
    /// Both, the sender first.
    pub const BOTH: [Self; 2] = [Self::Sender, Self::Receiver];

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }

    /// 0 at the sender, 1 at the receiver.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}
