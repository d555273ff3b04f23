//! CUBIC as in Linux (`tcp_cubic.c`): the curve gives the number of acknowledged segments (`cnt`)
//! per segment of growth. It is evaluated at most 32 times a second. Windows are in segments.

use rtolab_time::{Duration, Instant};

use crate::config::{CubicConfig, CubicUndo};
use crate::congestion::{Acked, CongestionControl, Window};

/// `C` (`bic_scale`), in segments per cubed second: 0.4 in the integer arithmetic of the kernel.
const C: f64 = 410.0 / 1024.0;

/// The cube of a time in 1/1024 s, per segment: 2^40 / 410 (`cube_factor`).
const CUBE_FACTOR: u64 = (1 << 40) / 410;

/// The time between two ticks of the kernel's clock, which the curve reads (`CONFIG_HZ=1000`).
const TICK: Duration = Duration::from_millis(1);

/// The ticks after the start of an epoch in which RTT samples are discarded (`cubictcp_acked`).
const RTT_DISCARD_TICKS: u64 = 1000;

/// The ticks in which the curve is evaluated once, unless the window changes (`HZ / 32`).
const UPDATE_TICKS: u64 = 1000 / 32;

/// The unit of time of the curve: 1/1024 s (`BICTCP_HZ`).
const CURVE_HZ: f64 = 1024.0;

/// The maximum of `cnt` before the first loss.
const MAX_BEFORE_LOSS: f64 = 20.0;

/// The minimum of `cnt`.
const MIN_CNT: f64 = 2.0;

/// `struct bictcp`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinuxCubic {
    config: CubicConfig,
    /// The number of acknowledged segments per segment of growth.
    cnt: f64,
    /// The number of segments counted towards it (`tcp_cong_avoid_ai`).
    snd_cwnd_cnt: f64,
    /// The window before the last reduction, after fast convergence; zero before the first one.
    last_max_cwnd: f64,
    /// `last_max_cwnd` before a reduction that may prove spurious.
    prior: Option<f64>,
    /// The tick at which the curve was last evaluated (`last_time`), and the window (`last_cwnd`).
    last: Option<(u64, f64)>,
    /// The smallest RTT sample.
    delay_min: Option<Duration>,
    epoch: Option<Epoch>,
}

/// The congestion avoidance stage since the last reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The tick at which it began, moved by the idle times since.
    epoch_start: u64,
    /// The time from the start of the stage to the plateau of the curve, in 1/1024 s.
    bic_k: f64,
    /// The window at the plateau.
    bic_origin_point: f64,
    /// The number of acknowledged segments that are not yet counted in `tcp_cwnd`.
    ack_cnt: f64,
    /// The estimated window of Reno.
    tcp_cwnd: f64,
}

/// The number of ticks of the kernel's clock until `at`.
fn ticks(at: Instant) -> u64 {
    at.nanos() / TICK.nanos()
}

impl LinuxCubic {
    pub fn new(config: CubicConfig) -> Self {
        Self {
            config,
            cnt: 0.0,
            snd_cwnd_cnt: 0.0,
            last_max_cwnd: 0.0,
            prior: None,
            last: None,
            delay_min: None,
            epoch: None,
        }
    }

    /// `bictcp_update`: sets `cnt`. Soon after the last evaluation at the same window it does
    /// nothing, even if a reduction ended the stage since; in the same tick as the last one it
    /// does not evaluate the curve.
    fn update(&mut self, cwnd: f64, acked: f64, now: Instant) {
        if let Some(epoch) = &mut self.epoch {
            epoch.ack_cnt += acked;
        }
        let tick = ticks(now);
        let same_window = |last_cwnd: f64| last_cwnd.to_bits() == cwnd.to_bits();
        let last_time = self.last.map(|(last_time, _)| last_time);
        if self.last.is_some_and(|(last_time, last_cwnd)| {
            same_window(last_cwnd) && tick.saturating_sub(last_time) <= UPDATE_TICKS
        }) {
            return;
        }
        let last_max_cwnd = self.last_max_cwnd;
        let mut cnt = self.cnt;
        if self.epoch.is_none() || last_time != Some(tick) {
            self.last = Some((tick, cwnd));
            let begin = || Epoch::new((cwnd, last_max_cwnd), acked, tick);
            let epoch = self.epoch.get_or_insert_with(begin);
            let bic_target = epoch.bic_target(tick, self.delay_min.unwrap_or(Duration::ZERO));
            cnt = match bic_target > cwnd {
                true => libm::floor(cwnd / (bic_target - cwnd)),
                false => 100.0 * cwnd,
            };
            if last_max_cwnd <= 0.0 {
                cnt = cnt.min(MAX_BEFORE_LOSS);
            }
        }
        if let Some(epoch) = &mut self.epoch {
            cnt = epoch.tcp_friendliness(cwnd, cnt, self.config.beta_cubic());
        }
        self.cnt = cnt.max(MIN_CNT);
    }

