//! The memory budget of recordings.
//!
//! Running out of memory ends a program at an arbitrary place. Only traces grow without bounds, so
//! each run checks the size of its trace and fails early.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Rows become tables, and tables files, before they are freed.
const COPIES: u64 = 4;
/// Smaller recordings are never refused.
const SMALL: u64 = 8 << 20;

/// The budget of all runs together.
pub(crate) struct MemoryBudget {
    /// In bytes of rows; `None` if the system does not report it.
    most: Option<u64>,
    taken: AtomicU64,
}

/// The recording of one run.
pub(crate) struct RecordingBudget<'a> {
    budget: &'a MemoryBudget,
    taken: u64,
    is_refused: bool,
}

impl MemoryBudget {
    /// The memory that this process may still allocate.
    pub(crate) fn of_this_process() -> Self {
        Self { most: free().map(|free| free / COPIES), taken: AtomicU64::new(0) }
    }

    /// An empty recording.
    pub(crate) const fn recording(&self) -> RecordingBudget<'_> {
        RecordingBudget { budget: self, taken: 0, is_refused: false }
    }
}

impl RecordingBudget<'_> {
    /// Is there memory for this many bytes of rows?
    pub(crate) fn fits(&mut self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let more = bytes - self.taken.min(bytes);
        self.taken += more;
        let all = self.budget.taken.fetch_add(more, Ordering::Relaxed) + more;
        self.is_refused = all > SMALL && self.budget.most.is_some_and(|most| all > most);
        !self.is_refused
    }

    /// `MemoryError` if the budget was exceeded.
    pub(crate) fn check(&self) -> PyResult<()> {
        match (self.is_refused, self.budget.most) {
            (true, Some(most)) => Err(PyMemoryError::new_err(format!(
                "out of memory: found no room for the trace beyond {} MB of rows, a quarter of \
                 what this process may still take; expected a shorter run, or one without trace \
                 (no --out, or several runs)",
                most / 1_000_000
            ))),
            _ => Ok(()),
        }
    }
}

/// The bytes that this process may still allocate: the least of three limits.
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

/// The limit of the control group (version 2), as in containers.
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

/// A number that a file of the kernel has in kB, in bytes.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}
