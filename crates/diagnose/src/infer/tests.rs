mod path;

use super::rates::{delivered, find_rates, median_rate, paces};
use super::stalls::find_stalls;
use super::*;

/// A link of 1 Mbit/s and 100 ms.
fn link() -> Link {
    let mut link = Link::new(&[(0.0, 1e6)], BARE_ACK);
    link.delay = Duration::from_millis(100);
    link
}

/// 300 packets of 1000 B, one every 40 ms, of which those with these numbers are lost.
fn history(lost: &[i64]) -> Vec<Sent> {
    let send = |number: i64| Sent {
        lost: lost.contains(&number),
        number: number as u32,
        ..packet(number as f64 * 0.04, 1000 * number, 1000 * (number + 1))
    };
    let mut sent: Vec<Sent> = (0..300).map(send).collect();
    acknowledge(&mut sent);
    sent
}

/// The stalls of data and of ACKs and the losses of ACKs, in seconds, inferred from the ACKs of
/// these packets over this link.
fn found(sent: &[Sent], truth: &Link, ack_lost: &[f64]) -> [Vec<[f64; 2]>; 3] {
    let mut answers = truth.predicted_acks(sent);
    answers.dedup_by_key(|answer| answer.ack);
    let found = find_stalls(link(), Seen { sent, new_acks: &answers }, ack_lost);
    let [stalls, [_, lost]] = [found.stalls, found.outages];
    let [data, acks] = stalls;
    [data, acks, lost].map(|spans| {
        spans.iter().map(|one| [one.at, one.at + one.length].map(Instant::secs_f64)).collect()
    })
}

#[track_caller]
fn assert_near(found: &[[f64; 2]], expected: [f64; 2]) {
    let near = |one: &[f64; 2]| (0..2).all(|end| (one[end] - expected[end]).abs() < 0.05);
    assert!(found.len() == 1 && near(&found[0]), "{found:?}");
}

#[test]
fn a_stall_is_found_with_its_length_and_direction() {
    let (sent, span) = (history(&[]), window(5.0, 8.0));
    let found = |truth: &Link| found(&sent, truth, &[]);
    let [data, acks, lost] = found(&link().stalled(span, &[DATA, ACKS]));
    assert_near(&data, [5.0, 8.0]);
    assert_eq!((&data, lost.len()), (&acks, 0));
    let [data, acks, _] = found(&link().stalled(span, &[DATA]));
    assert_near(&data, [5.0, 8.0]);
    assert!(acks.is_empty());
    let [data, acks, _] = found(&link().stalled(span, &[ACKS]));
    assert_near(&acks, [5.0, 8.0]);
    assert!(data.is_empty());
    assert!(found(&link()).iter().all(Vec::is_empty));
}

#[test]
fn lost_acks_are_found_if_the_sender_stops_and_retransmits() {
    let mut truth = link();
    truth.outages[ACKS].push(window(4.0, 7.0));
    let mut sent = history(&[]);
    // While the sender continues, a later ACK covers the data of the lost ones: nothing is late.
    assert!(found(&sent, &truth, &[6.0]).iter().all(Vec::is_empty));
    // Here the last two ACKs are lost, and a timeout at 7 s retransmits.
    sent.truncate(100);
    sent.push(packet(7.0, 98_000, 99_000));
    acknowledge(&mut sent);
    let [data, acks, lost] = found(&sent, &truth, &[7.0]);
    assert_near(&lost, [4.065, 7.1]);
    assert!(data.is_empty() && acks.is_empty());
    // A stall would explain it as well: only the timeout shows that ACKs were lost.
    let [data, acks, lost] = found(&sent, &truth, &[]);
    assert!(lost.is_empty() && !(data.is_empty() && acks.is_empty()));
}

/// ACKs of a packet of 1460 B each, by their number and the seconds between them.
fn acks(gaps: &[(usize, f64)]) -> Vec<Ack> {
    let (mut t, mut ack) = (0.0, 1);
    let each = gaps.iter().flat_map(|&(count, gap)| std::iter::repeat_n(gap, count));
    each.map(|gap| {
        (t, ack) = (t + gap, ack + 1460);
        Ack { t, ack, idle: false }
    })
    .collect()
}

