//! Tests of rates. A packet of 1460 B of payload and 40 B of headers takes 12 ms at 1 Mbit/s.

use rtolab_time::Duration;

use super::super::link::{BARE_ACK, Sent, acknowledge};
use super::*;

const PAYLOAD: i64 = 1460;

/// ACKs with these numbers, one a second.
fn delivered_at(acks: &[i64]) -> Vec<i64> {
    let acks: Vec<Ack> =
        acks.iter().zip(1..).map(|(&ack, t)| Ack { t: f64::from(t), ack, idle: false }).collect();
    delivered(&acks, 10).iter().map(|one| one.ack).collect()
}

#[test]
fn without_losses_the_link_delivers_what_acks_acknowledge() {
    assert_eq!(delivered_at(&[10, 20, 40, 45, 65]), [10, 20, 40, 45, 65]);
}

/// Two of eight segments are lost: six arrive before the ACK of the first retransmission.
#[test]
fn a_partial_ack_counts_as_the_packet_that_filled_a_gap() {
    assert_eq!(delivered_at(&[10, 10, 10, 10, 10, 10, 40, 80]), [10, 20, 30, 40, 50, 60, 70, 80]);
}

/// The packet after the gap had caused the duplicate.
#[test]
fn an_ack_after_a_duplicate_counts_as_one_packet() {
    assert_eq!(delivered_at(&[10, 10, 30, 40]), [10, 20, 30, 40]);
}

/// An unneeded retransmission causes a duplicate ACK. That says nothing about a later jump.
#[test]
fn duplicates_before_an_ordinary_ack_do_not_count_later() {
    assert_eq!(delivered_at(&[10, 10, 20, 30, 70]), [10, 20, 30, 40, 80]);
}

/// ACKs at these times in milliseconds, of these numbers, and whether the sender was idle before.
fn paces_of(acks: &[(u32, i64, bool)]) -> Vec<Pace> {
    let ack = |&(t, ack, idle): &(u32, i64, bool)| Ack { t: f64::from(t) / 1000.0, ack, idle };
    let acks: Vec<Ack> = acks.iter().map(ack).collect();
    paces(&acks, PAYLOAD, 40)
}

#[test]
fn a_pace_counts_the_headers_of_each_packet() {
    let pace = |bytes| paces_of(&[(100, 1000, false), (124, 1000 + bytes, false)])[0];
    for (bytes, wire) in [(1460, 1500.0), (1461, 1541.0), (2920, 3000.0), (100, 140.0)] {
        let Pace { at, rate, weight } = pace(bytes);
        assert!((rate - 8.0 * wire / 0.024).abs() < 1.0, "{bytes} B: {rate}");
        assert!((at - 0.1).abs() < 1e-9 && weight == bytes);
    }
}

/// The ACK of the SYN is answered at once, and two ACKs at the same time have no pace.
#[test]
fn the_handshake_and_simultaneous_acks_have_no_pace() {
    let found = paces_of(&[(0, 1, false), (100, 1461, false), (100, 2921, false)]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn paces_after_idle_times_count_only_if_there_are_few_others() {
    let with_busy = |busy: u32| {
        let mut acks = vec![(0, 1461, false)];
        acks.extend((1..=busy).map(|one| (12 * one, 1461 + PAYLOAD * i64::from(one), false)));
        acks.push((9000, 1461 + PAYLOAD * i64::from(busy + 1), true));
        paces_of(&acks).len()
    };
    assert_eq!((with_busy(11), with_busy(12)), (12, 12));
    assert_eq!(with_busy(13), 13);
}

#[test]
fn the_median_rate_is_weighted_by_bytes() {
    let median = |paces: &[(f64, i64)]| {
        let pace = |&(rate, weight): &(f64, i64)| Pace { at: 0.0, rate, weight };
        median_rate(&paces.iter().map(pace).collect::<Vec<_>>()).unwrap()
    };
    let rates = [
        median(&[(1.0, 100), (5.0, 100), (2.0, 100)]),
        median(&[(1.0, 100), (2.0, 100), (5.0, 300)]),
        median(&[(1.0, 500), (2.0, 100), (5.0, 300)]),
    ];
    assert!(rates.iter().zip([2.0, 5.0, 1.0]).all(|(one, other)| (one - other).abs() < 1e-9));
}

/// The rates of this number of packets at 1 Mbit/s, divided by these.
fn rates(parts: &[(usize, f64)]) -> Vec<(f64, f64)> {
    let (mut t, mut ack) = (0.0, 1);
    let gaps = parts.iter().flat_map(|&(count, slower)| std::iter::repeat_n(slower, count));
    let acks: Vec<Ack> = gaps
        .map(|slower| {
            (t, ack) = (t + 0.012 * slower, ack + PAYLOAD);
            Ack { t, ack, idle: false }
        })
        .collect();
    find_rates(&paces(&acks, PAYLOAD, 40)).unwrap()
}

#[test]
fn a_rate_needs_twelve_acks() {
    assert_eq!(rates(&[(40, 1.0), (11, 5.0), (40, 1.0)]).len(), 1);
    let found = rates(&[(40, 1.0), (12, 5.0), (40, 1.0)]);
    assert_eq!(found.len(), 3, "{found:?}");
    // There are as many paces as ACKs, less one.
    let few = rates(&[(12, 1.0), (12, 5.0)]);
    assert!(few.len() == 1 && (few[0].0 - 0.012).abs() < 1e-9, "it begins with the first pace");
    assert_eq!(rates(&[(13, 1.0), (12, 5.0)]).len(), 2);
}

#[test]
fn a_rate_is_at_least_half_higher_or_lower_than_the_one_before() {
    for (slower, expected) in [(1.4, 1), (1.6, 2), (1.0 / 1.4, 1), (1.0 / 1.6, 2)] {
        let found = rates(&[(50, 1.0), (50, slower)]);
        assert_eq!(found.len(), expected, "{slower}: {found:?}");
    }
}

#[test]
fn a_constant_rate_has_no_change() {
    assert_eq!(rates(&[(50, 1.0)]).len(), 1);
}

/// Each third packet takes twice as long, and each third one half as long.
#[test]
fn in_a_noisy_pace_a_short_change_is_noise() {
    let with_change = |before: usize, packets: usize| {
        let noise = |slower: f64| [1.0, 2.0, 0.5].map(|noise| (1, slower * noise)).into_iter();
        let parts = |count: usize, slower| {
            std::iter::repeat_n((), count / 3).flat_map(move |()| noise(slower))
        };
        let after = parts(before, 1.0);
        rates(&parts(before, 1.0).chain(parts(packets, 8.0)).chain(after).collect::<Vec<_>>()).len()
    };
    assert_eq!(with_change(60, 18), 3);
    assert_eq!(with_change(600, 18), 1);
    assert_eq!(with_change(600, 300), 3);
}

#[test]
fn a_rate_that_changes_more_than_eight_times_counts_as_constant() {
    let changing = |parts: usize| {
        let part = |index| (20, if index % 2 == 0 { 1.0 } else { 5.0 });
        rates(&(0..parts).map(part).collect::<Vec<_>>())
    };
    assert_eq!(changing(9).len(), 9);
    let found = changing(10);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].0 - 0.012).abs() < 1e-9, "it begins with the first pace");
}

