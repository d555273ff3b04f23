//! When Linux 6 acknowledges (`net/ipv4/tcp_input.c`, `tcp_output.c` and `tcp_timer.c`).

use rtolab_time::{Duration, Instant};

use super::ack_compression::AckCompression;
use super::ack_due::AckDue;
use super::window_growth::{Queued, WindowGrowth};
use crate::config::{Config, ReceiverConfig, TimerClock};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use crate::timer::wheel_expiry;

/// The shortest delay of an acknowledgment, and the initial one (`TCP_ATO_MIN`).
const ATO_MIN: Duration = Duration::from_millis(40);

/// The most acknowledgments that quick-ACK mode begins with (`TCP_MAX_QUICKACKS`).
const MAX_QUICKACKS: u32 = 16;

/// What `tcp_initialize_rcv_mss` assumes of the peer's segments, in bytes (`TCP_MSS_DEFAULT`).
const MSS_DEFAULT: u32 = 536;

/// The smallest MSS (`TCP_MIN_MSS`).
const MIN_MSS: u32 = 88;

/// The smallest segment after which the window grows, in bytes (`tcp_event_data_recv`).
const SMALLEST_GROWING: u32 = 128;

/// The delayed acknowledgments of a Linux receiver (`icsk_ack`).
#[derive(Clone, Debug)]
pub(super) struct LinuxAcks {
    /// The number of acknowledgments that are sent at once (`icsk_ack.quick`).
    quick: u32,
    /// The estimated time between segments (`icsk_ack.ato`). It is zero until the first segment
    /// arrives in order, or an acknowledgment ends quick-ACK mode.
    ato: Duration,
    /// When the last segment arrived in order; before the first one, when the handshake ended
    /// (`icsk_ack.lrcvtime`).
    last: Option<Instant>,
    /// Did this end answer data with data (`icsk_ack.pingpong`)?
    interactive: bool,
    /// Did a segment arrive that calls for an acknowledgment (`ICSK_ACK_SCHED`)?
    scheduled: bool,
    /// When the delayed acknowledgment is due, if its timer runs, before the timer wheel rounds it
    /// up (`icsk_ack.timeout`).
    timeout: Option<Instant>,
    /// The estimated size of full segments, in bytes (`icsk_ack.rcv_mss`).
    rcv_mss: u32,
    /// The size of the last segment, if it was smaller (`icsk_ack.last_seg_size`).
    last_small: u32,
    /// Present if the window grows.
    growth: Option<WindowGrowth>,
    compression: AckCompression,
    /// SRTT of this end at the end of the handshake, if it is known.
    srtt: Option<Duration>,
    /// RTO of this end at the end of the handshake.
    rto: Duration,
    /// The tick of the timer wheel; zero if timers are exact.
    tick: Duration,
}

