//! What an emulation leaves.

use std::process::ExitStatus;

use hdrhistogram::Histogram;
use rtolab_link::{Direction, Stats};
use rtolab_time::Duration;

/// How an emulation ended and what the link did.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// How long it took, from the start of the command.
    pub elapsed: Duration,
    /// What happened to the packets of either direction, the forward one first.
    pub stats: [Stats; 2],
    /// Packets still inside the link at the end.
    pub inside: [usize; 2],
    /// Packets that came out of the link and that the kernel did not take.
    pub refused: u64,
    /// How much later than the link said packets came out.
    pub lateness: Lateness,
}

impl Report {
    /// What happened to one direction's packets.
    pub fn stats(&self, direction: Direction) -> &Stats {
        &self.stats[direction.index()]
    }
}

/// Why an emulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The command did.
    Exited(ExitStatus),
    /// The caller wanted it.
    Interrupted,
}

/// How late this process was to hand packets over, to two digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// The packets measured.
    pub packets: u64,
    /// Half of them were not later than this.
    pub p50: Duration,
    /// 99 in 100 were not later than this.
    pub p99: Duration,
    /// None was later than this.
    pub max: Duration,
}

/// Gathers a [`Lateness`] in constant memory.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code))]
pub(crate) struct LatenessMeter(Histogram<u64>);

#[cfg_attr(not(target_os = "linux"), expect(dead_code))]
impl LatenessMeter {
    /// What is later than an hour counts as an hour.
    const HOUR: u64 = 3_600_000_000_000;

    pub(crate) fn new() -> Self {
        Self(Histogram::new_with_max(Self::HOUR, 2).expect("the bounds are right"))
    }

    pub(crate) fn record(&mut self, late: Duration) {
        self.0.saturating_record(late.nanos());
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
