//! The memory budget of recordings.
//!
//! A program that runs out of memory is killed at an arbitrary place. Only traces grow without
//! bounds, so each run checks the size of its trace and fails in time.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// The memory needed per byte of rows. Rows are converted to tables, and tables to files, before
/// they are freed.
const COPIES: u64 = 4;
/// The size of all recordings that always fits, in bytes.
const SMALL: u64 = 8 << 20;

/// The budget that all runs share.
pub(crate) struct MemoryBudget {
    /// The budget, in bytes of rows; `None` if the system does not report the free memory.
    limit: Option<u64>,
    /// The size of all recordings, in bytes of rows.
    used: AtomicU64,
}

/// The recording of one run.
pub(crate) struct RecordingBudget<'a> {
    budget: &'a MemoryBudget,
    /// The size of this recording, in bytes of rows.
    used: u64,
    is_exceeded: bool,
}

impl MemoryBudget {
    /// The budget by the memory that this process may still allocate.
    pub(crate) fn of_this_process() -> Self {
        Self { limit: free().map(|free| free / COPIES), used: AtomicU64::new(0) }
    }

    /// The budget of an empty recording.
    pub(crate) const fn recording(&self) -> RecordingBudget<'_> {
        RecordingBudget { budget: self, used: 0, is_exceeded: false }
    }
}

impl RecordingBudget<'_> {
    /// Sets the size of this recording. Is the total size within the budget?
    pub(crate) fn fits(&mut self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let more = bytes - self.used.min(bytes);
        self.used += more;
        let all = self.budget.used.fetch_add(more, Ordering::Relaxed) + more;
        self.is_exceeded = all > SMALL && self.budget.limit.is_some_and(|limit| all > limit);
        !self.is_exceeded
    }

    /// Raises `MemoryError` if the budget was exceeded.
    pub(crate) fn check(&self) -> PyResult<()> {
        match (self.is_exceeded, self.budget.limit) {
            (true, Some(limit)) => Err(PyMemoryError::new_err(format!(
                "out of memory: found no room for the trace beyond {} MB of rows, a quarter of \
                 the memory that this process may still allocate; expected a shorter run, or one \
                 without trace (no --out, or several runs)",
                limit / 1_000_000
            ))),
            _ => Ok(()),
        }
    }
}

/// The number of bytes that this process may still allocate: the smallest of three limits.
fn free() -> Option<u64> {
    [of_address_space(), of_group(), of_machine()].into_iter().flatten().min()
}

/// The limit by `RLIMIT_AS`.
fn of_address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:")?))
}

/// The limit of the control group (version 2), which containers set.
fn of_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let number = |name: &str| -> Option<u64> {
        let file = format!("/sys/fs/cgroup{group}/{name}");
        fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// The available memory of the machine.
fn of_machine() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// A number in a file of the kernel, converted from kB to bytes.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}
