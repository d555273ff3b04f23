//! Segments that a receiver drops as old (PAWS, RFC 7323 section 5), inferred from the order of its
//! packets.
//!
//! No packet reports that. But TS.Recent follows from the packets, so the segments that find a
//! newer one are known; kernels count the same number (`TcpExtPAWSEstab`).

use rtolab_tcp::Flags;

use super::seen::{Ranges, Seen};

/// Marks the segments of a flow whose data was dropped as old.
pub(crate) fn mark(seen: &mut [Seen]) {
    let arrivals = (0..seen.len()).filter_map(|index| Some((seen[index].arrived()?, index)));
    let departures = (0..seen.len()).map(|index| (seen[index].sent, index));
    let arrivals = arrivals.map(|(at, index)| (at, Happened::Arrived, index));
    let departures = departures.map(|(at, index)| (at, Happened::Left, index));
    let mut all: Vec<_> = arrivals.chain(departures).collect();
    all.sort();
    let mut hosts = [Host::default(), Host::default()];
    for (_, happened, index) in all {
        let one = &mut seen[index];
        match happened {
            Happened::Left => hosts[one.from.index()].answers(one),
            Happened::Arrived => one.dropped_as_old = hosts[one.from.other().index()].drops(one),
        }
    }
}

/// An end sends its answer after the packet arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happened {
    Arrived,
    Left,
}

/// An end as a receiver.
#[derive(Default)]
struct Host {
    /// TS.Recent.
    recent: Option<u32>,
    /// Last.ACK.sent.
    acked: u64,
    taken: Ranges,
}

impl Host {
    fn answers(&mut self, one: &Seen) {
        if one.segment.flags.has(Flags::ACK) {
            self.acked = one.segment.ack.value();
        }
    }

    /// Does it drop new data because of an old timestamp?
    fn drops(&mut self, one: &Seen) -> bool {
        let range = one.range();
        let Some(value) = one.segment.timestamps().map(|timestamps| timestamps.value) else {
            self.taken.add(range);
            return false;
        };
        let old = self.recent.is_some_and(|recent| (value.wrapping_sub(recent) as i32) < 0);
        if old {
            return !range.is_empty() && !self.taken.hold(&range);
        }
        // Entirely old data is dropped before its timestamp is checked.
        if one.segment.flags.has(Flags::SYN) || (range.start..=range.end).contains(&self.acked) {
            self.recent = Some(value);
        }
        self.taken.add(range);
        false
    }
}

#[cfg(test)]
mod tests {
    use rtolab_record::{Fate, Place};
    use rtolab_tcp::{Segment, Seq, Timestamps};
    use rtolab_time::{Duration, Instant};

    use super::*;

    /// A packet sent and arriving at these milliseconds, with the time of sending as its timestamp.
    fn packet(from: Place, mut segment: Segment, (sent, arrived): (u32, u32)) -> Seen {
        let at = |millis: u32| Instant::START + Duration::from_millis(millis.into());
        segment.set_timestamps(Timestamps { value: sent, echo: 0 });
        Seen {
            copy: 0,
            from,
            segment,
            sent: at(sent),
            bytes: segment.len + 52,
            fate: Fate::Delivered,
            fate_at: Some(at(arrived)),
            held: Duration::ZERO,
            dropped_as_old: false,
            retransmission: false,
            unneeded: false,
        }
    }

    /// The segment of this number, from 0.
    fn data(number: u32, times: (u32, u32)) -> Seen {
        let seq = Seq::FIRST + 1 + 100 * number;
        packet(Place::Sender, Segment::new(seq, 100, Flags::ACK), times)
    }

    /// An ACK of all segments below this number.
    fn ack(number: u32, sent: u32) -> Seen {
        let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        segment.ack = Seq::FIRST + 1 + 100 * number;
        packet(Place::Receiver, segment, (sent, sent + 100))
    }

    fn dropped(mut seen: Vec<Seen>) -> Vec<usize> {
        mark(&mut seen);
        (0..seen.len()).filter(|index| seen[*index].dropped_as_old).collect()
    }

    #[test]
    fn data_that_left_before_what_filled_a_hole_below_is_dropped_as_old() {
        // 1 is late. 0 is retransmitted meanwhile and fills the hole before it, so TS.Recent is
        // 300.
        let late = |at| vec![ack(0, 0), data(1, (10, at)), data(0, (300, 400)), ack(1, 400)];
        assert_eq!(dropped(late(700)), [1]);
        // It arrives before, out of order, and is accepted.
        assert_eq!(dropped(late(350)), [0; 0]);
    }

    #[test]
    fn what_is_there_already_is_not_dropped_but_a_duplicate() {
        let seen = vec![ack(0, 0), data(0, (10, 700)), data(0, (300, 400)), ack(1, 400)];
        assert_eq!(dropped(seen), [0; 0]);
    }

    #[test]
    fn neither_a_duplicate_nor_what_is_out_of_order_makes_others_old() {
        // 0 arrives again when 0 and 1 are acknowledged, and 3 before 2.
        let mut seen = vec![ack(0, 0), data(0, (10, 110)), data(1, (20, 120)), ack(2, 120)];
        seen.extend([data(0, (300, 400)), data(3, (310, 410)), data(2, (30, 700))]);
        assert_eq!(dropped(seen), [0; 0]);
    }
}
