//! Small segments that a sender holds back until a small one before is acknowledged (Nagle's
//! algorithm, RFC 9293 section 3.7.4), while the receiver delays that ACK (section 3.8.6.3).

use rtolab_capture::End;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::{Duration, Instant};

use crate::half_connection::HalfConnection;
use crate::pauses::Waits;

/// The shortest delay of an ACK that a timer causes. Systems delay ACKs by 40 ms and more.
pub(crate) const MIN_DELAY: Duration = Duration::from_millis(20);
/// The time that a sender takes at most to send what it held.
const PROCESSING: Duration = Duration::from_millis(2);

/// The small segments that each end held back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeldSegments {
    delayed: Option<DelayedAck>,
    /// The ACKs that ended the waits of client and server, by their delay.
    pub waits: [Waits; 2],
}

/// A delayed ACK of a single small segment.
#[derive(Clone, Copy, Debug)]
struct DelayedAck {
    to: End,
    at: Instant,
    /// The delay beyond the round trip.
    delay: Duration,
}

impl HeldSegments {
    /// Does the last packet, a delayed ACK, wait for data that was held back?
    pub const fn is_pending(&self) -> bool {
        self.delayed.is_some()
    }

    /// Processes the next packet: a wait ends if it is a small segment that follows the delayed ACK
    /// at once. `turnaround` is the time that the sender takes to answer packets at the capture
    /// point.
    pub fn on_next(
        &mut self,
        (from, segment): (End, &Segment),
        at: Instant,
        sending: Option<&HalfConnection>,
        turnaround: Option<Duration>,
    ) {
        let (Some(ack), Some(turnaround)) = (self.delayed.take(), turnaround) else { return };
        let is_at_once = at.since(ack.at) <= turnaround + turnaround / 4 + PROCESSING;
        let is_small = sending.is_some_and(|sending| {
            segment.len < sending.mss && segment.seq >= sending.flight().max()
        });
        if from == ack.to && segment.len > 0 && is_at_once && is_small {
            self.waits[from as usize].add(ack.delay.secs_f64());
        }
    }

    /// Processes an ACK after a `gap` without packets. `sending` is the direction that it
    /// acknowledges.
    pub fn on_late_ack(
        &mut self,
        (to, segment): (End, &Segment),
        (at, gap): (Instant, Duration),
        sending: &HalfConnection,
    ) {
        let flight = sending.flight();
        let is_pure = segment.len == 0 && !segment.flags.any(Flags::SYN | Flags::FIN | Flags::RST);
        let acks_small = flight.outstanding() == 1
            && segment.ack == flight.max()
            && flight.head().is_some_and(|head| head.len > 0 && head.len < sending.mss)
            && !sending.episodes.is_open();
        let Some(min_rtt) = sending.rtt.min.filter(|_| is_pure && acks_small) else { return };
        let delay = gap.saturating_sub(min_rtt);
        if delay >= MIN_DELAY {
            self.delayed = Some(DelayedAck { to, at, delay });
        }
    }
}
