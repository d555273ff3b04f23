//! The SACK blocks of a receiver that remembers only some (Linux: `selective_acks`).

use alloc::vec::Vec;
use core::ops::Range;

use crate::seq::Seq;

/// The remembered SACK blocks, the most recently reported first.
#[derive(Clone, Debug, Default)]
pub(super) struct SackMemory(Vec<Range<Seq>>);

impl SackMemory {
    pub fn blocks(&self) -> &[Range<Seq>] {
        &self.0
    }

    /// Adds a segment beyond a gap (`tcp_sack_new_ofo_skb`). It joins only remembered blocks, and
    /// the oldest of `most` is forgotten.
    pub fn add(&mut self, segment: Range<Seq>, most: usize) {
        let touches = |a: &Range<Seq>, b: &Range<Seq>| a.start <= b.end && b.start <= a.end;
        let join = |a: Range<Seq>, b: &Range<Seq>| a.start.min(b.start)..a.end.max(b.end);
        let Some(place) = self.0.iter().position(|block| touches(block, &segment)) else {
            self.0.truncate(most.saturating_sub(1));
            return self.0.insert(0, segment);
        };
        let mut first = join(segment, &self.0.remove(place));
        self.0.retain(|block| {
            let joins = touches(block, &first);
            if joins {
                first = join(first.clone(), block);
            }
            !joins
        });
        self.0.insert(0, first);
    }

    /// RCV.NXT has advanced (`tcp_sack_remove`). `all_filled`: no data waits beyond a gap.
    pub fn advance(&mut self, rcv_nxt: Seq, all_filled: bool) {
        self.0.retain(|block| !all_filled && rcv_nxt < block.start);
    }
}
