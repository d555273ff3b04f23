//! Delayed acknowledgments of in-order data (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2).

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use crate::config::{AckCounts, AckDelay, AckRules, ReceiverConfig};
use crate::segment::{Flags, Segment};

/// The shortest delay of Linux, and the initial one (`TCP_ATO_MIN`).
const SHORTEST: Duration = Duration::from_millis(40);

/// The acknowledgments that Linux sends at once after a duplicate (`TCP_MAX_QUICKACKS`).
const MAX_QUICKACKS: u32 = 16;

/// When the next acknowledgment is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckDue {
    /// Never: there is nothing to acknowledge.
    #[default]
    No,
    /// At once.
    Now,
    /// At this instant, unless a segment with data carries it before.
    At(Instant),
}

/// The data that arrived in order since the last acknowledgment, and the time between segments.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayedAck {
    bytes: u64,
    segments: u32,
    /// The largest payload so far, which is assumed to be a full segment.
    full: u32,
    /// The number of acknowledgments of data sent so far; in Linux, of segments for which the
    /// window grows.
    acknowledgments: u32,
    /// The number of further acknowledgments that a duplicate makes quick (`icsk_ack.quick`).
    quick: u32,
    /// Present if the delay adapts to the time between segments.
    ato: Option<Box<Ato>>,
}

/// Linux's estimate of the time between segments.
#[derive(Clone, Copy, Debug)]
struct Ato {
    /// When the last segment with data arrived.
    last: Instant,
    ato: Duration,
}

impl Ato {
    fn arrived(&mut self, at: Instant) {
        let gap = at - core::mem::replace(&mut self.last, at);
        self.ato = match gap {
            gap if gap <= SHORTEST / 2 => self.ato / 2 + SHORTEST / 2,
            gap if gap < self.ato => self.ato / 2 + gap,
            _ => self.ato,
        };
    }
}

impl DelayedAck {
    /// A segment with data arrived. `is_next`: it begins with the next expected byte.
    #[inline(always)]
    pub(super) fn arrived(
        &mut self,
        segment: &Segment,
        at: Instant,
        (is_next, config): (bool, &ReceiverConfig),
    ) {
        if !is_next && config.ack_rules == AckRules::Linux {
            return;
        }
        self.full = self.full.max(segment.len);
        if config.ack_delay == AckDelay::Adaptive {
            match &mut self.ato {
                Some(ato) => ato.arrived(at),
                None => self.ato = Some(Box::new(Ato { last: at, ato: SHORTEST })),
            }
        }
    }

    /// The segment was the next expected one: returns when the acknowledgment is due, which was
    /// `due` before.
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
        let full = u64::from(self.full);
        let enough = match (config.ack_counts, config.ack_rules) {
            (AckCounts::Segments, _) => self.segments >= config.ack_every,
            (AckCounts::Bytes, AckRules::Common) => {
                self.bytes >= u64::from(config.ack_every) * full
            }
            (AckCounts::Bytes, AckRules::Linux) => {
                self.bytes > u64::from(config.ack_every.saturating_sub(1)) * full
            }
        };
        let quick = self.acknowledgments < config.quick_acks || self.quick > 0;
        let pushed = config.ack_pushed_at_once && segment.flags.has(Flags::PSH);
        match due {
            _ if enough || quick || pushed || segment.flags.has(Flags::FIN) => AckDue::Now,
            AckDue::No => AckDue::At(self.deadline(at, config)),
            due => due,
        }
    }

    /// A segment arrived while a gap is open. `grows`: the window of Linux grows for it.
    pub(super) const fn out_of_order(&mut self, config: &ReceiverConfig, grows: bool) {
        if matches!(config.ack_rules, AckRules::Linux) && grows {
            self.acknowledgments = self.acknowledgments.saturating_add(1);
        }
    }

    /// A duplicate arrived (Linux: `tcp_enter_quickack_mode`).
    pub(super) fn duplicate(&mut self, config: &ReceiverConfig) {
        if config.ack_rules == AckRules::Linux {
            self.quick = MAX_QUICKACKS;
            if let Some(ato) = &mut self.ato {
                ato.ato = SHORTEST;
            }
        }
    }

    fn deadline(&self, at: Instant, config: &ReceiverConfig) -> Instant {
        let longest = config.delayed_ack;
        match config.ack_delay {
            AckDelay::Timer => at + longest,
            AckDelay::Heartbeat => next_beat(at, longest, config.heartbeat_phase),
            AckDelay::Adaptive => {
                let ato = self.ato.as_ref().map_or(SHORTEST, |ato| ato.ato);
                at + ato.max(SHORTEST).min(longest)
            }
        }
    }

    /// Has nothing arrived since the last acknowledgment?
    pub(super) const fn is_idle(&self) -> bool {
        self.segments == 0 && self.bytes == 0
    }

    /// An acknowledgment is sent.
    #[inline(always)]
    pub(super) fn acknowledged(&mut self) {
        if self.segments > 0 {
            self.acknowledgments = self.acknowledgments.saturating_add(1);
        }
        self.quick = self.quick.saturating_sub(1);
        (self.segments, self.bytes) = (0, 0);
    }
}

/// The first beat after `at` of a clock that beats at `phase` and every `period` after it. A clock
/// without a period beats continuously.
fn next_beat(at: Instant, period: Duration, phase: Duration) -> Instant {
    if period.is_zero() {
        return at;
    }
    let period = period.nanos();
    let since = (at.nanos() % period + period - phase.nanos() % period) % period;
    at + Duration::from_nanos(period - since)
}
