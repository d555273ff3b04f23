//! The original of this range was lost: it was sent right after that of the previous range, but was
//! not acknowledged within a round trip after it.

use rtolab_time::{Duration, Instant};

use super::input::Pair;
use crate::history::{Bound, EvidenceKind, Finding, Original};
use crate::rtt::TOO_SOON;

pub(super) static KIND: EvidenceKind = EvidenceKind::new("original-missing", 0.85);

/// The usual maximum delay of a delayed ACK, with a margin.
const DELAYED_ACK: Duration = Duration::from_millis(250);

pub(super) fn of_next(pair: &Pair<'_>) -> Option<Finding> {
    let (covering, next) = pair.covering_acks()?;
    let (first, second) = (pair.range.copies[0].at, pair.next.copies[0].at);
    let wait = pair.rtt.min.map(|min| (min * TOO_SOON / 100).max(DELAYED_ACK))?;
    let missing = pair.next.original() == Original::Unknown
        && first > Instant::START
        && next.at.since(covering.at) >= wait
        && second.since(first) < wait;
    missing.then(|| Bound::AtLeast(1).shown_by(next.frame))
}
