//! The verdicts of passive detectors about a kernel's retransmissions, by the packets at its end.

use std::cmp::Reverse;

use rtolab_net::ScoredDetectors;
use rtolab_record::{Place, TimeoutRow, VerdictRow};
use rtolab_tcp::Cause;
use rtolab_time::Instant;

use super::observed_packet::ObservedPacket;

/// The verdicts on these timeouts and fast retransmits of a flow's sender, which retransmitted
/// these `copies`.
///
/// `seen` are the packets of the flow, and `second` are the copies that a link duplicated, with the
/// time at which the second one arrived. `probes` are the copies that are tail loss probes.
pub(super) fn verdicts(
    detectors: &mut ScoredDetectors,
    (seen, second): (&[ObservedPacket], &[(u64, Instant)]),
    (rows, copies, probes): (&[TimeoutRow], &[u64], &[u64]),
    until: Instant,
) -> Vec<VerdictRow> {
    let mut decisions = copies.iter().zip(rows).peekable();
    for (at, is_arrival, packet) in events(seen, second) {
        if is_arrival {
            detectors.on_arrival(&packet.segment, at);
            continue;
        }
        if let Some((_, row)) = decisions.next_if(|(copy, _)| **copy == packet.copy) {
            detectors.on_retransmission(row, packet.segment.seq);
        }
        let cause = match packet.retransmission {
            false => Cause::New,
            true if probes.binary_search(&packet.copy).is_ok() => Cause::Probe,
            true => Cause::Unknown,
        };
        detectors.on_departure(&packet.segment, at, cause);
    }
    detectors.verdicts(rows, until)
}

/// The packets that the sender sent and received, in order of time: the time, whether the packet
/// arrived, and the packet. At the same time, arrivals come before the answers to them.
fn events<'a>(
    seen: &'a [ObservedPacket],
    second: &[(u64, Instant)],
) -> Vec<(Instant, bool, &'a ObservedPacket)> {
    let (sent, received): (Vec<_>, Vec<_>) =
        seen.iter().partition(|packet| packet.from == Place::Sender);
    let mut events: Vec<_> = sent.into_iter().map(|packet| (packet.sent, false, packet)).collect();
    for packet in received {
        let copies = second.iter().filter(|(copy, _)| *copy == packet.copy).map(|(_, at)| *at);
        let arrivals = packet.arrived().into_iter().chain(copies);
        events.extend(arrivals.map(|at| (at, true, packet)));
    }
    events.sort_by_key(|(at, is_arrival, packet)| (*at, Reverse(*is_arrival), packet.copy));
    events
}

#[cfg(test)]
mod tests {
    use rtolab_record::{TimeoutKind, Truth};
    use rtolab_tcp::config::KnownPath;
    use rtolab_tcp::spurious::DetectorId;
    use rtolab_tcp::{Flags, Segment, Seq};
    use rtolab_time::Duration;

    use super::super::observed_packet::made::packet;
    use super::*;

    const LEN: u32 = 100;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn data(copy: u64, number: u32, times: (u64, u64)) -> ObservedPacket {
        let segment = Segment::new(Seq::FIRST + 1 + number * LEN, LEN, Flags::ACK);
        packet((copy, Place::Sender), segment, times)
    }

    fn retransmission(copy: u64, number: u32, times: (u64, u64)) -> ObservedPacket {
        ObservedPacket { retransmission: true, ..data(copy, number, times) }
    }

    /// An ACK for the first segments, this number of them.
    fn ack(copy: u64, segments: u32, times: (u64, u64)) -> ObservedPacket {
        let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        segment.ack = Seq::FIRST + 1 + segments * LEN;
        packet((copy, Place::Receiver), segment, times)
    }

    /// A connection with a SYN that was answered.
    fn opened(rest: Vec<ObservedPacket>) -> Vec<ObservedPacket> {
        let syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
        let mut answer = Segment::new(Seq::FIRST, 0, Flags::SYN | Flags::ACK);
        answer.ack = Seq::FIRST + 1;
        let mut seen = vec![
            packet((0, Place::Sender), syn, (0, 10)),
            packet((1, Place::Receiver), answer, (10, 20)),
        ];
        seen.extend(rest);
        seen
    }

    /// The verdicts of these detectors about a timeout with this copy of the segment `number`.
    fn found(
        names: &[&str],
        seen: &[ObservedPacket],
        (copy, number): (u64, u32),
        probes: &[u64],
    ) -> Vec<(&'static str, Option<&'static str>)> {
        let row = TimeoutRow {
            flow: "flow".into(),
            end: Place::Sender,
            at: seen.iter().find(|packet| packet.copy == copy).unwrap().sent,
            kind: TimeoutKind::Timeout,
            seq: 1 + i64::from(number * LEN),
            rto: Duration::from_secs(1),
            backoff: 0,
            cwnd: 1000,
            needed: true,
            truth: Some(Truth::Spurious),
            cost: None,
            verdict: None,
            detector: None,
            verdict_at: None,
        };
        let detectors: Vec<_> =
            names.iter().map(|name| DetectorId::passive(name).unwrap()).collect();
        let path = KnownPath { rate: None, delay: None };
        let mut detectors = ScoredDetectors::new(path, &detectors);
        let decisions = (&[row][..], &[copy][..], probes);
        let rows = verdicts(&mut detectors, (seen, &[]), decisions, at(60_000));
        assert!(rows.iter().all(|row| row.truth == Some(Truth::Spurious)), "that of the timeout");
        rows.iter().map(|row| (row.verdict, row.why)).collect()
    }

    #[test]
    fn acks_of_the_originals_make_a_timeout_spurious() {
        // Three segments are held; the timeout retransmits the first, and an ACK of the original
        // lets two new segments leave.
        let seen = opened(vec![
            data(2, 0, (20, 3000)),
            data(3, 1, (20, 3000)),
            data(4, 2, (20, 3000)),
            retransmission(5, 0, (1020, 3001)),
            ack(6, 1, (3000, 3010)),
            data(7, 3, (3010, 3020)),
            data(8, 4, (3010, 3020)),
            ack(9, 2, (3000, 3011)),
            ack(10, 3, (3000, 3012)),
        ]);
        let verdicts = found(&["frto:rfc5682", "originals"], &seen, (5, 0), &[]);
        assert_eq!(verdicts, [("spurious", None), ("spurious", None)]);
    }

    #[test]
    fn without_new_segments_f_rto_is_inconclusive() {
        let seen = opened(vec![
            data(2, 0, (20, 0)),
            data(3, 1, (20, 0)),
            retransmission(4, 0, (1020, 1030)),
            ack(5, 1, (1030, 1040)),
            retransmission(6, 1, (1040, 1050)),
            ack(7, 2, (1050, 1060)),
        ]);
        assert_eq!(
            found(&["frto:rfc5682"], &seen, (4, 0), &[]),
            [("blind", Some("the sender did otherwise"))]
        );
    }

    #[test]
    fn an_ack_may_answer_a_probe() {
        // The probe retransmits the last segment before the timeout, so its ACK proves nothing.
        let seen = opened(vec![
            data(2, 0, (20, 0)),
            data(3, 1, (20, 0)),
            retransmission(4, 1, (500, 1025)),
            retransmission(5, 0, (1020, 1030)),
            ack(6, 1, (1030, 1040)),
            data(7, 2, (1040, 1050)),
            ack(8, 2, (1030, 1041)),
        ]);
        let verdict = |probes: &[u64]| found(&["frto:rfc5682"], &seen, (5, 0), probes)[0].0;
        assert_eq!([verdict(&[]), verdict(&[4])], ["spurious", "blind"]);
    }
}
