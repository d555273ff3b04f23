//! Segments that a receiver discards as old (PAWS, RFC 7323 section 5), inferred from its
//! packets.
//!
//! The packets do not report the drop. They determine TS.Recent, and Linux drops a segment whose
//! timestamp is older by more than [`PAWS_WINDOW`]. Kernels count the segments that they drop, also
//! those without new data (`TcpExtPAWSEstab`).

use rtolab_tcp::Flags;

use super::observed_packet::{ObservedPacket, Ranges};

/// A segment is accepted if its timestamp is older than TS.Recent by at most this number of ticks:
/// Linux's `TCP_PAWS_WINDOW`.
const PAWS_WINDOW: i32 = 1;

/// Marks the segments of a flow whose data was dropped as old.
pub(crate) fn mark(seen: &mut [ObservedPacket]) {
    let arrivals = (0..seen.len()).filter_map(|index| Some((seen[index].arrived()?, index)));
    let departures = (0..seen.len()).map(|index| (seen[index].sent, index));
    let arrivals = arrivals.map(|(at, index)| (at, PacketTime::Arrived, index));
    let departures = departures.map(|(at, index)| (at, PacketTime::Sent, index));
    let mut all: Vec<_> = arrivals.chain(departures).collect();
    all.sort();
    let mut hosts = [Host::default(), Host::default()];
    for (_, event, index) in all {
        let one = &mut seen[index];
        match event {
            PacketTime::Sent => hosts[one.from.index()].on_sent(one),
            PacketTime::Arrived => {
                one.dropped_as_old = hosts[one.from.other().index()].on_arrival(one);
            }
        }
    }
}

/// The event of a packet. At the same time, arrivals come before the answers to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PacketTime {
    Arrived,
    Sent,
}

/// An end as a receiver.
#[derive(Default)]
struct Host {
    /// TS.Recent.
    recent: Option<u32>,
    /// Last.ACK.sent.
    acked: u64,
    received: Ranges,
}

impl Host {
    fn on_sent(&mut self, one: &ObservedPacket) {
        if one.segment.flags.has(Flags::ACK) {
            self.acked = one.segment.ack.value();
        }
    }

    /// Processes a packet. Returns whether new data is dropped because of an old timestamp.
    fn on_arrival(&mut self, one: &ObservedPacket) -> bool {
        let range = one.range();
        let Some(value) = one.segment.timestamps().map(|timestamps| timestamps.value) else {
            self.received.add(range);
            return false;
        };
        // How much newer the timestamp is than TS.Recent, in ticks.
        let newer = self.recent.map_or(0, |recent| value.wrapping_sub(recent) as i32);
        if newer < -PAWS_WINDOW {
            // A segment without new data does not count as dropped.
            return !range.is_empty() && !self.received.contains(&range);
        }
        let covers_last_ack = (range.start..=range.end).contains(&self.acked);
        // TS.Recent never goes back, although an accepted segment may be older.
        if one.segment.flags.has(Flags::SYN) || (newer >= 0 && covers_last_ack) {
            self.recent = Some(value);
        }
        self.received.add(range);
        false
    }
}

#[cfg(test)]
mod tests {
    use rtolab_record::{Fate, Place};
    use rtolab_tcp::{Segment, Seq, Timestamps};
    use rtolab_time::{Duration, Instant};

    use super::*;

    /// A packet with the times in milliseconds at which it was sent and arrived. Its timestamp is
    /// the first one.
    fn packet(from: Place, mut segment: Segment, (sent, arrived): (u32, u32)) -> ObservedPacket {
        let at = |millis: u32| Instant::START + Duration::from_millis(millis.into());
        segment.set_timestamps(Timestamps { value: sent, echo: 0 });
        ObservedPacket {
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

    /// The segment with this number, from 0.
    fn data(number: u32, times: (u32, u32)) -> ObservedPacket {
        let seq = Seq::FIRST + 1 + 100 * number;
        packet(Place::Sender, Segment::new(seq, 100, Flags::ACK), times)
    }

    /// An ACK of all segments below this number.
    fn ack(number: u32, sent: u32) -> ObservedPacket {
        let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        segment.ack = Seq::FIRST + 1 + 100 * number;
        packet(Place::Receiver, segment, (sent, sent + 100))
    }

    fn dropped(mut seen: Vec<ObservedPacket>) -> Vec<usize> {
        mark(&mut seen);
        (0..seen.len()).filter(|index| seen[*index].dropped_as_old).collect()
    }

    #[test]
    fn data_sent_before_the_segment_that_filled_the_gap_is_dropped_as_old() {
        // Segment 1 is late. Segment 0 is retransmitted in the meantime and fills the gap before
        // it, so TS.Recent is 300.
        let late = |at| vec![ack(0, 0), data(1, (10, at)), data(0, (300, 400)), ack(1, 400)];
        assert_eq!(dropped(late(700)), [1]);
        // Segment 1 arrives before segment 0, out of order, and is accepted.
        assert_eq!(dropped(late(350)), [0; 0]);
    }

    #[test]
    fn linux_accepts_a_segment_that_is_older_by_one_tick() {
        // Segment 1 arrives after segment 0, which was sent a tick or two later. Afterwards
        // TS.Recent is still the timestamp of segment 0.
        let overtaken_by = |sent| vec![ack(0, 0), data(1, (10, 700)), data(0, (sent, 400))];
        assert_eq!(dropped(overtaken_by(11)), [0; 0]);
        assert_eq!(dropped(overtaken_by(12)), [1]);
        let mut seen = overtaken_by(11);
        seen.extend([ack(1, 400), ack(2, 700), data(2, (9, 800)), ack(2, 800)]);
        assert_eq!(dropped(seen), [5]);
    }

    #[test]
    fn a_duplicate_is_not_dropped_as_old() {
        let seen = vec![ack(0, 0), data(0, (10, 700)), data(0, (300, 400)), ack(1, 400)];
        assert_eq!(dropped(seen), [0; 0]);
    }

    #[test]
    fn duplicates_and_out_of_order_segments_do_not_change_ts_recent() {
        // A copy of segment 0 arrives after the ACK of 0 and 1, and segment 3 before 2.
        let mut seen = vec![ack(0, 0), data(0, (10, 110)), data(1, (20, 120)), ack(2, 120)];
        seen.extend([data(0, (300, 400)), data(3, (310, 410)), data(2, (30, 700))]);
        assert_eq!(dropped(seen), [0; 0]);
    }
}
