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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::EvidenceKind;

    static STRONG: EvidenceKind = EvidenceKind::new("strong", 0.9);
    static WEAK: EvidenceKind = EvidenceKind::new("weak", 0.5);
    static OTHER: EvidenceKind = EvidenceKind::new("other", 0.9);

    fn piece(kind: &'static EvidenceKind, bound: Bound) -> Evidence {
        bound.shown_by(7).of(kind)
    }

    /// If the first copy to arrive is the second at the latest, the third was unneeded. If it is
    /// the second at the earliest, the first and the second copy were needed.
    #[test]
    fn a_bound_of_the_first_copy_to_arrive_decides_about_the_others() {
        use Necessity::{Needed, Unknown, Unneeded};
        let verdicts = |bound| [0, 1, 2].map(|copy| assess(&[piece(&STRONG, bound)], copy).verdict);
        assert_eq!(verdicts(Bound::AtMost(1)), [Unknown, Unknown, Unneeded]);
        assert_eq!(verdicts(Bound::AtLeast(1)), [Needed, Needed, Unknown]);
        let none = assess(&[], 1);
        assert_eq!((none.verdict, none.confidence), (Unknown, 0.0));
    }

    #[test]
    fn the_strongest_evidence_decides_and_the_rest_reduces_the_confidence() {
        let (unneeded, needed) = (Bound::AtMost(0), Bound::AtLeast(1));
        for (evidence, verdict, confidence) in [
            (vec![piece(&STRONG, unneeded), piece(&WEAK, needed)], Necessity::Unneeded, 0.675),
            (vec![piece(&WEAK, unneeded), piece(&STRONG, needed)], Necessity::Needed, 0.675),
            (vec![piece(&OTHER, needed), piece(&STRONG, unneeded)], Necessity::Unneeded, 0.495),
            (vec![piece(&WEAK, unneeded), piece(&STRONG, unneeded)], Necessity::Unneeded, 0.9),
        ] {
            let found = assess(&evidence, 1);
            assert_eq!(found.verdict, verdict);
            assert!((found.confidence - confidence).abs() < 1e-9, "{}", found.confidence);
        }
        let all = [&WEAK, &STRONG, &STRONG].map(|kind| piece(kind, unneeded));
        let found = assess(&[&all[..], &[piece(&WEAK, needed)]].concat(), 1);
        let names =
            |evidence: &[Evidence]| evidence.iter().map(|one| one.kind.name).collect::<Vec<_>>();
        assert_eq!(names(&found.evidence), ["strong", "weak"], "each kind once");
        assert_eq!(names(&found.against), ["weak"]);
    }

    #[test]
    fn a_verdict_has_the_name_of_documents() {
        for verdict in [Necessity::Needed, Necessity::Unneeded, Necessity::Unknown] {
            assert_eq!(serde_json::json!(verdict), verdict.name());
        }
        assert_eq!(Necessity::Unneeded.name(), "unneeded");
    }
}
