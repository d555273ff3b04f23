//! Delayed acknowledgments of in-order data (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2).

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use super::ack_due::AckDue;
use super::linux::LinuxAcks;
use super::window_growth::Queued;
use crate::config::{AckCounts, AckDelay, AckRules, Config, ReceiverConfig};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// The shortest adaptive delay, and the initial one (`TCP_ATO_MIN`).
const SHORTEST: Duration = Duration::from_millis(40);

/// The data that arrived in order since the last acknowledgment, and the time between segments.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayedAck {
    bytes: u64,
    segments: u32,
    /// The largest payload so far, which is assumed to be a full segment.
    full: u32,
    /// The number of acknowledgments of data sent so far.
    acknowledgments: u32,
    /// Present if the delay adapts to the time between segments.
    adaptive: Option<Box<Adaptive>>,
}

/// The rules of a delay that adapts to the time between segments.
#[derive(Clone, Debug)]
enum Adaptive {
    /// The time between segments alone.
    Ato(Ato),
    /// Linux 6.
    Linux(LinuxAcks),
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
    pub(super) fn new(config: &Config) -> Self {
        let linux = config.receiver.ack_rules == AckRules::Linux;
        let adaptive = linux.then(|| Box::new(Adaptive::Linux(LinuxAcks::new(config))));
        Self { adaptive, ..Self::default() }
    }

    #[inline(always)]
    fn linux(&mut self) -> Option<&mut LinuxAcks> {
        match self.adaptive.as_deref_mut() {
            Some(Adaptive::Linux(linux)) => Some(linux),
            _ => None,
        }
    }

    /// The handshake is complete, with this SRTT and RTO.
    pub(super) fn note_established(&mut self, at: Instant, srtt: Option<Duration>, rto: Duration) {
        if let Some(linux) = self.linux() {
            linux.note_established(at, srtt, rto);
        }
    }

    /// A segment with data arrived.
    #[inline(always)]
    pub(super) fn arrived(&mut self, segment: &Segment, at: Instant, config: &ReceiverConfig) {
        self.full = self.full.max(segment.len);
        if config.ack_delay == AckDelay::Adaptive {
            match self.adaptive.as_deref_mut() {
                Some(Adaptive::Ato(ato)) => ato.arrived(at),
                Some(Adaptive::Linux(_)) => {}
                None => {
                    let ato = Ato { last: at, ato: SHORTEST };
                    self.adaptive = Some(Box::new(Adaptive::Ato(ato)));
                }
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
        let bytes = self.bytes;
        if let Some(linux) = self.linux() {
            return linux.in_order(segment, (at, config), (due, bytes));
        }
        let full = u64::from(self.full);
        let enough = match config.ack_counts {
            AckCounts::Segments => self.segments >= config.ack_every,
            AckCounts::Bytes => self.bytes >= u64::from(config.ack_every) * full,
        };
        let quick = self.acknowledgments < config.quick_acks;
        let pushed = config.ack_pushed_at_once && segment.flags.has(Flags::PSH);
        match due {
            _ if enough || quick || pushed || segment.flags.has(Flags::FIN) => AckDue::Now,
            AckDue::No => AckDue::At(self.deadline(at, config)),
            due => due,
        }
    }

    /// A segment arrived that fills a gap, wholly or in part, and is acknowledged at once.
    pub(super) fn fill(
        &mut self,
        segment: &Segment,
        (at, config): (Instant, &ReceiverConfig),
        (queued, before, after): (Queued, Seq, Seq),
    ) {
        if let Some(linux) = self.linux() {
            linux.fill(segment, (at, config), (queued, before, after));
        }
    }

    /// A segment arrived above a gap: returns when its duplicate acknowledgment is due.
    pub(super) fn out_of_order(
        &mut self,
        segment: &Segment,
        (at, sack): (Instant, bool),
        (queued, rcv_nxt, due): (Queued, Seq, AckDue),
    ) -> AckDue {
        match self.linux() {
            Some(linux) => linux.out_of_order(segment, (at, sack), (queued, rcv_nxt, due)),
            None => AckDue::Now,
        }
    }

    /// A duplicate arrived. `is_new`: it ends at or above the last acknowledgment.
    pub(super) fn duplicate(&mut self, is_new: bool, config: &ReceiverConfig) {
        if let Some(linux) = self.linux() {
            linux.duplicate(is_new, config);
        }
    }

    /// The timer of a delayed acknowledgment has expired.
    pub(super) fn expired(&mut self, config: &ReceiverConfig) {
        if let Some(linux) = self.linux() {
            linux.expired(config);
        }
    }

    /// Data is sent.
    pub(super) fn data_sent(&mut self, at: Instant) {
        if let Some(linux) = self.linux() {
            linux.data_sent(at);
        }
    }

    fn deadline(&self, at: Instant, config: &ReceiverConfig) -> Instant {
        let longest = config.delayed_ack;
        match config.ack_delay {
            AckDelay::Timer => at + longest,
            AckDelay::Heartbeat => next_beat(at, longest, config.heartbeat_phase),
            AckDelay::Adaptive => {
                let ato = match self.adaptive.as_deref() {
                    Some(Adaptive::Ato(ato)) => ato.ato,
                    Some(Adaptive::Linux(_)) | None => SHORTEST,
                };
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
        if let Some(linux) = self.linux() {
            linux.acknowledged();
        }
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
