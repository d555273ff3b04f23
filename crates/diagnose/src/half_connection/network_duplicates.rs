//! Segments that the network duplicated, by the D-SACKs with which the receiver answers them.

use arrayvec::ArrayVec;
use rtolab_tcp::{Flags, Flight, Segment, Sent, Seq};

/// The maximum number of copies whose D-SACKs are awaited.
const MAX_AWAITED: usize = 32;

/// Does an ACK of all data and of the FIN have the SACK block that had reported the FIN, although
/// no segment of that was retransmitted? It looks like a D-SACK, and is none: Linux in FIN-WAIT
/// sends this ACK before it clears its SACK blocks.
pub(super) fn repeats_block_of_fin(flight: &Flight, segment: &Segment) -> bool {
    let Some(block) = segment.sack_blocks().next() else { return false };
    let is_of_fin = |last: &Sent| last.flags.has(Flags::FIN) && last.end() == block.end;
    if segment.ack != block.end || !flight.last().is_some_and(is_of_fin) {
        return false;
    }
    let missing = flight.segments_from(flight.una()).take_while(|sent| sent.seq < block.start);
    let mut reported = flight.segments_from(block.start);
    missing.last().is_some_and(|sent| !sent.is_sacked() && sent.end() == block.start)
        && reported.all(|sent| sent.is_sacked() && !sent.was_retransmitted())
}

/// The segments of a direction that the network duplicated.
#[derive(Clone, Debug, Default)]
pub(crate) struct NetworkDuplicates {
    /// The ranges of the latest copies in the capture, until a D-SACK reports them.
    awaited: ArrayVec<(Seq, Seq), MAX_AWAITED>,
    /// Copies in the capture that a D-SACK reported: the receiver received them, too.
    pub captured: u64,
    /// D-SACKs of data that the capture contains once: the network duplicated it after the capture
    /// point, or the capture lacks a copy.
    pub not_captured: u64,
}

impl NetworkDuplicates {
    /// Notes a copy of a packet at the same capture point.
    pub fn on_copy(&mut self, segment: &Segment) {
        if segment.len == 0 {
            return;
        }
        if self.awaited.is_full() {
            self.awaited.remove(0);
        }
        self.awaited.push((segment.seq, segment.end()));
    }

    /// Processes a D-SACK block, from its first byte to the one after its last, of data that was
    /// not retransmitted.
    pub fn on_dsack(&mut self, (from, to): (Seq, Seq)) {
        let is_reported = |&(start, end): &(Seq, Seq)| start <= from && to <= end;
        match self.awaited.iter().position(is_reported) {
            Some(index) => {
                self.awaited.remove(index);
                self.captured += 1;
            }
            None => self.not_captured += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use rtolab_tcp::Flags;

    use super::*;

    fn seq(offset: u32) -> Seq {
        Seq::FIRST + offset
    }

    /// After the capture had two copies of the bytes from 1000 to 2000.
    fn copied() -> NetworkDuplicates {
        let mut duplicates = NetworkDuplicates::default();
        duplicates.on_copy(&Segment::new(seq(1000), 1000, Flags::ACK));
        duplicates
    }

    /// A D-SACK may report a part of the copy: the receiver had the rest already.
    #[test]
    fn a_d_sack_within_a_captured_copy_reports_it_once() {
        for (from, to) in [(1000, 2000), (1000, 1500), (1500, 2000)] {
            let mut duplicates = copied();
            duplicates.on_dsack((seq(from), seq(to)));
            assert_eq!((duplicates.captured, duplicates.not_captured), (1, 0), "{from} {to}");
            duplicates.on_dsack((seq(from), seq(to)));
            assert_eq!((duplicates.captured, duplicates.not_captured), (1, 1), "{from} {to}");
        }
    }

    #[test]
    fn a_d_sack_of_other_data_reports_a_copy_that_the_capture_lacks() {
        for (from, to) in [(0, 1000), (2000, 3000), (500, 1500), (1500, 2500), (500, 2500)] {
            let mut duplicates = copied();
            duplicates.on_dsack((seq(from), seq(to)));
            assert_eq!((duplicates.captured, duplicates.not_captured), (0, 1), "{from} {to}");
        }
    }

    #[test]
    fn the_d_sacks_of_the_latest_copies_are_awaited() {
        let mut duplicates = NetworkDuplicates::default();
        for number in 0..=MAX_AWAITED as u32 {
            duplicates.on_copy(&Segment::new(seq(1000 * number), 1000, Flags::ACK));
            // A pure ACK has no data to report.
            duplicates.on_copy(&Segment::new(seq(1000 * number), 0, Flags::ACK));
        }
        duplicates.on_dsack((seq(0), seq(1000)));
        assert_eq!((duplicates.captured, duplicates.not_captured), (0, 1));
        duplicates.on_dsack((seq(1000), seq(2000)));
        assert_eq!((duplicates.captured, duplicates.not_captured), (1, 1));
    }
}
