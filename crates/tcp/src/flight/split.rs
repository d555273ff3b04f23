//! The division of outstanding segments after the path MTU has become smaller (Linux:
//! `tcp_fragment`).

use super::{Flight, Sent};
use crate::segment::Flags;
use crate::seq::Seq;

impl Flight {
    /// Divides the outstanding segments with more than `smss` bytes of payload into segments of
    /// `smss` bytes. Their marks stay. Returns the first sequence number of the first one that is
    /// not SACKed.
    pub(crate) fn split_longer_than(&mut self, smss: u32) -> Option<Seq> {
        let is_longer = |sent: &&Sent| sent.payload() > smss;
        self.segments.iter().find(is_longer)?;
        let first = self.segments.iter().find(|sent| !sent.sacked && is_longer(sent));
        let first = first.map(|sent| sent.seq);
        self.segments = self.segments.iter().flat_map(|sent| sent.pieces(smss)).collect();
        // A piece may lie within a block that does not contain the whole segment.
        self.forget_blocks();
        first
    }
}

impl Sent {
    /// Its payload in bytes.
    fn payload(&self) -> u32 {
        self.len - u32::from(self.flags.any(Flags::SYN | Flags::FIN))
    }

    /// The same data in segments with at most `smss` bytes of payload.
    fn pieces(&self, smss: u32) -> impl Iterator<Item = Self> {
        let (whole, count) = (*self, self.payload().div_ceil(smss).max(1));
        (0..count).map(move |index| {
            let seq = whole.seq + index * smss;
            match index + 1 == count {
                true => Self { seq, len: whole.len - index * smss, ..whole },
                false => Self { seq, len: smss, flags: whole.flags.without(Flags::FIN), ..whole },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use rtolab_time::Instant;

    use super::*;
    use crate::flight::Cause;
    use crate::segment::Segment;

    fn flight() -> Flight {
        let mut flight = Flight::starting_at(Seq::FIRST);
        let mut seq = Seq::FIRST;
        for (len, flags) in [(1000, Flags::ACK), (300, Flags::ACK), (700, Flags::ACK | Flags::FIN)]
        {
            let segment = Segment::new(seq, len, flags);
            flight.sent(&segment, Instant::START, Cause::New);
            seq = segment.end();
        }
        flight
    }

    fn lengths(flight: &Flight) -> Vec<u32> {
        flight.segments_from(flight.una()).map(|sent| sent.len).collect()
    }

    #[test]
    fn longer_segments_are_divided_and_the_fin_stays_at_the_end() {
        let mut flight = flight();
        assert_eq!(flight.split_longer_than(300), Some(Seq::FIRST));
        assert_eq!(lengths(&flight), [300, 300, 300, 100, 300, 300, 300, 101]);
        let fins = flight.segments_from(flight.una()).map(|sent| sent.flags.has(Flags::FIN));
        assert_eq!(fins.filter(|fin| *fin).count(), 1);
        assert!(flight.last().unwrap().flags.has(Flags::FIN));
        let mut next = flight.una();
        for sent in flight.segments_from(flight.una()) {
            assert_eq!(sent.seq, next);
            next = sent.end();
        }
        assert_eq!(next, flight.max());
        // Nothing is longer any more.
        assert_eq!(flight.split_longer_than(300), None);
    }

    #[test]
    fn the_first_segment_that_is_not_sacked_counts_and_marks_stay() {
        let mut flight = flight();
        flight.mark_lost_from(Seq::FIRST + 1300);
        let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
        ack.ack = Seq::FIRST;
        ack.push_sack(Seq::FIRST..Seq::FIRST + 1000);
        ack.ack = Seq::FIRST;
        flight.on_ack(&ack, Instant::START);
        let (sacked, lost) = (flight.sacked(), flight.lost());
        assert_eq!(flight.split_longer_than(400), Some(Seq::FIRST + 1300));
        assert_eq!((flight.sacked(), flight.lost()), (sacked, lost));
        let marked = |is: fn(&Sent) -> bool| -> u64 {
            flight
                .segments_from(flight.una())
                .filter(|sent| is(sent))
                .map(|sent| u64::from(sent.len))
                .sum()
        };
        assert_eq!((marked(Sent::is_sacked), marked(Sent::is_lost)), (sacked, lost));
    }
}
