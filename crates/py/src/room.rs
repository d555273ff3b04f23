//! How much memory there is for what is recorded.
//!
//! Memory that is not there ends a program wherever it is just then. What grows without bounds here
//! is a trace, so that is asked whether it has room, run by run, and refused in good time.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Rows become tables, and tables files, before they are let go.
const COPIES: u64 = 4;
/// What is not worth asking for.
const SMALL: u64 = 8 << 20;

/// What there is for all runs together.
pub(crate) struct Room {
    /// Bytes of rows; `None` where the system does not say.
    most: Option<u64>,
    taken: AtomicU64,
}

/// A run's part of it.
pub(crate) struct Share<'a> {
    room: &'a Room,
    taken: u64,
    is_refused: bool,
}

impl Room {
    /// What this process may still take.
    pub(crate) fn of_this_process() -> Self {
        Self { most: free().map(|free| free / COPIES), taken: AtomicU64::new(0) }
    }

    /// A run that has recorded nothing yet.
    pub(crate) const fn shared(&self) -> Share<'_> {
        Share { room: self, taken: 0, is_refused: false }
    }
}

impl Share<'_> {
    /// Is there room for so many bytes of rows?
    pub(crate) fn has_room(&mut self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let more = bytes - self.taken.min(bytes);
        self.taken += more;
        let all = self.room.taken.fetch_add(more, Ordering::Relaxed) + more;
        self.is_refused = all > SMALL && self.room.most.is_some_and(|most| all > most);
        !self.is_refused
    }

    /// `MemoryError` if there was no room.
    pub(crate) fn check(&self) -> PyResult<()> {
        match (self.is_refused, self.room.most) {
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

/// How many bytes this process may still take: by its own limit, its group's and the machine's.
fn free() -> Option<u64> {
    [of_address_space(), of_group(), of_machine()].into_iter().flatten().min()
}

/// By `RLIMIT_AS`.
fn of_address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:")?))
}

/// By the control group (version 2), as containers have it.
fn of_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let number = |name: &str| -> Option<u64> {
        let file = format!("/sys/fs/cgroup{group}/{name}");
        fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// By what is installed.
fn of_machine() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// A figure that a file of the kernel's gives in kB, in bytes.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}
