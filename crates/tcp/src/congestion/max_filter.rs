//! Kathleen Nichols' windowed maximum (Linux, `lib/win_minmax.c`): it keeps the best three samples
//! of a window, so that its state has a fixed size.

/// The maximum of the samples of a window of time. Times are counts, such as round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MaxFilter {
    /// The largest sample, and later ones that follow it once it is outdated: (time, value).
    best: [(u64, u64); 3],
}

impl MaxFilter {
    /// The maximum.
    pub const fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Forgets everything but `sample`: (time, value).
    pub const fn reset(&mut self, sample: (u64, u64)) {
        self.best = [sample; 3];
    }

    /// Adds a `sample`: (time, value). Samples that are more than `window` older than it leave.
    pub fn update(&mut self, window: u64, sample: (u64, u64)) -> u64 {
        let (time, value) = sample;
        if value >= self.best[0].1 || time - self.best[2].0 > window {
            self.reset(sample);
            return value;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if value >= self.best[2].1 {
            self.best[2] = sample;
        }
        self.age(window, sample);
        self.best[0].1
    }

    /// Drops outdated samples; while nothing is outdated, takes the second and the third from the
    /// later parts of the window.
    fn age(&mut self, window: u64, sample: (u64, u64)) {
        let age = sample.0 - self.best[0].0;
        if age > window {
            for _ in 0..2 {
                if sample.0 - self.best[0].0 > window {
                    self.best = [self.best[1], self.best[2], sample];
                }
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if self.best[2].0 == self.best[1].0 && age > window / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_leaves_when_it_is_older_than_the_window() {
        // The time may begin at any number.
        for start in [0, 1_000] {
            let mut filter = MaxFilter::default();
            let maxima: alloc::vec::Vec<_> = [9, 3, 5, 4, 2, 1, 1, 1, 1, 1, 1]
                .into_iter()
                .enumerate()
                .map(|(time, value)| filter.update(4, (start + time as u64, value)))
                .collect();
            // 9 is in the window up to the time 4, the 5 of the time 2 up to 6, and the 4 of 3 up
            // to 7. The 2 is not among the best three when it arrives, so the filter forgets it.
            assert_eq!(maxima, [9, 9, 9, 9, 9, 5, 5, 4, 1, 1, 1]);
        }
    }

    #[test]
    fn after_a_pause_only_the_new_sample_counts() {
        let mut filter = MaxFilter::default();
        filter.update(10, (0, 100));
        assert_eq!(filter.update(10, (50, 7)), 7);
        filter.reset((60, 1));
        assert_eq!(filter.get(), 1);
    }
}
