//! CUBIC as Linux counts it (`tcp_cubic.c`, `bictcp_update`): the curve says after how many segments
//! the window grows by one, and it is looked at 32 times a second at most.

use rtolab_time::{Duration, Instant};

use super::Acknowledged;
use crate::congestion::Window;

/// How steep the curve is (`bic_scale`), in segments a cubed second: 0.4, as a kernel has it.
const C: f64 = 410.0 / 1024.0;

/// For so long after a curve began no round trip counts.
const SETTLING: Duration = Duration::from_secs(1);

/// The curve is not looked at again for so long, while the window stays.
const LOOK_EVERY: Duration = Duration::from_nanos(1_000_000_000 / 32);

/// Where no loss is known the window grows by one for so many segments at least.
const SLOWEST_BEFORE_LOSS: f64 = 20.0;

/// And never faster than by one for so many.
const FASTEST: f64 = 2.0;

/// Where a sender stands; windows are in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// After so many segments the window grows by one (`cnt`).
    every: f64,
    /// Segments counted towards that (`snd_cwnd_cnt`).
    counted: f64,
    /// When the curve was looked at, and at which window.
    looked: Option<(Instant, f64)>,
    /// The smallest round trip (`delay_min`).
    least: Option<Duration>,
    epoch: Option<Epoch>,
}

/// Since the window was cut.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    began: Instant,
    /// When the curve is flat (`bic_K`), and at which window (`bic_origin_point`).
    flat: (f64, f64),
    /// Segments acknowledged towards the next of Reno's window (`ack_cnt`), and that (`tcp_cwnd`).
    reno: (f64, f64),
}

impl Counts {
    /// The window was cut, and what was counted towards a larger one is forgotten
    /// (`tcp_init_cwnd_reduction`).
    pub(super) fn cut(&mut self) {
        (self.epoch, self.counted) = (None, 0.0);
    }

    /// Does a round trip that is measured now say nothing, for fast recovery is just over
    /// (`cubictcp_acked`)?
    pub(super) fn is_settling(&self, at: Instant) -> bool {
        self.epoch.is_some_and(|epoch| at.since(epoch.began) < SETTLING)
    }

    /// A round trip was measured.
    pub(super) fn sample(&mut self, rtt: Duration) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// Nothing was outstanding for so long.
    pub(super) fn skip(&mut self, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.began += idle;
        }
    }

    /// Something is acknowledged; the last window that was too large is `w_max`, zero if none is known.
    pub(super) fn grow(
        &mut self,
        window: &mut Window,
        acked: &Acknowledged,
        w_max: f64,
        beta: f64,
    ) {
        let cwnd = (window.cwnd / window.smss) as f64;
        let segments = acked.bytes as f64 / window.smss as f64;
        let k = if w_max > cwnd { libm::cbrt((w_max - cwnd) / C) } else { 0.0 };
        let flat = (k, w_max.max(cwnd));
        let fresh = Epoch { began: acked.at, flat, reno: (0.0, cwnd) };
        let begins = self.epoch.is_none();
        let epoch = self.epoch.get_or_insert(fresh);
        epoch.reno.0 += segments;
        let lately = self.looked.is_some_and(|(at, then)| {
            then.to_bits() == cwnd.to_bits() && acked.at.since(at) <= LOOK_EVERY
        });
        if begins || !lately {
            self.looked = Some((acked.at, cwnd));
            let ahead = acked.at.since(epoch.began) + self.least.unwrap_or(Duration::ZERO);
            let every = epoch.every(cwnd, ahead, w_max);
            self.every = epoch.not_slower_than_reno(cwnd, every, beta).max(FASTEST);
        }
        self.count(window, segments);
    }

    fn count(&mut self, window: &mut Window, segments: f64) {
        if self.counted >= self.every {
            self.counted = 0.0;
            window.cwnd += window.smss;
        }
        self.counted += segments;
        let grown = libm::floor(self.counted / self.every);
        self.counted -= grown * self.every;
        window.cwnd += grown as u64 * window.smss;
    }
}

impl Epoch {
    /// After how many segments the window grows, by the curve at the time `ahead`.
    fn every(&self, cwnd: f64, ahead: Duration, w_max: f64) -> f64 {
        let (k, origin) = self.flat;
        let t = ahead.secs_f64() - k;
        // Whole numbers, as a kernel has them: it is the distance to the flat part that is rounded.
        let distance = libm::floor(C * libm::fabs(t * t * t));
        let target = if t < 0.0 { origin - distance } else { origin + distance };
        let every = if target > cwnd { libm::floor(cwnd / (target - cwnd)) } else { 100.0 * cwnd };
        if w_max > 0.0 { every } else { every.min(SLOWEST_BEFORE_LOSS) }
    }

    /// Reno's window grows by one for so many segments as give it the same mean (`tcp_friendliness`).
    fn not_slower_than_reno(&mut self, cwnd: f64, every: f64, beta: f64) -> f64 {
        // In eighths (`beta_scale`): 15 of them where the window is cut to 717 / 1024.
        let beta = libm::round(beta * 1024.0);
        let scale = libm::floor(8.0 * (1024.0 + beta) / 3.0 / (1024.0 - beta));
        let step = libm::floor(cwnd * scale / 8.0);
        let (acked, reno) = &mut self.reno;
        while *acked > step {
            *acked -= step;
            *reno += 1.0;
        }
        if *reno > cwnd { every.min(libm::floor(cwnd / (*reno - cwnd))) } else { every }
    }
}
