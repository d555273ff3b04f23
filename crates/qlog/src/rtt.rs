//! Round-trip times, from the packets of a log.

/// The granularity of timers in seconds (RFC 9002 section 6.1.2).
const GRANULARITY: f64 = 0.001;
/// The round-trip time before the first sample, in seconds (RFC 9002 section 6.2.2).
const INITIAL: f64 = 0.333;

/// Round-trip times in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    pub min: Option<f64>,
    pub smoothed: Option<f64>,
    variance: f64,
}

impl Rtt {
    /// Takes a sample (RFC 9002 section 5.3, without the peer's delay).
    pub fn on_sample(&mut self, sample: f64) {
        if sample < 0.0 {
            return;
        }
        self.min = Some(self.min.map_or(sample, |min| min.min(sample)));
        let Some(smoothed) = self.smoothed else {
            self.smoothed = Some(sample);
            self.variance = sample / 2.0;
            return;
        };
        self.variance += ((smoothed - sample).abs() - self.variance) / 4.0;
        self.smoothed = Some(smoothed + (sample - smoothed) / 8.0);
    }

    /// The probe timeout without the peer's delay and without backoff (RFC 9002 section 6.2.1).
    pub fn probe_timeout(&self) -> f64 {
        match self.smoothed {
            None => 2.0 * INITIAL,
            Some(smoothed) => smoothed + (4.0 * self.variance).max(GRANULARITY),
        }
    }
}
