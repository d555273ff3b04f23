//! New random numbers for a fork.

use alloc::collections::BTreeMap;

use rtolab_time::Instant;

use crate::stream::Rng;

/// A part of a link that draws random numbers.
pub(crate) enum RandomPart<'a> {
    /// A generator with a stream of its own.
    Numbers(&'a mut Rng),
    /// Spans; others may be copies with the same stream.
    Spans(&'a mut dyn RandomSpans),
}

/// Random spans of which there may be copies.
pub(crate) trait RandomSpans {
    /// The stream of the random spans, if there are any.
    fn stream(&self) -> Option<u64>;

    /// All spans that begin before this instant are computed.
    fn computed_until(&self) -> Instant;

    /// Computes the spans that begin before `end`, and draws other random spans after the next one.
    fn reseed(&mut self, end: Instant, salt: u64);
}

/// A function that is called with every part.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(RandomPart<'_>);

/// Gives every part that `visit_all` visits new random numbers, which depend on its state and on
/// `salt` alone.
///
/// Copies of spans stay equal: those that are computed less far than others are completed
/// first.
pub(crate) fn reseed(salt: u64, mut visit_all: impl FnMut(Visit<'_>)) {
    let mut ends: BTreeMap<u64, Instant> = BTreeMap::new();
    visit_all(&mut |part| {
        if let RandomPart::Spans(spans) = part {
            let end = spans.computed_until();
            if let Some(stream) = spans.stream() {
                let last = ends.entry(stream).or_insert(end);
                *last = end.max(*last);
            }
        }
    });
    visit_all(&mut |part| match part {
        RandomPart::Numbers(rng) => rng.reseed(salt),
        RandomPart::Spans(spans) => {
            let end = spans.stream().and_then(|stream| ends.get(&stream));
            if let Some(end) = end {
                spans.reseed(*end, salt);
            }
        }
    });
}
