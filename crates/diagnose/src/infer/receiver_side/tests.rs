//! Tests of captures at the receiver, to which a client sends. Its clock ticks each millisecond.

use super::*;
use crate::capture_points::CapturePoint;

/// The path's delay in one direction, in seconds.
const DELAY: f64 = 0.05;

/// A packet with its TSval and TSecr.
fn row(from: &'static str, t: f64, [value, echo]: [u32; 2]) -> TracedPacket {
    TracedPacket {
        capture_point: CapturePoint::Near,
        frame: 0,
        t,
        from,
        seq: 1,
        len: if from == "client" { 100 } else { 0 },
        ack: Some(1),
        window_edge: Some(9000),
        sack: vec![],
        stamps: Some([value, echo]),
    }
}

fn numbered(rows: Vec<TracedPacket>) -> Vec<Row> {
    rows.into_iter().zip(1..).collect()
}

fn at(rows: Vec<TracedPacket>) -> Result<(Vec<Row>, f64), NotInferred> {
    at_sender(&numbered(rows), "client", &HashSet::new())
}

/// The times of the packets from one end, in order.
fn times(rows: &[Row], from: &str) -> Vec<f64> {
    rows.iter().filter(|(row, _)| row.from == from).map(|(row, _)| row.t).collect()
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    let pairs = found.iter().zip(expected);
    let is_near = pairs.clone().all(|(one, other)| (one - other).abs() < 0.002);
    assert!(found.len() == expected.len() && is_near, "{found:?}, not {expected:?}");
}

/// The round trip is the shortest time from an ACK to its first echo. Echoes in the same instant
/// as the ACK are of a capture whose clock is too coarse.
#[test]
fn the_round_trip_is_the_shortest_time_until_an_echo() {
    let mut rows = vec![row("server", 0.0, [1, 9]), row("client", 0.0, [10, 1])];
    for (number, trip) in [(1, 0.3), (2, 0.1), (3, 0.2)] {
        let t = f64::from(number);
        rows.push(row("server", t, [number * 1000, 9]));
        let ticks = 10 + ((t + trip) * 1000.0) as u32;
        rows.push(row("client", t + trip, [ticks, number * 1000]));
        // Later data echoes the same ACK.
        rows.push(row("client", t + trip + 0.01, [ticks + 10, number * 1000]));
    }
    let (_, trip) = at(rows).unwrap();
    assert!((trip - 0.1).abs() < 1e-9, "{trip}");
}

/// A segment that the path held for a second left when its timestamp says.
#[test]
fn a_packet_leaves_at_its_timestamp() {
    let mut rows = vec![];
    for (number, held) in [(0, 0.0), (1, 0.0), (2, 1.0), (3, 0.0), (4, 0.0)] {
        let t = f64::from(number) * 2.0;
        rows.push(row("server", t - 2.0 * DELAY, [number + 1, 1]));
        rows.push(row("client", t + held, [number * 2000, number + 1]));
    }
    let (moved, trip) = at(rows).unwrap();
    assert!((trip - 2.0 * DELAY).abs() < 1e-9, "{trip}");
    let left: Vec<f64> = (0..5).map(|number| f64::from(number) * 2.0 - DELAY).collect();
    assert_near(&times(&moved, "client"), &left);
}

/// A timestamp clock of 10, 100, 250 or 1000 Hz, to within 10 %.
#[test]
fn the_clock_of_the_sender_must_be_a_known_one() {
    let with_clock = |hertz: f64| {
        let mut rows = vec![];
        for number in 0..20 {
            let t = 100.0 + f64::from(number);
            rows.push(row("server", t - 2.0 * DELAY, [number + 1, 1]));
            rows.push(row("client", t, [1 + (t * hertz) as u32, number + 1]));
        }
        at(rows)
    };
    for hertz in [10.0, 95.0, 100.0, 250.0, 270.0, 1000.0] {
        assert!(with_clock(hertz).is_ok(), "{hertz} Hz");
    }
    for hertz in [50.0, 150.0, 300.0, 850.0, 2000.0] {
        assert_eq!(with_clock(hertz), Err(NotInferred::UnknownClock), "{hertz} Hz");
    }
}

