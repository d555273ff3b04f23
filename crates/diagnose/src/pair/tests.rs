//! Tests of the comparison of two captures, on single packets.

use super::*;

/// A packet of this length at a time in milliseconds.
fn packet(millis: i64, seq: u32, len: u32) -> Packet {
    Packet {
        at: millis * 1_000_000,
        frame: millis as u64,
        seq,
        ack: 1,
        len,
        id: 10,
        window: 1000,
        flags: Flags::ACK.bits(),
        stamps: None,
        seen: None,
        arrived: 0,
        seen_frame: 0,
    }
}

#[test]
fn ranges_have_the_bytes_in_common_that_both_span() {
    for (one, other, common) in [
        ((0, 10), (5, 10), 5),
        ((5, 10), (0, 10), 5),
        ((0, 100), (10, 20), 20),
        ((10, 20), (0, 100), 20),
        ((0, 10), (10, 5), 0),
        ((10, 5), (0, 10), 0),
        ((0, 10), (500, 10), 0),
        ((u32::MAX - 4, 10), (0, 10), 5),
        ((0, 10), (u32::MAX - 4, 10), 5),
    ] {
        assert_eq!(overlap(one, other), common, "{one:?} {other:?}");
    }
}

/// A network card numbers the parts one after the other, and a part has 500 bytes at least.
#[test]
fn a_part_has_one_of_the_next_identifications() {
    let whole = packet(0, 1, 1000);
    for (id, len, is_part) in [
        (10, 100, true),
        (12, 100, true),
        (13, 100, false),
        (9, 499, false),
        (9, 500, true),
        (8, 500, false),
    ] {
        assert_eq!(may_be_part(&whole, &Packet { id, ..packet(0, 1, len) }), is_part, "{id} {len}");
    }
    let last = Packet { id: u16::MAX, ..whole };
    assert!(may_be_part(&last, &Packet { id: 1, ..packet(0, 1, 100) }), "numbers wrap around");
}

/// Acknowledgments of the receiver at these times, with their numbers, and whether they arrive.
fn acks<const N: usize>(all: [(i64, u32, bool); N]) -> [Packet; N] {
    all.map(|(millis, ack, arrives)| Packet {
        ack,
        seen: arrives.then_some(0),
        ..packet(millis, 1, 0)
    })
}

/// The copy left at 100 ms, and the first of it and later ones arrived at 200 ms.
#[test]
fn a_timeout_was_spurious_if_an_ack_of_the_original_arrives() {
    let copy = packet(100, 1, 1000);
    let is_acknowledged = |copy: &Packet, answered, acks: &[Packet]| {
        covering_acks(copy, answered, acks).any(|ack| ack.seen.is_some())
    };
    let of = |ack| is_acknowledged(&copy, 200_000_000, &acks([ack]));
    assert!(of((150, 1001, true)) && of((199, 2001, true)) && of((50, 1001, true)));
    assert!(!of((200, 1001, true)), "it answers the copy");
    assert!(!of((150, 1000, true)), "it lacks a byte");
    assert!(!of((150, 1001, false)), "it was lost");
    let before = acks([(20, 1, true), (40, 1001, true), (60, 1001, false)]);
    assert!(is_acknowledged(&copy, 200_000_000, &before));
    let fin = packet(100, 1, 0);
    assert!(is_acknowledged(&fin, 200_000_000, &acks([(150, 2, true)])));
    assert!(!is_acknowledged(&fin, 200_000_000, &acks([(150, 1, true)])));
    let wrapped = packet(100, u32::MAX, 1000);
    assert!(is_acknowledged(&wrapped, 200_000_000, &acks([(150, 999, true)])));
    assert!(!is_acknowledged(&wrapped, 200_000_000, &acks([(150, 998, true)])));
}

/// The verdicts on the copies of a segment of 1000 bytes; the arrived bytes of each copy.
fn verdicts(arrived: &[Option<u32>], acks: &[Packet]) -> Vec<(u64, Necessity, TimeoutClass)> {
    verdicts_at(true, arrived, acks)
}

/// As [`verdicts`], with the second capture at the receiver or in the middle of the path.
fn verdicts_at(
    is_captured: bool,
    arrived: &[Option<u32>],
    acks: &[Packet],
) -> Vec<(u64, Necessity, TimeoutClass)> {
    let copies = arrived.iter().zip([100, 1100, 3100]).map(|(arrived, millis)| Packet {
        seen: arrived.map(|_| (millis + 50) * 1_000_000),
        arrived: arrived.unwrap_or(0),
        ..packet(millis, 1, 1000)
    });
    let mut found = PairedVerdicts::new();
    let receiver = Receiver { acks, still_missing: HashMap::new(), is_captured };
    find_verdicts(&copies.collect::<Vec<_>>(), &receiver, &mut found);
    let mut found: Vec<_> =
        found.iter().map(|(frame, one)| (*frame, one.verdict, one.class)).collect();
    found.sort_unstable();
    found
}

