//! The verdict on a retransmission, which follows from the evidence.

use serde::Serialize;

use crate::history::{Bound, Evidence};

/// The verdict of one piece of evidence on the copy with index `copy`.
const fn verdict(piece: &Evidence, copy: usize) -> Necessity {
    match piece.bound {
        Bound::AtMost(first) if first < copy => Necessity::Unneeded,
        Bound::AtLeast(first) if first >= copy => Necessity::Needed,
        Bound::AtMost(_) | Bound::AtLeast(_) => Necessity::Unknown,
    }
}

/// The verdict on a retransmission: was it needed?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Necessity {
    /// No earlier copy arrived.
    Needed,
    /// An earlier copy arrived.
    Unneeded,
    /// The capture does not show it.
    Unknown,
}

impl Necessity {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::Unneeded => "unneeded",
            Self::Unknown => "unknown",
        }
    }
}

/// A verdict with its confidence and its evidence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assessment {
    pub verdict: Necessity,
    /// The probability that the verdict is right, between 0 and 1; 0 if it is unknown.
    pub confidence: f64,
    /// The evidence for the verdict, the strongest first.
    pub evidence: Vec<Evidence>,
    /// The evidence against the verdict, likewise.
    pub against: Vec<Evidence>,
}

/// The verdict on the copy with index `copy` of a range. The strongest piece of evidence decides.
/// Contradicting evidence reduces the confidence.
pub(crate) fn assess(evidence: &[Evidence], copy: usize) -> Assessment {
    let of = |verdict| -> Vec<Evidence> {
        let mut found: Vec<Evidence> = evidence
            .iter()
            .filter(|piece| self::verdict(piece, copy) == verdict)
            .copied()
            .collect();
        found.sort_by(|a, b| b.kind.confidence.total_cmp(&a.kind.confidence));
        found.dedup_by(|a, b| a.kind == b.kind);
        found
    };
    let (unneeded, needed) = (of(Necessity::Unneeded), of(Necessity::Needed));
    let strength =
        |evidence: &[Evidence]| evidence.first().map_or(0.0, |piece| piece.kind.confidence);
    let (own, other) = (strength(&unneeded), strength(&needed));
    let verdict = match own >= other {
        true if own == 0.0 => Necessity::Unknown,
        true => Necessity::Unneeded,
        false => Necessity::Needed,
    };
    let confidence = own.max(other) * (1.0 - own.min(other) / 2.0);
    let (evidence, against) = if own >= other { (unneeded, needed) } else { (needed, unneeded) };
    Assessment { verdict, confidence, evidence, against }
}