/// The path holds the ACKs for two seconds; the sender then echoes the second, as if both arrived.
/// `first` and `second` are their timestamps.
fn held_acks(first: u32, second: u32, before: u32) -> Vec<f64> {
    let mut rows = vec![row("client", 0.0, [1, before]), row("client", 0.01, [11, before])];
    rows.push(row("server", 0.02, [first, 1]));
    rows.push(row("server", 0.03, [second, 11]));
    rows.push(row("client", 2.1, [2101, second]));
    // The round trip without a hold.
    rows.push(row("server", 2.2, [second + 2000, 2101]));
    rows.push(row("client", 2.2 + 2.0 * DELAY, [2301, second + 2000]));
    let (moved, _) = at(rows).unwrap();
    times(&moved, "server")
}

/// The receiver's timestamps wrap around between the ACKs, before the first one, or never.
#[test]
fn an_ack_that_the_path_held_arrives_when_it_is_echoed() {
    let echoed = 2.1 - DELAY;
    let expected = [echoed, echoed, 2.2 + DELAY];
    assert_near(&held_acks(1000, 1010, 990), &expected);
    assert_near(&held_acks(u32::MAX - 5, 4, u32::MAX - 20), &expected);
    assert_near(&held_acks(4, 14, u32::MAX - 5), &expected);
    // The capture begins after the handshake: nothing echoes what came before the wrap.
    assert_near(&held_acks(u32::MAX - 5, 4, 0), &expected);
}

/// A lost packet leaves with the packet before it in sequence.
#[test]
fn a_needed_retransmission_shows_a_lost_packet() {
    let mut rows = vec![];
    for (t, seq, ticks) in [(0.0, 1, 0), (0.1, 201, 100), (0.5, 101, 500), (1.0, 301, 1000)] {
        let number = rows.len() as u32 + 1;
        rows.push(row("server", t - 2.0 * DELAY, [number, 1]));
        rows.push(TracedPacket { seq, ..row("client", t, [ticks, number]) });
    }
    let rows = numbered(rows);
    let frame = |row: &Row| i64::try_from(row.0.frame).unwrap();
    let rows: Vec<Row> = rows
        .into_iter()
        .map(|(row, number)| (TracedPacket { frame: number as u64, ..row }, number))
        .collect();
    let retransmitted = rows.iter().find(|one| one.0.seq == 101).map(frame).unwrap();
    let (moved, _) = at_sender(&rows, "client", &HashSet::from([retransmitted])).unwrap();
    let lost: Vec<_> = moved.iter().filter(|(_, number)| *number < 0).collect();
    let [(packet, number)] = lost[..] else { panic!("{lost:?}") };
    assert_eq!((*number, packet.seq), (-retransmitted, 101));
    assert_near(&[packet.t], &[-DELAY]);
}

#[test]
fn without_echoes_or_without_two_packets_nothing_is_inferred() {
    let data = |t: f64, echo| row("client", t, [(t * 1000.0) as u32 + 1, echo]);
    let ack = || row("server", 0.5, [7, 1]);
    assert_eq!(at(vec![data(0.0, 0), ack(), data(1.0, 0)]), Err(NotInferred::NoEchoes));
    assert!(at(vec![data(0.0, 0), ack(), data(1.0, 7)]).is_ok());
    for few in [vec![data(0.0, 0), data(1.0, 7)], vec![ack(), data(1.0, 7)], vec![ack()]] {
        assert_eq!(at(few), Err(NotInferred::NoTimestamps));
    }
    let at_once = vec![data(1.0, 0), ack(), data(1.0, 7)];
    assert_eq!(at(at_once), Err(NotInferred::NoTimestamps));
}

/// The path may deliver packets in another order.
#[test]
fn reordered_timestamps_do_not_wrap_around() {
    let found = |stamps: &[u32]| unwrapped(stamps.iter().copied());
    assert_eq!(found(&[1000, 990, 1010]), [1000, 990, 1010]);
    assert_eq!(found(&[u32::MAX, 1, u32::MAX - 1, 3]), [WRAP - 1, WRAP + 1, WRAP - 2, WRAP + 3]);
    assert_eq!(found(&[1, u32::MAX, 2]), [1, -1, 2]);
}
