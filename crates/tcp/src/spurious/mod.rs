//! Was that retransmission wrong? Detectors, each a pure machine over facts.

pub mod eifel;
pub mod frto;

pub use eifel::Eifel;
pub use frto::{Advice, Frto};

/// What a detector says of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Open,
    /// It was not needed: the original was only late.
    Spurious,
    /// No sign of that: it is taken for needed.
    Genuine,
    /// What the sender did makes the question unanswerable.
    Blind(Why),
}

/// Why a detector cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It needs new segments to be sent, and there was no data or no window for any.
    NothingNewToSend,
    /// It needs timestamps, and the peer sends none.
    NoTimestamps,
}
