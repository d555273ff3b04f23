//! Tests of captures of one interface whose packets are out of place, or whose clock steps back.

use rtolab_time::Duration;

use super::*;
use crate::ClockSteps;

/// The numbers and times in milliseconds of packets captured at these milliseconds, and the steps.
fn read_in_order(times: &[u64]) -> (Vec<(u64, u64)>, ClockSteps) {
    let order = ByteOrder::Little;
    let bytes = ip(&packet(0, V4, 10));
    let frames: Vec<u8> =
        times.iter().flat_map(|millis| order.frame(0, millis * 1000, &bytes)).collect();
    let file = [order.section(), order.interface(101, &[]), frames].concat();
    let mut packets = Reader::new(&file[..]).expect("a capture").in_order();
    let found = packets.by_ref().map(|one| one.expect("whole"));
    let found = found.map(|one| (one.number, one.packet.at.nanos() / 1_000_000)).collect();
    (found, packets.clock_steps())
}

#[test]
fn packets_out_of_place_are_sorted() {
    // The first one is recognised too late.
    let mut times: Vec<u64> = (0..100).map(|n| n * 50).collect();
    times.swap(2, 3);
    times.swap(20, 22);
    times.swap(60, 63);
    times.swap(98, 99);
    let (found, steps) = read_in_order(&times);
    assert_eq!(steps, ClockSteps::default());
    let expected: Vec<u64> = (0..100).map(|n| n * 50).collect();
    let mut found: Vec<u64> = found.into_iter().map(|(_, at)| at).collect();
    assert_eq!(found[2..4], [150, 100]);
    found.swap(2, 3);
    assert_eq!(found, expected);
}

#[test]
fn time_goes_on_after_a_step_back() {
    let step = |n: u64| if n < 50 { 1000 } else { 0 } + if n < 80 { 500 } else { 0 };
    let times: Vec<u64> = (0..120).map(|n| 100 + n * 10 + step(n)).collect();
    let (found, steps) = read_in_order(&times);
    let longest = Duration::from_millis(990);
    assert_eq!(steps, ClockSteps { count: 2, longest });
    // Between the packets around a step no time passes, as far as is known.
    let lost = |n: u64| if n < 50 { 0 } else { 10 } + if n < 80 { 0 } else { 10 };
    let expected: Vec<(u64, u64)> = (0..120).map(|n| (n + 1, 1600 + n * 10 - lost(n))).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_packet_alone_is_no_step() {
    let mut times: Vec<u64> = (0..100).map(|n| 10_000 + n * 50).collect();
    times[40] = 20;
    times[99] = 30;
    let (found, steps) = read_in_order(&times);
    assert_eq!(steps.count, 0);
    assert_eq!(found.len(), 100);
    assert!(found.contains(&(41, 20)) && found.contains(&(100, 30)));
}
