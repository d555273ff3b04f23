//! Evidence about retransmissions.
//!
//! All evidence about a range is about one number: the index, in the order of transmission, of the
//! first copy that arrived. That copy and earlier ones were needed, and later ones were unneeded.
//! Each piece of evidence gives an upper or a lower bound of the index.

use std::ptr;

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
        Finding { bound: self, frame }
    }
}

/// A bound with the frame that shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding {
    pub bound: Bound,
    pub frame: u64,
}

impl Finding {
    /// Evidence of this kind.
    pub const fn of(self, kind: &'static EvidenceKind) -> Evidence {
        Evidence { kind, bound: self.bound, frame: self.frame }
    }
}

/// A piece of evidence about a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evidence {
    pub kind: &'static EvidenceKind,
    pub bound: Bound,
    /// The frame that shows it.
    pub frame: u64,
}