/// A link of these rates in bit/s and 100 ms.
fn link(rates: &[(f64, f64)]) -> Link {
    let mut link = Link::new(rates, BARE_ACK);
    link.delay = Duration::from_millis(100);
    link
}

/// Packets of 1000 B, one every 10 ms.
fn packets(count: u32) -> Vec<Sent> {
    let send = |number: u32| {
        let (t, seq) = (f64::from(number) * 0.01, 1000 * i64::from(number));
        let (frame, end, lost) = (seq, seq + 1000, false);
        Sent { t, seq, end, frame, lost, number, tail_dropped: false, ack: 0 }
    };
    let mut sent: Vec<Sent> = (0..count).map(send).collect();
    acknowledge(&mut sent);
    sent
}

#[test]
fn a_change_moves_to_the_time_that_explains_the_acks() {
    let sent = packets(600);
    for slower in [4e5, 2e6] {
        let rates = |at| link(&[(0.0, 9e5), (at, slower), (9.0, 1e5)]);
        let new_acks = rates(2.0).predicted_acks(&sent);
        for guess in [1.6, 2.0, 2.5] {
            let found = settle_changes(rates(guess), Seen { sent: &sent, new_acks: &new_acks });
            let at = found.change_at(0);
            // Above the rate of the packets, a queue is needed to see the change.
            let tolerance = if slower < 8e5 { 0.01 } else { 0.6 };
            assert!((at - 2.0).abs() < tolerance, "{guess}: {at}");
        }
    }
}

#[test]
fn a_change_stays_between_its_neighbours() {
    let link = link(&[(0.0, 1e6), (0.5, 2e6), (0.7, 1e6), (5.0, 2e6)]);
    let times = |index: usize, range| -> Vec<f64> {
        moved(&link, index, range).iter().map(|one| one.change_at(index)).collect()
    };
    let is_between = |times: &[f64], from, to| times.iter().all(|at| from < *at && *at < to);
    let first = times(0, 0.8);
    assert!(is_between(&first, 0.0, 0.7) && first.len() == 7, "{first:?}");
    let second = times(1, 0.8);
    assert!(is_between(&second, 0.5, 1.51) && second.len() == 11, "{second:?}");
    // The last change may move without bound.
    let last = times(2, 0.8);
    let expected: Vec<f64> = (-8..=8).map(|step| 5.0 + 0.1 * f64::from(step)).collect();
    assert!((last[0] - 5.0).abs() < 1e-9, "the link itself comes first");
    assert!(last[1..].iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-6));
    assert_eq!(last.len(), 18);
}

/// ACKs may be delayed, but are never early.
#[test]
fn an_early_ack_weighs_four_times_a_late_one() {
    let (link, sent) = (link(&[(0.0, 1e6)]), packets(1));
    let expected = link.predicted_acks(&sent)[0];
    let error = |moved: f64, since| {
        let new_acks = [Acked { t: expected.t + moved, ..expected }];
        mean_error(&link, Seen { sent: &sent, new_acks: &new_acks }, 0, since)
    };
    assert!((error(0.05, 0.0) - 0.05).abs() < 1e-9);
    assert!((error(-0.05, 0.0) - 0.2).abs() < 1e-9);
    assert!(error(0.05, 1.0).abs() < 1e-9, "ACKs before the change say nothing about it");
}
