//! What speaks for or against a retransmission, and how strongly.
//!
//! All that a capture can say of a range that was sent several times is which of the copies was the
//! first, in the order of sending, to arrive: later ones were unneeded, it and earlier ones needed.
//! Each piece of evidence bounds that copy from one side.

use serde::Serialize;

/// A piece of evidence about a range that was sent more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The range was acknowledged before it was sent again.
    AlreadyAcknowledged,
    /// Both copies were seen arriving: only at the receiver's side.
    BothCopiesSeen,
    /// It arrives for the first time, later than what was sent behind it: only at the receiver's
    /// side.
    FillsHole,
    /// The receiver reported as many duplicates as there were retransmissions (RFC 2883).
    DSack,
    /// The first acknowledgment of the range echoes a timestamp older than the retransmission's
    /// (RFC 3522).
    OlderTimestamp,
    /// The first acknowledgment of the range echoes the retransmission's timestamp.
    OwnTimestamp,
    /// It was acknowledged sooner after the retransmission than the path allows (Allman and Paxson
    /// 1999).
    AckTooSoon,
    /// The next range, sent before the retransmission, arrived later and by its original, so that this
    /// one's original came before it, too (the idea of F-RTO, RFC 5682).
    OriginalsInOrder,
    /// Something sent before it arrived after the range did, so that it was not the copy that arrived.
    ArrivedBefore,
    /// Ranges that had been acknowledged were sent again before this one, and the duplicate
    /// acknowledgments of these copies were still to come when it was acknowledged.
    DuplicatesToCome,
    /// As many duplicate acknowledgments that told of nothing new came as there were retransmissions,
    /// before what was sent later arrived.
    DuplicateEach,
    /// So many duplicate acknowledgments followed that of the range, before that of something sent
    /// later, that one of them answered this copy.
    DuplicateFollowed,
    /// The acknowledgment that answers a duplicate acknowledges what was sent behind the original,
    /// too, and no gap was ever reported.
    AnsweredDuplicate,
    /// Its first acknowledgment acknowledges what was sent behind the original, too, and no gap was
    /// ever reported.
    NoGapReported,
    /// Something sent later than the earlier copies arrived, and they had not (RFC 8985).
    OvertakenCopies,
    /// The range before it was acknowledged, and a round trip later nothing of this one had come,
    /// though its original had been sent right behind.
    OriginalMissing,
    /// The range was reported missing, and its acknowledgment filled the gap.
    GapFilled,
    /// A receiver that reports duplicates has reported none of it (RFC 2883).
    NoDuplicateReported,
}

impl Evidence {
    /// As documents say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AlreadyAcknowledged => "already-acknowledged",
            Self::BothCopiesSeen => "both-copies-seen",
            Self::FillsHole => "fills-hole",
            Self::DSack => "d-sack",
            Self::OlderTimestamp => "older-timestamp",
            Self::OwnTimestamp => "own-timestamp",
            Self::AckTooSoon => "ack-too-soon",
            Self::OriginalsInOrder => "originals-in-order",
            Self::ArrivedBefore => "arrived-before",
            Self::DuplicatesToCome => "duplicates-to-come",
            Self::DuplicateEach => "duplicate-each",
            Self::DuplicateFollowed => "duplicate-followed",
            Self::AnsweredDuplicate => "answered-duplicate",
            Self::NoGapReported => "no-gap-reported",
            Self::OvertakenCopies => "overtaken-copies",
            Self::OriginalMissing => "original-missing",
            Self::GapFilled => "gap-filled",
            Self::NoDuplicateReported => "no-duplicate-reported",
        }
    }

    /// May something be concluded from what is concluded from it?
    pub const fn carries(self) -> bool {
        !matches!(self, Self::NoGapReported | Self::NoDuplicateReported)
    }

    /// How far it can be trusted, between 0 and 1.
    pub const fn confidence(self) -> f64 {
        match self {
            Self::AlreadyAcknowledged | Self::BothCopiesSeen => 1.0,
            Self::DSack => 0.995,
            Self::OlderTimestamp => 0.99,
            Self::OwnTimestamp | Self::FillsHole => 0.98,
            Self::AckTooSoon | Self::OriginalsInOrder | Self::ArrivedBefore => 0.97,
            Self::OvertakenCopies
            | Self::DuplicatesToCome
            | Self::DuplicateEach
            | Self::DuplicateFollowed => 0.95,
            Self::AnsweredDuplicate | Self::GapFilled => 0.9,
            Self::OriginalMissing => 0.85,
            Self::NoGapReported => 0.8,
            Self::NoDuplicateReported => 0.75,
        }
    }
}

/// Which copies may have been the first, in the order of sending, to arrive; the original is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// This one or an earlier one.
    AtMost(usize),
    /// This one or a later one.
    AtLeast(usize),
}

/// A piece of evidence, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    /// What it is.
    pub evidence: Evidence,
    /// What it means for the copy that arrived first.
    pub bound: Bound,
    /// The frame that shows it.
    pub frame: u64,
}

impl Sign {
    /// What it says of a retransmission, the `copy`-th copy of its range.
    pub const fn verdict(&self, copy: usize) -> Verdict {
        match self.bound {
            Bound::AtMost(first) if first < copy => Verdict::Unneeded,
            Bound::AtLeast(first) if first >= copy => Verdict::Needed,
            Bound::AtMost(_) | Bound::AtLeast(_) => Verdict::Unknown,
        }
    }
}

/// What a retransmission was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No earlier copy arrived.
    Needed,
    /// An earlier copy arrived.
    Unneeded,
    /// The capture does not say.
    Unknown,
}

/// A verdict with what speaks for it and against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What the retransmission was.
    pub verdict: Verdict,
    /// How sure that is, between 0 and 1; 0 if it is unknown.
    pub confidence: f64,
    /// What speaks for it.
    pub evidence: Vec<Sign>,
    /// What speaks against it.
    pub against: Vec<Sign>,
}

/// Weighs what is known of a retransmission, the `copy`-th copy of its range: the strongest piece of
/// evidence decides, and what contradicts it is kept beside it.
pub fn weigh(signs: &[Sign], copy: usize) -> Judged {
    let of = |verdict| -> Vec<Sign> {
        let mut found: Vec<Sign> =
            signs.iter().filter(|sign| sign.verdict(copy) == verdict).copied().collect();
        found.sort_by(|a, b| b.evidence.confidence().total_cmp(&a.evidence.confidence()));
        found.dedup_by_key(|sign| sign.evidence);
        found
    };
    let (unneeded, needed) = (of(Verdict::Unneeded), of(Verdict::Needed));
    let strength = |signs: &[Sign]| signs.first().map_or(0.0, |sign| sign.evidence.confidence());
    let (for_it, against) = (strength(&unneeded), strength(&needed));
    if for_it.max(against) == 0.0 {
        let nothing = Vec::new();
        return Judged {
            verdict: Verdict::Unknown,
            confidence: 0.0,
            evidence: nothing.clone(),
            against: nothing,
        };
    }
    let confidence = |own: f64, other: f64| own * (1.0 - other / 2.0);
    match for_it >= against {
        true => Judged {
            verdict: Verdict::Unneeded,
            confidence: confidence(for_it, against),
            evidence: unneeded,
            against: needed,
        },
        false => Judged {
            verdict: Verdict::Needed,
            confidence: confidence(against, for_it),
            evidence: needed,
            against: unneeded,
        },
    }
}