#[test]
fn a_copy_is_unneeded_if_an_earlier_one_arrived_whole() {
    use Necessity::{Needed, Unneeded};
    use TimeoutClass::{AckLost, Genuine, Spurious};
    let all = Some(1000);
    assert_eq!(
        verdicts(&[None, all, all], &[]),
        [(1100, Needed, Genuine), (3100, Unneeded, AckLost)]
    );
    assert_eq!(verdicts(&[Some(999), all], &[]), [(1100, Needed, Genuine)]);
    let answer = acks([(160, 1001, true)]);
    assert_eq!(verdicts(&[all, all], &answer), [(1100, Unneeded, Spurious)]);
    assert_eq!(verdicts(&[all], &answer), []);
    // The ACK answers the first copy, which arrived at 1150 ms, so the second was spurious.
    let late = acks([(1160, 1001, true)]);
    assert_eq!(
        verdicts(&[None, all, all], &late),
        [(1100, Needed, Genuine), (3100, Unneeded, Spurious)]
    );
}

/// The receiver's acknowledgments show whether what passed the middle of the path arrived.
#[test]
fn a_copy_that_passed_the_middle_of_the_path_may_still_be_lost() {
    use Necessity::{Needed, Unknown, Unneeded};
    let all = Some(1000);
    let of = |acks: &[Packet]| verdicts_at(false, &[all, all], acks);
    assert_eq!(of(&[]), [(1100, Unknown, TimeoutClass::Unknown)]);
    let answer = |arrives| acks([(190, 1001, arrives)]);
    assert_eq!(of(&answer(true)), [(1100, Unneeded, TimeoutClass::Spurious)]);
    assert_eq!(of(&answer(false)), [(1100, Unneeded, TimeoutClass::AckLost)]);
    let too_late = acks([(1150, 1001, true)]);
    assert_eq!(of(&too_late), [(1100, Unknown, TimeoutClass::Unknown)]);
    let lost_before = verdicts_at(false, &[None, all], &[]);
    assert_eq!(lost_before, [(1100, Needed, TimeoutClass::Genuine)]);
}

#[test]
fn the_first_arrival_is_that_of_a_packet_or_of_a_later_copy() {
    let of = |seq, seen| Packet { seen, ..packet(0, seq, 1000) };
    let sent = [of(1, Some(70)), of(2, None), of(1, None), of(1, Some(90)), of(3, Some(95))];
    assert_eq!(first_arrivals(&sent), [70, i64::MAX, 90, 90, 95]);
    let reordered = [of(1, Some(90)), of(1, Some(70))];
    assert_eq!(first_arrivals(&reordered), [70, 70]);
}

#[test]
fn the_lag_is_the_median_of_packets_that_both_captures_have_unchanged() {
    let here: Vec<Packet> = (0..5).map(|n| packet(n, n as u32, 1000)).collect();
    let lags = [10, 30, 20, 90, 20];
    let mut there: Vec<Packet> =
        (0..5).map(|n| packet(n + lags[n as usize], n as u32, 1000)).collect();
    assert_eq!(lag(&here, &there), Some(20_000_000));
    there[1].len = 999;
    there[3].stamps = Some((1, 2));
    assert_eq!(lag(&here, &there), Some(20_000_000));
    assert_eq!(lag(&here, &[]), None);
}

/// Packets with these one-way delays in milliseconds; the other clock is a second ahead.
fn delayed(delays: &[Option<i64>]) -> PairDirection {
    let nanos = 1_000_000;
    let packets: Vec<(i64, u64, Option<i64>)> = delays
        .iter()
        .zip(0..)
        .map(|(delay, at)| (at * nanos, at as u64, delay.map(|ms| (at + 1000 + ms) * nanos)))
        .collect();
    direction(&packets, 1000 * nanos)
}

#[test]
fn delays_are_those_of_the_packets_that_arrive() {
    let delays: Vec<Option<i64>> = (0..=100).rev().map(Some).collect();
    let found = delayed(&delays);
    assert_eq!(
        found.delay.map(|all| all.map(|one| (one * 1000.0).round())),
        Some([0.0, 50.0, 99.0, 100.0])
    );
    assert_eq!((found.packets, found.lost, found.held), (101, 0, 0));
    let none = delayed(&[None, None]);
    assert_eq!((none.packets, none.delay), (2, None));
}

/// A quarter of a second more than the fastest.
#[test]
fn packets_that_arrive_much_later_than_the_fastest_were_held() {
    let found = delayed(&[Some(0), Some(250), Some(251), None, Some(9000)]);
    assert_eq!((found.held, found.held_frames), (2, vec![2, 4]));
    assert_eq!((found.lost, found.lost_frames), (1, vec![3]));
    assert_eq!(delayed(&[Some(500), Some(750)]).held, 0);
    let many: Vec<Option<i64>> =
        [Some(0)].into_iter().chain((0..MAX_FRAMES + 5).map(|_| Some(900))).collect();
    let found = delayed(&many);
    assert_eq!((found.held as usize, found.held_frames.len()), (MAX_FRAMES + 5, MAX_FRAMES));
}
