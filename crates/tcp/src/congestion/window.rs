//! The congestion window, with slow start and the congestion avoidance of Reno (RFC 5681 section
//! 3.1).

use crate::config::{CongestionAvoidance, Halving, InitialWindow, SlowStart, WindowConfig};

/// The congestion window and the slow-start threshold, in bytes.
///
/// The type ensures their minima: `cwnd` is at least one segment, and `ssthresh` at least two (RFC
/// 5681 equation 4) unless it is the initial one of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    cwnd: u64,
    ssthresh: u64,
    smss: u64,
    halving: Halving,
    avoidance: CongestionAvoidance,
    several_per_ack: bool,
    /// The bytes acknowledged since the window last grew (`bytes_acked` of RFC 3465 section 2.1).
    bytes_acked: u64,
    /// The fraction of a byte that the window has beyond `cwnd`, in units of 2^-32 bytes.
    fraction: u32,
    slow_start: SlowStart,
    /// Did a timeout begin the current slow start?
    pub(super) timed_out: bool,
}

impl Window {
    /// A window that never limits: 1 GiB, which is more than a peer can advertise (RFC 7323 section
    /// 2.3).
    pub(crate) const UNLIMITED: u64 = 1 << 30;

    /// The window of a new connection with segments of `smss` bytes; one segment if its SYN was
    /// lost (RFC 5681 section 3.1).
    pub fn new(config: &WindowConfig, smss: u32, syn_lost: bool) -> Self {
        let smss = u64::from(smss);
        let ssthresh = config.initial_ssthresh.map_or(u64::MAX, |count| u64::from(count) * smss);
        let WindowConfig { halving, avoidance, slow_start, several_per_ack, .. } = *config;
        let mut window = Self {
            cwnd: smss,
            ssthresh,
            smss,
            halving,
            avoidance,
            several_per_ack,
            bytes_acked: 0,
            fraction: 0,
            slow_start,
            timed_out: false,
        };
        if !syn_lost {
            window.cwnd = window.initial(config);
        }
        window
    }

    /// The congestion window, in bytes; at least one segment.
    #[inline(always)]
    pub const fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// The slow-start threshold, in bytes; [`u64::MAX`] while it is as high as possible.
    #[inline(always)]
    pub const fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// The sender maximum segment size, in bytes.
    #[inline(always)]
    pub const fn smss(&self) -> u64 {
        self.smss
    }

    /// Lowers SMSS to `smss` bytes. The windows stay, in bytes.
    pub(crate) fn lower_smss(&mut self, smss: u32) {
        self.smss = self.smss.min(u64::from(smss));
    }

    /// Sets cwnd to `bytes`, but at least one segment.
    #[inline]
    pub(crate) fn set_cwnd(&mut self, bytes: u64) {
        self.cwnd = bytes.max(self.smss);
    }

    /// Limits cwnd to `bytes`, but not below one segment.
    #[inline]
    pub(crate) fn limit_cwnd(&mut self, bytes: u64) {
        self.set_cwnd(self.cwnd.min(bytes));
    }

    /// Increases cwnd by `bytes`.
    #[inline]
    pub(crate) const fn increase_cwnd(&mut self, bytes: u64) {
        self.cwnd += bytes;
    }

