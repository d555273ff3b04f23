//! The ground truth about a retransmission, from the fates of all packets.
//!
//! A simulation forks the run and continues it without the retransmission. A kernel cannot be
//! forked, but its packets show the same: if the receiver acknowledged the segment before any later
//! copy reached it, or because of an earlier copy, that ACK would have come without the
//! retransmission.

use rtolab_record::Truth;
use rtolab_tcp::Flags;
use rtolab_time::Instant;

use super::seen::Seen;

pub(crate) fn truth(seen: &[Seen], index: usize) -> Truth {
    let again = &seen[index];
    let range = again.range();
    let copies = |seen: &&Seen| {
        let other = seen.range();
        seen.from == again.from && other.start <= range.start && other.end > range.start
    };
    let arrivals = |part: &[Seen]| part.iter().filter(copies).filter_map(Seen::delivered).min();
    let Some(earlier) = arrivals(&seen[..index]) else { return Truth::Genuine };
    // Later ACKs may answer the retransmission, unless the first copy arrives after it.
    let later = arrivals(&seen[index..]).filter(|later| *later > earlier);
    match acknowledged(seen, again, (earlier, later)) {
        true => Truth::Spurious,
        false => Truth::AckLost,
    }
}

/// Does an ACK that was sent between `from` and `to`, or after `from` if there is no `to`, arrive
/// after the retransmission was sent? An ACK that was still delayed when the second copy arrived
/// would have been sent then.
fn acknowledged(seen: &[Seen], again: &Seen, (from, to): (Instant, Option<Instant>)) -> bool {
    let covers = |ack: &&Seen| {
        let flags = ack.segment.flags;
        ack.from == again.from.other()
            && ack.sent >= from
            && flags.has(Flags::ACK)
            && ack.segment.ack.value() > again.segment.seq.value()
    };
    let acks = seen.iter().filter(covers).enumerate();
    let mut acks = acks.filter(|(place, ack)| *place == 0 || to.is_none_or(|to| ack.sent < to));
    acks.any(|(_, ack)| ack.arrived().is_some_and(|at| at >= again.sent))
}

#[cfg(test)]
mod tests {
    use rtolab_link::DropCause;
    use rtolab_record::{Fate, Place};
    use rtolab_tcp::{Segment, Seq};
    use rtolab_time::Duration;

    use super::*;

    /// A packet sent and arriving at these milliseconds; it is lost if the second is 0.
    fn seen(from: Place, segment: Segment, (sent, arrived): (u64, u64)) -> Seen {
        let at = |millis| Instant::START + Duration::from_millis(millis);
        Seen {
            copy: 0,
            from,
            segment,
            sent: at(sent),
            bytes: segment.len + 40,
            fate: if arrived > 0 { Fate::Delivered } else { Fate::Dropped(DropCause::Outage) },
            fate_at: Some(at(arrived.max(sent))),
            held: Duration::ZERO,
            dropped_as_old: false,
            retransmission: false,
            unneeded: false,
        }
    }

    fn data(times: (u64, u64)) -> Seen {
        seen(Place::Sender, Segment::new(Seq::FIRST + 1, 100, Flags::ACK), times)
    }

    fn ack(times: (u64, u64)) -> Seen {
        let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        segment.ack = Seq::FIRST + 101;
        seen(Place::Receiver, segment, times)
    }

    #[test]
    fn a_late_acknowledgment_makes_it_spurious() {
        // The data is held until 3 s; the retransmission of 1 s arrives after it.
        let all = [data((0, 3000)), data((1000, 3010)), ack((3000, 3200)), ack((3010, 3210))];
        assert_eq!(truth(&all, 1), Truth::Spurious);
        // Only the ACK is held.
        let all = [data((0, 200)), ack((200, 3000)), data((1000, 1200)), ack((1200, 3001))];
        assert_eq!(truth(&all, 2), Truth::Spurious);
    }

    #[test]
    fn what_did_not_arrive_had_to_be_sent_again() {
        let all = [data((0, 0)), data((1000, 1200)), ack((1200, 1400))];
        assert_eq!(truth(&all, 1), Truth::Genuine);
        // A later copy does not change that.
        let all = [data((0, 0)), data((1000, 0)), data((3000, 3200)), ack((3200, 3400))];
        assert_eq!([truth(&all, 1), truth(&all, 2)], [Truth::Genuine; 2]);
    }

    #[test]
    fn an_acknowledgment_of_the_retransmission_alone_is_none_of_the_original() {
        let all = [data((0, 200)), ack((200, 0)), data((1000, 1200)), ack((1200, 1400))];
        assert_eq!(truth(&all, 2), Truth::AckLost);
    }

    #[test]
    fn an_acknowledgment_that_was_still_delayed_would_have_come() {
        let all = [data((0, 200)), data((205, 230)), ack((230, 430))];
        assert_eq!(truth(&all, 1), Truth::Spurious);
    }

    #[test]
    fn an_original_that_is_overtaken_would_have_been_acknowledged() {
        let all = [data((0, 3000)), data((1000, 1200)), ack((1200, 1400)), ack((3000, 3200))];
        assert_eq!(truth(&all, 1), Truth::Spurious);
    }
}
