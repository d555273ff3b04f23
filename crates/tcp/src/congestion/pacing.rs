//! Pacing as Linux does without `sch_fq` (`tcp_pacing_check` and `tcp_update_skb_after_send`): each
//! segment delays the next by its length at the pacing rate.

use rtolab_time::{Duration, Instant};

use crate::config::{PacingConfig, PacingQuantum, PacingRate};

/// The rate below which one segment is a quantum, in bytes per second (`bbr_min_tso_rate`).
const MIN_TSO_RATE: u64 = 1_200_000 / 8;

/// The largest quantum, in bytes (`GSO_LEGACY_MAX_SIZE`).
const GSO_MAX_SIZE: u64 = 65_536;

/// A quantum is the pacing rate in bytes per second, shifted by this (`sk_pacing_shift`): what is
/// sent in some millisecond.
const PACING_SHIFT: u32 = 10;

/// A quantum grows by `GSO_MAX_SIZE`, halved for each 2^9 microseconds of the smallest round trip
/// (`tcp_tso_rtt_log`).
const TSO_RTT_LOG: u32 = 9;

/// The departure times of one sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    config: PacingConfig,
    /// The pacing rate in bytes per second (`sk_pacing_rate`); `None`: unlimited.
    rate: Option<u64>,
    /// The earliest departure of the next segment (`tcp_wstamp_ns`).
    next_send_time: Instant,
    /// The number of segments sent, up to `config.unpaced` (`data_segs_out`).
    sent: u32,
    /// When the current quantum left, and the segments that it still has.
    quantum: (Instant, u64),
    /// Does a segment wait for `next_send_time`?
    waits: bool,
}

impl Pacer {
    pub const fn new(config: PacingConfig) -> Self {
        Self {
            config,
            rate: None,
            next_send_time: Instant::START,
            sent: 0,
            quantum: (Instant::START, 0),
            waits: false,
        }
    }

    /// The pacing rate in bytes per second, if there is one.
    pub const fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// Sets the rate, in bytes per second.
    pub const fn set_rate(&mut self, rate: u64) {
        self.rate = Some(rate);
    }

    /// Sets the rate to a multiple of the window of `cwnd` bytes each round trip, if so configured
    /// (`tcp_update_pacing_rate`).
    pub fn follow_window(&mut self, cwnd: u64, ssthresh: u64, srtt: Option<Duration>) {
        if self.config.rate == PacingRate::Off {
            return;
        }
        let is_slow_start = cwnd < ssthresh / 2;
        let ratio = if is_slow_start { self.config.ss_ratio } else { self.config.ca_ratio };
        let micros = srtt.map_or(0, |srtt| srtt.nanos() / 1_000).max(1);
        let rate = u128::from(cwnd) * u128::from(ratio) * 10_000 / u128::from(micros);
        self.rate = srtt.map(|_| u64::try_from(rate).unwrap_or(u64::MAX));
    }

    /// Must the next segment wait at `at`? If so, the timer runs if the windows allow the segment.
    pub fn must_wait(&mut self, at: Instant, allowed: bool) -> bool {
        let (began, left) = self.quantum;
        let must = self.next_send_time > at && !(began == at && left > 0);
        self.waits = must && allowed;
        must
    }

    /// When the pacing timer expires, if a segment waits.
    pub fn deadline(&self) -> Option<Instant> {
        self.waits.then_some(self.next_send_time)
    }

    /// The pacing timer may have expired.
    pub fn on_timer(&mut self, at: Instant) {
        self.waits &= self.next_send_time > at;
    }

    /// The time from `at` until the next segment may leave (`tcp_pacing_delay`).
    pub const fn delay(&self, at: Instant) -> Duration {
        self.next_send_time.since(at)
    }

    /// A segment of `len` bytes of data is sent at `at`. `smallest` is the smallest round trip.
    pub fn on_sent(&mut self, len: u64, at: Instant, (smss, smallest): (u64, Duration)) {
        let (began, left) = self.quantum;
        let continues = began == at && left > 0;
        self.quantum = (at, if continues { left } else { self.segments(smss, smallest) } - 1);
        // Time in which nothing was sent counts, up to half of the delay.
        let credit = at.since(self.next_send_time);
        let start = self.next_send_time.max(at);
        self.next_send_time = start;
        self.sent = self.sent.saturating_add(1).min(self.config.unpaced + 1);
        if let Some(rate) = self.rate.filter(|_| self.sent > self.config.unpaced) {
            let nanos = u128::from(len) * 1_000_000_000 / u128::from(rate.max(1));
            let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
            let credit = if continues { 0 } else { credit.nanos() };
            self.next_send_time = start + Duration::from_nanos(nanos - credit.min(nanos / 2));
        }
    }

    /// The number of segments in a quantum.
    fn segments(&self, smss: u64, smallest: Duration) -> u64 {
        match self.config.quantum {
            PacingQuantum::Segment => 1,
            PacingQuantum::Autosized => {
                let halvings = (smallest.nanos() / 1_000) >> TSO_RTT_LOG;
                let for_lan = if halvings < 32 { GSO_MAX_SIZE >> halvings } else { 0 };
                let bytes = (self.rate.unwrap_or(u64::MAX) >> PACING_SHIFT).saturating_add(for_lan);
                (bytes.min(GSO_MAX_SIZE) / smss).max(self.min_segments())
            }
        }
    }

    /// The number of segments of a quantum on a host with segmentation offload
    /// (`bbr_tso_segs_goal`), whether or not this one has it.
    pub fn segments_goal(&self, smss: u64) -> u64 {
        let bytes = (self.rate.unwrap_or(u64::MAX) >> PACING_SHIFT).min(GSO_MAX_SIZE - 1);
        (bytes / smss).max(self.min_segments()).min(127)
    }

    /// `bbr_min_tso_segs`
    fn min_segments(&self) -> u64 {
        if self.rate.unwrap_or(u64::MAX) < MIN_TSO_RATE { 1 } else { 2 }
    }
}