    /// Sets `ssthresh` to `bytes`, but at least two segments.
    #[inline]
    pub(crate) fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes.max(2 * self.smss);
    }

    /// The initial window of `config`, in bytes.
    pub fn initial(&self, config: &WindowConfig) -> u64 {
        let smss = self.smss;
        let segments = |most: u64, bytes: u64| (most * smss).min(bytes.max(2 * smss));
        match config.initial {
            InitialWindow::Segments(count) => u64::from(count.max(1)) * smss,
            InitialWindow::Rfc3390 => segments(4, 4380),
            InitialWindow::Rfc6928 => segments(10, 14_600),
            InitialWindow::Rfc5681 if smss > 2190 => 2 * smss,
            InitialWindow::Rfc5681 if smss > 1095 => 3 * smss,
            InitialWindow::Rfc5681 => 4 * smss,
            InitialWindow::Bytes(bytes) => (u64::from(bytes) / smss * smss).max(smss),
        }
    }

    /// Changes the rules of growth and halving to those of `config`.
    pub(crate) const fn reconfigure(&mut self, config: &WindowConfig) {
        (self.halving, self.avoidance) = (config.halving, config.avoidance);
        (self.slow_start, self.several_per_ack) = (config.slow_start, config.several_per_ack);
    }

    /// Grows the window for an acknowledgment of `acked` new bytes outside of fast recovery.
    #[inline(always)]
    pub fn grow(&mut self, acked: u64) {
        let slow_start = self.cwnd < self.ssthresh;
        let acked = if slow_start { self.slow_start(acked) } else { acked };
        if !slow_start || acked > 0 {
            self.congestion_avoidance(acked);
        }
    }

    /// Grows the window in slow start; returns the bytes that remain for congestion avoidance.
    #[inline(always)]
    pub(crate) fn slow_start(&mut self, acked: u64) -> u64 {
        let grown = match self.slow_start {
            SlowStart::TwoSegments if !self.timed_out => acked.min(2 * self.smss),
            SlowStart::OneSegment | SlowStart::TwoSegments => acked.min(self.smss),
            SlowStart::PerAck => self.smss,
            SlowStart::Delivered => acked.min(self.ssthresh - self.cwnd),
        };
        self.cwnd += grown;
        if self.slow_start == SlowStart::Delivered { acked - grown } else { 0 }
    }

    /// Grows the window in congestion avoidance.
    #[inline(always)]
    pub(crate) fn congestion_avoidance(&mut self, acked: u64) {
        self.timed_out = false;
        match self.avoidance {
            // cwnd += SMSS*SMSS/cwnd (RFC 5681 equation 3)
            CongestionAvoidance::AckCounting => {
                self.cwnd += (self.smss * self.smss / self.cwnd).max(1);
            }
            CongestionAvoidance::FractionalAckCounting => self.grow_by_fraction(),
            CongestionAvoidance::ByteCounting if self.several_per_ack => {
                self.count_several(acked);
            }
            CongestionAvoidance::ByteCounting => {
                self.bytes_acked += acked;
                if self.bytes_acked >= self.cwnd {
                    self.bytes_acked -= self.cwnd;
                    self.cwnd += self.smss;
                }
            }
        }
    }

    /// `tcp_cong_avoid_ai`: a segment for each window of acknowledged data, and one more if a
    /// window's worth was counted before, when cwnd was larger.
    fn count_several(&mut self, acked: u64) {
        let cwnd = self.cwnd;
        if self.bytes_acked >= cwnd {
            self.bytes_acked = 0;
            self.cwnd += self.smss;
        }
        self.bytes_acked += acked;
        self.cwnd += self.bytes_acked / cwnd * self.smss;
        self.bytes_acked %= cwnd;
    }

    /// Adds `SMSS * SMSS / cwnd`, in units of 2^-32 bytes.
    fn grow_by_fraction(&mut self) {
        let cwnd = u128::from(self.cwnd) << 32 | u128::from(self.fraction);
        let grown = cwnd + (u128::from(self.smss * self.smss) << 64) / cwnd;
        (self.cwnd, self.fraction) = ((grown >> 32) as u64, grown as u32);
    }

    /// Sets `ssthresh` to `bytes` after a loss: ssthresh = max (FlightSize / 2, 2*SMSS) (RFC 5681
    /// equation 4), where `bytes` is FlightSize / 2 for Reno. Acknowledged bytes are counted afresh
    /// (Linux: `tcp_init_cwnd_reduction`).
    pub fn reduce_ssthresh(&mut self, bytes: u64) {
        let bytes = match self.halving {
            Halving::Bytes => bytes,
            Halving::Segments => bytes / self.smss * self.smss,
        };
        self.set_ssthresh(bytes);
        (self.bytes_acked, self.fraction) = (0, 0);
    }

    /// Sets cwnd to `half`, but at least one segment. If this is half of the window `before`, its
    /// fraction is halved, too.
    pub(crate) fn set_cwnd_to_half(&mut self, half: u64, before: &Self) {
        self.set_cwnd(half);
        if self.avoidance == CongestionAvoidance::FractionalAckCounting
            && self.cwnd == before.cwnd / 2
        {
            let odd = (before.cwnd % 2) as u32;
            self.fraction = odd << 31 | before.fraction >> 1;
        }
    }

    /// Sets cwnd to `count` segments at a timeout, or at a loss that is handled like one.
    pub fn set_segments(&mut self, count: u32) {
        self.set_cwnd(u64::from(count) * self.smss);
        (self.bytes_acked, self.fraction) = (0, 0);
        self.timed_out = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn window(cwnd: u32, ssthresh: u32, avoidance: CongestionAvoidance) -> Window {
        let initial = InitialWindow::Segments(cwnd);
        let config = Config::default().window;
        let config =
            WindowConfig { initial, initial_ssthresh: Some(ssthresh), avoidance, ..config };
        Window::new(&config, 1000, false)
    }

    #[test]
    fn t_cc_1_slow_start_counts_bytes_up_to_one_segment() {
        let mut window = window(2, 100, CongestionAvoidance::AckCounting);
        window.grow(2000);
        assert_eq!(window.cwnd, 3000);
    }

    #[test]
    fn t_cc_1_slow_start_counts_two_segments_or_acknowledgments_if_configured() {
        for (slow_start, acked, grown) in [
            (SlowStart::TwoSegments, 2000, 4000),
            (SlowStart::TwoSegments, 3000, 4000),
            (SlowStart::PerAck, 2000, 3000),
            (SlowStart::PerAck, 250, 3000),
        ] {
            let mut window =
                Window { slow_start, ..window(2, 100, CongestionAvoidance::AckCounting) };
            window.grow(acked);
            assert_eq!(window.cwnd, grown, "{slow_start:?} {acked}");
        }
    }

    #[test]
    fn a_reduction_restarts_the_count_of_acknowledged_bytes() {
        let mut window = window(4, 4, CongestionAvoidance::ByteCounting);
        window.grow(3000);
        window.reduce_ssthresh(4000);
        window.grow(3000);
        assert_eq!(window.cwnd, 4000);
        window.grow(1000);
        assert_eq!(window.cwnd, 5000);
    }

    /// `tcp_cong_avoid_ai`.
    #[test]
    fn an_acknowledgment_of_several_windows_grows_by_several_segments_if_configured() {
        for (several_per_ack, grown) in [(false, 3000), (true, 7000)] {
            let mut window =
                Window { several_per_ack, ..window(2, 2, CongestionAvoidance::ByteCounting) };
            window.grow(11_000);
            assert_eq!(window.cwnd, grown);
        }
        // What was counted for a larger window counts for the smaller one.
        let mut window =
            Window { several_per_ack: true, ..window(8, 2, CongestionAvoidance::ByteCounting) };
        window.grow(7000);
        window.cwnd = 4000;
        window.grow(1000);
        assert_eq!((window.cwnd, window.bytes_acked), (5000, 1000));
    }

    #[test]
    fn after_a_timeout_one_segment_counts_until_slow_start_ends() {
        let slow_start = SlowStart::TwoSegments;
        let mut window = Window { slow_start, ..window(8, 100, CongestionAvoidance::AckCounting) };
        window.reduce_ssthresh(2000);
        window.set_segments(1);
        window.grow(2000);
        assert_eq!(window.cwnd, 2000);
        // Congestion avoidance, and slow start after something else.
        window.grow(2000);
        window.ssthresh = 100_000;
        window.grow(2000);
        assert_eq!(window.cwnd, 2000 + 500 + 2000);
    }

    #[test]
    fn t_cc_2_congestion_avoidance_grows_by_one_segment_a_window() {
        let mut exact = window(4, 4, CongestionAvoidance::ByteCounting);
        let mut ack_counting = window(4, 4, CongestionAvoidance::AckCounting);
        for _ in 0..4 {
            exact.grow(1000);
            ack_counting.grow(1000);
        }
        assert_eq!(exact.cwnd, 5000);
        // 250, 235, 222 and 212 bytes.
        assert_eq!(ack_counting.cwnd, 4919);
    }

    #[test]
    fn t_cc_2_fractions_of_a_byte_add_up() {
        let grown = |avoidance| {
            let mut window = window(2, 2, avoidance);
            (0..1000).for_each(|_| window.grow(1000));
            window.cwnd
        };
        // ns-2 adds fractions of a segment.
        let segments = (0..1000).fold(2.0, |cwnd: f64, _| cwnd + 1.0 / cwnd);
        assert_eq!(grown(CongestionAvoidance::FractionalAckCounting), (segments * 1000.0) as u64);
        assert!(
            grown(CongestionAvoidance::AckCounting)
                < grown(CongestionAvoidance::FractionalAckCounting) - 300
        );
    }

    #[test]
    fn t_cc_2_a_reduction_clears_the_fraction() {
        let mut reduced = window(3, 3, CongestionAvoidance::FractionalAckCounting);
        reduced.grow(1000);
        assert_ne!(reduced.fraction, 0);
        reduced.set_segments(3);
        reduced.timed_out = false;
        assert_eq!(reduced, window(3, 3, CongestionAvoidance::FractionalAckCounting));
    }

    /// ns-2 halves a window of 5,001.5 bytes to 2,500.75. A reduction to anything else has none.
    #[test]
    fn t_cc_2_half_of_a_window_has_half_of_its_fraction() {
        let mut before = window(5, 3, CongestionAvoidance::FractionalAckCounting);
        (before.cwnd, before.fraction) = (5001, 1 << 31);
        for (half, fraction) in [(2500, 3 << 30), (2000, 0)] {
            let mut reduced = Window { fraction: 0, ..before };
            reduced.set_cwnd_to_half(half, &before);
            assert_eq!((reduced.cwnd, reduced.fraction), (half, fraction));
        }
        let exact = Window { avoidance: CongestionAvoidance::ByteCounting, ..before };
        let mut reduced = Window { fraction: 0, ..exact };
        reduced.set_cwnd_to_half(2500, &exact);
        assert_eq!(reduced.fraction, 0);
    }

    #[test]
    fn t_cc_7_divided_acknowledgments_gain_nothing() {
        let mut window = window(2, 100, CongestionAvoidance::AckCounting);
        (0..4).for_each(|_| window.grow(250));
        assert_eq!(window.cwnd, 3000);
    }

    #[test]
    fn initial_windows() {
        let initial = |initial, smss| {
            let config = WindowConfig { initial, ..Config::default().window };
            Window::new(&config, smss, false).cwnd / u64::from(smss)
        };
        for (smss, rfc3390, rfc6928) in [(536, 4, 10), (1460, 3, 10), (2190, 2, 6), (4000, 2, 3)] {
            assert_eq!(initial(InitialWindow::Rfc3390, smss), rfc3390);
            assert_eq!(initial(InitialWindow::Rfc6928, smss), rfc6928);
        }
        for (smss, rfc5681) in [(536, 4), (1095, 4), (1096, 3), (2190, 3), (2191, 2)] {
            assert_eq!(initial(InitialWindow::Rfc5681, smss), rfc5681);
        }
        for (bytes, smss, segments) in [(16_384, 256, 64), (16_384, 1000, 16), (100, 1000, 1)] {
            assert_eq!(initial(InitialWindow::Bytes(bytes), smss), segments);
        }
        assert_eq!(Window::new(&Config::default().window, 1460, true).cwnd, 1460);
    }
}
