//! Which copy of a segment an acknowledgment is for.

use super::*;

const MIN_RTT: Duration = Duration::from_millis(100);

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

/// The copy of a segment that an acknowledgment at `now` is for, and whether that is certain. The
/// copies left at these times with these TSvals; the echo is that of an acknowledgment in order.
fn named(copies: &[(u64, u32)], echo: Option<u32>, now: u64) -> (u64, bool) {
    let mut packets = SentPackets::default();
    for (sent, timestamp) in copies {
        let (at, timestamp) = (at(*sent), *timestamp);
        packets.on_sent(&Transmission { end: Seq::FIRST + 1_001, len: 1_000, at, timestamp });
    }
    packets.named(packets.next() - 1, echo, (at(now), MIN_RTT)).unwrap()
}

#[test]
fn a_segment_that_was_sent_once_leaves_no_doubt() {
    for echo in [None, Some(0), Some(1), Some(5), Some(9)] {
        assert_eq!(named(&[(0, 5)], echo, 10), (0, true), "{echo:?}");
    }
}

/// RFC 8985 section 6.2 step 2: an acknowledgment sooner than the smallest round trip after a copy
/// is for an earlier one.
#[test]
fn without_an_echo_it_is_for_the_last_copy_that_can_be_meant() {
    let copies = [(0, 0), (150, 0), (300, 0)];
    for (count, now, copy) in
        [(2, 249, (0, true)), (2, 250, (1, false)), (3, 399, (1, false)), (3, 400, (2, false))]
    {
        assert_eq!(named(&copies[..count], None, now), copy, "at {now} ms");
        // Without timestamps the echo is zero.
        assert_eq!(named(&copies[..count], Some(0), now), copy, "at {now} ms");
    }
}

/// RFC 7323 section 4.3: the echo is the timestamp of the copy that arrived, or that of an earlier
/// segment in order.
#[test]
fn an_echo_is_that_of_the_copy_or_of_an_earlier_segment() {
    let copies = [(0, 1_000), (150, 1_150), (300, 1_300)];
    for (echo, copy) in [
        (1_000, (0, true)),
        (1_149, (0, true)),
        (1_150, (1, true)),
        // The segment before left between two copies of this one, and the later of these arrived,
        // or a segment of that time came after the earlier one.
        (1_151, (1, false)),
        (1_300, (2, true)),
        (1_301, (2, false)),
    ] {
        assert_eq!(named(&copies, Some(echo), 500), copy, "{echo}");
    }
    // The third copy cannot have been answered yet.
    assert_eq!(named(&copies, Some(1_300), 399), (1, false));
    // Older than all copies: an original of unknown timestamp.
    assert_eq!(named(&copies, Some(999), 500), (0, false));
}

/// Timestamp clocks tick as slowly as once a second (RFC 7323 section 5.4).
#[test]
fn copies_of_the_same_tick_cannot_be_told_apart() {
    assert_eq!(named(&[(0, 7), (150, 7)], Some(7), 500), (1, false));
    assert_eq!(named(&[(0, 7), (150, 7), (300, 8)], Some(7), 500), (1, false));
    assert_eq!(named(&[(0, 7), (150, 7), (300, 8)], Some(8), 500), (2, true));
}

/// Timestamps wrap (RFC 7323 section 5.2).
#[test]
fn timestamps_are_compared_modulo_their_range() {
    let copies = [(0, u32::MAX - 1), (150, 5)];
    assert_eq!(named(&copies, Some(u32::MAX), 500), (0, true));
    assert_eq!(named(&copies, Some(5), 500), (1, true));
}
