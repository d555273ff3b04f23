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
        let block = take_touching(&mut self.0, segment);
        self.0.truncate(most.saturating_sub(1));
        self.0.insert(0, block);
    }

    /// RCV.NXT has advanced (`tcp_sack_remove`). `all_filled`: no data waits beyond a gap.
    pub fn advance(&mut self, rcv_nxt: Seq, all_filled: bool) {
        self.0.retain(|block| !all_filled && rcv_nxt < block.start);
    }
}

/// Removes the blocks that `range` touches, and returns it joined with them.
pub(super) fn take_touching(blocks: &mut Vec<Range<Seq>>, mut range: Range<Seq>) -> Range<Seq> {
    blocks.retain(|block| {
        let touches = block.start <= range.end && range.start <= block.end;
        if touches {
            range = range.start.min(block.start)..range.end.max(block.end);
        }
        !touches
    });
    range
}