#[test]
fn the_rate_is_the_pace_of_acks_and_changes_with_it() {
    let rates = |gaps: &[(usize, f64)]| find_rates(&paces(&acks(gaps), 1460, 40)).unwrap();
    let slow = paces(&acks(&[(30, 0.012), (5, 0.3)]), 1460, 40);
    assert!((median_rate(&slow).unwrap() - 1e6).abs() < 1.0);
    assert_eq!(median_rate(&[]), Err(NotInferred::NoAdvance));
    let [(_, first), (at, second)] = rates(&[(40, 0.012), (40, 0.06)])[..] else { panic!() };
    assert!((first - 1e6).abs() < 1.0 && (second - 2e5).abs() < 1.0, "{first} {second}");
    assert!((at - 0.48).abs() < 0.07, "{at}");
    // A rate that is less than half higher is no other rate, and neither is a pause.
    assert_eq!(rates(&[(40, 0.012), (40, 0.015)]).len(), 1);
    assert_eq!(rates(&[(40, 0.012), (1, 2.0), (40, 0.012)]).len(), 1);
}

#[test]
fn each_duplicate_shows_that_a_packet_has_passed() {
    let ack = |t, ack| Ack { t, ack, idle: false };
    let acks = delivered(&[ack(1.0, 10), ack(2.0, 10), ack(3.0, 10), ack(4.0, 40)], 10);
    assert_eq!(acks.iter().map(|one| one.ack).collect::<Vec<_>>(), [10, 20, 30, 40]);
}

#[test]
fn the_capacity_of_a_queue_is_between_the_accepted_and_the_refused_lengths() {
    // In each burst of ten one packet is sent at once, and the sixth that has to wait is lost.
    let burst = |number: i64| Sent {
        lost: number % 10 > 5,
        ..packet((number / 10) as f64, 1000 * number, 1000 * (number + 1))
    };
    let mut sent: Vec<Sent> = (0..100).map(burst).collect();
    acknowledge(&mut sent);
    let (room, sent) = queue::find_queue(&link(), &sent, &HashSet::new()).unwrap();
    assert!((5 * 1040..6 * 1040).contains(&room), "{room}");
    assert!(sent.iter().all(|packet| packet.tail_dropped == packet.lost));
    // One loss is no evidence of a queue, nor are losses of packets that need not wait.
    for lost in [&[50][..], &[50, 120, 200]] {
        assert_eq!(queue::find_queue(&link(), &history(lost), &HashSet::new()), None);
    }
}

#[test]
fn single_losses_are_drops_and_three_in_a_row_an_outage() {
    let losses = |lost: &[i64]| find_losses(&history(lost), &link(), &HashSet::new());
    assert_eq!(losses(&[50, 120, 121]), (vec![50, 120, 121], vec![]));
    let (drops, outages) = losses(&[50, 100, 101, 102]);
    let [Interval { at, length }] = outages[..] else { panic!() };
    assert_eq!(drops, [50]);
    // From the middle of packet 100 to halfway between packets 102 and 103.
    assert!((at.secs_f64() - 4.004).abs() < 0.001, "{at:?}");
    assert!(((at + length).secs_f64() - 4.104).abs() < 0.005, "{length:?}");
    let cut = within(window(4.05, 9.0), &outages);
    assert_eq!(
        (cut.at + cut.length, within(window(5.0, 9.0), &outages)),
        (at + length, window(5.0, 9.0))
    );
}

fn row(frame: u64, t: f64, from: &'static str, [seq, len, ack]: [i64; 3]) -> TracedPacket {
    let (ack, len) = (Some(ack), len as u32);
    let capture_point = crate::capture_points::CapturePoint::Near;
    TracedPacket {
        capture_point,
        frame,
        t,
        from,
        seq,
        len,
        ack,
        window_edge: Some(9000),
        sack: vec![],
        stamps: None,
    }
}

#[test]
fn reordered_acks_and_retransmissions_do_not_change_the_arrivals() {
    let mut rows =
        vec![row(1, 0.0, "client", [1, 1000, 1]), row(2, 0.1, "client", [1001, 1000, 1])];
    rows.push(row(3, 0.3, "server", [1, 0, 2001]));
    rows.push(row(4, 0.4, "server", [1, 0, 1001]));
    rows.push(row(5, 0.5, "client", [1001, 1000, 1]));
    let rows: Vec<Row> = rows.into_iter().zip(1..).collect();
    let observed =
        |needed: &[i64]| Observed::of(&rows, ("client", 0.0), &needed.iter().copied().collect());
    let lost =
        |observed: &Observed| observed.sent.iter().map(|packet| packet.lost).collect::<Vec<_>>();
    let unneeded = observed(&[]);
    assert_eq!(unneeded.new_acks, [Acked { t: 0.3, ack: 2001 }]);
    assert_eq!((unneeded.delivered.len(), unneeded.payload), (1, 1000));
    assert_eq!(lost(&unneeded), [false, false, false]);
    assert_eq!(lost(&observed(&[5])), [false, true, false]);
}

