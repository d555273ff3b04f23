//! Delayed acknowledgments: how long the ACK of what arrived in order may wait (RFC 1122 section
//! 4.2.3.2, RFC 5681 section 4.2).

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use super::AckDue;
use crate::config::{AckCounts, AckDelay, ReceiverConfig};
use crate::segment::{Flags, Segment};

/// The shortest delay of Linux, and the one it begins with (`TCP_ATO_MIN`).
const SHORTEST: Duration = Duration::from_millis(40);

/// What has arrived in order since the last acknowledgment, and at what pace segments come.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayedAck {
    bytes: u64,
    segments: u32,
    /// The largest payload so far: what a full segment is taken to be.
    full: u32,
    /// How many acknowledgments of data have left.
    acknowledgments: u32,
    /// Where the delay adapts to it.
    pace: Option<Box<Pace>>,
}

/// How fast segments come.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// When the last segment with data arrived.
    last: Instant,
    /// Linux's estimate of the time between segments, `ato`.
    interval: Duration,
}

impl Pace {
    fn arrived(&mut self, at: Instant) {
        let gap = at - core::mem::replace(&mut self.last, at);
        let half = |interval: Duration| interval / 2;
        self.interval = match gap {
            gap if gap <= half(SHORTEST) => half(self.interval) + half(SHORTEST),
            gap if gap < self.interval => half(self.interval) + gap,
            _ => self.interval,
        };
    }
}

impl DelayedAck {
    /// A segment with data arrived, in order or not.
    #[inline(always)]
    pub(super) fn arrived(&mut self, segment: &Segment, at: Instant, config: &ReceiverConfig) {
        self.full = self.full.max(segment.len);
        if config.ack_delay == AckDelay::Adaptive {
            match &mut self.pace {
                Some(pace) => pace.arrived(at),
                None => self.pace = Some(Box::new(Pace { last: at, interval: SHORTEST })),
            }
        }
    }

    /// The segment was the next one expected: when its acknowledgment is due, if `due` was what is
    /// before.
    #[inline(always)]
    pub(super) fn in_order(
        &mut self,
        segment: &Segment,
        at: Instant,
        due: AckDue,
        config: &ReceiverConfig,
    ) -> AckDue {
        self.segments += 1;
        self.bytes += u64::from(segment.len);
        let enough = match config.ack_counts {
            AckCounts::Segments => self.segments >= config.ack_every,
            AckCounts::Bytes => self.bytes >= u64::from(config.ack_every) * u64::from(self.full),
        };
        let quick = self.acknowledgments < config.quick_acks;
        let pushed = config.ack_pushed_at_once && segment.flags.has(Flags::PSH);
        match due {
            _ if enough || quick || pushed || segment.flags.has(Flags::FIN) => AckDue::Now,
            AckDue::No => AckDue::At(self.deadline(at, config)),
            due => due,
        }
    }

    fn deadline(&self, at: Instant, config: &ReceiverConfig) -> Instant {
        let longest = config.delayed_ack;
        match config.ack_delay {
            AckDelay::Timer => at + longest,
            AckDelay::Heartbeat => next_beat(at, longest, config.heartbeat_phase),
            AckDelay::Adaptive => {
                let interval = self.pace.as_ref().map_or(SHORTEST, |pace| pace.interval);
                at + interval.max(SHORTEST).min(longest)
            }
        }
    }

    /// Has nothing arrived since the last acknowledgment?
    pub(super) const fn is_idle(&self) -> bool {
        self.segments == 0 && self.bytes == 0
    }

    /// An acknowledgment leaves.
    #[inline(always)]
    pub(super) fn acknowledged(&mut self) {
        if self.segments > 0 {
            self.acknowledgments = self.acknowledgments.saturating_add(1);
        }
        (self.segments, self.bytes) = (0, 0);
    }
}

/// The first beat behind `at` of a clock that beats at `phase` and every `period` from there; one
/// with no period beats all the time.
fn next_beat(at: Instant, period: Duration, phase: Duration) -> Instant {
    if period.is_zero() {
        return at;
    }
    let period = period.nanos();
    let since = (at.nanos() % period + period - phase.nanos() % period) % period;
    at + Duration::from_nanos(period - since)
}
