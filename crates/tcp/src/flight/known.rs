//! Which SACK blocks were looked through before: acknowledgments repeat theirs, each of which
//! covers as many segments as arrived since a loss.

use core::ops::Range;

use crate::seq::Seq;

/// An acknowledgment has room for so many SACK blocks (RFC 2018 section 3).
const BLOCKS: usize = 4;

/// The last blocks: what lies wholly within one of them is marked.
#[derive(Clone, Debug)]
pub(super) struct Known {
    blocks: [Range<Seq>; BLOCKS],
    /// Which of them is the oldest.
    oldest: u8,
}

impl Known {
    pub(super) const fn nothing() -> Self {
        Self { blocks: [const { Seq::new(0)..Seq::new(0) }; BLOCKS], oldest: 0 }
    }

    /// One of them, whichever.
    pub(super) const fn any(&self) -> &Range<Seq> {
        &self.blocks[0]
    }

    /// `block` is about to be marked: where what begins there was marked up to before; `None`:
    /// nothing is known of what begins there.
    pub(super) fn marked_up_to(&mut self, block: &Range<Seq>) -> Option<Seq> {
        if let Some(known) = self.blocks.iter_mut().find(|known| known.start == block.start) {
            let end = known.end;
            known.end = end.max(block.end);
            return Some(end);
        }
        self.blocks[usize::from(self.oldest)] = block.clone();
        self.oldest = (self.oldest + 1) % BLOCKS as u8;
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
    fn a_block_that_is_repeated_or_grows_is_known_up_to_where_it_ended() {
        let mut known = Known::nothing();
        assert_eq!(known.marked_up_to(&range(10, 20)), None);
        assert_eq!(known.marked_up_to(&range(10, 30)), Some(Seq::FIRST + 20));
        assert_eq!(known.marked_up_to(&range(10, 20)), Some(Seq::FIRST + 30));
        // One that begins elsewhere says nothing of what lies before.
        assert_eq!(known.marked_up_to(&range(5, 30)), None);
    }

    #[test]
    fn of_five_blocks_the_oldest_is_forgotten() {
        let mut known = Known::nothing();
        for from in [10, 20, 30, 40, 50] {
            assert_eq!(known.marked_up_to(&range(from, from + 5)), None);
        }
        assert_eq!(known.marked_up_to(&range(20, 25)), Some(Seq::FIRST + 25));
        assert_eq!(known.marked_up_to(&range(10, 15)), None);
    }
}
