//! Evidence about retransmissions.
//!
//! A capture can tell only one thing about a range that was sent several times: which copy, in the
//! order of transmission, was the first to arrive. Later copies were unneeded; that one and earlier
//! ones were needed. Each piece of evidence bounds that copy from one side.

use std::ptr;

/// A kind of evidence: one `static` each, equal only to itself.
#[derive(Debug)]
pub struct Kind {
    /// The name in documents.
    pub name: &'static str,
    /// Its reliability, between 0 and 1.
    pub confidence: f64,
    /// Can other evidence build on it?
    pub carries: bool,
}

impl Kind {
    pub(crate) const fn new(name: &'static str, confidence: f64) -> Self {
        Self { name, confidence, carries: true }
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

/// The copies, in the order of transmission, that may be the first to arrive; the original is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// This one or an earlier one.
    AtMost(usize),
    /// This one or a later one.
    AtLeast(usize),
}

impl Bound {
    /// The bound with the frame that shows it.
    pub const fn shown_by(self, frame: u64) -> Found {
        Found { bound: self, frame }
    }
}

/// The result of a search for one kind of evidence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub bound: Bound,
    pub frame: u64,
}

impl Found {
    /// Evidence of this kind.
    pub const fn of(self, kind: &'static Kind) -> Sign {
        Sign { kind, bound: self.bound, frame: self.frame }
    }
}

/// A piece of evidence about a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sign {
    pub kind: &'static Kind,
    pub bound: Bound,
    /// The frame that shows it.
    pub frame: u64,
}
