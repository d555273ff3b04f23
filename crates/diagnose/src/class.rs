//! The class of a timeout.

use serde::Serialize;

/// The class of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The timed-out segment was lost.
    Genuine,
    /// It arrived, but all its ACKs were lost.
    AckLost,
    /// It or its ACK was late.
    Spurious,
    /// The capture does not show it.
    Unknown,
}

impl Class {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::AckLost => "ack-lost",
            Self::Spurious => "spurious",
            Self::Unknown => "unknown",
        }
    }
}
