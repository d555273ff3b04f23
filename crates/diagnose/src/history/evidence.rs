//! Evidence about retransmissions.
//!
//! All evidence about a range is about one number: the index, in the order of transmission, of the
//! first copy that arrived. That copy and earlier ones were needed, and later ones were unneeded.
//! Each piece of evidence gives an upper or a lower bound of the index.

use std::ptr;

use rtolab_time::Instant;

use crate::rtt::RttStatistics;

/// A kind of evidence. Each kind is one `static`, which is equal to itself only.
#[derive(Debug)]
pub struct EvidenceKind {
    /// The name in documents.
    pub name: &'static str,
    /// The share of cases in which it is right, between 0 and 1.
    pub confidence: f64,
    /// Whether other kinds of evidence may be inferred from it.
    pub supports_inference: bool,
}

impl EvidenceKind {
    pub(crate) const fn new(name: &'static str, confidence: f64) -> Self {
        Self { name, confidence, supports_inference: true }
    }
}

impl PartialEq for EvidenceKind {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

/// A bound of the index of the first copy that arrived; the original has index 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The first copy that arrived is this one or an earlier one.
    AtMost(usize),
    /// The first copy that arrived is this one or a later one.
    AtLeast(usize),
}

impl Bound {
    /// The bound with the frame that shows it.
    pub const fn shown_by(self, frame: u64) -> Finding {
        Finding { bound: self, frame, premise: None }
    }
}

/// A bound with the frame that shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding {
    pub bound: Bound,
    pub frame: u64,
    pub premise: Option<TooSoon>,
}

impl Finding {
    /// Evidence of this kind.
    pub const fn of(self, kind: &'static EvidenceKind) -> Evidence {
        Evidence { kind, bound: self.bound, frame: self.frame, premise: self.premise }
    }
}

/// The premise that an ACK came too soon to answer a copy. Only later packets can confirm it: after
/// an outage the path may be faster than ever before, because the outage emptied its queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooSoon {
    /// When the copy was sent.
    pub sent: Instant,
    /// When the ACK arrived.
    pub acked: Instant,
}

impl TooSoon {
    /// Did packets that were sent after the ACK take as long as those before?
    pub fn is_confirmed(self, rtt: &RttStatistics) -> bool {
        rtt.is_measured_after(self.acked) && rtt.is_too_soon(self.sent, self.acked)
    }
}

/// A piece of evidence about a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evidence {
    pub kind: &'static EvidenceKind,
    pub bound: Bound,
    /// The frame that shows it.
    pub frame: u64,
    /// What later packets have to confirm; `None` if the evidence needs no confirmation.
    pub premise: Option<TooSoon>,
}