    /// `tcp_cong_avoid_ai`: returns by how many segments the window grows.
    fn cong_avoid_ai(&mut self, acked: f64) -> u64 {
        let mut grown = 0.0;
        if self.snd_cwnd_cnt >= self.cnt {
            self.snd_cwnd_cnt = 0.0;
            grown = 1.0;
        }
        self.snd_cwnd_cnt += acked;
        let delta = libm::floor(self.snd_cwnd_cnt / self.cnt);
        self.snd_cwnd_cnt -= delta * self.cnt;
        (grown + delta) as u64
    }
}

/// The root of the six leading bits of a number, in 1/64, from which the kernel's [`cubic_root`]
/// starts; the first entry is that of 8. It is some 3.6 % above the exact one.
const FIRST_ROOTS: [u16; 56] = [
    133, 139, 144, 148, 153, 157, 161, 166, 167, 171, 174, 178, 180, 183, 186, 189, 191, 195, 197,
    200, 202, 204, 207, 209, 210, 212, 214, 216, 219, 221, 223, 225, 227, 229, 231, 232, 234, 235,
    237, 239, 241, 242, 244, 246, 247, 249, 250, 252, 254, 255, 256, 258, 260, 261, 262, 264,
];

/// The cube root in the kernel's arithmetic: one step of Newton's method. It is up to 0.2 % off.
/// `a` has seven bits or more.
fn cubic_root(a: u64) -> f64 {
    let bits = u64::BITS - a.leading_zeros();
    let shift = ((bits * 84) >> 8) - 1;
    let leading = (a >> (3 * shift)) as usize;
    let first = u64::from(FIRST_ROOTS[leading - 8]) << shift >> 6;
    let next = 2 * first + a / (first * (first - 1));
    ((next * 341) >> 10) as f64
}

impl Epoch {
    fn new((cwnd, last_max_cwnd): (f64, f64), acked: f64, tick: u64) -> Self {
        let (bic_k, bic_origin_point) = match last_max_cwnd > cwnd {
            true => (cubic_root(CUBE_FACTOR * (last_max_cwnd - cwnd) as u64), last_max_cwnd),
            false => (0.0, cwnd),
        };
        Self { epoch_start: tick, bic_k, bic_origin_point, ack_cnt: acked, tcp_cwnd: cwnd }
    }

    /// The window of the curve at a tick. It looks ahead by the smallest round trip.
    fn bic_target(&self, tick: u64, delay_min: Duration) -> f64 {
        let ticks =
            tick.saturating_sub(self.epoch_start) + delay_min.nanos().div_ceil(TICK.nanos());
        let t = (ticks * 1024 / 1000) as f64;
        let offs = (t - self.bic_k) / CURVE_HZ;
        // The kernel rounds the distance to the plateau to whole segments.
        let delta = libm::floor(C * libm::fabs(offs * offs * offs));
        match offs < 0.0 {
            true => self.bic_origin_point - delta,
            false => self.bic_origin_point + delta,
        }
    }

    /// TCP friendliness: `cnt`, or less if the estimated window of Reno is larger.
    fn tcp_friendliness(&mut self, cwnd: f64, cnt: f64, beta: f64) -> f64 {
        // In eighths: 15 for the default beta of 717 / 1024.
        let beta = libm::round(beta * 1024.0);
        let beta_scale = libm::floor(8.0 * (1024.0 + beta) / 3.0 / (1024.0 - beta));
        let delta = libm::floor(cwnd * beta_scale / 8.0);
        while self.ack_cnt > delta {
            self.ack_cnt -= delta;
            self.tcp_cwnd += 1.0;
        }
        match self.tcp_cwnd > cwnd {
            true => cnt.min(libm::floor(cwnd / (self.tcp_cwnd - cwnd))),
            false => cnt,
        }
    }
}

impl CongestionControl for LinuxCubic {
    fn congestion_avoidance(&mut self, window: &mut Window, acked: &Acked) {
        let cwnd = (window.cwnd() / window.smss()) as f64;
        let segments = acked.bytes.div_ceil(window.smss()) as f64;
        self.update(cwnd, segments, acked.at);
        window.increase_cwnd(self.cong_avoid_ai(segments) * window.smss());
    }