#[test]
fn timestamps_show_when_packets_left_and_when_acks_reached_the_sender() {
    // Timestamps of 1 ms that wrap, and a link of 50 ms that holds one packet for 2 s.
    let stamp = |t: f64| (u32::MAX - 1000).wrapping_add((t * 1000.0) as u32);
    let (mut rows, mut known) = (Vec::new(), Vec::new());
    for number in 0..40_u32 {
        let left = f64::from(number) / 8.0;
        let arrives = (left + 0.05).max(if left < 1.0 { 0.0 } else { 3.0 });
        let echo = known.iter().rfind(|at| **at + 0.05 <= left).map_or(0, |at| stamp(*at));
        known.push(arrives);
        let [mut data, mut ack] = [("client", arrives), ("server", arrives)]
            .map(|(from, t)| row(0, t, from, [i64::from(number) * 100, 100, 1]));
        data.stamps = Some([stamp(left), echo]);
        ack.stamps = Some([stamp(arrives), stamp(left)]);
        rows.extend([(data, 2 * i64::from(number) + 1), (ack, 2 * i64::from(number) + 2)]);
    }
    let (moved, trip) = receiver_side::at_sender(&rows, "client", &HashSet::new()).unwrap();
    assert!(trip > 0.0);
    let data: Vec<f64> =
        moved.iter().filter(|row| row.0.from == "client").map(|row| row.0.t).collect();
    for (number, t) in data.iter().enumerate() {
        let left = number as f64 / 8.0;
        assert!((t - data[0] - left).abs() < 0.002, "{number}: {t}");
    }
    let acks: Vec<f64> =
        moved.iter().filter(|row| row.0.from == "server").map(|row| row.0.t).collect();
    assert_eq!(acks.len(), known.len());
    assert!(acks.is_sorted(), "{acks:?}");
    for (number, arrives) in known.iter().enumerate() {
        let after = arrives + 0.05 - number as f64 / 8.0;
        assert!((acks[number] - data[number] - after).abs() < 0.1, "{number}: {acks:?}");
    }
    for (row, _) in &mut rows {
        row.stamps = None;
    }
    let found = receiver_side::at_sender(&rows, "client", &HashSet::new());
    assert_eq!(found, Err(NotInferred::NoTimestamps));
}

#[test]
fn timeouts_that_end_in_slots_identify_the_wheel() {
    let found = |expired: &[(f64, f64)]| timer_slots::find_timer_slots(expired);
    // 0.85 s is in slots of 32 ms of 250 ticks a second; three ends of these, 5 ms after multiples.
    let slots = found(&[(0.965, 0.85), (3.237, 0.85), (7.045, 0.85)]).unwrap();
    assert_eq!(slots.timer, "wheel-250");
    assert!((slots.shift() - 0.027).abs() < 1e-6, "{}", slots.shift());
    assert_eq!(found(&[(0.965, 0.85), (3.2425, 0.85), (7.0291, 0.85)]), None);
    assert_eq!(found(&[]), None);
}

fn packet(t: f64, seq: i64, end: i64) -> Sent {
    let (lost, tail_dropped, number) = (false, false, 1);
    Sent { t, seq, end, frame: seq, lost, number, tail_dropped, ack: 0 }
}

#[test]
fn the_link_transmits_at_the_current_rate_and_not_in_stalls() {
    let link = Link::new(&[(0.0, 8000.0), (1.0, 800.0), (3.0, 80_000.0)], 0);
    let sent = [packet(0.5, 0, 500), packet(0.5, 500, 700), packet(10.0, 700, 1700)];
    let departures = |link: &Link, sent: &[Sent]| -> Vec<f64> {
        link.departures(sent).into_iter().map(Instant::secs_f64).collect()
    };
    // Of 1600 bits 800 leave in the last tenth of the first second, and 800 in the next second.
    assert_eq!(departures(&link, &[packet(0.9, 0, 200)]), [2.0]);
    assert_eq!(departures(&link, &sent), [1.0, 3.0, 10.1]);
    let stalled = link.stalled(window(0.6, 0.8), &[DATA]);
    assert_eq!(departures(&stalled, &sent[..1]), [3.0]);
}

#[test]
fn an_ack_covers_the_data_that_arrived_in_order() {
    let mut sent = [(0, 10), (10, 20), (20, 30), (10, 20)].map(|(a, b)| packet(0.0, a, b));
    sent[1].lost = true;
    acknowledge(&mut sent);
    assert_eq!([0, 2, 3].map(|at| sent[at].ack), [10, 10, 30]);
}