impl LinuxAcks {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            quick: 0,
            ato: Duration::ZERO,
            last: None,
            interactive: false,
            scheduled: false,
            timeout: None,
            rcv_mss: MSS_DEFAULT.min(u32::from(config.mss)),
            last_small: 0,
            growth: WindowGrowth::new(&config.receiver),
            compression: AckCompression::new(),
            srtt: None,
            rto: config.rto.initial,
            tick: match config.rto.timer {
                TimerClock::Wheel(tick) => tick,
                TimerClock::Exact | TimerClock::Ticks => Duration::ZERO,
            },
        }
    }

    /// The handshake is complete, with this SRTT and RTO.
    pub(super) fn note_established(&mut self, at: Instant, srtt: Option<Duration>, rto: Duration) {
        self.last = self.last.or(Some(at));
        (self.srtt, self.rto) = (srtt, self.ticks_up(rto));
    }

    /// Data arrived in order, and no gap is open (`tcp_event_data_recv`). Returns when the
    /// acknowledgment is due, which was `due` before; `unacknowledged` is all data in order since
    /// the last one, in bytes.
    pub(super) fn in_order(
        &mut self,
        segment: &Segment,
        (at, config): (Instant, &ReceiverConfig),
        (due, unacknowledged): (AckDue, u64),
    ) -> AckDue {
        // A FIN without data is no data (`tcp_data_queue`).
        let has_data = segment.len > 0;
        let pushed = has_data && self.begin_in_order(segment, (at, config), Queued::default());
        // The application may answer the FIN with its own (`tcp_fin`).
        let fin = segment.flags.has(Flags::FIN);
        self.interactive |= fin;
        self.scheduled |= fin;
        let at_once = self.is_quick()
            || self.is_more_than_full(unacknowledged + u64::from(fin), config)
            || (pushed && !self.interactive);
        if at_once { AckDue::Now } else { self.delay(at, due, config) }
    }

    fn is_more_than_full(&self, unacknowledged: u64, config: &ReceiverConfig) -> bool {
        let full = config.ack_every.saturating_sub(1) * self.rcv_mss;
        unacknowledged > u64::from(full)
    }

    /// Updates the estimates for data in order. Returns whether it is acknowledged when it is read
    /// (`ICSK_ACK_PUSHED`).
    fn begin_in_order(
        &mut self,
        segment: &Segment,
        (at, config): (Instant, &ReceiverConfig),
        queued: Queued,
    ) -> bool {
        let pushed = self.measure(segment);
        self.scheduled = true;
        self.measure_gap(at, config);
        if segment.len >= SMALLEST_GROWING {
            self.grow(segment.len, queued);
        }
        pushed
    }

    /// Data arrived that fills a gap, wholly or in part, so that RCV.NXT advanced from `before` to
    /// `after`. It is acknowledged at once. `queued` is what was queued before.
    pub(super) fn fill(
        &mut self,
        segment: &Segment,
        (at, config): (Instant, &ReceiverConfig),
        (queued, before, after): (Queued, Seq, Seq),
    ) {
        self.begin_in_order(segment, (at, config), queued);
        if !self.is_quick() && !self.is_more_than_full(after.since(before), config) {
            // It only counts: a gap that is left is acknowledged at once.
            self.compression.delay(after, self.srtt);
        }
    }

    /// Data arrived above a gap (`tcp_data_queue_ofo`). Returns when it is acknowledged, instead of
    /// at `due`. `queued` is what was queued before.
    pub(super) fn out_of_order(
        &mut self,
        segment: &Segment,
        (at, sack): (Instant, bool),
        (queued, rcv_nxt, due): (Queued, Seq, AckDue),
    ) -> AckDue {
        self.measure(segment);
        self.scheduled = true;
        // Without SACK the window stays, so that the peer recognises duplicate acknowledgments.
        if sack {
            self.grow(segment.len, queued);
        }
        if self.is_quick() || !sack || due == AckDue::Now {
            return AckDue::Now;
        }
        match self.compression.delay(rcv_nxt, self.srtt) {
            None => AckDue::Now,
            Some(delay) => earlier(due, at + delay),
        }
    }

    /// A duplicate arrived that `tcp_data_queue` finds (`is_new`: it ends at or above the last
    /// acknowledgment), or an earlier check (`tcp_send_dupack`).
    pub(super) fn duplicate(&mut self, is_new: bool, config: &ReceiverConfig) {
        self.enter_quickack_mode(config);
        self.scheduled |= is_new;
    }

    /// `tcp_enter_quickack_mode`.
    fn enter_quickack_mode(&mut self, config: &ReceiverConfig) {
        self.raise_quick(MAX_QUICKACKS, config);
        self.interactive = false;
        self.ato = ATO_MIN;
    }

    /// `tcp_incr_quickack`.
    fn raise_quick(&mut self, most: u32, config: &ReceiverConfig) {
        let quick = match config.buffer / (2 * self.rcv_mss).max(1) {
            0 => 2,
            count => count,
        };
        self.quick = self.quick.max(quick.min(most));
    }

    /// `tcp_in_quickack_mode`.
    const fn is_quick(&self) -> bool {
        self.quick > 0 && !self.interactive
    }

    /// Estimates the size of full segments (`tcp_measure_rcv_mss`). Returns whether the segment
    /// seems to be the last one that the peer sends now.
    fn measure(&mut self, segment: &Segment) -> bool {
        let last_small = core::mem::take(&mut self.last_small);
        if segment.len >= self.rcv_mss {
            if segment.len > self.rcv_mss {
                self.rcv_mss = segment.len;
                if let Some(growth) = &mut self.growth {
                    growth.measure(segment.len);
                }
            }
            return segment.flags.has(Flags::PSH);
        }
        let remnant = segment.flags.any(Flags::PSH | Flags::FIN | Flags::SYN | Flags::RST);
        if segment.len >= MSS_DEFAULT || (segment.len >= MIN_MSS && !remnant) {
            self.last_small = segment.len;
            if segment.len == last_small {
                self.rcv_mss = segment.len;
                return false;
            }
        }
        true
    }

    /// Updates the time between segments (`tcp_event_data_recv`).
    fn measure_gap(&mut self, at: Instant, config: &ReceiverConfig) {
        let last = self.last.replace(at).unwrap_or(at);
        if self.ato.is_zero() {
            match config.quick_acks {
                first @ 0..=MAX_QUICKACKS => self.raise_quick(first, config),
                first => self.quick = first,
            }
            self.ato = ATO_MIN;
            return;
        }
        let gap = self.tick_of(at) - self.tick_of(last);
        if gap <= ATO_MIN / 2 {
            self.ato = self.ticks_down(self.ato / 2) + ATO_MIN / 2;
        } else if gap < self.ato {
            let sum = self.ticks_down(self.ato / 2) + gap;
            self.ato = sum.min(self.rto).min(config.delayed_ack);
        } else if gap > self.rto {
            // The peer may not have restarted its window.
            self.raise_quick(MAX_QUICKACKS.min(config.quick_acks), config);
        }
    }

    fn tick_of(&self, at: Instant) -> Instant {
        Instant::START + self.ticks_down(at.since(Instant::START))
    }

    /// The whole ticks in `span`. Exact timers have no ticks.
    fn ticks_down(&self, span: Duration) -> Duration {
        match self.tick.nanos() {
            0 => span,
            tick => Duration::from_nanos(span.nanos() / tick * tick),
        }
    }

    /// `span`, rounded up to whole ticks (`usecs_to_jiffies`).
    fn ticks_up(&self, span: Duration) -> Duration {
        match self.tick.nanos() {
            0 => span,
            tick => self.tick * span.nanos().div_ceil(tick),
        }
    }

    /// The window grows, if it has room. Then the segment is acknowledged at once
    /// (`tcp_grow_window`).
    fn grow(&mut self, len: u32, queued: Queued) {
        if let Some(growth) = &mut self.growth {
            if growth.grow((len, self.rcv_mss), queued) {
                self.quick |= 1;
            }
        }
    }

    /// When a delayed acknowledgment is sent (`tcp_send_delayed_ack`).
    fn delay(&mut self, at: Instant, due: AckDue, config: &ReceiverConfig) -> AckDue {
        let mut ato = self.ato;
        if ato > ATO_MIN {
            ato = ato.min(self.srtt.map_or(ato, |srtt| self.ticks_up(srtt).max(ATO_MIN)));
        }
        let ato = ato.min(config.delayed_ack);
        let now = self.tick_of(at);
        match self.timeout {
            Some(before) if before <= now + self.ticks_down(ato / 4) => AckDue::Now,
            Some(before) if before <= now + ato => due,
            Some(_) | None => {
                self.timeout = Some(now + ato);
                earlier(due, self.expiry(at, ato))
            }
        }
    }

    fn expiry(&self, at: Instant, delay: Duration) -> Instant {
        if self.tick.is_zero() { at + delay } else { wheel_expiry(at, delay, self.tick) }
    }

    /// The timer of a delayed acknowledgment has expired (`tcp_delack_timer_handler`).
    pub(super) fn expired(&mut self, config: &ReceiverConfig) {
        if self.compression.is_waiting() {
            return;
        }
        if self.interactive {
            self.interactive = false;
            self.ato = ATO_MIN;
        } else {
            self.ato = (self.ato * 2).min(self.rto).min(config.delayed_ack);
        }
    }

    /// An acknowledgment is sent (`tcp_event_ack_sent`).
    pub(super) fn acknowledged(&mut self) {
        self.compression.acknowledged();
        self.timeout = None;
        if !core::mem::take(&mut self.scheduled) || self.quick == 0 {
            return;
        }
        self.quick -= 1;
        if self.quick == 0 {
            self.ato = ATO_MIN;
        }
    }

    /// Data is sent (`tcp_event_data_sent`).
    pub(super) fn data_sent(&mut self, at: Instant) {
        self.interactive |= self.last.is_some_and(|last| at - last < self.ato);
    }
}

fn earlier(due: AckDue, at: Instant) -> AckDue {
    match due {
        AckDue::At(before) => AckDue::At(before.min(at)),
        AckDue::No => AckDue::At(at),
        AckDue::Now => AckDue::Now,
    }
}
