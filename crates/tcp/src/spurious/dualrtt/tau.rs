//! DualRTT's threshold τ: the model of section V-B and the optima of Table V.
//!
//! The model contradicts the table: it rises with the bandwidth, whereas the optima of the table
//! fall. We implement it as published.

use rtolab_time::{Duration, Rate};

use super::Logarithm;

/// The length of the IP and TCP headers in the path MTU, without options, in bytes.
const HEADERS: u32 = 40;

/// α, λ and ω of equation 6: the coefficients of the logarithm of the bandwidth in bit/s, of the
/// logarithm of the one-way delay in seconds, and of the path MTU in bytes.
const COEFFICIENTS: (f64, f64, f64) = (8.022e-3, -5.803e-2, 1.463e-6);

/// The bold numbers of Table V: bandwidth in bit/s, and τ in thousandths.
const OPTIMA: [(u64, u32); 6] =
    [(31_200, 600), (62_400, 200), (130_000, 80), (360_000, 40), (1_000_000, 25), (1_500_000, 10)];

const MILLIONTHS: u32 = 1_000_000;

/// A threshold τ in millionths of the smallest round trip, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tau(u32);

impl Tau {
    /// A threshold in thousandths.
    pub const fn thousandths(count: u32) -> Self {
        Self(count.saturating_mul(1000))
    }

    /// The threshold of equation 3 for a `segment` in bytes, limited to 0 to 1. Below 0, on paths
    /// of several seconds, no ACK would be too soon. Above 1, even the ACK after a genuine loss
    /// would be.
    pub fn from_model(logarithm: Logarithm, path: (Rate, Duration), segment: u32) -> Self {
        let (rate, delay) = path;
        // Zero has no logarithm; the resolution of the clock is a nanosecond.
        let delay = delay.max(Duration::from_nanos(1)).secs_f64();
        let log: fn(f64) -> f64 = match logarithm {
            Logarithm::Natural => libm::log,
            Logarithm::Decimal => libm::log10,
        };
        let (alpha, lambda, omega) = COEFFICIENTS;
        let mtu = f64::from(segment.saturating_add(HEADERS));
        let tau = alpha * log(rate.bits_per_second() as f64) + lambda * log(delay) + omega * mtu;
        Self(libm::round(tau.clamp(0.0, 1.0) * f64::from(MILLIONTHS)) as u32)
    }

    /// The optimum of Table V for the bandwidth whose ratio to `rate` is closest to 1; the higher
    /// bandwidth if two are equally close.
    pub fn from_table(rate: Rate) -> Self {
        let square = u128::from(rate.bits_per_second()).pow(2);
        let below = |pair: &[(u64, u32)]| square < u128::from(pair[0].0) * u128::from(pair[1].0);
        let row = OPTIMA.windows(2).position(below).unwrap_or(OPTIMA.len() - 1);
        Self::thousandths(OPTIMA[row].1)
    }

    /// Is `nrtt` less than this part of `min_rtt` (equation 1)?
    pub fn exceeds(self, nrtt: Duration, min_rtt: Duration) -> bool {
        let product = |time: Duration, by: u32| u128::from(time.nanos()) * u128::from(by);
        product(nrtt, MILLIONTHS) < product(min_rtt, self.0)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn bits(rate: u64) -> Rate {
        Rate::from_bits_per_second(rate).unwrap()
    }

    /// The thresholds of the model in thousandths, for a delay of 200 ms and packets of 1500 bytes.
    fn of_table_iv(logarithm: Logarithm) -> Vec<u32> {
        let path = |rate| (bits(rate), Duration::from_millis(200));
        let taus = OPTIMA.map(|(rate, _)| Tau::from_model(logarithm, path(rate), 1460).0);
        taus.iter().map(|tau| (tau + 500) / 1000).collect()
    }

    #[test]
    fn the_published_model_gives_these_thresholds() {
        assert_eq!(of_table_iv(Logarithm::Natural), [179, 184, 190, 198, 206, 210]);
        assert_eq!(of_table_iv(Logarithm::Decimal), [79, 81, 84, 87, 91, 92]);
    }

    #[test]
    fn the_model_stays_between_0_and_1() {
        let tau = |rate, nanos| {
            let path = (bits(rate), Duration::from_nanos(nanos));
            Tau::from_model(Logarithm::Natural, path, 536)
        };
        assert_eq!(tau(9600, 60_000_000_000), Tau(0));
        assert_eq!(tau(u64::MAX, 0), Tau(MILLIONTHS));
        assert!(!Tau(0).exceeds(Duration::ZERO, Duration::MAX));
    }

    #[test]
    fn a_bandwidth_of_the_table_has_its_optimum() {
        let rows = OPTIMA.map(|(rate, _)| Tau::from_table(bits(rate)).0 / 1000);
        assert_eq!(rows, [600, 200, 80, 40, 25, 10]);
    }

    #[test]
    fn between_two_rows_the_nearer_by_ratio_counts() {
        let row = |rate| Tau::from_table(bits(rate)).0 / 1000;
        assert_eq!((row(1), row(u64::MAX)), (600, 10));
        // The square root of 130,000 times 360,000 is 216,333; half their sum is 245,000.
        assert_eq!((row(216_333), row(216_334), row(245_000)), (80, 40, 40));
        assert_eq!((row(44_123), row(44_124)), (600, 200));
    }
}
