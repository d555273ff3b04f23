//! Tests of late ACKs. The link has 1 Mbit/s and 100 ms.

use rtolab_time::{Duration, Instant};

use super::super::link::{Sent, acknowledge};
use super::*;

fn link() -> Link {
    let mut link = Link::new(&[(0.0, 1e6)], BARE_ACK);
    link.delay = Duration::from_millis(100);
    link
}

/// 300 packets of 1000 B, one every 40 ms.
fn packets() -> Vec<Sent> {
    let send = |number: u32| {
        let (t, seq) = (f64::from(number) * 0.04, 1000 * i64::from(number));
        let (frame, end, lost) = (seq, seq + 1000, false);
        Sent { t, seq, end, frame, lost, number, tail_dropped: false, ack: 0 }
    };
    let mut sent: Vec<Sent> = (0..300).map(send).collect();
    acknowledge(&mut sent);
    sent
}

/// The stalls of data that are found if the link has these, in seconds.
fn found(stalls: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let sent = packets();
    let stall = |truth: Link, &(from, to): &(f64, f64)| truth.stalled(window(from, to), &[DATA]);
    let new_acks = stalls.iter().fold(link(), stall).predicted_acks(&sent);
    let found = find_stalls(link(), Seen { sent: &sent, new_acks: &new_acks }, &[]);
    let ends = |one: &rtolab_link::Interval| [one.at, one.at + one.length].map(Instant::secs_f64);
    found.stalls[DATA].iter().map(ends).map(|[from, to]| (from, to)).collect()
}

/// A receiver may delay an ACK for as long.
#[test]
fn an_ack_that_is_late_by_a_quarter_of_a_second_shows_a_stall() {
    assert_eq!(found(&[(5.0, 5.2)]), []);
    let long = found(&[(5.0, 5.35)]);
    let [(from, to)] = long[..] else { panic!("{long:?}") };
    assert!((from - 5.0).abs() < 0.05 && (to - 5.35).abs() < 0.05, "{long:?}");
}

#[test]
fn each_stall_is_found() {
    let all = found(&[(2.0, 3.0), (5.0, 5.8), (8.0, 10.0)]);
    assert_eq!(all.len(), 3, "{all:?}");
    for ((from, to), (start, end)) in all.iter().zip([(2.0, 3.0), (5.0, 5.8), (8.0, 10.0)]) {
        assert!((from - start).abs() < 0.05 && (to - end).abs() < 0.05, "{all:?}");
    }
}

#[test]
fn an_ack_is_expected_with_the_first_packet_that_it_covers() {
    let acked = |pairs: &[(f64, i64)]| -> Vec<Acked> {
        pairs.iter().map(|&(t, ack)| Acked { t, ack }).collect()
    };
    let predicted = acked(&[(1.0, 10), (2.0, 20), (3.0, 20), (4.0, 30)]);
    let answers = acked(&[(1.1, 10), (2.1, 15), (2.2, 20), (5.0, 30)]);
    let found = expected(&predicted, &answers);
    assert!(found.iter().zip([1.0, 2.0, 2.0, 4.0]).all(|(one, other)| (one - other).abs() < 1e-9));
    // The link delivers no such data, so nothing is known about its ACK.
    assert!((expected(&predicted, &acked(&[(7.0, 31)]))[0] - 7.0).abs() < 1e-9);
}

/// Of five advances four are of one packet.
#[test]
fn an_ack_that_advances_by_more_than_four_usual_ones_shows_lost_acks() {
    let jumps_by = |packets: i64, index| {
        let acks = [0, 1, 2, 3, 3 + packets, 4 + packets].map(|ack| Acked { t: 0.0, ack });
        jumps(&acks, index)
    };
    assert!(!jumps_by(4, 4) && jumps_by(5, 4));
    assert!(!jumps_by(5, 0) && !jumps_by(5, 3) && !jumps_by(5, 5));
}
