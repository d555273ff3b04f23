//! Which stream bytes were retransmitted, and why.

use std::collections::{BTreeMap, HashMap};

use crate::event::StreamPart;

/// The most ranges that may still be retransmitted. Beyond, the oldest are forgotten.
const MAX_EXPECTED: usize = 1 << 18;

/// The reason why a range may be retransmitted: a loss or a timeout, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Loss(usize),
    Timeout(usize),
}

/// The streams of one end.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Stream bytes that were sent for the first time.
    pub bytes: u64,
    /// Stream bytes that were retransmitted.
    pub retransmitted: u64,
    /// The end of what was sent of each stream.
    sent: HashMap<u64, u64>,
    /// The ranges that may be retransmitted: by stream and offset, their end and the cause.
    expected: BTreeMap<(u64, u64), (u64, Cause)>,
}

impl Streams {
    /// This part may be retransmitted for this reason. The first reason counts.
    pub fn expect(&mut self, part: StreamPart, cause: Cause) {
        if part.length > 0 && self.expected.len() < MAX_EXPECTED {
            let end = part.offset + part.length;
            self.expected.entry((part.stream, part.offset)).or_insert((end, cause));
        }
    }

    /// Processes a part that was sent. Returns how many bytes of it were retransmitted, by cause.
    pub fn on_sent(&mut self, part: StreamPart) -> Vec<(Cause, u64)> {
        let end = part.offset.saturating_add(part.length);
        let sent = self.sent.entry(part.stream).or_default();
        let retransmitted = end.min(*sent).saturating_sub(part.offset);
        *sent = (*sent).max(end);
        self.bytes += part.length - retransmitted;
        self.retransmitted += retransmitted;
        if retransmitted == 0 || self.expected.is_empty() {
            return Vec::new();
        }
        // A range that begins earlier may reach into this one.
        let stream = part.stream;
        let before = self.expected.range((stream, 0)..(stream, part.offset)).next_back();
        let from = before.map_or(part.offset, |((_, offset), _)| *offset);
        let ranges: Vec<(u64, u64, Cause)> = self
            .expected
            .range((stream, from)..(stream, end))
            .filter(|(_, (until, _))| *until > part.offset)
            .map(|((_, offset), (until, cause))| (*offset, *until, *cause))
            .collect();
        let mut causes = Vec::new();
        for (offset, until, cause) in ranges {
            self.expected.remove(&(stream, offset));
            causes.push((cause, until.min(end) - offset.max(part.offset)));
            if offset < part.offset {
                self.expected.insert((stream, offset), (part.offset, cause));
            }
            if until > end {
                self.expected.insert((stream, end), (until, cause));
            }
        }
        causes
    }
}
