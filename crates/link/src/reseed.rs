//! New random numbers for a fork.

use alloc::collections::BTreeMap;

use rtolab_time::Instant;

use crate::stream::Rng;
use crate::timeline::Timeline;

/// A part of a link that draws random numbers.
pub(crate) enum RandomPart<'a> {
    /// A generator with a stream of its own.
    Numbers(&'a mut Rng),
    /// Spans; other timelines may be copies with the same stream.
    Spans(&'a mut Timeline),
}

/// A function that is called with every part.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(RandomPart<'_>);

/// Gives every part that `visit_all` visits new random numbers, which depend on its state and on
/// `salt` alone.
///
/// Copies of a timeline stay equal: those that are computed less far than others are completed
/// first.
pub(crate) fn reseed(salt: u64, mut visit_all: impl FnMut(Visit<'_>)) {
    let mut ends: BTreeMap<u64, Instant> = BTreeMap::new();
    visit_all(&mut |part| {
        if let RandomPart::Spans(timeline) = part {
            let end = timeline.computed_until();
            if let Some(stream) = timeline.stream() {
                let last = ends.entry(stream).or_insert(end);
                *last = end.max(*last);
            }
        }
    });
    visit_all(&mut |part| match part {
        RandomPart::Numbers(rng) => rng.reseed(salt),
        RandomPart::Spans(timeline) => {
            let end = timeline.stream().and_then(|stream| ends.get(&stream));
            if let Some(end) = end {
                timeline.reseed(*end, salt);
            }
        }
    });
}
