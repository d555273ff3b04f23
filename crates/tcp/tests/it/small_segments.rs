//! Which small segments leave: Nagle's algorithm and silly window avoidance (RFC 9293 sections
//! 3.7.4 and 3.8.6.2).

use crate::script::pair::{End, connected};
use crate::script::{SEGMENT, base};
use rtolab_tcp::config::Nagle;
use rtolab_tcp::{Config, Flags, Segment, Seq};

fn sender(nagle: Nagle) -> (End, End) {
    connected(&Config { nagle, ..base() }, &base(), 0)
}

fn lengths(sent: &[Segment]) -> Vec<u32> {
    sent.iter().map(|segment| segment.len).collect()
}

fn ack(end: Seq, window: u32) -> Segment {
    let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
    (ack.ack, ack.window) = (end, window);
    ack
}

#[test]
fn small_segments_wait_for_outstanding_data() {
    for (nagle, second, third) in [
        (Nagle::Off, vec![10], vec![2 * SEGMENT - 1000, 10]),
        (Nagle::Rfc896, vec![], vec![1000]),
        (Nagle::Minshall, vec![], vec![1000]),
    ] {
        let (mut a, _) = sender(nagle);
        a.connection.write(10);
        let first = a.sends_one(0);
        assert_eq!(first.len, 10);
        a.connection.write(10);
        assert_eq!(lengths(&a.sends(1)), second, "{nagle:?}");
        // A whole segment does not wait.
        a.connection.write(1000);
        assert_eq!(lengths(&a.sends(2)), third[..1], "{nagle:?}");
        if nagle != Nagle::Off {
            a.gets(&ack(first.end() + 1000, 60_000), 100);
            assert_eq!(lengths(&a.sends(100)), [10], "{nagle:?}");
        }
    }
}

#[test]
fn with_minshall_a_small_segment_follows_full_ones() {
    for (nagle, lens) in
        [(Nagle::Rfc896, vec![1000, 1000]), (Nagle::Minshall, vec![1000, 1000, 500])]
    {
        let (mut a, _) = sender(nagle);
        a.connection.write(2500);
        assert_eq!(lengths(&a.sends(0)), lens);
        a.connection.write(100);
        a.sends_nothing(0);
    }
}

#[test]
fn the_last_segment_before_a_fin_does_not_wait() {
    let (mut a, _) = sender(Nagle::Rfc896);
    a.connection.write(1500);
    assert_eq!(lengths(&a.sends(0)), [1000]);
    a.connection.close();
    let fin = a.sends_one(0);
    assert!(fin.flags.has(Flags::FIN) && fin.len == 500);
}

#[test]
fn t_b_23_a_slightly_open_window_permits_no_segment() {
    for nagle in [Nagle::Off, Nagle::Rfc896] {
        let (mut a, _) = sender(nagle);
        a.connection.write(5000);
        let sent = a.sends(0);
        let end = sent.last().unwrap().end();
        a.connection.write(5000);
        for window in [0, 1, 2, 500, 999] {
            a.gets(&ack(end, window), 10);
            a.sends_nothing(10);
        }
        a.gets(&ack(end, 1000), 20);
        assert_eq!(lengths(&a.sends(20)), [1000]);
    }
}

#[test]
fn t_b_23_half_of_the_largest_window_is_enough() {
    // The peer never has room for a whole segment.
    let mut small = base();
    small.receiver.buffer = 800;
    let (mut a, mut b) = connected(&base(), &small, 0);
    a.connection.write(5000);
    let first = a.sends_one(0);
    assert_eq!(first.len, 800);
    b.gets(&first, 0);
    b.connection.read(u64::MAX);
    a.gets(&ack(first.end(), 399), 10);
    a.sends_nothing(10);
    a.gets(&ack(first.end(), 400), 10);
    assert_eq!(lengths(&a.sends(10)), [400]);
}
