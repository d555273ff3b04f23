//! A cache of the SACK blocks that were processed before. Acknowledgments repeat their blocks, and
//! each block covers all segments that arrived since a loss.

use core::ops::Range;

use crate::segment::MAX_SACK_BLOCKS;
use crate::seq::Seq;

/// The most recent blocks; the segments wholly within one of them are marked.
#[derive(Clone, Debug)]
pub(super) struct KnownBlocks {
    blocks: [Range<Seq>; MAX_SACK_BLOCKS],
    /// The index of the oldest one.
    oldest: u8,
}

impl KnownBlocks {
    pub(super) const EMPTY: Self =
        Self { blocks: [const { Seq::new(0)..Seq::new(0) }; MAX_SACK_BLOCKS], oldest: 0 };

    /// Any one of them.
    pub(super) const fn any(&self) -> &Range<Seq> {
        &self.blocks[0]
    }

    /// Adds `block`, which is about to be marked. Returns the end of the known block that begins at
    /// the same place, if there is one.
    pub(super) fn marked_up_to(&mut self, block: &Range<Seq>) -> Option<Seq> {
        if let Some(known) = self.blocks.iter_mut().find(|known| known.start == block.start) {
            let end = known.end;
            known.end = end.max(block.end);
            return Some(end);
        }
        self.blocks[usize::from(self.oldest)] = block.clone();
        self.oldest = (self.oldest + 1) % MAX_SACK_BLOCKS as u8;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u32, to: u32) -> Range<Seq> {
        Seq::FIRST + from..Seq::FIRST + to
    }

    #[test]
    fn a_repeated_or_growing_block_is_known_up_to_its_former_end() {
        let mut known = KnownBlocks::EMPTY;
        assert_eq!(known.marked_up_to(&range(10, 20)), None);
        assert_eq!(known.marked_up_to(&range(10, 30)), Some(Seq::FIRST + 20));
        assert_eq!(known.marked_up_to(&range(10, 20)), Some(Seq::FIRST + 30));
        // A block that begins elsewhere is unknown.
        assert_eq!(known.marked_up_to(&range(5, 30)), None);
    }

    #[test]
    fn the_oldest_of_five_blocks_is_forgotten() {
        let mut known = KnownBlocks::EMPTY;
        for from in [10, 20, 30, 40, 50] {
            assert_eq!(known.marked_up_to(&range(from, from + 5)), None);
        }
        assert_eq!(known.marked_up_to(&range(20, 25)), Some(Seq::FIRST + 25));
        assert_eq!(known.marked_up_to(&range(10, 15)), None);
    }
}