    /// `cubictcp_recalc_ssthresh`, and `tcp_init_cwnd_reduction`, which clears `snd_cwnd_cnt`.
    fn on_loss(&mut self, bytes: u64, cwnd: u64, window: &Window) -> u64 {
        let cwnd = cwnd as f64 / window.smss() as f64;
        self.last_max_cwnd = libm::floor(self.config.w_max(cwnd, self.last_max_cwnd));
        (self.epoch, self.snd_cwnd_cnt) = (None, 0.0);
        self.config.ssthresh(bytes)
    }

    /// `bictcp_reset`.
    fn on_timeout(&mut self) {
        *self = Self { prior: self.prior, ..Self::new(self.config) };
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.delay_min = Some(self.delay_min.map_or(rtt, |delay_min| delay_min.min(rtt)));
    }

    /// RTT samples soon after a reduction are discarded (`cubictcp_acked`).
    fn ignores_rtt(&self, at: Instant) -> bool {
        self.epoch.is_some_and(|epoch| ticks(at) < epoch.epoch_start + RTT_DISCARD_TICKS)
    }

    /// `cubictcp_cwnd_event`: the start moves by the idle time, but not beyond its end.
    fn after_idle(&mut self, since: Instant, until: Instant) {
        if let Some(epoch) = &mut self.epoch {
            let moved = epoch.epoch_start + ticks(until).saturating_sub(ticks(since));
            epoch.epoch_start = moved.min(ticks(until));
        }
    }

    fn save(&mut self) {
        self.prior = Some(self.last_max_cwnd);
    }

    fn undo(&mut self) {
        if let (CubicUndo::Rfc9438, Some(prior)) = (self.config.undo, self.prior.take()) {
            self.last_max_cwnd = prior;
        }
    }

