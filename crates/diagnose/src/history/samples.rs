//! Retransmitted ranges for tests.

use rtolab_time::Duration;

use super::*;
use crate::trigger::Trigger;

/// A time in milliseconds.
pub(crate) fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

/// A retransmission that arrived like this at a capture at the receiver.
pub(crate) fn retransmission(arrival: Arrival) -> Retransmission {
    Retransmission {
        frame: 7,
        ip_id: 1,
        raw_seq: 1,
        len: 1000,
        trigger: Trigger::Timeout(0),
        detector_episode: None,
        is_single: false,
        idle: Duration::from_secs(1),
        arrival,
        queue: None,
    }
}

/// A range of 1000 bytes from 1 on, of which copies were sent at these times in milliseconds.
pub(crate) fn range(copies: &[u64]) -> RetransmittedRange {
    let transmission = |(index, millis): (usize, &u64)| Transmission {
        at: at(*millis),
        timestamp: None,
        retransmission: (index > 0).then(|| retransmission(Arrival::New)),
    };
    let copies = copies.iter().enumerate().map(transmission).collect();
    RetransmittedRange::new(Seq::FIRST + 1, Seq::FIRST + 1001, copies)
}

/// The first covering ACK, which came at this time in milliseconds.
pub(crate) fn covering_ack(millis: u64) -> CoveringAck {
    CoveringAck {
        at: at(millis),
        frame: 9,
        reports_duplicate: false,
        has_dsack: false,
        all: false,
        jumps: false,
        may_be_delayed: false,
        duplicate: DuplicateAck::Awaited,
    }
}
