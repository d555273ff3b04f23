//! One processor for a clock and its guests: at most one of them runs at a time, and a switch to
//! one on the same processor is cheaper than waking one elsewhere.

use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Keeps the calling thread, and what it starts, on one processor; dropping it ends that.
pub(super) struct OneProcessor {
    before: CpuSet,
}

impl OneProcessor {
    /// The next of the processors on which this process may run; `None` if the system refuses.
    pub(super) fn next() -> Option<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let before = sched_getaffinity(None).ok()?;
        let allowed: Vec<_> = (0..CpuSet::MAX_CPU).filter(|cpu| before.is_set(*cpu)).collect();
        // Processes that run at a time begin with different ones.
        let turn = NEXT.fetch_add(1, Ordering::Relaxed) + std::process::id() as usize;
        let mut only = CpuSet::new();
        only.set(*allowed.get(turn % allowed.len().max(1))?);
        sched_setaffinity(None, &only).ok()?;
        Some(Self { before })
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        // The thread may stay there; nothing but time depends on it.
        let _ = sched_setaffinity(None, &self.before);
    }
}
