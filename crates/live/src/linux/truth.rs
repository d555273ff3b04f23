//! The ground truth about a retransmission, from the fates of all packets.
//!
//! A simulation forks the run and continues it without the retransmission. A kernel cannot be
//! forked, but its packets show the same. An ACK of the segment would have arrived without the
//! retransmission if an earlier copy caused it, or if the receiver sent it before the
//! retransmission or a later copy arrived.

use rtolab_record::Truth;
use rtolab_tcp::Flags;
use rtolab_time::Instant;

use super::observed_packet::ObservedPacket;

pub(crate) fn truth(seen: &[ObservedPacket], index: usize) -> Truth {
    let retransmission = &seen[index];
    let range = retransmission.range();
    let copies = |seen: &&ObservedPacket| {
        let other = seen.range();
        seen.from == retransmission.from && other.start <= range.start && other.end > range.start
    };
    let arrivals = |part: &[ObservedPacket]| {
        part.iter().filter(copies).filter_map(ObservedPacket::delivered).min()
    };
    let Some(earlier) = arrivals(&seen[..index]) else { return Truth::Genuine };
    // ACKs sent after `later` may answer the retransmission. If the retransmission arrives before
    // all earlier copies, every ACK after `earlier` counts.
    let later = arrivals(&seen[index..]).filter(|later| *later > earlier);
    match acknowledged(seen, retransmission, (earlier, later)) {
        true => Truth::Spurious,
        false => Truth::AckLost,
    }
}

/// Does an ACK that was sent between `from` and `to` arrive after the retransmission was sent? If
/// `to` is `None`, any ACK sent after `from` counts. The first ACK counts even if it was sent after
/// `to`: it may be a delayed ACK, and the receiver would have sent it without the second copy, too.
fn acknowledged(
    seen: &[ObservedPacket],
    retransmission: &ObservedPacket,
    (from, to): (Instant, Option<Instant>),
) -> bool {
    let covers = |ack: &&ObservedPacket| {
        let flags = ack.segment.flags;
        ack.from == retransmission.from.other()
            && ack.sent >= from
            && flags.has(Flags::ACK)
            && ack.segment.ack.value() > retransmission.segment.seq.value()
    };
    let acks = seen.iter().filter(covers).enumerate();
    let mut acks = acks.filter(|(index, ack)| *index == 0 || to.is_none_or(|to| ack.sent < to));
    acks.any(|(_, ack)| ack.arrived().is_some_and(|at| at >= retransmission.sent))
}

#[cfg(test)]
mod tests {
    use rtolab_record::Place;
    use rtolab_tcp::{Segment, Seq};

    use super::super::observed_packet::made::packet;
    use super::*;

    fn data(times: (u64, u64)) -> ObservedPacket {
        packet((0, Place::Sender), Segment::new(Seq::FIRST + 1, 100, Flags::ACK), times)
    }

    fn ack(times: (u64, u64)) -> ObservedPacket {
        let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        segment.ack = Seq::FIRST + 101;
        packet((0, Place::Receiver), segment, times)
    }

    #[test]
    fn a_timeout_is_spurious_if_the_ack_is_late() {
        // The data is held until 3 s. The retransmission at 1 s arrives after it.
        let all = [data((0, 3000)), data((1000, 3010)), ack((3000, 3200)), ack((3010, 3210))];
        assert_eq!(truth(&all, 1), Truth::Spurious);
        // Only the ACK is held.
        let all = [data((0, 200)), ack((200, 3000)), data((1000, 1200)), ack((1200, 3001))];
        assert_eq!(truth(&all, 2), Truth::Spurious);
    }

    #[test]
    fn a_retransmission_of_lost_data_is_genuine() {
        let all = [data((0, 0)), data((1000, 1200)), ack((1200, 1400))];
        assert_eq!(truth(&all, 1), Truth::Genuine);
        // A later copy does not change that.
        let all = [data((0, 0)), data((1000, 0)), data((3000, 3200)), ack((3200, 3400))];
        assert_eq!([truth(&all, 1), truth(&all, 2)], [Truth::Genuine; 2]);
    }

    #[test]
    fn an_ack_of_the_retransmission_is_not_that_of_the_original() {
        let all = [data((0, 200)), ack((200, 0)), data((1000, 1200)), ack((1200, 1400))];
        assert_eq!(truth(&all, 2), Truth::AckLost);
    }

    #[test]
    fn a_delayed_ack_counts_as_that_of_the_original() {
        let all = [data((0, 200)), data((205, 230)), ack((230, 430))];
        assert_eq!(truth(&all, 1), Truth::Spurious);
    }

    #[test]
    fn a_timeout_is_spurious_if_the_retransmission_arrives_before_the_original() {
        let all = [data((0, 3000)), data((1000, 1200)), ack((1200, 1400)), ack((3000, 3200))];
        assert_eq!(truth(&all, 1), Truth::Spurious);
    }
}
