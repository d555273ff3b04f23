//! The class of a timeout.

use serde::Serialize;

/// The class of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutClass {
    /// The timed-out segment was lost.
    Genuine,
    /// The segment arrived, but all its ACKs were lost.
    AckLost,
    /// The segment or its ACK was late.
    Spurious,
    /// The capture does not show which of these is true.
    Unknown,
}

impl TimeoutClass {
    /// The name in reports and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::AckLost => "ack-lost",
            Self::Spurious => "spurious",
            Self::Unknown => "unknown",
        }
    }
}