    fn keeps_window(&self, before: u64, cwnd: u64) -> bool {
        self.config.keeps_window(before, cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// The kernel's roots are within 0.2 % (its comment says so).
    #[test]
    fn cube_roots_are_those_of_the_kernel() {
        for distance in 1..=10_000 {
            let cube = CUBE_FACTOR * distance;
            let (root, exact) = (cubic_root(cube), libm::cbrt(cube as f64));
            assert!((root / exact - 1.0).abs() < 0.002, "{distance}: {root} {exact}");
        }
        // As Linux 6.12 printed them (`bic_K`).
        let distances = [1, 2, 3, 4, 5, 6, 7, 9, 15, 27];
        let roots = distances.map(|distance| cubic_root(CUBE_FACTOR * distance) as u32);
        assert_eq!(roots, [1388, 1750, 2003, 2203, 2375, 2523, 2657, 2889, 3426, 4165]);
    }

    /// `bictcp_update` looks at the window and the time of the last evaluation first.
    #[test]
    fn soon_after_an_evaluation_at_the_same_window_no_stage_begins() {
        let mut cubic = LinuxCubic::new(CubicConfig::default());
        cubic.update(10.0, 1.0, at(1000));
        cubic.epoch = None;
        cubic.update(10.0, 1.0, at(1031));
        assert!(cubic.epoch.is_none());
        cubic.update(10.0, 1.0, at(1032));
        assert!(cubic.epoch.is_some());
    }

    /// `cubictcp_cwnd_event` moves the start of a stage by the idle time, but not beyond its end.
    #[test]
    fn a_stage_that_begins_in_idle_time_begins_at_its_end() {
        let mut cubic = LinuxCubic::new(CubicConfig::default());
        cubic.update(10.0, 1.0, at(1000));
        cubic.after_idle(at(900), at(1000));
        assert_eq!(cubic.epoch.map(|epoch| epoch.epoch_start), Some(1000));
        cubic.after_idle(at(1200), at(1300));
        assert_eq!(cubic.epoch.map(|epoch| epoch.epoch_start), Some(1100));
    }

    /// The curve counts in ticks: within one it is evaluated once, whatever the window.
    #[test]
    fn the_curve_is_evaluated_once_a_tick() {
        let mut cubic = LinuxCubic::new(CubicConfig::default());
        cubic.update(10.0, 1.0, at(1000));
        let last = cubic.last;
        cubic.update(11.0, 1.0, at(1000) + Duration::from_micros(999));
        assert_eq!(cubic.last, last);
        cubic.update(11.0, 1.0, at(1001));
        assert_ne!(cubic.last, last);
    }
    /// `struct bictcp`, `bictcp_update` and `tcp_cong_avoid_ai` of Linux 6.12 in its integers, with
    /// the default beta.
    #[derive(Default)]
    struct Bictcp {
        cnt: u64,
        snd_cwnd_cnt: u64,
        last_max_cwnd: u64,
        last_cwnd: u64,
        last_time: u64,
        bic_origin_point: u64,
        bic_k: u64,
        delay_min: u64,
        epoch_start: Option<u64>,
        ack_cnt: u64,
        tcp_cwnd: u64,
    }

    impl Bictcp {
        fn update(&mut self, cwnd: u64, acked: u64, now: u64) {
            self.ack_cnt += acked;
            if self.last_cwnd == cwnd && now - self.last_time <= 1000 / 32 {
                return;
            }
            if self.epoch_start.is_none() || now != self.last_time {
                self.evaluate(cwnd, acked, now);
            }
            let delta = (cwnd * 15) >> 3;
            while self.ack_cnt > delta {
                self.ack_cnt -= delta;
                self.tcp_cwnd += 1;
            }
            if self.tcp_cwnd > cwnd {
                self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
            }
            self.cnt = self.cnt.max(2);
        }

        fn evaluate(&mut self, cwnd: u64, acked: u64, now: u64) {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            if self.epoch_start.is_none() {
                (self.epoch_start, self.ack_cnt, self.tcp_cwnd) = (Some(now), acked, cwnd);
                let above = self.last_max_cwnd.saturating_sub(cwnd);
                self.bic_origin_point = self.last_max_cwnd.max(cwnd);
                self.bic_k = match above {
                    0 => 0,
                    _ => cubic_root(CUBE_FACTOR * above) as u64,
                };
            }
            let t = ((now - self.epoch_start.unwrap() + self.delay_min) << 10) / 1000;
            let delta = (410 * t.abs_diff(self.bic_k).pow(3)) >> 40;
            let bic_target = match t < self.bic_k {
                true => self.bic_origin_point - delta,
                false => self.bic_origin_point + delta,
            };
            self.cnt = match bic_target > cwnd {
                true => cwnd / (bic_target - cwnd),
                false => 100 * cwnd,
            };
            if self.last_max_cwnd == 0 {
                self.cnt = self.cnt.min(20);
            }
        }

        fn cong_avoid_ai(&mut self, acked: u64) -> u64 {
            let mut grown = 0;
            if self.snd_cwnd_cnt >= self.cnt {
                (self.snd_cwnd_cnt, grown) = (0, 1);
            }
            self.snd_cwnd_cnt += acked;
            let delta = self.snd_cwnd_cnt / self.cnt;
            self.snd_cwnd_cnt -= delta * self.cnt;
            grown + delta
        }
    }

    /// Acknowledgments of one to four segments each 0 to 60 ms, and now and then a loss.
    #[test]
    fn the_window_grows_as_in_the_kernel() {
        for (delay_min, first) in [(0, 3), (1, 10), (40, 10), (300, 200)] {
            let mut ours = LinuxCubic::new(CubicConfig::default());
            let mut kernel = Bictcp { delay_min, ..Bictcp::default() };
            ours.on_rtt(Duration::from_millis(delay_min));
            let (mut cwnd, mut now, mut random) = (first, 1_000, 12_345_u64);
            for step in 0..20_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let [acked, quiet, loss] = [33, 40, 50].map(|bit| random >> bit);
                now += if quiet % 3 == 0 { 0 } else { quiet % 61 };
                let acked = 1 + acked % 4;
                ours.update(cwnd as f64, acked as f64, at(now));
                kernel.update(cwnd, acked, now);
                assert_eq!(ours.cnt as u64, kernel.cnt, "{delay_min} ms, step {step}");
                let grown = ours.cong_avoid_ai(acked as f64);
                assert_eq!(grown, kernel.cong_avoid_ai(acked), "{delay_min} ms, step {step}");
                cwnd += grown;
                if loss % 500 == 0 && cwnd > 4 {
                    (ours.last_max_cwnd, ours.epoch, ours.snd_cwnd_cnt) = (cwnd as f64, None, 0.0);
                    kernel.last_max_cwnd = cwnd;
                    (kernel.epoch_start, kernel.snd_cwnd_cnt) = (None, 0);
                    cwnd = cwnd * 717 / 1024;
                }
            }
        }
    }
}
