//! The cost of runs.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtolab_sim::Counters;

/// The cost of one or more runs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Effort {
    /// The processor time before the first event.
    pub set_up: Duration,
    /// The time from the first event to the last.
    pub run: Duration,
    pub counters: Counters,
}

impl Effort {
    /// Adds the cost of another run.
    pub(crate) fn with(self, other: Self) -> Self {
        let (own, others) = (self.counters, other.counters);
        Self {
            set_up: self.set_up + other.set_up,
            run: self.run + other.run,
            counters: Counters {
                events: own.events + others.events,
                data_packets_delivered: own.data_packets_delivered + others.data_packets_delivered,
            },
        }
    }

    pub(crate) fn document(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let Counters { events, data_packets_delivered } = self.counters;
        let document = PyDict::new(py);
        document.set_item("set_up_s", self.set_up.as_secs_f64())?;
        document.set_item("run_s", self.run.as_secs_f64())?;
        document.set_item("data_packets_delivered", data_packets_delivered)?;
        document.set_item("events", events)?;
        document.set_item("peak_memory_mb", peak_memory_mb())?;
        Ok(document)
    }
}

/// The peak resident memory of this process in MB; `None` if the system does not report it.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = peak.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1000.0)
}
