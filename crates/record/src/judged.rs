//! The scores of retransmissions: ground truth from forks of the run, and the verdicts of
//! detectors.

use std::sync::Arc;

use rtolab_tcp::spurious::DetectorId;
use rtolab_time::Instant;

use crate::kinds::{Place, TimeoutKind, Truth};

/// The result of a transfer at its end, or at the end of the run or fork.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// When the ACK of the FIN arrived at the sender; `None` if the run ended before.
    pub end: Option<Instant>,
    /// Data segments (with payload) sent, retransmissions included, from the beginning on.
    pub segments: u64,
    /// Payload bytes that the application at the other end read.
    pub bytes: u64,
}

/// The same transfer in the run and in a fork that differs in one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The run.
    pub original: Rest,
    /// The fork.
    pub other: Rest,
}

impl Comparison {
    /// How much later the transfer ended in the run than in the fork, in seconds; `None` unless
    /// both ended.
    pub fn later_s(&self) -> Option<f64> {
        Some(self.original.end?.secs_f64() - self.other.end?.secs_f64())
    }

    /// How many more segments were sent in the run.
    pub const fn more_segments(&self) -> i64 {
        self.original.segments as i64 - self.other.segments as i64
    }
}

/// Counts of retransmissions by ground truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truths {
    /// Spurious: the ACK was only late.
    pub spurious: u64,
    /// Caused by lost ACKs.
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
    /// Why it is `blind`.
    pub why: Option<&'static str>,
    /// When it reached the verdict.
    pub verdict_at: Option<Instant>,
}

/// Why a receiver sent a duplicate ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DupackCause {
    /// A segment arrived while an earlier one was missing, and no copy of that one that was sent
    /// before the segment ever arrives.
    Loss,
    /// A segment arrived before one that was sent earlier and arrives later.
    Reordering,
    /// A segment arrived of which another copy had arrived.
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
    /// Why it was sent; `None` if no arriving segment caused it, and for kernels.
    pub cause: Option<DupackCause>,
}

/// `what_if`: one row per timeout and alternative sender.
#[derive(Clone, Debug)]
pub struct WhatIfRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// When the timeout was.
    pub at: Instant,
    /// The relative sequence number of the segment that timed out.
    pub seq: i64,
    /// The ground truth about the timeout.
    pub truth: Option<Truth>,
    /// The alternative, a sender specification.
    pub sender: Arc<str>,
    /// The transfer with either sender.
    pub comparison: Comparison,
}
