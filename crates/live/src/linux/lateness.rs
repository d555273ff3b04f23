//! Measurement of the lateness of packets.

use hdrhistogram::Histogram;
use rtolab_time::Duration;

use crate::report::Lateness;

/// A histogram of lateness, in constant memory.
#[derive(Debug)]
pub(crate) struct LatenessMeter(Histogram<u64>);

impl LatenessMeter {
    /// The largest lateness in nanoseconds; larger ones count as this.
    const HOUR: u64 = 3_600_000_000_000;

    pub(crate) fn new() -> Self {
        Self(Histogram::new_with_max(Self::HOUR, 2).expect("the bounds are right"))
    }

    pub(crate) fn record(&mut self, late: Duration) {
        self.0.saturating_record(late.nanos());
    }

    pub(crate) fn record_many(&mut self, late: Duration, packets: usize) {
        self.0.saturating_record_n(late.nanos(), packets as u64);
    }

    pub(crate) fn read(&self) -> Lateness {
        let at = |quantile| Duration::from_nanos(self.0.value_at_quantile(quantile));
        Lateness {
            packets: self.0.len(),
            p50: at(0.5),
            p99: at(0.99),
            max: Duration::from_nanos(self.0.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_read_to_two_digits() {
        let mut meter = LatenessMeter::new();
        (1..=1000).for_each(|n| meter.record(Duration::from_micros(n)));
        let Lateness { packets, p50, p99, max } = meter.read();
        assert_eq!(packets, 1000);
        for (found, micros) in [(p50, 500.0), (p99, 990.0), (max, 1000.0)] {
            let off = found.secs_f64() * 1e6 / micros - 1.0;
            assert!((0.0..0.02).contains(&off), "{found} is not {micros} us");
        }
    }

    #[test]
    fn no_packets_are_not_late() {
        assert_eq!(LatenessMeter::new().read(), Lateness::default());
    }
}
