//! Weighs the evidence about a retransmission.

use serde::Serialize;

use crate::history::{Bound, Sign};

/// What the sign says of a retransmission, the `copy`-th copy of its range.
const fn says(sign: &Sign, copy: usize) -> Necessity {
    match sign.bound {
        Bound::AtMost(first) if first < copy => Necessity::Unneeded,
        Bound::AtLeast(first) if first >= copy => Necessity::Needed,
        Bound::AtMost(_) | Bound::AtLeast(_) => Necessity::Unknown,
    }
}

/// Whether a retransmission was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Necessity {
    /// No earlier copy arrived.
    Needed,
    /// An earlier copy arrived.
    Unneeded,
    /// The capture does not say.
    Unknown,
}

impl Necessity {
    /// As documents name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::Unneeded => "unneeded",
            Self::Unknown => "unknown",
        }
    }
}

/// A verdict with what speaks for it and against it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weighed {
    /// Whether the retransmission was needed.
    pub verdict: Necessity,
    /// How sure that is, between 0 and 1; 0 if it is unknown.
    pub confidence: f64,
    /// What speaks for it.
    pub evidence: Vec<Sign>,
    /// What speaks against it.
    pub against: Vec<Sign>,
}

/// Weighs what is known of a retransmission, the `copy`-th copy of its range: the strongest piece
/// of evidence decides, and what contradicts it is kept beside it.
pub(crate) fn weigh(signs: &[Sign], copy: usize) -> Weighed {
    let of = |verdict| -> Vec<Sign> {
        let mut found: Vec<Sign> =
            signs.iter().filter(|sign| says(sign, copy) == verdict).copied().collect();
        found.sort_by(|a, b| b.kind.confidence.total_cmp(&a.kind.confidence));
        found.dedup_by(|a, b| a.kind == b.kind);
        found
    };
    let (unneeded, needed) = (of(Necessity::Unneeded), of(Necessity::Needed));
    let strength = |signs: &[Sign]| signs.first().map_or(0.0, |sign| sign.kind.confidence);
    let (own, other) = (strength(&unneeded), strength(&needed));
    let verdict = match own >= other {
        true if own == 0.0 => Necessity::Unknown,
        true => Necessity::Unneeded,
        false => Necessity::Needed,
    };
    let confidence = own.max(other) * (1.0 - own.min(other) / 2.0);
    let (evidence, against) = if own >= other { (unneeded, needed) } else { (needed, unneeded) };
    Weighed { verdict, confidence, evidence, against }
}
