//! A share of lost packets with its confidence interval.

use serde::Serialize;

/// The quantile of the normal distribution for a confidence interval of 95 %.
const QUANTILE: f64 = 1.96;

/// A share with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct LossRate {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

impl LossRate {
    /// The share of `sent` packets that were lost, with Wilson's score interval; `None` if none was
    /// sent. `lost` are those that were lost, and those of which that is unknown. `burst` is the
    /// mean length of the burst to which a loss belongs.
    pub fn of(lost: [u64; 2], sent: u64, burst: f64) -> Option<Self> {
        if sent == 0 {
            return None;
        }
        let count = sent as f64 / burst;
        let interval = |lost: u64| {
            let share = (lost as f64 / sent as f64).min(1.0);
            let square = QUANTILE * QUANTILE;
            let middle = share + square / (2.0 * count);
            let spread = share * (1.0 - share) / count + square / (4.0 * count * count);
            let spread = QUANTILE * spread.sqrt();
            let whole = 1.0 + square / count;
            [share, ((middle - spread) / whole).max(0.0), ((middle + spread) / whole).min(1.0)]
        };
        let [lost, unknown] = lost;
        let [share, low, _] = interval(lost);
        let [_, _, high] = interval(lost + unknown);
        let low = if lost == 0 { 0.0 } else { low };
        Some(Self { share, low, high })
    }
}
