//! The scores of retransmissions: ground truth from forks of the run, and the verdicts of
//! detectors.

use std::sync::Arc;

use rtolab_tcp::spurious::DetectorId;
use rtolab_time::Instant;

use crate::kinds::{Place, TimeoutKind, Truth};

/// The state of a transfer at its end, or at the end of the run or fork if that comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferOutcome {
    /// When the ACK of the FIN arrived at the sender; `None` if the run ended before.
    pub end: Option<Instant>,
    /// Data segments (with payload) sent, retransmissions included, from the beginning on.
    pub segments: u64,
    /// Payload bytes that the application at the other end read.
    pub bytes: u64,
}

/// The comparison of a transfer in the run and in a fork that differs in one decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The transfer in the run.
    pub original: TransferOutcome,
    /// The transfer in the fork.
    pub other: TransferOutcome,
}

impl Comparison {
    /// The end of the transfer in the run minus its end in the fork, in seconds; `None` unless both
    /// ended.
    pub fn later_s(&self) -> Option<f64> {
        Some(self.original.end?.secs_f64() - self.other.end?.secs_f64())
    }

    /// The number of segments sent in the run minus those sent in the fork.
    pub const fn more_segments(&self) -> i64 {
        self.original.segments as i64 - self.other.segments as i64
    }
}

/// The numbers of retransmissions by ground truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truths {
    /// Spurious: the ACK was late.
    pub spurious: u64,
    /// The segment arrived, but its ACKs were lost.
    pub ack_lost: u64,
    /// Genuine: the segment was lost.
    pub genuine: u64,
}

impl Truths {
    /// Counts a retransmission.
    pub const fn count(&mut self, truth: Truth) {
        *match truth {
            Truth::Spurious => &mut self.spurious,
            Truth::AckLost => &mut self.ack_lost,
            Truth::Genuine => &mut self.genuine,
        } += 1;
    }
}

/// `verdicts`: one row per timeout or fast retransmit and passive detector.
#[derive(Clone, Debug)]
pub struct VerdictRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// The end that retransmitted.
    pub end: Place,
    /// When it retransmitted.
    pub at: Instant,
    /// Timeout or fast retransmit.
    pub kind: TimeoutKind,
    /// The relative sequence number of the segment retransmitted (SYN is 0).
    pub seq: i64,
    /// The ground truth.
    pub truth: Option<Truth>,
    /// The detector.
    pub detector: DetectorId,
    /// Its verdict: `spurious`, `genuine`, `open` or `blind`.
    pub verdict: &'static str,
    /// The reason why it is `blind`.
    pub why: Option<&'static str>,
    /// When it reached the verdict.
    pub verdict_at: Option<Instant>,
}

/// The reason why a receiver sent a duplicate ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DupackCause {
    /// A segment arrived while an earlier one was missing. All copies of the missing segment that
    /// were sent before the arrived one are lost.
    Loss,
    /// A segment arrived before another one that was sent earlier.
    Reordering,
    /// A copy of a segment arrived after another copy.
    Retransmission,
    /// A link delivered a packet twice.
    Network,
}

impl DupackCause {
    /// Its name in the tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Reordering => "reordering",
            Self::Retransmission => "retransmission",
            Self::Network => "network",
        }
    }
}

/// `duplicates`: one row per duplicate ACK that reached a sender.
#[derive(Clone, Debug)]
pub struct DuplicateRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// When it arrived.
    pub at: Instant,
    /// The relative ACK number.
    pub ack: i64,
    /// The reason why it was sent; `None` if no arriving segment caused it, and for kernels.
    pub cause: Option<DupackCause>,
}

/// `what_if`: one row per timeout and alternative sender.
#[derive(Clone, Debug)]
pub struct WhatIfRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// When the timeout happened.
    pub at: Instant,
    /// The relative sequence number of the segment that timed out.
    pub seq: i64,
    /// The ground truth about the timeout.
    pub truth: Option<Truth>,
    /// The alternative, a sender specification.
    pub sender: Arc<str>,
    /// The comparison of the transfer with both senders.
    pub comparison: Comparison,
}
