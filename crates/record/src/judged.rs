//! What copies of a run and judges tell about its retransmissions.

use std::sync::Arc;

use rtolab_tcp::spurious::DetectorId;
use rtolab_time::Instant;

use crate::kinds::{Place, TimeoutKind, Truth};

/// How a transfer went, or would have gone, to its end or that of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// When the ACK of the FIN arrived at the sender; `None` if the run ended before.
    pub end: Option<Instant>,
    /// Data segments (with payload) sent, retransmissions included, from the beginning on.
    pub segments: u64,
    /// Payload bytes that the application at the other end got.
    pub bytes: u64,
}

/// The run as it was, and a copy of it in which one thing is different.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The run.
    pub original: Rest,
    /// The copy.
    pub other: Rest,
}

impl Comparison {
    /// How much later the run ended than the copy, in seconds; `None` unless both did.
    pub fn later_s(&self) -> Option<f64> {
        Some(self.original.end?.secs_f64() - self.other.end?.secs_f64())
    }

    /// How many segments more were sent in the run.
    pub const fn more_segments(&self) -> i64 {
        self.original.segments as i64 - self.other.segments as i64
    }
}

/// How many retransmissions were what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truths {
    /// Those whose acknowledgment was only late.
    pub spurious: u64,
    /// Those of which every acknowledgment was lost.
    pub ack_lost: u64,
    /// Those that were needed.
    pub genuine: u64,
}

impl Truths {
    /// Counts one.
    pub const fn count(&mut self, truth: Truth) {
        *match truth {
            Truth::Spurious => &mut self.spurious,
            Truth::AckLost => &mut self.ack_lost,
            Truth::Genuine => &mut self.genuine,
        } += 1;
    }
}

/// `verdicts`: one row a timeout or fast retransmit and judge.
#[derive(Clone, Debug)]
pub struct VerdictRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// Which end retransmitted.
    pub end: Place,
    /// When the retransmission was.
    pub at: Instant,
    /// Timeout or fast retransmit.
    pub kind: TimeoutKind,
    /// The relative sequence number of the segment retransmitted (SYN is 0).
    pub seq: i64,
    /// What a copy of the run shows.
    pub truth: Option<Truth>,
    /// The judge.
    pub detector: DetectorId,
    /// What it says: `spurious`, `genuine`, `open` or `blind`.
    pub verdict: &'static str,
    /// Why it is blind.
    pub why: Option<&'static str>,
    /// When it made up its mind.
    pub verdict_at: Option<Instant>,
}

/// What made a receiver send a duplicate acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DupackCause {
    /// A segment came while an earlier one was missing, no copy of which arrived that had been sent
    /// before it.
    Loss,
    /// A segment came before one that had been sent earlier and arrived, too.
    Reordering,
    /// A segment came of which the sender had sent another copy that arrived first.
    Retransmission,
    /// A link delivered a packet twice.
    Network,
}

impl DupackCause {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Reordering => "reordering",
            Self::Retransmission => "retransmission",
            Self::Network => "network",
        }
    }
}

/// `duplicates`: one row a duplicate acknowledgment that reached a sender.
#[derive(Clone, Debug)]
pub struct DuplicateRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// When.
    pub at: Instant,
    /// The relative acknowledgment number.
    pub ack: i64,
    /// Why it was sent; `None` if no segment that arrived called for it, and of a kernel's receiver.
    pub cause: Option<DupackCause>,
}

/// `what_if`: one row a timeout and sender that went on from there.
#[derive(Clone, Debug)]
pub struct WhatIfRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// When the timeout was.
    pub at: Instant,
    /// The relative sequence number of the segment that timed out.
    pub seq: i64,
    /// What the timeout was.
    pub truth: Option<Truth>,
    /// The sender that continued, as a sender specification.
    pub sender: Arc<str>,
    /// What came of it.
    pub comparison: Comparison,
}
