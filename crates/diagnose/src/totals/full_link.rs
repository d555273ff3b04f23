//! Losses at a long queue.

use super::{CaptureTotals, MAX_CHANCE};

impl CaptureTotals {
    /// The mean number of bytes in the queue at losses, 0 if most losses happened without a queue;
    /// `None` if the capture does not show it.
    pub fn queue(&self) -> Option<u64> {
        let [known, long, weighted] = self.queued;
        if known * 2 < self.lost || known == 0 {
            return None;
        }
        Some(if long * 2 >= known { weighted / long } else { 0 })
    }

    /// Did so many losses happen at a long queue that the chance is small that they only seemed to?
    /// If losses had nothing to do with the queue, the round trips of three quarters would be
    /// shorter than [`crate::report`] takes for long.
    pub fn is_link_surely_full(&self) -> bool {
        let [long, all] = self.bursts_in_queue;
        self.queue().is_some_and(|queue| queue > 0) && chance(long, all) <= MAX_CHANCE
    }
}

/// The chance that at least `long` of `all` bursts of losses meet long round trips, if a quarter of
/// all round trips are long.
fn chance(long: u64, all: u64) -> f64 {
    // More do not change the decision, and binomial coefficients stay finite.
    let (long, all) = if all > 100 { (long * 100 / all, 100) } else { (long, all) };
    let mut term = 0.75_f64.powi(all as i32);
    let mut chance = 0.0;
    for count in 0..=all {
        if count >= long {
            chance += term;
        }
        term *= (all - count) as f64 / (count + 1) as f64 / 3.0;
    }
    chance
}

#[cfg(test)]
mod tests {
    use super::chance;

    /// Binomial tails, from tables.
    #[test]
    fn few_bursts_may_meet_long_round_trips_by_chance() {
        for (long, all, expected) in
            [(0, 0, 1.0), (1, 1, 0.25), (2, 2, 0.0625), (3, 3, 0.015_625), (5, 10, 0.078_127)]
        {
            assert!((chance(long, all) - expected).abs() < 1e-6, "{long} of {all}");
        }
        assert!(chance(500, 1000) < 1e-6);
        assert!(chance(250, 1000) > 0.4);
    }
}
